#!/usr/bin/env bash
# check-installed.sh BUILD_FOLDER: installs that build into a temporary folder, and builds and runs
# examples/consumer against nothing but what was installed.
set -euo pipefail

build=$(realpath "${1:?check-installed.sh needs a build folder, such as build/release}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
cmake -S examples/consumer -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/build"
"$work/build/consumer"

[[ ! -e $build/tools/jitbag ]] || "$work/prefix/bin/jitbag" --version
