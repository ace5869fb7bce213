#!/usr/bin/env bash
# fuzz.sh SECONDS: builds every libFuzzer target of tests/fuzz and runs each for that long, from the
# corpus in the repository. What it finds goes to build/fuzz; a finding fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly seconds=${1:?fuzz.sh needs the seconds for each target, such as 60}
readonly build=build/fuzz
readonly largest_input=16384
readonly most_memory_mib=2048

command -v clang++ >/dev/null || {
  printf 'fuzz: Install Clang with its runtime: apt-get install clang libclang-rt-dev.\n' >&2
  exit 1
}
cmake --preset fuzz --log-level=WARNING >/dev/null
targets=()
for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" .cpp)"); done
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target "${targets[@]}"

status=0
for target in "${targets[@]}"; do
  name=${target%_fuzz}
  mkdir -p "$build/found/$name" "$build/corpus/$name"
  printf 'fuzz: %s for %s s.\n' "$name" "$seconds"
  # The first corpus is the one that grows.
  "$build/tests/fuzz/$target" -max_total_time="$seconds" -max_len="$largest_input" -timeout=10 \
    -rss_limit_mb="$most_memory_mib" -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$build/found/$name/" \
    "$build/corpus/$name" "tests/fuzz/corpus/$name" || {
    printf 'fuzz: %s has a finding; it lies in %s.\n' "$name" "$build/found/$name" >&2
    status=1
  }
done
exit "$status"
