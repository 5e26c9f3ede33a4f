# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What live tests start with that record through ftrace: two loop devices, $device and $other, and
# whether the machine's tracing state is what it was. Sourced after start-lib.sh. Sets $dir, $log.

dir=$(mktemp -d)
tracefs=/sys/kernel/tracing
device= other= recorder= reader=
clean_up() {
	for pid in $recorder $reader; do kill -KILL "$pid" 2>/dev/null || true; done
	for d in $device $other; do
		echo 0 >"/sys/block/${d#/dev/}/trace/enable" || true
		losetup -d "$d"
	done
	rm -rf "$dir"
}
trap clean_up EXIT

mountpoint -q $tracefs || mount -t tracefs tracefs $tracefs 2>/dev/null || skip "no tracefs"
grep -qw blk $tracefs/available_tracers 2>/dev/null || skip "no blk tracer, or no access to tracefs"
for _ in $(seq 300); do
	[ -e /run/blkbox/tracing ] || break
	sleep 0.2
done
[ ! -e /run/blkbox/tracing ] || skip "somebody records through ftrace"
[ "$(cat $tracefs/current_tracer)" = nop ] || skip "somebody uses ftrace"
grep -q '^entries: [^0]' $tracefs/per_cpu/cpu*/stats && skip "somebody has left entries in the trace buffer"
truncate -s 64M "$dir/image"
truncate -s 8M "$dir/image2"
device=$(losetup -f --show "$dir/image" 2>/dev/null) || skip "no loop device"
other=$(losetup -f --show "$dir/image2" 2>/dev/null) || skip "no second loop device"
name=${device#/dev/}
[ -e "/sys/block/$name/trace/enable" ] || skip "the kernel has no block tracing"
log=$dir/log

# Everything that a recording changes. A buffer that nobody has used shows "7 (expanded: 1408)",
# and is 1408 from the first use on; sizes are whole pages.
state() {
	local file
	for file in current_tracer trace_clock options/overwrite options/context-info buffer_percent \
		saved_cmdlines_size tracing_on tracing_cpumask events/enable; do
		echo "$file $(cat $tracefs/$file)"
	done
	for file in $tracefs/per_cpu/cpu*/buffer_size_kb; do
		echo "$file $(sed 's/.*expanded: \([0-9]*\).*/\1/' "$file" |
			awk '{ print int(($1 * 1024 + 4079) / 4080) " pages" }')"
	done
	for file in /sys/block/"$name"/trace/* /sys/block/"${other#/dev/}"/trace/*; do
		echo "$file $(cat "$file")"
	done
	for file in tracing "$(cat "/sys/block/$name/dev")" "$(cat "/sys/block/${other#/dev/}/dev")"; do
		[ ! -e "/run/blkbox/$file" ] || echo "/run/blkbox/$file"
	done
}
state >"$dir/before"
# At once, unless somebody else records just now: that is waited for.
as_before() {
	for _ in $(seq 60); do
		state >"$dir/after"
		diff "$dir/before" "$dir/after" >"$dir/difference" && return
		[ -e /run/blkbox/tracing ] && [ $(($(pgrep -cx blkbox))) -gt 0 ] || break
		sleep 0.5
	done
	cat "$dir/difference"
	fail "the tracing state differs after $1"
}


# start [OPTION...]: in the background, until it records.
start() {
	rm -f "$dir/out"
	"$blkbox" record --source ftrace --force -o "$log" "$@" "$device" >"$dir/out" 2>&1 &
	recorder=$!
	for _ in $(seq 200); do
		grep -qs '^blkbox: recording' "$dir/out" && return
		sleep 0.1
	done
	cat "$dir/out"
	fail "the recorder does not start"
}
# One number of `blkbox info --json`: a Python expression on i.
info() {
	{ "$blkbox" info --json "$log" 2>/dev/null || true; } |
		python3 -c 'import json, sys; i = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}
expect() { [ "$2" = "$3" ] || { cat "$dir/out"; fail "$1: $2, not $3"; }; }
count() { "$blkbox" dump -q -f '%a\n' "$log" 2>/dev/null | grep -cx "$1" || true; }
write() { taskset -c "$1" dd if=/dev/zero of="$device" bs=4k count="$2" oflag=direct 2>/dev/null; }
# ends STATUS: the recorder does, by itself, with it.
ends() {
	local status=0
	wait "$recorder" || status=$?
	recorder=
	expect "exit status" $status "$1"
}
