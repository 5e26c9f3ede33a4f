#!/bin/bash
# SPDX-License-Identifier: MIT
# taskio on loop devices of the running kernel, recorded meanwhile; and killed at any moment: no file,
# process, mount or loop device is left, and the machine's tracing state is what it was.
#
# Usage: [LIVE_KILLS=100] taskio.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

dir=$(mktemp -d)
tracefs=/sys/kernel/tracing
process=
clean_up() {
	[ -z "$process" ] || kill -KILL "$process" 2>/dev/null || true
	rm -rf "$dir"
}
trap clean_up EXIT

# A name of its own, so that what it leaves behind is told from other people's blkbox.
program=$dir/taskio-$$
cp "$blkbox" "$program"
work=$dir/work
mkdir "$work"

processes() { find /proc -mindepth 2 -maxdepth 2 -name exe -lname "$program*" 2>/dev/null || true; }
loops() { losetup -n -O NAME,BACK-FILE | grep -F "$work" || true; }
left() {
	processes
	ls -A "$work"
	loops
}
# nothing_is_left WHEN
nothing_is_left() {
	for _ in $(seq 50); do
		[ -n "$(left)" ] || return 0
		sleep 0.1
	done
	left
	fail "this is left $1"
}

# Killed after up to a little more than it takes: random, but the same every time.
RANDOM=7
kill_at_random() {
	local limit_ms=$1 ms
	shift
	"$program" taskio --temp-dir "$work" -o "$work/out" "$@" >/dev/null 2>&1 &
	process=$!
	ms=$((RANDOM % limit_ms))
	sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
	if kill -KILL "$process" 2>/dev/null; then killed=$((killed + 1)); fi
	wait "$process" 2>/dev/null || true
	process=
	# What is whole has its name; half of one has none.
	if [ -e "$work/out" ]; then
		python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/out" || fail "half a document"
		rm "$work/out"
	fi
}

echo "== killed at random moments"
# How long one takes depends on what else the machine does: it is measured now and then. Those that
# ended before they were killed do not count.
measure() {
	local start
	start=$(date +%s%N)
	"$program" taskio --temp-dir "$work" "$@" >/dev/null
	took_ms=$((($(date +%s%N) - start) / 1000000))
}
killed=0 round=0
while [ "$killed" -lt ${LIVE_KILLS:-100} ]; do
	[ "$round" -lt 400 ] || fail "only $killed of $round were killed"
	[ $((round % 10)) -ne 0 ] || measure --suite extended --repetitions 1 --mib 2
	round=$((round + 1))
	kill_at_random "$took_ms" --suite extended --repetitions 1 --mib 2
	nothing_is_left "after round $round"
done
echo "$killed of $round were killed on the way, each within $took_ms ms"

mountpoint -q $tracefs || mount -t tracefs tracefs $tracefs 2>/dev/null || skip "the rest: no tracefs"
grep -qw blk $tracefs/available_tracers 2>/dev/null || skip "the rest: no blk tracer"
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null ||
	skip "the rest: no debugfs"
for _ in $(seq 300); do
	[ -e /run/blkbox/tracing ] || break
	sleep 0.2
done
[ "$(cat $tracefs/current_tracer)" = nop ] || skip "the rest: somebody uses ftrace"
[ -e /dev/loop-control ] || skip "the rest: no loop devices"
command -v mkfs.ext4 >/dev/null || skip "the rest: no mkfs.ext4"

state() {
	local file
	for file in current_tracer trace_clock options/overwrite options/context-info tracing_on events/enable; do
		echo "$file $(cat $tracefs/$file)"
	done
	ls /run/blkbox 2>/dev/null || true
	# Of loop devices that nobody has: others may use theirs meanwhile.
	for file in /sys/block/loop*/trace/enable; do
		[ -e "${file%/trace/enable}/loop/backing_file" ] || echo "$file $(cat "$file")"
	done
}

echo "== device truth"
"$program" taskio --suite extended --repetitions 2 --mib 2 --temp-dir "$work" --device-truth \
	-o "$dir/document" || fail "device truth"
nothing_is_left "after device truth"
python3 - "$dir/document" <<'PY'
import json, sys
document = json.load(open(sys.argv[1]))
size = document["parameters"]["payloadBytes"]
truth = document["deviceTruth"]
bad = []
def expect(condition, *words):
    if not condition:
        bad.append(words)
