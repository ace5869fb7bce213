#!/usr/bin/env bash
# shellcheck disable=SC2016 # a backquote names a command in a message
# The main job, as a newcomer sees it: how fast the pooling is here, what compiling kernels costs
# and what the cache saves, and what real ids do. Leaves nothing behind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly jitbag=build/release/tools/jitbag
readonly batch=8192
readonly shapes=(--operator embedding_bag_mean --embedding-dim '32,64,128'
  --embedding-bag-size '1,2,4,8' --dtype float16)

[[ -x $jitbag ]] || {
  printf 'bench: %s is not there: run `make build` first.\n' "$jitbag" >&2
  exit 1
}
JITBAG_CACHE_DIR=$(mktemp -d)
export JITBAG_CACHE_DIR
trap 'rm -rf "$JITBAG_CACHE_DIR"' EXIT

heading() { printf '\n== %s ==\n' "$1"; }
note() { printf '%s\n' "$@"; }

# Shows a command as one could type it, then runs it.
run() {
  printf '$ %s\n' "$*"
  "$@"
}

milliseconds() { printf '%s\n' $(($(date +%s%N) / 1000000)); }

# As `run`, and leaves the command's wall time in `elapsed`.
elapsed=0
run_timed() {
  local start
  start=$(milliseconds)
  run "$@"
  elapsed=$(($(milliseconds) - start))
}

if scripts/has-gpu.sh; then
  device='the GPU, and the CPU beside it'
  effort=(--steps 20 --warmup-steps 5 --repeats 5)
else
  device='the CPU, as there is no GPU here'
  effort=(--steps 3 --warmup-steps 1 --repeats 3)
fi

heading "1 of 3: the seed sweep on $device"
note 'Means of 1, 2, 4 or 8 random rows, of 32, 64 or 128 float16 columns, out of a table of a' \
  "million, $batch at a time; a quarter of the ids is padding. Every backend's output is checked" \
  'against the float64 reference before it is timed.'
run "$jitbag" bench "${shapes[@]}" --batch "$batch" --embedding-vocab-size 1000000 \
  --embedding-padding-prob 0.25 --device auto "${effort[@]}"

heading '2 of 3: the twelve kernels of that sweep for sm_90, cold and warm'
note 'Compiling needs no GPU. First into an empty cache, then once more with the cache filled.'
precompile=("$jitbag" precompile "${shapes[@]}" --arch sm_90 --expected-batch "$batch"
  --addressing 32)
run_timed "${precompile[@]}"
cold=$elapsed
run_timed "${precompile[@]}"
warm=$elapsed
note "Cold: $cold ms. Warm: $warm ms. (Wall time of the whole command, start to end.)"

heading '3 of 3: four real traces'
note 'What 63,681 software packages depend on, suggest, are tagged with and are filed under: bags' \
  'of 0 to 978 ids, some rows far more wanted than others. See examples/traces/README.md.'
for trace in depends suggests tags section; do
  run "$jitbag" bench --operator embedding_bag_mean --embedding-dim 64 --dtype float16 \
    --indices "examples/traces/${trace}_indices.npy" \
    --offsets "examples/traces/${trace}_offsets.npy" --device auto "${effort[@]}"
done
note 'The same four as four tables of one launch, which takes a GPU.'
run "$jitbag" bench --tables examples/traces/tables.json --dtype float16 --id-type int32 \
  --device auto "${effort[@]}"
