#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorders that are killed, with and without their guardians: within a second no trace is left and
# the machine's tracing state is what it was, the log can be read, and the next recording works.
#
# Usage: [LIVE_KILLS=200] killed.sh BLKBOX LIBRARY
# LIBRARY: library.c, which records by way of the public library.
set -eu

library=$2
. "$(dirname "$0")/start-lib.sh"

. "$(dirname "$0")/tracing-lib.sh"

kills=${LIVE_KILLS:-5}
note=/run/blkbox/$(cat "/sys/block/$name/dev")
noted() { sed -n "s/^$1=//p" "$note" 2>/dev/null || true; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }

longest_ms=0
# A second, if there are no more to run than processors: else it is shared.
second_ms() { awk -v cpus="$(nproc)" '{ print int(1000 * ($1 > cpus ? $1 / cpus : 1)) }' /proc/loadavg; }
# Somebody else may record from now on: that is none of ours.
another_records() {
	local pid
	pid=$(awk '$1 == "owner" { print $3 }' /run/blkbox/tracing 2>/dev/null) || return 1
	[ -n "$pid" ] && [ -e "/proc/$pid" ]
}
is_clean() {
	[ ! -e "$note" ] && [ "$(cat "/sys/block/$name/trace/enable")" = 0 ] && {
		another_records ||
			[ ! -e /run/blkbox/tracing ] && [ "$(cat $tracefs/current_tracer)" = nop ]
	}
}
# clean_within_a_second WHEN: from now on.
clean_within_a_second() {
	local start took
	start=$(now_ms)
	until is_clean; do
		[ $(($(now_ms) - start)) -lt 10000 ] || break
		sleep 0.01
	done
	took=$(($(now_ms) - start))
	[ $took -le $longest_ms ] || longest_ms=$took
	[ $took -le "$(second_ms)" ] || fail "cleaned up after $took ms: $1"
	"$blkbox" status "$device" >"$dir/status" 2>&1 || fail "status fails $1"
	[ "$(cat "$dir/status")" = "no traces" ] || { cat "$dir/status"; fail "status is not empty $1"; }
	as_before "$1"
}
# can_be_read WHEN: what there is of a log has no damage.
can_be_read() {
	local file status
	# The guardian finishes it when the traces are gone.
	for _ in $(seq 200); do
		pgrep -x blkbox-guard >/dev/null || break
		sleep 0.01
	done
	for file in "$log" "$log.part"; do
		# One that has just been made is empty.
		[ -s "$file" ] || continue
		status=0
		"$blkbox" verify "$file" >"$dir/verify" 2>&1 || status=$?
		[ $status = 0 ] || [ $status = 3 ] || { cat "$dir/verify"; fail "verify of $file: $status $1"; }
		! grep -q damage "$dir/verify" || { cat "$dir/verify"; fail "$file is damaged $1"; }
		"$blkbox" dump "$file" >/dev/null 2>&1 || [ $? = 3 ] || fail "dump of $file $1"
	done
}
# has_all N WHAT: the log has that many Q, or says that entries are missing: what the recorder had read
# and not written yet, which died with it.
has_all() {
	local queued missing
	queued=$(count Q)
	missing=$(info 'i["trace_buffer"]["missing_entries"]')
	echo "$2: $queued of $1 writes, $missing entries are told to be missing"
	if [ "$missing" -eq 0 ]; then
		expect "Q of $2" "$queued" "$1"
	else
		[ "$queued" -lt "$1" ] || fail "$2: no write is missing, but $missing entries are"
	fi
}
next_works() {
	"$blkbox" record --source ftrace --force --no-flush -o "$dir/next" "$device" -- true >"$dir/out" 2>&1 ||
		{ cat "$dir/out"; fail "the next recording $1"; }
	rm -f "$dir/next" "$log" "$log.part"
}

echo "== the guardian finishes the log, with what was left in the kernel"
start --no-flush
# Less than wakes a reader: it is in the kernel's buffer only.
write 0 300
kill -KILL $recorder
wait $recorder 2>/dev/null || true
recorder=
clean_within_a_second "after SIGKILL"
can_be_read "after SIGKILL"
[ -e "$log" ] && [ ! -e "$log.part" ] || fail "the log has no name"
has_all 300 "a killed recorder"
expect "reason" "$(info 'i["end_reason"]')" killed
expect "complete" "$(info 'i["complete"]')" False
next_works "after SIGKILL"

echo "== a guardian that is killed is noticed, and another one takes its place"
start --no-flush
first=$(noted guardian_pid)
kill -KILL "$first"
for _ in $(seq 50); do
	second=$(noted guardian_pid)
	[ "$second" != "$first" ] && break
	sleep 0.1
done
[ "$second" != "$first" ] || fail "no other guardian"
grep -q "guardian.*was ended.*process $second" "$dir/out" || { cat "$dir/out"; fail "nobody tells of the guardian"; }
write 0 100
kill -KILL $recorder
wait $recorder 2>/dev/null || true
recorder=
clean_within_a_second "with the second guardian"
can_be_read "with the second guardian"
has_all 100 "with the second guardian"
next_works "with the second guardian"

