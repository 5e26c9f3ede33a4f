#!/bin/bash
# SPDX-License-Identifier: MIT
# What goes wrong around a recording: outputs that are full, fail, are slow or gone, limits, a full
# /run, a recorder that is stopped. It is told, what was written can be read, nothing is claimed that
# is not there, and the machine's tracing state is afterwards what it was.
#
# Usage: faults.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

. "$(dirname "$0")/tracing-lib.sh"

# What is mounted here goes with this test's mounts.
out_dir=$dir/out-dir
mkdir "$out_dir"
said() { grep -q -- "$1" "$dir/out" || { cat "$dir/out"; fail "no word of '$1'"; }; }
wait_for_word() {
	for _ in $(seq 300); do
		grep -q -- "$1" "$dir/out" && return
		sleep 0.1
	done
	cat "$dir/out"
	fail "no word of '$1'"
}
interrupt() {
	kill -INT $recorder
	ends "$1"
}
# The figure of the table that is printed at the end.
claimed() { awk -v device="$name" '$1 == device && $2 == "all" { print $3 }' "$dir/out"; }
has_events() { "$blkbox" dump -q -f '%a\n' "$1" 2>/dev/null | grep -c '^[A-Z]' || true; }

echo "== a file system that is full for a while"
mount -t tmpfs -o size=1m none "$out_dir"
head -c 900k /dev/zero >"$out_dir/ballast"
log=$out_dir/log
start --no-compress --no-flush
write 0 1500
wait_for_word "No space left.*recording goes on in memory"
write 0 500
rm "$out_dir/ballast"
mount -o remount,size=16m "$out_dir"
wait_for_word "the output takes events again"
write 0 500
interrupt 0
expect "Q with an output that was full for a while" "$(count Q)" 2500
expect "complete" "$(info 'i["complete"]')" True
"$blkbox" verify "$log" >"$dir/verify" 2>&1 || { cat "$dir/verify"; fail "verify"; }
as_before "an output that was full for a while"
umount "$out_dir"

echo "== a file system that stays full"
mount -t tmpfs -o size=1m none "$out_dir"
start --no-compress --no-flush
for _ in $(seq 40); do
	kill -0 $recorder 2>/dev/null || break
	write 0 3000
done
ends 1
said "recording goes on in memory"
said "is full: .*No space left"
[ -e "$log.part" ] || fail "nothing is kept"
status=0
"$blkbox" verify "$log.part" >"$dir/verify" 2>&1 || status=$?
expect "verify of what was written" $status 3
grep -q "cut off" "$dir/verify" || { cat "$dir/verify"; fail "it is not told that it is cut off"; }
expect "events that are claimed, and are there" "$(claimed)" "$(has_events "$log.part")"
[ "$(claimed)" -gt 1000 ] || fail "only $(claimed) events were written"
as_before "an output that stays full"

echo "== ended while the output takes nothing"
rm "$log.part"
start --no-compress --no-flush
write 0 4000
wait_for_word "recording goes on in memory"
interrupt 1
expect "events that are claimed, and are there" "$(claimed)" "$(has_events "$log.part")"
as_before "an end while the output takes nothing"
umount "$out_dir"
log=$dir/log

echo "== writes that fail for a while"
if command -v strace >/dev/null; then
	start --no-flush
	# The collector's alone: what is written at the very end cannot be tried again.
	collector=$(grep -l blkbox-collect /proc/"$recorder"/task/*/comm)
	collector=${collector%/comm}
	strace -o "$dir/strace" -e trace=writev -e inject=writev:error=EIO:when=3..6 \
		-p "${collector##*/}" 2>"$dir/strace.err" &
	reader=$!
	for _ in $(seq 100); do grep -q attached "$dir/strace.err" && break || sleep 0.1; done
	for _ in $(seq 20); do write 0 100; sleep 0.3; done
	wait_for_word "Input/output error.*recording goes on in memory"
	wait_for_word "the output takes events again"
	interrupt 0
	wait $reader || true
	reader=
	grep -q 'EIO.*INJECTED' "$dir/strace" || fail "nothing failed"
	"$blkbox" dump -q -f '%a %C %S\n' "$log" | grep '^Q' | cut -d' ' -f1,2 | sort | uniq -c
	expect "Q with writes that failed for a while" "$(count Q)" 2000
	expect "complete" "$(info 'i["complete"]')" True
	as_before "writes that failed for a while"
else
	echo "left out: no strace"
fi

echo "== an output that is slow: losses are counted, and it is told what was slow"
mkfifo "$dir/slow"
python3 -c '
import sys, time
with open(sys.argv[1], "rb", 0) as pipe, open(sys.argv[2], "wb") as out:
    end = time.monotonic() + 6
    while data := pipe.read(65536):
        out.write(data)
        if time.monotonic() < end:
            time.sleep(0.2)
