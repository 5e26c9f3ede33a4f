#!/bin/bash
# SPDX-License-Identifier: MIT
# The sampler on the running kernel: delay accounting, threads, children, names, signals, files.
#
# Usage: stall.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
dd if=/dev/zero of="$dir/probe" bs=4k count=1 oflag=direct status=none 2>/dev/null ||
	skip "$dir is on no disk that takes direct I/O"
python3 "$here/stall.py" "$(realpath "$blkbox")" "$dir" || fail "see above"
