#!/usr/bin/env bash
# The tests that need a GPU, one at a time: they share it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/has-gpu.sh || {
  printf 'test-gpu: There is no NVIDIA GPU or no driver (libcuda.so.1) here: run this on a machine that has both.\n' >&2
  exit 1
}
ctest --test-dir build/release --output-on-failure --no-tests=error --label-regex '^gpu$'
