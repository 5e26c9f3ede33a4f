#!/bin/bash
# SPDX-License-Identifier: MIT
# Records a loop device of the running kernel through ftrace: nothing is missing, what is lost is
# counted, and the machine's tracing state is afterwards what it was.
#
# Usage: ftrace.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

. "$(dirname "$0")/tracing-lib.sh"

try_record() { "$blkbox" record --source ftrace --force -o "$log" "$@" >"$dir/out" 2>&1; }
record() { try_record "$@" || { cat "$dir/out"; fail "record $*"; }; }
ios() { awk '{ print $1 + $5 + $12 + $16 }' "/sys/block/$name/stat"; }
last_cpu=$(($(nproc --all) - 1))
[ -e /sys/devices/system/cpu/cpu$last_cpu ] || last_cpu=0

echo "== completions are the I/Os that were done, times rise, names are right"
export device
before=$(ios)
record "$device" -- bash -ec "$(declare -f write); write 0 1500; write $last_cpu 500"
done_ios=$(($(ios) - before))
expect "writes" "$(count Q)" 2000
expect "completions" "$(count C)" "$done_ios"
expect "losses" "$(info 'i["dropped"]')" 0
expect "whole" "$(info 'i["complete"]')" True
expect "entries that differ from the kernel's count" "$(info 'i["trace_buffer"]["missing_entries"]')" 0
expect "names of Q" "$("$blkbox" dump -q -f '%a %C\n' "$log" | grep '^Q ' | sort -u)" "Q dd"
as_before "a recording"
"$blkbox" export --force -o "$dir/set" "$log" 2>"$dir/out" || fail "export: $(cat "$dir/out")"
python3 - "$dir"/set.blktrace.* <<'PYTHON' || fail "the records"
import struct, sys
n = 0
for path in sys.argv[1:]:
    data, at, last, cpu, sequence = open(path, "rb").read(), 0, 0, int(path.rsplit(".", 1)[1]), 0
    while at < len(data):
        magic, seq, time = struct.unpack_from("<IIQ", data, at)
        v2 = magic == 0x65617408
        assert v2 or magic == 0x65617407, (path, at, hex(magic))
        where, size = struct.unpack_from("<I", data, at + (44 if v2 else 40))[0], 64 if v2 else 48
        length, = struct.unpack_from("<H", data, at + (50 if v2 else 46))
        assert where == cpu, (path, at, where)
        assert time >= last, (path, at, time, last)
        action, = struct.unpack_from("<Q", data, at + 32) if v2 else struct.unpack_from("<I", data, at + 28)
        if not action >> 16 & 0x400:  # a note has no number
            sequence += 1
            n += 1
            assert seq == sequence, (path, at, seq, sequence)
        at, last = at + size + length, time
assert n >= 2000 * 4, n
PYTHON
if command -v blkparse >/dev/null && [ "$(info 'i["protocol"]')" = 1 ]; then
	expect "names of Q, as blkparse sees them" \
		"$(cd "$dir" && blkparse -q -i set -f '%a %C\n' | grep '^Q ' | sort -u)" "Q dd"
fi

echo "== what a small buffer loses is counted exactly"
# Completions alone: how often an I/O is plugged and unplugged depends on what else runs.
start -a complete -b 4 -n 2
write 0 2000
# A reader that does not come in time.
kill -STOP $recorder
write 0 2000
kill -CONT $recorder
sleep 1
kill -INT $recorder
status=0
wait $recorder || status=$?
recorder=
dropped=$(info 'i["dropped"]')
[ "$dropped" -gt 0 ] || fail "nothing was lost with a buffer of two pages and a reader that sleeps"
# The kernel does not tell whose the lost ones are: all of them are ours if nobody else traces.
if [ "$(info 'len(i["trace_buffer"]["foreign"])')" = 0 ]; then
	expect "recorded + lost" $(($(info 'i["events"]') + dropped)) 4000
else
	echo "somebody else traces: recorded + lost was not compared"
fi
expect "losses in windows of time" "$(info 'sum(w["count"] for w in i["loss_windows"])')" "$dropped"
expect "entries that differ from the kernel's count" "$(info 'i["trace_buffer"]["missing_entries"]')" 0
expect "exit status with losses" $status 3
as_before "a recording with losses"