expect(truth["complete"] and truth["dropped"] == 0 and truth["events"] > 100, truth["complete"], truth["events"])
expect(document["schemaVersion"] == 2)
for found in truth["experiments"]:
    name, device, owners = found["experiment"], found["device"], found["owners"]
    if found["accounted"] is None:
        reasons = {found[key + "_reason"] for key in ("device", "read_factor", "write_factor")}
        expect(reasons == {"not made here"} and device is None and owners == [], name, found)
        expect(name == "cgroup_io" or name == "io_uring_write", name)
        continue
    for key, value in device.items():
        expect(value == sum(owner[key] for owner in owners), name, key)
    expect(device["queued_write_bytes"] == device["completed_write_bytes"], name, device)
    expect(device["queued_read_bytes"] == device["completed_read_bytes"], name, device)
    roles = {owner["role"] for owner in owners}
    accounted = found["accounted"]
    # What is thrown away never gets to the device; all else does.
    written = accounted["write_bytes"] - accounted["cancelled_write_bytes"]
    expect(device["completed_write_bytes"] >= written, name, device, accounted)
    expect(device["completed_write_bytes"] <= written + size // 4, name, device, accounted)
    expect(device["completed_read_bytes"] == accounted["read_bytes"], name, device, accounted)
    factor = device["completed_write_bytes"] / written if written else None
    expect((found["write_factor"] is None) == (not written), name, found)
    expect(factor is None or abs(found["write_factor"] - factor) < 1e-3, name, found["write_factor"], factor)
    expect((found["write_factor_reason"] is None) == bool(written), name, found)
    expect(written or not accounted["write_bytes"] or "cancelled" in found["write_factor_reason"], name, found)
    if name in ("direct_read", "direct_write"):
        mine = sum(o["completed_read_bytes" if name == "direct_read" else "completed_write_bytes"]
                   for o in owners if o["role"] == "worker")
        expect(mine == size, name, mine)
    if name == "fsync_write":
        mine = sum(o["completed_write_bytes"] for o in owners if o["role"] == "worker")
        expect(mine >= size, name, mine, roles)
for words in bad:
    print(*words)
sys.exit(bool(bad))
PY
"$program" taskio --repetitions 1 --mib 1 --temp-dir "$work" --device-truth --table >"$dir/table"
grep -q 'DEVICE WRITE' "$dir/table" || fail "the table lacks the device"
nothing_is_left "after the table"

state >"$dir/before"
same_state() {
	for _ in $(seq 100); do
		state >"$dir/after"
		cmp -s "$dir/before" "$dir/after" && return 0
		sleep 0.1
	done
	diff "$dir/before" "$dir/after" || fail "the tracing state differs $1"
}

# Notes of the state are written aside and renamed: each time, the recorder dies in between.
# (Not its guardian: strace does not follow it.)
echo "== killed between a note and its name"
command -v strace >/dev/null || skip "the rest: no strace"
for when in 1 2 3 5 8; do
	strace -o "$dir/strace" -e trace=renameat -e inject=renameat:signal=KILL:when=$when \
		"$program" taskio --repetitions 1 --mib 1 --device-truth --temp-dir "$work" -o "$work/out" \
		>/dev/null 2>&1 && fail "not killed at note $when"
	nothing_is_left "after note $when"
	same_state "after note $when"
done
# And before each thing that it removes itself, of which the notes are the last.
for when in $(seq 30); do
	rm -f "$work/out"
	strace -o "$dir/strace" -e trace=unlinkat -e inject=unlinkat:signal=KILL:when=$when \
		"$program" taskio --repetitions 1 --mib 1 --device-truth --temp-dir "$work" -o "$work/out" \
		>/dev/null 2>&1 && break
	nothing_is_left "after removal $when"
	same_state "after removal $when"
done
[ "$when" -gt 5 ] || fail "only $when removals"
rm -f "$work/out"

echo "== killed at random moments, while it records"
killed=0 round=0
while [ "$killed" -lt 12 ]; do
	[ "$round" -lt 48 ] || fail "only $killed of $round were killed"
	[ $((round % 4)) -ne 0 ] || measure --repetitions 1 --mib 1 --device-truth
	round=$((round + 1))
	kill_at_random "$took_ms" --repetitions 1 --mib 1 --device-truth
	nothing_is_left "after round $round with device truth"
	same_state "after round $round"
done
echo "12 of $round were killed on the way, each within $took_ms ms"
