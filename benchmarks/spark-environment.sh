#!/usr/bin/env bash
# Puts a wheel into the driver's and the workers' environment of `make test-spark`, and packs the latter.
set -euo pipefail
wheel=$(realpath "$1")
cd "$(dirname "$0")/.."
for environment in spark spark-worker; do
  target/$environment/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps "$wheel"
done
python/pack-spark.sh
