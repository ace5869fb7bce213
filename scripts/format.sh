#!/usr/bin/env bash
# format.sh [--check]: clang-format over every C++ and CUDA file, in place or as a check.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v clang-format >/dev/null || {
  printf 'format: Install clang-format 14 or later: apt-get install clang-format.\n' >&2
  exit 1
}
mode=(-i)
[[ ${1:-} != --check ]] || mode=(--dry-run -Werror)
find bench cache engine examples kernel_templates tests tools -type f \
  \( -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 --no-run-if-empty clang-format "${mode[@]}"