echo "== others in the buffer are told, and left out"
record "$device" -- bash -ec "$(declare -f write)
	echo 1 >/sys/block/${other#/dev/}/trace/enable
	write 0 10; device=$other write 0 20
	echo hello >$tracefs/trace_marker
	echo 0 >/sys/block/${other#/dev/}/trace/enable"
expect "own writes" "$(count Q)" 10
expect "foreign devices" "$(info 'len(i["trace_buffer"]["foreign"])')" 1
[ "$(info 'i["trace_buffer"]["foreign"][0]["events"]')" -ge 60 ] || fail "foreign events"
expect "other entries" "$(info 'i["trace_buffer"]["other_entries"]')" 1
as_before "a shared buffer"

echo "== two devices, and filters"
record "$device" "$other" -- bash -ec "$(declare -f write); write 0 30; device=$other write 0 40"
expect "Q of two devices" "$(count Q)" 70
expect "devices" "$(info '[d["name"] for d in i["devices"]]')" "['$name', '${other#/dev/}']"
record -a complete "$device" -- bash -ec "$(declare -f write); write 0 30"
expect "actions with -a complete" "$("$blkbox" dump -q -f '%a\n' "$log" | sort | uniq -c | xargs)" "30 C"
record --sectors 80-159 "$device" -- bash -ec "$(declare -f write); write 0 30"
# Sector 0 passes every range: the kernel takes it for "none".
expect "Q with --sectors" "$(count Q)" 11
record -w 100ms --pid 1 "$device"
expect "events of a thread that does nothing" "$(info 'i["events"]')" 0
as_before "filters"

echo "== every way out leaves the state as it was"
for signal in INT TERM HUP; do
	start
	write 0 100
	kill -$signal $recorder
	wait $recorder || fail "exit status $? after SIG$signal"
	recorder=
	expect "Q before SIG$signal" "$(count Q)" 100
	as_before "SIG$signal"
done
if "$blkbox" record --source ftrace -o /dev/full "$device" -- \
	bash -ec "$(declare -f write); write 0 20000" >"$dir/out" 2>&1; then
	fail "an output that is full is no failure"
fi
as_before "a failing output"
try_record "$device" -- /does/not/exist && fail "a command that is not there"
as_before "a failing command"
start
kill -KILL $recorder
wait $recorder 2>/dev/null || true
recorder=
# Its guardian comes to know of it by itself.
for _ in $(seq 50); do [ -e "/run/blkbox/$(cat "/sys/block/$name/dev")" ] && sleep 0.1 || break; done
as_before "SIGKILL"
record "$device" -- bash -ec "$(declare -f write); write 0 100"
expect "Q after a recorder that was killed" "$(count Q)" 100
rm -f "$log.part"
as_before "one more recording"

echo "== what somebody else does to the buffer, or to a filter, is told"
# Each takes events away; none leaves anything to see half a second later.
for what in "$tracefs/trace" "/sys/block/$name/trace/act_mask" "/sys/block/$name/trace/end_lba" \
	"$tracefs/tracing_on"; do
	start
	write 0 100
	case $what in
	*/tracing_on) echo 0 >"$what"; echo 1 >"$what" ;;
	*/act_mask) echo 8000 >"$what" ;;
	*/end_lba) echo 1 >"$what" ;;
	*) : >"$what" ;;
	esac
	status=0
	wait $recorder || status=$?
	recorder=
	expect "exit status after a write to $what" $status 3
	grep -q "somebody else.*${what##*/}" "$dir/out" || { cat "$dir/out"; fail "no word of $what"; }
	expect "complete after a write to $what" "$(info 'i["complete"]')" False
	as_before "a write to $what"
done

echo "== of two that start at once, one records"
for round in 1 2 3; do
	"$blkbox" record --source ftrace --force -o "$log.1" -w 300ms "$device" >"$dir/out.1" 2>&1 &
	first=$!
	"$blkbox" record --source ftrace --force -o "$log.2" -w 300ms "$other" >"$dir/out.2" 2>&1 &
	second=$!
	statuses=
	for pid in $first $second; do
		status=0
		wait $pid || status=$?
		statuses="$statuses $status"
	done
	case $statuses in
	" 0 1" | " 1 0") ;;
	*) cat "$dir/out.1" "$dir/out.2"; fail "statuses$statuses" ;;
	esac
	cat "$dir/out.1" "$dir/out.2" | grep -q "records through ftrace already" || {
		cat "$dir/out.1" "$dir/out.2"
		fail "the one that was refused does not hear why"
	}
	as_before "two that start at once, round $round"
