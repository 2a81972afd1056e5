#!/usr/bin/env bash
# Builds the package and runs its tests, with other libraries and with none. The build is the one that the other tests
# of the workspace use (profile dev, the same features), so that little is compiled again.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
skipped=$PWD/target/python-skipped
mkdir -p target && rm -f "$skipped"

# Without the tools nothing is tested: that is said at the end, and is an error where CI is true.
skip() {
  echo "NOT TESTED: THE PYTHON PACKAGE, because $1" | tee "$skipped" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skip "there is no Python 3.10 or newer"
for environment in python python-bare; do
  [ -x target/$environment/bin/pip ] || "$python" -m venv target/$environment || skip "venv is missing"
done
pip() { target/"$1"/bin/python -m pip install -q --disable-pip-version-check "${@:2}"; }
pip python -r python/requirements-test.txt || skip "libraries cannot be installed"
pip python-bare pytest || skip "pytest cannot be installed"

wheels=target/wheels-test
rm -rf "$wheels"
target/python/bin/maturin build -q --profile dev --locked -m python/Cargo.toml -o "$wheels" -i "$python"
for environment in python python-bare; do
  pip $environment --force-reinstall --no-deps "$wheels"/*.whl
done

stubs=target/_setveil.pyi
PATH="$PWD/target/python/bin:$PATH" python/stubs.sh "$stubs"
diff -u python/setveil/_setveil.pyi "$stubs" || { echo "the type hints differ from what the build gives: make stubs" >&2; exit 1; }

export SETVEIL_PYTHON_SKIPPED=$skipped
echo "Python package, with pandas, polars, pyarrow, DuckDB and others:"
target/python/bin/python -m pytest -c python/pyproject.toml python/tests -p no:cacheprovider
echo "Python package, with none of them:"
target/python-bare/bin/python -m pytest -c python/pyproject.toml python/tests -p no:cacheprovider -m "not libraries"
