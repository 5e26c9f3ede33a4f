#!/bin/bash
# A recorder that is killed outright: its guardian ends the trace and finishes the log. Killed with its
# guardian: told, taken over when asked for, and the trace of somebody else is left alone.
# vm: timeout=420
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
record_start killed --no-compress -b 4 -n 64 -o killed.blkbox "/dev/$dev"
dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=500 status=none
sleep 1.5
# Its owner lives: hands off.
status=0
"$BLKBOX" stop "/dev/$dev" 2>stop.err || status=$?
expect_eq 'exit status of stop, while the owner lives' 1 "$status"
grep -q "$recorder" stop.err || fail "no word of the owner: $(<stop.err)"
has_trace "$dev" || fail 'the trace was ended all the same'
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
sleep 1
expect_no_trace "$dev"
expect_no_status
# Its guardian has finished the log, with what the recorder had not read.
[[ -e killed.blkbox && ! -e killed.blkbox.part ]] || fail "the log: $(ls)"
expect_eq 'how it ended' killed "$(info killed.blkbox 'd["end_reason"]')"
export_log 3 killed.blkbox raw
count_records "raw/$dev"
expect_eq 'completions' 500 "${found[completions]}"
expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
record_run again 0 -o again.blkbox "/dev/$dev" -- true

# guardian_of DEV: as its note says.
guardian_of() { sed -n 's/^guardian_pid=//p' "/run/blkbox/$(<"/sys/block/$1/dev")"; }

# Killed together with its guardian.
other=$(vm_null_blk)
record_start orphan --no-compress -b 4 -n 64 -o orphan.blkbox "/dev/$dev" "/dev/$other"
dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=300 status=none
dd "if=/dev/$other" of=/dev/null iflag=direct bs=4k count=200 status=none
# What the recorder has read is written within a second.
sleep 1.5
guardian=$(guardian_of "$dev")
kill -STOP "$guardian"
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
kill -9 "$guardian"
sleep 0.5
has_trace "$dev" || fail 'who ended the trace?'
"$BLKBOX" status "/dev/$dev" >status.out
grep -q "orphan *($recorder)" status.out || fail 'status does not know the orphan'
record_run refused 1 -o refused.blkbox "/dev/$dev" -- true
grep -q "process $recorder.*--takeover" refused.err || fail 'the sentence does not tell of the orphan'
has_trace "$dev" || fail 'the orphan was touched'
record_run taken 0 --takeover -o taken.blkbox "/dev/$dev" -- true
grep -q 'took over' taken.err || fail 'nobody tells of the takeover'
expect_no_trace "$dev" "$other"
expect_no_status
export_log 3 orphan.blkbox orphan-raw
count_records "orphan-raw/$dev"
expect_eq 'completions of one' 300 "${found[completions]}"
expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
count_records "orphan-raw/$other"
expect_eq 'completions of the other' 200 "${found[completions]}"

# stop does the same, and leaves alone what somebody else has made in its place.
record_start again-orphan -o stopped.blkbox "/dev/$dev"
guardian=$(guardian_of "$dev")
kill -STOP "$guardian"
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
kill -9 "$guardian"
trace_ioctl teardown "$dev"
trace_ioctl setup "$dev"
! "$BLKBOX" record --takeover -o no.blkbox "/dev/$dev" -- true || fail 'the trace of somebody else was taken over'
has_trace "$dev" || fail 'the trace of somebody else is gone'
trace_ioctl teardown "$dev"
"$BLKBOX" stop "/dev/$dev"
[[ ! -e /run/blkbox ]] || fail "notes are left: $(ls /run/blkbox)"

# The recorder dies before it has seen that its trace is another's by now.
record_start replaced -o replaced.blkbox "/dev/$dev"
kill -STOP "$recorder"
trace_ioctl teardown "$dev"
trace_ioctl setup "$dev"
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
sleep 1
has_trace "$dev" || fail 'the guardian ended the trace of somebody else'
trace_ioctl teardown "$dev"
expect_no_trace "$dev"
