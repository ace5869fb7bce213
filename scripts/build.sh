#!/usr/bin/env bash
# build.sh PRESET [CMAKE ARGUMENT]...: configures and builds one preset of CMakePresets.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?build.sh needs the name of a preset, such as release}
shift
printf 'build: Configuring and compiling build/%s.\n' "$preset"
cmake --preset "$preset" --log-level=WARNING "$@" >/dev/null
cmake --build --preset "$preset" --parallel "${JOBS:-$(nproc)}"
