#!/usr/bin/env bash
# shellcheck disable=SC2016 # backquotes name commands in messages
# The tests of the release build, then the library's own tests once more under the address and
# undefined-behaviour sanitizers, and those of the cache under the thread sanitizer. Tests that need a GPU are left out where there is none;
# kernels run on the CPU under the sanitizers alone, which see what the release build sees and more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

run_tests() {
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "${JOBS:-$(nproc)}" "$@"
}

left_out='^simt$'
if ! scripts/has-gpu.sh; then
  left_out='^(simt|gpu)$'
  printf 'test: No GPU driver here, so the gpu tests are left out; run `make test-gpu` on a machine with one.\n'
fi

printf 'test: The tests of the release build.\n'
run_tests release --label-exclude "$left_out"

scripts/build.sh debug -DJITBAG_BUILD_EXAMPLES=OFF -DJITBAG_BUILD_BENCHMARKS=OFF -- \
  jitbag_unit_tests jitbag_cache_tests jitbag_cache_faults_tests jitbag_cache_stress \
  jitbag_remote_tests jitbag_simt_tests
printf 'test: The unit, cache and simt tests under the address and undefined-behaviour sanitizers.\n'
run_tests debug --label-regex '^(unit|cache|simt)$' --exclude-regex cache_file_systems

scripts/build.sh thread -DJITBAG_BUILD_EXAMPLES=OFF -DJITBAG_BUILD_BENCHMARKS=OFF -- \
  jitbag_cache_tests jitbag_remote_tests
printf 'test: The cache tests under the thread sanitizer.\n'
run_tests thread --tests-regex '^(cache|remote|remote_nginx)$'
