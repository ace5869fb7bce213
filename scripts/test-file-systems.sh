#!/usr/bin/env bash
# The cache tests once more on every file system that records are promised to be safe on: tmpfs, overlayfs and ext4, each mounted
# for this run alone, in a mount namespace of its own. (A file system without locks is simulated by the tests themselves.)
#   scripts/test-file-systems.sh PROGRAM [ARGUMENT...]
# Needs root or user namespaces; what cannot be mounted here is said and left out.
set -euo pipefail

if [[ ${1:-} != --inside ]]; then
  as_root=()
  [[ $(id -u) == 0 ]] || as_root=(--user --map-root-user)
  unshare "${as_root[@]}" --mount true 2>/dev/null || {
    printf 'file systems: skipped: nothing can be mounted here; run this as root.\n'
    exit 0
  }
  exec unshare "${as_root[@]}" --mount "$0" --inside "$@"
fi
shift

work=$(mktemp -d)
chmod 755 "$work" # some tests go on as another user
trap 'umount "$work/fs" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/fs" "$work/lower" "$work/upper" "$work/overlay"

mount_tmpfs() { mount -t tmpfs -o mode=0755 tmpfs "$work/fs"; }
# Its two upper folders must be on a file system that overlayfs accepts, which another overlayfs is not.
mount_overlayfs() {
  mount -t overlay -o "lowerdir=$work/lower,upperdir=$work/upper,workdir=$work/overlay" \
    overlay "$work/fs"
}
mount_ext4() {
  command -v mkfs.ext4 >/dev/null || return 1
  truncate -s 64M "$work/ext4" && mkfs.ext4 -q "$work/ext4" && mount -o loop "$work/ext4" "$work/fs"
}

for file_system in tmpfs overlayfs ext4; do
  if ! "mount_$file_system" 2>/dev/null; then
    printf 'file systems: skipped: %s cannot be mounted here.\n' "$file_system"
    continue
  fi
  printf 'file systems: %s\n' "$file_system"
  TMPDIR=$work/fs "$@"
  umount "$work/fs"
done
