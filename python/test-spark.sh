#!/usr/bin/env bash
# Runs the tests of setveil.spark on a real cluster: a master and two workers on this machine. Installs what is
# missing where it may: Java by the system's package manager, the rest in virtual environments of target/.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
skipped=$PWD/target/spark-skipped
mkdir -p target && rm -f "$skipped"

skip() {
  echo "NOT TESTED: SETVEIL ON SPARK, because $1" | tee "$skipped" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

java17() { java -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])'; }
if ! java17 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing Java 17"
  get() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends openjdk-17-jre-headless >/dev/null 2>&1; }
  get || { apt-get update >/dev/null 2>&1; get; } || true
fi
java17 || skip "there is no Java 17 or newer"

# The driver's environment has Spark, the workers' one what a worker needs: it is shipped as an archive.
for environment in spark spark-worker; do
  [ -x target/$environment/bin/pip ] || "$python" -m venv --copies target/$environment || skip "venv is missing"
done
pip() { target/"$1"/bin/python -m pip install -q --disable-pip-version-check "${@:2}"; }
pip spark -r python/requirements-spark.txt || skip "PySpark cannot be installed"
pip spark-worker pyarrow "pandas<3" || skip "pyarrow cannot be installed"

wheels=target/wheels-spark
rm -rf "$wheels"
target/spark/bin/maturin build -q --profile dev --locked -m python/Cargo.toml -o "$wheels" -i "$python"
for environment in spark spark-worker; do
  pip $environment --force-reinstall --no-deps "$wheels"/*.whl
done
# Symbols for debuggers are half of it.
strip --strip-debug target/spark-worker/lib/python3*/site-packages/setveil/_setveil.abi3.so 2>/dev/null || true
python/pack-spark.sh

export SETVEIL_SPARK=$PWD/target/spark-worker.tar.gz SETVEIL_PYTHON_SKIPPED=$skipped
target/spark/bin/python -m pytest -c python/pyproject.toml python/tests/spark -p no:cacheprovider "$@"
