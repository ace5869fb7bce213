#!/usr/bin/env bash
# All that is to be run on a GPU after a change to kernels, launch or runtime, in one call.
#   scripts/measure-gpu.sh FOLDER [PART...]    writes tests.log, sanitizer.log and a JSON file for each measurement there
# PART, all of them unless some are named:
#   tests       the gpu tests, twice: the second time from disk alone
#   times       the engine itself, the operators, the seed sweep, the traces, the cache
#   memcheck    the matrix of kernels under compute-sanitizer
#   racecheck   the same, for races in shared memory; as long as the rest together
# The build must be there (`make build`). JITBAG_COMMIT names the commit where there is no git to ask.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly folder=${1:?name the folder that the results go into}
shift
readonly build=build/release
mkdir -p "$folder"
commit=${JITBAG_COMMIT:-$(git rev-parse HEAD)}
JITBAG_CACHE_DIR=$(mktemp -d)
export JITBAG_CACHE_DIR
trap 'rm -rf "$JITBAG_CACHE_DIR"' EXIT

# measure NAME COMMAND...: keeps what the command prints, a JSON document, with how it came about.
measure() {
  local name=$1
  shift
  printf 'measure: %s\n' "$*"
  "$@" >"$folder/$name.raw"
  COMMIT=$commit COMMAND=$* python3 - "$folder/$name" <<'PY'
import json, os, subprocess, sys
path = sys.argv[1]
query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
report = {"device": name, "driver": driver, "commit": os.environ["COMMIT"], "command": os.environ["COMMAND"],
          "result": json.load(open(path + ".raw"))}
json.dump(report, open(path + ".json", "w"), indent=1)
os.remove(path + ".raw")
PY
}

part_tests() {
  printf 'measure: the gpu tests\n'
  JITBAG_TEST_CACHE=$JITBAG_CACHE_DIR/suite "$build/tests/jitbag_gpu_tests" 2>&1 | tee -a "$folder/tests.log" | tail -n 3
  printf 'measure: the gpu tests again, from disk, with no compiler to be found\n'
  JITBAG_TEST_CACHE=$JITBAG_CACHE_DIR/suite JITBAG_NVRTC=/no/compiler/here "$build/tests/jitbag_gpu_tests" '~[compiles]' 2>&1 |
    tee -a "$folder/tests.log" | tail -n 3
}

sanitize() {
  printf 'measure: the matrix under compute-sanitizer, %s\n' "$1"
  compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/jitbag_gpu_tests" 'every kernel of the matrix*' 2>&1 |
    tee -a "$folder/sanitizer.log" | tail -n 4
}

part_memcheck() { sanitize memcheck; }
part_racecheck() { sanitize racecheck; }

part_times() {
  measure engine_times "$build/bench/bench_engine_times"
  measure bad_input_cost "$build/bench/bench_bad_input_cost"
  measure quantised_tables "$build/bench/bench_quantised_tables"
  measure training_step "$build/bench/bench_training_step"
  measure dlrm_dcnv2 "$build/tools/jitbag" bench --tables dlrm_dcnv2 --batch 65536 --dtype float16 \
    --backends jit,jit_alone --json
  measure seed_sweep "$build/tools/jitbag" bench --operator embedding_bag_mean --batch 8192 \
    --embedding-vocab-size 1000000 --embedding-dim 32,64,128 --embedding-bag-size 1,2,4,8 \
    --embedding-padding-prob 0.25 --dtype float16 --steps 200 --warmup-steps 50 --repeats 5 \
    --backends jit --json
  for trace in depends suggests tags section; do
    measure "trace_$trace" "$build/tools/jitbag" bench --operator embedding_bag_mean --embedding-dim 64 \
      --dtype float16 --indices "examples/traces/${trace}_indices.npy" \
      --offsets "examples/traces/${trace}_offsets.npy" --backends jit --json
  done
  measure trace_tables "$build/tools/jitbag" bench --tables examples/traces/tables.json --dtype float16 \
    --backends jit,jit_alone --json
  measure cache_once "$build/bench/bench_cache_once"
  measure cache_scale "$build/bench/bench_cache_scale"
  measure layer_hit "$build/bench/bench_layer_hit"
}

[ $# -gt 0 ] || set -- tests times memcheck racecheck
for part in "$@"; do
  declare -F "part_$part" >/dev/null || { printf 'measure: no part is called %s\n' "$part" >&2 && exit 2; }
done
for part in "$@"; do "part_$part"; done
