#!/usr/bin/env bash
# Installs what some tests use beside Rust, where it may: Chromium, R with jsonlite, data.table and Matrix, Python libraries in target/python.
# What cannot be installed is no error here: the tests that lack it say so, and fail where CI is true.
set -uo pipefail
cd "$(dirname "$0")/../.."
wanted=()
command -v chromium >/dev/null || wanted+=(chromium)
Rscript -e 'library(jsonlite)' >/dev/null 2>&1 || wanted+=(r-base-core r-cran-jsonlite)
Rscript -e "library(data.table); library(Matrix)" >/dev/null 2>&1 || wanted+=(r-base-core r-cran-data.table r-cran-matrix)
command -v npm >/dev/null || wanted+=(nodejs npm)
if [ ${#wanted[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing ${wanted[*]}"
  get() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${wanted[@]}" >/dev/null 2>&1; }
  get || { apt-get update >/dev/null 2>&1; get; } || echo "could not be installed: ${wanted[*]}" >&2
fi
python=${PYTHON:-python3}
mkdir -p target
if [ ! -x target/python/bin/pip ]; then "$python" -m venv target/python || exit 0; fi
target/python/bin/python -m pip install -q --disable-pip-version-check -r python/requirements-test.txt ||
  echo "Python libraries could not be installed" >&2
exit 0
