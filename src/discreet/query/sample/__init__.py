"""A synthetic hospital table to try things on: no row is about anybody. `make_sample` made it."""

from pathlib import Path

TABLE = Path(__file__).with_name("patients.csv")
SCHEMA = Path(__file__).with_name("patients.toml")
