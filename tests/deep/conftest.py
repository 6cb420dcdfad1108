"""One thread each: tests share the processors, and threads that wait for one another take longer than they save."""

import torch

torch.set_num_threads(1)
