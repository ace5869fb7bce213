#!/usr/bin/env bash
# Exit status 0 if this machine has an NVIDIA GPU and the driver library that programs open.
set -euo pipefail

compgen -G '/dev/nvidia[0-9]*' >/dev/null || exit 1
PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep -q 'libcuda\.so\.1 ' && exit
IFS=: read -ra folders <<<"${LD_LIBRARY_PATH:-}"
for folder in ${folders[@]+"${folders[@]}"}; do
  [[ -e $folder/libcuda.so.1 ]] && exit
done
exit 1
