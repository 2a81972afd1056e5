#!/usr/bin/env bash
# Writes the type hints that the build gives for the extension module to the file $1.
set -euo pipefail
target=$(realpath -m "$1")
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
maturin generate-stubs -q --profile dev --locked -o "$out" -m Cargo.toml
{
  echo '# Made by `make stubs` from the extension module; a test compares it with what the build gives.'
  # Type checkers find this name in `types` only for Python 3.13.
  sed 's/^from types import CapsuleType$/from typing_extensions import CapsuleType/' "$(find "$out" -name '*.pyi' | head -1)"
} > "$target"
