#!/bin/bash
# SPDX-License-Identifier: MIT
# status, stop and check against traces that others made on a loop device of the running kernel.
#
# Usage: traces.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

dir=$(mktemp -d)
device=
maker=
clean_up() {
	[ -z "$maker" ] || kill "$maker" 2>/dev/null || true
	[ -z "$device" ] || echo 0 >"/sys/block/${device#/dev/}/trace/enable" || true
	[ -z "$device" ] || losetup -d "$device"
	umount "$dir/debugfs" 2>/dev/null || true
	rm -rf "$dir"
}
trap clean_up EXIT

truncate -s 1M "$dir/image"
device=$(losetup -f --show "$dir/image" 2>/dev/null) || skip "no loop device"
name=${device#/dev/}
enable=/sys/block/$name/trace/enable
[ -e "$enable" ] || skip "the kernel has no block tracing"
mkdir "$dir/debugfs"
mount -t debugfs debugfs "$dir/debugfs" 2>/dev/null || skip "no debugfs"

# The field FIELD of our device's trace; "-" if it has none.
field() {
	"$blkbox" status --json "$device" | python3 -c '
import json, sys
traces = json.load(sys.stdin)["traces"]
print(traces[0][sys.argv[1]] if traces else "-")' "$1"
}
expect() { [ "$(field "$1")" = "$2" ] || fail "$1 is $(field "$1"), not $2"; }
# "yes" or "NO": need NEED, as check sees it.
need() { "$blkbox" check "$device" | sed -n "s/^$1  *$name  *\([a-zA-Z]*\) .*/\1/p"; }

expect device -
[ "$(need 'no other trace')" = yes ] || fail "check sees a trace that is none"
"$blkbox" stop "$device" 2>/dev/null || fail "stop without a trace"

echo 1 >"$enable"
expect device "$name"
expect owner_state none
[ "$(need 'no other trace')" = NO ] || fail "check does not see the trace of sysfs"
"$blkbox" status | grep -q "^$name  *[0-9:]*  *sysfs  *none" || fail "status as text"
"$blkbox" stop "$name" 2>/dev/null || fail "stop of a trace of sysfs"
[ "$(cat "$enable")" = 0 ] || fail "the trace is still there"
expect device -

# A recorder that has its files open, and then dies without tearing down.
python3 - "$device" "$dir/debugfs/block/$name/dropped" "$dir/ready" <<'PYTHON' &
import fcntl, os, struct, sys, time
with open("/proc/self/comm", "w") as name:
    name.write("\033]0;x\007) R")
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
fcntl.ioctl(fd, 0xC0481273, bytearray(struct.pack("32sH2xII4xQQI4x", b"", 0, 4096, 2, 0, 0, 0)))
fcntl.ioctl(fd, 0x1274)
dropped = open(sys.argv[2])
open(sys.argv[3], "w").close()
time.sleep(30)
PYTHON
maker=$!
for _ in $(seq 100); do
	[ -e "$dir/ready" ] && break
	sleep 0.1
done
[ -e "$dir/ready" ] || fail "no trace was made"
dd if=/dev/zero of="$device" bs=4k count=200 oflag=direct status=none
expect kind relay
expect owner_state alive
expect pid "$maker"
expect dropped "$(cat "$dir/debugfs/block/$name/dropped")"
[ "$(field dropped)" -gt 0 ] || fail "8 KiB of buffers held 200 writes"
"$blkbox" stop "$device" 2>"$dir/message" && fail "the trace of a living owner was ended"
# Its name is meant for a terminal that believes it.
{
	cat "$dir/message"
	"$blkbox" status
	"$blkbox" check "$device"
	"$blkbox" record -o "$dir/log" "$device" -- true
	"$blkbox" record --source relay -o "$dir/log" "$device" -- true
} >"$dir/said" 2>&1 || true
[ "$(grep -c 'x1b\]0;x' "$dir/said")" -ge 3 ] || fail "the owner's name is not told: $(cat "$dir/said")"
[ -z "$(tr -d '\n -~' <"$dir/said")" ] || fail "a name reaches the terminal as it is"
grep -q "kill -INT $maker" "$dir/message" || fail "the owner is not named: $(cat "$dir/message")"
expect owner_state alive

kill -KILL "$maker"
wait "$maker" 2>/dev/null || true
maker=
expect owner_state none
"$blkbox" stop "$device" 2>/dev/null || fail "stop of a trace that was left behind"
expect device -
[ ! -e "$dir/debugfs/block/$name/dropped" ] || fail "the trace's files are still there"
echo "ok"
