#!/usr/bin/env bash
# The page in a real browser: installs what it needs where it may, and says loudly what it could not do.
# SETVEIL_SHOTS names a folder for the pictures (by default target/page).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
mkdir -p "$root/target"

lacking() {
  if [ "${CI:-}" = true ]; then echo "the page was not tested: $1" >&2; exit 1; fi
  echo "the page in a browser: $1" >> "$root/target/skipped-tests"
  echo "NOT TESTED: the page in a browser: $1" >&2
  exit 0
}

find_chromium() {
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then command -v "$name"; return; fi
  done
}

chromium=$(find_chromium)
if [ -z "$chromium" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  (apt-get install -y --no-install-recommends chromium || (apt-get update && apt-get install -y --no-install-recommends chromium)) >/dev/null 2>&1 || true
  chromium=$(find_chromium)
fi
[ -n "$chromium" ] || lacking "there is no Chromium (CHROMIUM names the program)"
command -v npm >/dev/null || lacking "there is no npm"
cd "$here"
if ! [ -d node_modules/playwright-core ] || ! [ -d node_modules/axe-core ]; then
  npm ci --no-audit --no-fund >/dev/null 2>&1 || lacking "npm ci failed"
fi
# As the other tests build it: with the features of this package alone, everything would be built once more.
(cd "$root" && cargo build --locked --workspace --tests)
export CHROMIUM=$chromium
export SETVEIL_PROGRAM=${SETVEIL_PROGRAM:-$root/target/debug/setveil}
export SETVEIL_SHOTS=${SETVEIL_SHOTS:-$root/target/page}
node --test --test-concurrency=2 custodian.test.mjs hostile.test.mjs
