#!/bin/bash
# SPDX-License-Identifier: MIT
# What `record -- COMMAND` owes to the command: its status, its signals, its standard output.
#
# Usage: command.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

dir=$(mktemp -d)
device=
clean_up() {
	[ -z "$device" ] || losetup -d "$device"
	rm -rf "$dir"
}
trap clean_up EXIT
tracefs=/sys/kernel/tracing
mountpoint -q $tracefs || mount -t tracefs tracefs $tracefs 2>/dev/null || skip "no tracefs"
truncate -s 8M "$dir/image"
device=$(losetup -f --show "$dir/image" 2>/dev/null) || skip "no loop device"
# A trace outlives the detaching of a loop device: one of an earlier user may still be there.
echo 0 >"/sys/block/${device#/dev/}/trace/enable" 2>/dev/null || true
"$blkbox" check "$device" >/dev/null || skip "nobody may trace here"
passed=0

# expect STATUS ARG...: `record` with these ends with that status.
expect() {
	local want=$1 status=0
	shift
	rm -f "$dir/log"
	timeout 60 env --default-signal=INT,TERM "$blkbox" record -o "$dir/log" "$device" "$@" \
		>"$dir/out" 2>"$dir/err" || status=$?
	[ $status = "$want" ] || fail "record $*: status $status, not $want: $(cat "$dir/err")"
	passed=$((passed + 1))
}
# expect_signals STATUS SECONDS SIGNAL N ARG...: the same, N signals after some time.
expect_signals() {
	local want=$1 seconds=$2 signal=$3 n=$4 status=0 recorder
	shift 4
	rm -f "$dir/log"
	env --default-signal=INT,TERM "$blkbox" record -o "$dir/log" "$device" "$@" \
		>"$dir/out" 2>"$dir/err" &
	recorder=$!
	sleep "$seconds"
	for _ in $(seq "$n"); do
		kill "-$signal" $recorder || fail "record $* had ended: $(cat "$dir/err")"
		sleep 0.3
	done
	for _ in $(seq 300); do
		kill -0 $recorder 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL $recorder 2>/dev/null || true
	wait $recorder || status=$?
	[ $status = "$want" ] || fail "record $*: status $status, not $want: $(cat "$dir/err")"
	passed=$((passed + 1))
}

expect 0 -- true
expect 7 -- sh -c 'exit 7'
expect 137 -- sh -c 'kill -KILL $$'
"$blkbox" verify "$dir/log" >/dev/null || fail "the log of a killed command is not whole"
expect 0 -w 0.5 -- sleep 2
expect 1 -- "$dir/no-such-command"
[ ! -e "$dir/log" ] || fail "a log of a command that could not be run"

# A signal is handed on, also after -w; a second one waits for nobody.
expect_signals 143 1 TERM 1 -- sleep 30
expect_signals 143 2 TERM 1 -w 0.5 -- sleep 30
expect_signals 143 1 TERM 2 -- sh -c 'trap "" TERM; sleep 3 & wait; sleep 3'
"$blkbox" verify "$dir/log" >/dev/null || fail "the log of an interrupted command is not whole"

# The command's own output is not in the stream of records.
"$blkbox" record -o - "$device" -- sh -c "echo text; dd if=$device of=/dev/null bs=4k count=1 iflag=direct" \
	>"$dir/stream" 2>"$dir/err" || fail "record -o -: $(cat "$dir/err")"
grep -q '^text$' "$dir/err" || fail "the command's output is lost"
! grep -q text "$dir/stream" || fail "the command's output is among the records"
[ -s "$dir/stream" ] || fail "no records"
[ "$(cat "/sys/block/${device#/dev/}/trace/enable")" = 0 ] || fail "a trace is left behind"
echo "$passed passed, 0 failed"
