"""MST and AIM of smartnoise-synth, as installed.

    python snsynth_synthesis.py METHOD rows.npz out.npz EPSILON DELTA SEED

All columns are categories, so that nothing is paid for their bounds. Prints processor seconds.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")

from snsynth.aim import AIMSynthesizer  # noqa: E402
from snsynth.mst import MSTSynthesizer  # noqa: E402

METHODS = {"mst": MSTSynthesizer, "aim": AIMSynthesizer}


def main(method: str, source: str, out: str, epsilon: float, delta: float, seed: int) -> None:
    """Make a table."""
    np.random.seed(seed)  # noqa: NPY002
    rows = np.load(source)["rows"]
    frame = pd.DataFrame(rows, columns=[f"c{place}" for place in range(rows.shape[1])])
    start = time.process_time()
    model = METHODS[method](epsilon=epsilon, delta=delta)
    model.fit(frame, categorical_columns=list(frame.columns), preprocessor_eps=0.0)
    made = model.sample(len(rows))
    print(time.process_time() - start)
    np.savez(out, rows=np.asarray(made).astype(int))


if __name__ == "__main__":
    _, method, source, out, epsilon, delta, seed = sys.argv
    main(method, source, out, float(epsilon), float(delta), int(seed))
