#!/usr/bin/env bash
# Packs the workers' environment as docs/spark.md says: with names that begin inside of it, as .tar.gz (Spark forgets who may
# run a file of a plain .tar), and without what no worker needs.
set -euo pipefail
cd "$(dirname "$0")/.."
leave=(--exclude=__pycache__ --exclude='*/site-packages/pip*' --exclude='*/site-packages/setuptools*' --exclude='*/tests' --exclude='*/include/*')
tar -c "${leave[@]}" -C target/spark-worker bin lib pyvenv.cfg | gzip -1 > target/spark-worker.tar.gz