' "$dir/slow" "$dir/slow.log" &
reader=$!
rm -f "$dir/out"
# Without a reader, it is refused: we are one until the recorder has it open.
exec 7<>"$dir/slow"
"$blkbox" record --source ftrace --no-compress --no-flush -b 4 -n 4 -o "$dir/slow" "$device" \
	>"$dir/out" 2>&1 7<&- &
recorder=$!
wait_for_word '^blkbox: recording'
# It opens this one behind the pipe.
for _ in $(seq 200); do [ -e "$dir/slow.log" ] && break || sleep 0.1; done
exec 7<&-
for _ in 1 2 3 4 5 6; do write 0 3000; done
interrupt 3
wait $reader
reader=
said "the output was too slow (readers waited for it"
log=$dir/slow.log
[ "$(info 'i["dropped"]')" -gt 0 ] || fail "no losses were counted"
expect "losses in windows of time" "$(info 'sum(w["count"] for w in i["loss_windows"])')" "$(info 'i["dropped"]')"
expect "entries that differ from the kernel's count" "$(info 'i["trace_buffer"]["missing_entries"]')" 0
log=$dir/log
as_before "a slow output"

echo "== a pipe that is closed"
rm -f "$dir/pipe"
mkfifo "$dir/pipe"
head -c 1000 <"$dir/pipe" >"$dir/head" &
rm -f "$dir/out"
"$blkbox" record --source ftrace --no-flush -o - "$device" 2>"$dir/out" >"$dir/pipe" &
recorder=$!
wait_for_word '^blkbox: recording'
write 0 500
ends 1
said "its reader has gone"
as_before "a closed pipe"

echo "== a log on the disk that is recorded"
if command -v mkfs.ext4 >/dev/null; then
	mkfs.ext4 -q -F "$device" 2>/dev/null
	mount "$device" "$out_dir"
	log=$out_dir/log
	start --no-compress --no-flush
	said "the log is on $name, which is recorded"
	for _ in 1 2 3; do
		dd if=/dev/zero of="$out_dir/file" bs=4k count=1000 oflag=direct 2>/dev/null
		sleep 0.6
	done
	interrupt 0
	cp "$log" "$dir/log"
	log=$dir/log
	umount "$out_dir"
	# Its threads: of the main one, and the one that writes.
	"$blkbox" dump -q -a queue -f '%a %C\n' "$log" | sort | uniq -c >"$dir/names"
	grep -q 'Q blkbox' "$dir/names" || { cat "$dir/names"; fail "the log's own writes are not by blkbox"; }
	ios() { "$blkbox" report --json "$@" "$log" 2>/dev/null | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(sum(p["ios"] for p in report["processes"] if (p["process"] or "").startswith("blkbox")),
      sum(p["ios"] for p in report["processes"] if p["process"] == "dd"))'; }
	with_own=$(ios)
	without=$(ios --no-own)
	echo "I/Os of blkbox and of dd: $with_own; without its own: $without"
	[ "${with_own% *}" -gt 0 ] && [ "${without% *}" = 0 ] || fail "--no-own"
	expect "I/Os of others" "${without#* }" "${with_own#* }"
	wipefs -q -a "$device" 2>/dev/null || true
	as_before "a log on the recorded disk"
fi

echo "== stopped for 5 s"
start --no-flush
write 0 500
kill -STOP $recorder
write 0 1000
sleep 5
kill -CONT $recorder
write 0 500
interrupt 0
expect "Q of a recorder that was stopped" "$(count Q)" 2000
expect "complete" "$(info 'i["complete"]')" True
as_before "a stopped recorder"

echo "== few descriptors"
rm -f "$log"
status=0
(ulimit -n 12; exec "$blkbox" record --source ftrace -o "$log" "$device" -- true) >"$dir/out" 2>&1 || status=$?
expect "exit status with 12 descriptors" $status 1
said "files must be open"
[ ! -e "$log" ] && [ ! -e "$log.part" ] || fail "a log is left"
as_before "few descriptors"

echo "== little memory"
works=0 refused=0
for kib in 12000 20000 30000 40000 60000 80000 120000 400000; do
	status=0
	(ulimit -v $kib; exec "$blkbox" record --source ftrace --force --no-flush -o "$log" "$device" -- true) >"$dir/out" 2>&1 ||
		status=$?
	case $status in
	0) works=$((works + 1)) ;;
	1) refused=$((refused + 1)); said "blkbox record: ." ;;
	# The loader had no room for the program.
	127) ;;
	*) cat "$dir/out"; fail "exit status $status with $kib KiB" ;;
	esac
	as_before "$kib KiB of memory"
done
[ $works -gt 0 ] && [ $refused -gt 0 ] || fail "$works worked, $refused were refused"

echo "== a full /run"
mount -t tmpfs -o size=4k none /run
head -c 4096 /dev/zero >/run/ballast 2>/dev/null || true
rm -f "$log"
status=0
"$blkbox" record --source ftrace -o "$log" "$device" -- true >"$dir/out" 2>&1 || status=$?
umount /run
expect "exit status with a full /run" $status 1
said "/run.*room"
as_before "a full /run"
echo passed
