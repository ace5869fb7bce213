#!/usr/bin/env bash
# The format of every file, then clang-tidy over the sources of the libraries and the command.
#   lint.sh [FOLDER]...    clang-tidy over these folders alone
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v clang-tidy >/dev/null || {
  printf 'lint: Install clang-tidy 14 or later: apt-get install clang-tidy.\n' >&2
  exit 1
}
printf 'lint: Checking the format.\n'
scripts/format.sh --check

folders=("$@")
[[ $# -gt 0 ]] || folders=(cache engine tools)
printf 'lint: Running clang-tidy over %s.\n' "${folders[*]}"
# In a folder of its own, where each source has its own command.
cmake --preset release -B build/lint -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DJITBAG_COMPILE_TOGETHER=OFF --log-level=WARNING >/dev/null
# The *_avx2.cpp files name processor features that clang-tidy 14 does not know.
find "${folders[@]}" -name '*.cpp' ! -name '*_avx2.cpp' -print0 |
  xargs -0 --max-args=1 --max-procs="${JOBS:-$(nproc)}" \
    clang-tidy -p build/lint --quiet --extra-arg=-Wno-unknown-warning-option \
    2> >(grep -v 'warnings\? generated' >&2)
