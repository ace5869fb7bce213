#!/usr/bin/env bash
# fuzz.sh SECONDS: builds every libFuzzer target of tests/fuzz and runs each for that long on a core of its own,
# from the corpus in the repository. What it finds goes to build/fuzz; a finding fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly seconds=${1:?fuzz.sh needs the seconds for each target, such as 60}
readonly build=build/fuzz
readonly largest_input=16384
readonly most_memory_mib=2048
readonly jobs=${JOBS:-$(nproc)}

command -v clang++ >/dev/null || {
  printf 'fuzz: Install Clang with its runtime: apt-get install clang libclang-rt-dev.\n' >&2
  exit 1
}
cmake --preset fuzz --log-level=WARNING >/dev/null
targets=()
for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" .cpp)"); done
cmake --build "$build" --parallel "$jobs" --target "${targets[@]}"

# Says all at once, at its end: others run beside it.
fuzz() {
  local target=$1 name=${1%_fuzz} said status=0
  mkdir -p "$build/found/$name" "$build/corpus/$name"
  # The first corpus is the one that grows.
  said=$("$build/tests/fuzz/$target" -max_total_time="$seconds" -max_len="$largest_input" -timeout=10 \
    -rss_limit_mb="$most_memory_mib" -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$build/found/$name/" \
    "$build/corpus/$name" "tests/fuzz/corpus/$name" 2>&1) || status=$?
  printf 'fuzz: %s for %s s.\n%s\n' "$name" "$seconds" "$said"
  [[ $status == 0 ]] || printf 'fuzz: %s has a finding; it lies in %s.\n' "$name" "$build/found/$name" >&2
  return "$status"
}
export -f fuzz
export seconds build largest_input most_memory_mib
# shellcheck disable=SC2016 # the bash that xargs starts expands it
printf '%s\n' "${targets[@]}" | xargs --max-args=1 --max-procs="$jobs" bash -c 'fuzz "$1"' fuzz