# orphan: recorder and guardian are killed before either can know.
orphan() {
	start --no-flush
	write 0 "$1"
	left=$recorder
	guardian=$(noted guardian_pid)
	kill -STOP "$guardian"
	kill -KILL $recorder
	wait $recorder 2>/dev/null || true
	recorder=
	kill -KILL "$guardian"
	for _ in $(seq 100); do kill -0 "$guardian" 2>/dev/null && sleep 0.01 || break; done
}

echo "== both killed: told, taken over only when asked for"
orphan 200
"$blkbox" status "$device" >"$dir/status" 2>&1
grep -q "orphan *($left)" "$dir/status" || { cat "$dir/status"; fail "status does not know the orphan"; }
"$blkbox" status --json "$device" 2>/dev/null | python3 -c '
import json, sys
trace, = json.load(sys.stdin)["traces"]
assert trace["left_by_pid"] == int(sys.argv[1]), trace
assert trace["left_log"] == sys.argv[2], trace' "$left" "$log.part" || fail "status --json"
status=0
"$blkbox" record --source ftrace -o "$dir/next" "$device" -- true >"$dir/out" 2>&1 || status=$?
expect "exit status with an orphan in the way" $status 1
grep -q "process $left.*--takeover" "$dir/out" || { cat "$dir/out"; fail "record does not tell of the orphan"; }
[ "$(cat $tracefs/current_tracer)" = blk ] || fail "the orphan was touched"
"$blkbox" record --takeover --source ftrace --no-flush -o "$dir/next" "$device" -- true >"$dir/out" 2>&1 ||
	{ cat "$dir/out"; fail "record --takeover"; }
grep -q "took over.*process $left.*$log" "$dir/out" || { cat "$dir/out"; fail "nobody tells of the takeover"; }
has_all 200 "an orphan"
expect "reason" "$(info 'i["end_reason"]')" killed
clean_within_a_second "after a takeover"
can_be_read "after a takeover"
next_works "after a takeover"

echo "== programs that use the library are told, and can take over"
orphan 100
status=0
"$library" "$device" >"$dir/out" || status=$?
expect "exit status of a program with an orphan in the way" $status 1
grep -q "^failed: .*process $left" "$dir/out" || { cat "$dir/out"; fail "the library does not tell of the orphan"; }
"$library" "$device" takeover >"$dir/out" || { cat "$dir/out"; fail "the library does not take over"; }
grep -q "^news: .*took over.*process $left" "$dir/out" || { cat "$dir/out"; fail "no news of the takeover"; }
has_all 100 "an orphan that a program took over"
clean_within_a_second "after a program's takeover"
next_works "after a program's takeover"

echo "== stop ends an orphan, and finishes its log"
orphan 100
"$blkbox" stop "$device" >"$dir/out" 2>&1 || { cat "$dir/out"; fail "stop"; }
has_all 100 "a stopped orphan"
clean_within_a_second "after stop"
next_works "after stop"

echo "== notes of an earlier start of the machine"
mkdir -p /run/blkbox
printf 'device=sdz\nboot_id=0-0\npid=1\nstart_ticks=1\nprotocol=1\nsource=relay\n' >/run/blkbox/8:400
"$blkbox" status >"$dir/status" 2>&1 || fail "status"
grep -q 'older than the last start' "$dir/status" || { cat "$dir/status"; fail "nobody tells of the old note"; }
[ ! -e /run/blkbox/8:400 ] || fail "the old note stays"

RANDOM=11
# pause_ms MAX: a random time.
pause_ms() { sleep "0.$(printf %03d $((RANDOM * ${1:-1} / 32768)))"; }
# kill_in PHASE: a new recorder, at a random moment of it. Fails if it had ended before.
kill_in() {
	"$blkbox" record --source ftrace --force --no-flush -o "$log" "$device" >"$dir/out" 2>&1 &
	recorder=$!
	if [ "$1" = set-up ]; then
		pause_ms $setup_ms
	else
		until grep -qs '^blkbox: recording' "$dir/out"; do
			kill -0 $recorder || { cat "$dir/out"; fail "the recorder does not start"; }
			sleep 0.01
		done
		write 0 $((RANDOM % 400))
		[ "$1" = recording ] && pause_ms 200 || { kill -INT $recorder; pause_ms $stop_ms; }
	fi
	kill -KILL $recorder 2>/dev/null || true
	local status=0
	wait $recorder 2>/dev/null || status=$?
	recorder=
	[ $status = 137 ]
}

start_ms=$(now_ms)
start --no-flush
setup_ms=$(($(now_ms) - start_ms + 20))
start_ms=$(now_ms)
kill -INT $recorder
wait $recorder || fail "a recording"
recorder=
stop_ms=$(($(now_ms) - start_ms + 5))
next_works "for the measure"
for phase in set-up recording stopping; do
	killed=0 round=0 longest_ms=0
	while [ $killed -lt "$kills" ]; do
		round=$((round + 1))
		[ $round -le $((kills * 6 + 20)) ] || fail "only $killed of $round were killed in $phase"
		if kill_in $phase; then killed=$((killed + 1)); fi
		clean_within_a_second "after kill $round in $phase"
		can_be_read "after kill $round in $phase"
		next_works "after kill $round in $phase"
	done
	echo "== $killed of $round were killed in $phase (set-up $setup_ms ms, stopping $stop_ms ms); cleaned up within $longest_ms ms"
done
echo passed
