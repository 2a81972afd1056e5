"""Where raw data lies while Spark works, and what `spark.io.encryption.enabled` does about it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from test_spark import tree


def test_local_files_hold_raw_data_unless_they_are_encrypted(tmp_path):
    """In a session of its own, with one machine: the setting is one of the beginning."""
    local = tmp_path / "local"
    local.mkdir()
    environment = {**os.environ, "SPARK_LOCAL_DIRS": str(local), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    program = Path(__file__).parent / "local_files.py"
    command = [sys.executable, str(program), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=900)
    assert ended.returncode == 0, ended.stderr
    plain, encrypted = json.loads(ended.stdout.splitlines()[-1])
    assert (plain["encrypted"], encrypted["encrypted"]) == ("false", "true")
    for found in (plain, encrypted):
        assert found["holds"] and found["parts"] > 2 and found["files"] > 0
        assert found["persons in the release"] == 0
    assert plain["persons"] > 0 and plain["items"] > 0
    assert (encrypted["persons"], encrypted["items"]) == (0, 0)
    # Encryption changes no byte of what is published.
    assert tree(plain["release"]) == tree(encrypted["release"])
