#!/usr/bin/env bash
# Fuzzes every target, or those that are named, for SECONDS_EACH seconds (60 unless told), and reports
# how many inputs were run. Needs a C++ compiler; no other toolchain. New inputs that reach new code are kept in
# fuzz/work, an input that fails in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"
each=${SECONDS_EACH:-60}
if [ $# -gt 0 ]; then targets=("$@"); else
  mapfile -t targets < <(sed -n '/^pub const TARGETS/,/^];/s/^    ("\([a-z_]*\)".*/\1/p' ../crates/testkit/src/fuzz.rs)
fi
# Checks of overflow and of assertions everywhere; rustc.sh adds coverage for libFuzzer where it is of use.
export RUSTFLAGS="-Cdebug-assertions -Coverflow-checks" RUSTC_WRAPPER="$PWD/rustc.sh"
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --locked --target "$host"
program=target/$host/release/setveil-fuzz
total=0
failed=0
printf '%-14s %12s %10s\n' target executions 'per second'
for target in "${targets[@]}"; do
  mkdir -p "work/$target" "corpus/$target" "artifacts/$target"
  log=work/$target.log
  # A few names of ours and a limit: no input may take ten seconds or two gigabytes.
  SETVEIL_FUZZ=$target "$program" "work/$target" "corpus/$target" -max_total_time="$each" -timeout=10 \
    -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 -artifact_prefix="artifacts/$target/" >"$log" 2>&1 ||
    { failed=1; echo "$target FAILED: see fuzz/$log"; tail -5 "$log"; }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
  printf '%-14s %12s %10s\n' "$target" "${runs:-0}" "${rate:-0}"
  total=$((total + ${runs:-0}))
done
printf '%-14s %12s\n' all "$total"
exit $failed
