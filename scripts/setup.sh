#!/usr/bin/env bash
# Brings in what jitbag is built with, as far as it is missing: packages by apt, and, where there is
# no CUDA toolkit, NVRTC and the CUDA headers from PyPI into build/cuda. Asks for nothing that is
# already there, so it needs no network on a machine that has everything.
#   setup.sh [--for-ci]    with what CI tests beside: a web server, and a compiler that fuzzes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly nvrtc_release=13.0.88
readonly cuda_headers_release=13.0.96
readonly oldest_cuda=12000 # as CUDA_VERSION in cuda.h writes it
readonly oldest_cmake=3.22
readonly oldest_gxx=12
readonly own_cuda=build/cuda/nvidia/cu13
readonly log=build/setup.log
readonly purpose=${1:-}
read -ra cxx <<<"${CXX:-g++}" # CXX may be two words, such as "ccache g++"
readonly cxx

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

has_program() { command -v "$1" >/dev/null; }

at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# The compiler is asked, and not a fixed folder, so that CPATH and the like count. Of several
# headers one is enough.
has_header() {
  has_program "${cxx[0]}" || return 1
  local header prefix prefixes=${CMAKE_PREFIX_PATH:-} flags=()
  for prefix in ${prefixes//[:;]/ }; do flags+=("-I$prefix/include"); done
  for header in "$@"; do
    printf '#if !__has_include(<%s>)\n#error missing\n#endif\n' "$header" |
      "${cxx[@]}" ${flags[@]+"${flags[@]}"} -E -x c++ - >/dev/null 2>&1 && return
  done
  return 1
}

# A compiler prints the whole path of a library that it finds, else the bare name.
has_library() {
  has_program "${cxx[0]}" && [[ $("${cxx[@]}" "-print-file-name=lib$1.so") == /* ]]
}

has_cmake() {
  has_program cmake && at_least "$oldest_cmake" "$(cmake --version | sed -n '1s/.* //p')"
}

has_pip() { python3 -m pip --version >/dev/null 2>&1; }

# has_nvrtc INCLUDE LIB...: both headers, new enough, and the library beside them.
has_nvrtc() {
  local include=$1 version folder
  shift
  [[ -f $include/cuda.h && -f $include/nvrtc.h ]] || return 1
  version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$include/cuda.h")
  [[ ${version:-0} -ge $oldest_cuda ]] || return 1
  for folder in "$@"; do
    compgen -G "$folder/libnvrtc.so*" >/dev/null && return
  done
  return 1
}

# The folder that CUDA is taken from, in the order in which the build looks.
find_cuda() {
  local folder
  for folder in "$own_cuda" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [[ -n $folder ]] || continue
    if has_nvrtc "$folder/include" "$folder/lib64" "$folder/lib"; then
      printf '%s\n' "$folder"
      return
    fi
  done
  has_nvrtc /usr/include "/usr/lib/$(uname -m)-linux-gnu" /usr/lib64 && printf '/usr\n'
}

missing_packages() {
  has_program "${cxx[0]}" || printf 'g++\n'
  has_cmake || printf 'cmake\n'
  has_program ninja || printf 'ninja-build\n'
  has_header spdlog/spdlog.h || printf 'libspdlog-dev\n'
  has_header nlohmann/json.hpp || printf 'nlohmann-json3-dev\n'
  has_header catch2/catch_all.hpp catch2/catch.hpp || printf 'catch2\n'
  has_header CLI/CLI.hpp || printf 'libcli11-dev\n'
  has_header openssl/evp.h || printf 'libssl-dev\n'
  { has_header zstd.h && has_library zstd; } || printf 'libzstd-dev\n'
  has_header curl/curl.h || printf 'libcurl4-openssl-dev\n'
  { has_header boost/context/fiber.hpp && has_library boost_context; } ||
    printf 'libboost-context-dev\n'
  has_program python3 || printf 'python3\n'
  [[ -n $(find_cuda) ]] || has_pip || printf 'python3-pip\n'
  [[ $purpose != --for-ci ]] || missing_packages_of_ci
}

# What more is tested where it is there. Not for everyone: Debian's nginx starts a server.
missing_packages_of_ci() {
  PATH=$PATH:/usr/sbin has_program nginx || printf 'nginx-light\n'
  has_fuzzer || printf 'clang\nlibclang-rt-dev\n'
}

has_fuzzer() {
  has_program clang++ &&
    compgen -G "$(clang++ --print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null
}

install_packages() {
  local by_hand="apt-get install $*" as_root=()
  has_program apt-get ||
    fail "This machine has no apt-get: install what Debian calls $* with its own package manager."
  if [[ $(id -u) != 0 ]]; then
    has_program sudo || fail "Run \`make setup\` as root, or have root run \`$by_hand\`."
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  say "Reading the package lists by apt-get update."
  "${as_root[@]}" apt-get update >>"$log" 2>&1 ||
    fail "apt-get update failed (see $log): repair this machine's package sources or network, or run \`$by_hand\` yourself."
  say "Installing by apt-get, which takes a minute or two: $*"
  "${as_root[@]}" apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 ||
    fail "apt-get install failed (see $log): repair this machine's package sources or network, or run \`$by_hand\` yourself."
}

# Made beside its place and then moved there, so that an interrupted download is never taken for
# the whole.
fetch_cuda() {
  say "Fetching NVRTC $nvrtc_release and the CUDA headers from PyPI into build/cuda, about 100 MB."
  rm -rf build/cuda.part
  PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 python3 -m pip install \
    --quiet --no-input --no-deps --only-binary :all: --target build/cuda.part \
    "nvidia-cuda-nvrtc==$nvrtc_release" "nvidia-cuda-runtime==$cuda_headers_release" \
    >>"$log" 2>&1 </dev/null ||
    fail "pip could not fetch NVRTC (see $log): connect this machine to PyPI, or install a CUDA toolkit of 12.0 or later and set CUDA_HOME to it."
  rm -rf build/cuda
  mv build/cuda.part build/cuda
}

[[ -z ${CXX:-} ]] || has_program "${cxx[0]}" ||
  fail "CXX is set to $CXX, which is not there: unset it, or set it to a compiler on PATH."

mkdir -p build
: >"$log"

missing=$(missing_packages)
if [[ -n $missing ]]; then
  mapfile -t packages <<<"$missing"
  install_packages "${packages[@]}"
  missing=$(missing_packages)
  [[ -z $missing ]] ||
    fail "Still not found after installing: ${missing//$'\n'/ }; another version of it may come first on PATH."
fi
version=$("${cxx[@]}" -dumpversion)
at_least "$oldest_gxx" "$version" ||
  fail "${cxx[*]} is version $version: set CXX to g++ $oldest_gxx or later."
say "Compiler and libraries are there."

[[ -n $(find_cuda) ]] || fetch_cuda
say "NVRTC and the CUDA headers are taken from $(find_cuda)."
