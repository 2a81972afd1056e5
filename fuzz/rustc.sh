#!/usr/bin/env bash
# A compiler for Cargo (RUSTC_WRAPPER) that makes coverage for libFuzzer of what is fuzzed: our own code and the decoder of
# Parquet. Of everything else only faults are looked for. Counters that are never of interest cost more than the work itself.
rustc=$1
shift
case ${CARGO_PKG_NAME:-} in
setveil | testkit | setveil-fuzz | parquet)
  exec "$rustc" "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1
  ;;
# It makes a table anew for every reader, and checks of that are half the work of a target.
csv-core) exec "$rustc" "$@" -Cdebug-assertions=no -Coverflow-checks=no ;;
*) exec "$rustc" "$@" ;;
esac
