#!/usr/bin/env bash
# Runs a command, by default `make test`, in a fresh clone of this repository inside a fresh root of
# a distribution: what a stranger meets who has nothing but make and git. Needs root and debootstrap.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
Usage: scripts/check-clean-root.sh [OPTION]... SUITE [COMMAND [ARGUMENT]...]

  SUITE             such as bookworm or noble
  COMMAND           run in the clone; default: make test

  --mirror URL      where debootstrap takes the suite from; default: its own
  --copy PATH       copies this machine's file or folder to the same place in the root before the
                    command, such as pip's or apt's configuration, or a CA certificate; repeatable
  --env NAME        passes on this environment variable; repeatable (others are not passed on)
  --working-tree    takes the files as they lie here, instead of a clone of the last commit
  --no-network      runs the command without a network
  --root FOLDER     keeps the root there, and uses the one that is there already
TEXT
}

say() { printf 'clean root: %s\n' "$*"; }
fail() {
  printf 'clean root: %s\n' "$*" >&2
  exit 2
}

mirror='' root='' working_tree='' temporary=''
isolate=() copies=() passed=()
while [[ ${1:-} == --* ]]; do
  option=$1
  shift
  case $option in
    --working-tree) working_tree=yes ;;
    --no-network) isolate=(unshare --net) ;;
    --mirror | --copy | --env | --root)
      [[ $# -gt 0 ]] || fail "$option needs a value; see --help."
      case $option in
        --mirror) mirror=$1 ;;
        --copy) copies+=("$1") ;;
        --env) [[ ! -v $1 ]] || passed+=("$1=${!1}") ;;
        --root) root=$1 ;;
      esac
      shift
      ;;
    --help)
      usage
      exit
      ;;
    *) fail "There is no option $option; see --help." ;;
  esac
done
[[ $# -gt 0 ]] || {
  usage >&2
  exit 2
}
suite=$1
shift
[[ $# -gt 0 ]] || set -- make test

[[ $(id -u) == 0 ]] || fail "Run this as root: it makes a root folder and changes into it."
command -v debootstrap >/dev/null || fail "Install debootstrap: apt-get install debootstrap."

# shellcheck disable=SC2317 # the trap calls it
clean_up() {
  mountpoint -q "$root/proc" && umount "$root/proc"
  [[ -n $temporary ]] && rm -rf --one-file-system "$root"
  return 0
}
[[ -n $root ]] || root=$(mktemp -d) temporary=yes
trap clean_up EXIT

# Debian's debootstrap may be older than the Ubuntu that is asked for; all of those share a script,
# which debootstrap takes only together with a mirror.
make_root() {
  local scripts=/usr/share/debootstrap/scripts source=()
  [[ -z $mirror ]] || source=("$mirror")
  if [[ ! -e $scripts/$suite ]]; then
    [[ -n $mirror ]] ||
      fail "This debootstrap does not know $suite: give --mirror the URL of an archive that has it."
    source+=("$scripts/gutsy")
  fi
  say "Making a root of $suite."
  debootstrap --variant=minbase --include=make,git "$suite" "$root" \
    ${source[@]+"${source[@]}"} >"$root.log" 2>&1 ||
    fail "debootstrap could not make $suite (see $root.log): give --mirror a mirror that has it, and install its archive keyring."
  rm "$root.log"
}

copy_sources() {
  rm -rf "$root/root/jitbag"
  if [[ -n $working_tree ]]; then
    mkdir -p "$root/root/jitbag"
    git ls-files -z --cached --others --exclude-standard |
      tar --create --null --files-from=- | tar --extract --directory="$root/root/jitbag"
  else
    git clone --quiet --no-hardlinks . "$root/root/jitbag"
  fi
}

[[ -e $root/etc/os-release ]] || make_root
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
for path in /etc/resolv.conf ${copies[@]+"${copies[@]}"}; do
  mkdir -p "$root$(dirname "$path")"
  cp -rLT "$path" "$root$path"
done
copy_sources

say "Running in a clean $suite: $*"
status=0
${isolate[@]+"${isolate[@]}"} env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  ${passed[@]+"${passed[@]}"} \
  chroot "$root" bash -c 'cd /root/jitbag && exec "$@"' bash "$@" </dev/null || status=$?
say "The command ended with status $status."
exit "$status"
