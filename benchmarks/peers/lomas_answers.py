"""A lomas server on a CSV file, in an environment of its own: one user, one data set, its accounts in YAML.

    python lomas_answers.py FOLDER ROWS

FOLDER has patients.csv. It prints its port once it listens, and serves until it is killed.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

CONFIG = """runtime_args:
  settings:
    develop_mode: false
    server: {{host_ip: 127.0.0.1, host_port: {port}, log_level: error, reload: false, workers: 1,
      time_attack: {{method: stall, magnitude: 0}}}}
    submit_limit: 0
    admin_database: {{db_type: yaml, db_file: {folder}/accounts.yaml}}
    dp_libraries: {{opendp: {{contrib: true, floating_point: true, honest_but_curious: true}}}}
"""
ACCOUNTS = """users:
- user_name: ann
  may_query: true
  datasets_list:
  - {{dataset_name: patients, initial_epsilon: 1000000.0, initial_delta: 0.5, total_spent_epsilon: 0.0,
     total_spent_delta: 0.0}}
datasets:
- dataset_name: patients
  dataset_access: {{database_type: PATH_DB, path: {folder}/patients.csv}}
  metadata_access: {{database_type: PATH_DB, path: {folder}/metadata.yaml}}
queries: []
"""
METADATA = """max_ids: 1
rows: {rows}
row_privacy: true
censor_dims: false
columns:
  age: {{private_id: false, nullable: false, type: float, precision: 64, lower: 0.0, upper: 110.0}}
  stay: {{private_id: false, nullable: false, type: float, precision: 64, lower: 0.0, upper: 60.0}}
"""


def main(folder: str, rows: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    texts = {"runtime.yaml": CONFIG, "accounts.yaml": ACCOUNTS, "metadata.yaml": METADATA}
    for name, text in texts.items():
        Path(folder, name).write_text(text.format(folder=folder, port=port, rows=rows))
    Path(folder, "secrets.yaml").write_text("private_db_credentials: []\n")
    os.environ["LOMAS_CONFIG_PATH"] = f"{folder}/runtime.yaml"
    os.environ["LOMAS_SECRETS_PATH"] = f"{folder}/secrets.yaml"
    import uvicorn
    from lomas_server.app import app

    print(port, flush=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    main(*sys.argv[1:3])
