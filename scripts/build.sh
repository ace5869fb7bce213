#!/usr/bin/env bash
# build.sh PRESET [CMAKE ARGUMENT]... [-- TARGET...]: configures one preset of CMakePresets.json and builds the targets, or all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?build.sh needs the name of a preset, such as release}
shift
arguments=()
while [[ $# -gt 0 && $1 != -- ]]; do
  arguments+=("$1")
  shift
done
targets=()
[[ $# -lt 2 ]] || targets=(--target "${@:2}")

printf 'build: Configuring and compiling build/%s.\n' "$preset"
cmake --preset "$preset" --log-level=WARNING ${arguments[@]+"${arguments[@]}"} >/dev/null
cmake --build --preset "$preset" --parallel "${JOBS:-$(nproc)}" ${targets[@]+"${targets[@]}"}