done

echo "== a guardian that is stopped holds nobody up"
start
guardian=$(pgrep -x blkbox-guard -n)
kill -STOP "$guardian"
kill -INT $recorder
for _ in $(seq 100); do kill -0 $recorder 2>/dev/null || break; sleep 0.1; done
kill -CONT "$guardian"
kill -0 $recorder 2>/dev/null && fail "the recorder waits for its guardian"
wait $recorder || fail "exit status $? with a guardian that is stopped"
recorder=
as_before "a stopped guardian"

echo "== a reader that does not read holds nobody up"
mkfifo "$dir/pipe"
sleep 300 <"$dir/pipe" &
reader=$!
"$blkbox" record --source ftrace --no-flush -o - "$device" 2>"$dir/out" >"$dir/pipe" &
recorder=$!
for _ in $(seq 200); do grep -qs '^blkbox: recording' "$dir/out" && break || sleep 0.1; done
write 0 2000
kill -INT $recorder
sleep 1
kill -0 $recorder || fail "2000 writes went into a pipe of 64 KiB"
kill -INT $recorder
for _ in $(seq 100); do kill -0 $recorder 2>/dev/null || break; sleep 0.1; done
kill -0 $recorder 2>/dev/null && fail "the recorder waits for a reader that does not read"
wait $recorder || true
recorder=
kill $reader
wait $reader 2>/dev/null || true
reader=
for _ in $(seq 50); do [ -e /run/blkbox/tracing ] && sleep 0.1 || break; done
as_before "a reader that does not read"

echo "== nobody is pushed aside"
# refused WORD WHAT: by a sentence with WORD.
refused() {
	if try_record "$device" -- true; then fail "recorded in spite of $2"; fi
	grep -q -- "$1" "$dir/out" || { cat "$dir/out"; fail "$2: the sentence lacks '$1'"; }
}
echo blk >$tracefs/current_tracer
refused "'blk'" "a tracer"
echo nop >$tracefs/current_tracer
event=$(cd $tracefs/events && ls -d block/block_rq_issue sched/sched_switch 2>/dev/null | head -n 1)
if [ -n "$event" ]; then
	echo 1 >"$tracefs/events/$event/enable"
	refused "${event#*/}" "trace events"
	echo 0 >"$tracefs/events/$event/enable"
	echo >$tracefs/trace
fi
echo unread >$tracefs/trace_marker
refused "1 entries" "an entry that nobody has read"
echo >$tracefs/trace
cat $tracefs/trace_pipe >/dev/null &
reader=$!
for _ in $(seq 50); do
	ls -l /proc/$reader/fd 2>/dev/null | grep -q trace_pipe && break || sleep 0.1
done
refused "cat (process $reader)" "a reader"
kill $reader
wait $reader 2>/dev/null || true
reader=
echo "== who reads the buffer when a recording ends keeps its tracer, for a while"
start
cat $tracefs/trace_pipe >/dev/null &
reader=$!
for _ in $(seq 50); do
	ls -l /proc/$reader/fd 2>/dev/null | grep -q trace_pipe && break || sleep 0.1
done
kill -INT $recorder
if wait $recorder; then fail "a tracer that cannot be put back is no failure"; fi
recorder=
grep -q "cat (process $reader).*put back when that is over" "$dir/out" || {
	cat "$dir/out"
	fail "nobody says who keeps the tracer"
}
"$blkbox" status 2>&1 >/dev/null | grep -q "settings are as a recorder left them" || fail "status does not tell"
kill $reader
wait $reader 2>/dev/null || true
reader=
for _ in $(seq 50); do [ -e /run/blkbox/tracing ] && sleep 0.1 || break; done
as_before "a reader at the end"

echo 1 >"/sys/block/$name/trace/enable"
refused "$name is being traced" "a trace of the device"
echo 0 >"/sys/block/$name/trace/enable"
as_before "refusals"
echo passed
