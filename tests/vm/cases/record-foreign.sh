#!/bin/bash
# Others that meddle: who ends our trace, makes one of his own, or switches the blk tracer on.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
other=$(vm_null_blk)
tracer=/sys/kernel/tracing/current_tracer
[[ -e $tracer ]] || skip 'no tracefs'

# Our trace is ended: we notice, and keep what we had.
record_start ended -b 4 -n 64 -o ended.blkbox "/dev/$dev"
dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=500 status=none
sleep 1
trace_ioctl teardown "$dev"
record_ended ended 3
grep -q "somebody else ended the trace of $dev" ended.err || fail 'the report does not tell it'
export_log 3 ended.blkbox raw || true
count_records "raw/$dev"
((found[completions] >= 450)) || fail "only ${found[completions]} completions of 500"
expect_no_trace "$dev"

# The new trace of somebody else survives our end, whether we have noticed or not.
for pause in 0 2; do
    record_start foreign -o "foreign-$pause.blkbox" "/dev/$dev"
    trace_ioctl teardown "$dev"
    trace_ioctl setup "$dev"
    sleep "$pause"
    # It may have ended by itself already.
    kill -INT "$recorder" 2>/dev/null || true
    record_ended foreign 3
    dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=10 status=none
    has_trace "$dev" || fail 'the trace of somebody else was ended'
    # EINVAL if it had been stopped.
    trace_ioctl stop "$dev" || fail 'the trace of somebody else was stopped'
    [[ $(stat -c %s "$(trace_dir "$dev")"/trace* | paste -sd+ | bc) -gt 0 ]] || fail 'it has recorded nothing'
    trace_ioctl teardown "$dev"
done
expect_no_trace "$dev"

# One of two devices: the other goes on.
record_start two -o two.blkbox "/dev/$dev" "/dev/$other"
trace_ioctl teardown "$dev"
sleep 2
kill -INT "$recorder" 2>/dev/null || true
record_ended two 3
expect_no_trace "$dev" "$other"

# The blk tracer takes the events of all traces.
record_start tracer -o tracer.blkbox "/dev/$dev"
echo blk >"$tracer"
sleep 2
kill -INT "$recorder" 2>/dev/null || true
record_ended tracer 3
expect_eq 'the tracer of somebody else' blk "$(<"$tracer")"
grep -q "tracer" tracer.err || fail 'the report does not tell it'
record_run refused 1 --source relay -o refused.blkbox "/dev/$dev" -- true
grep -q "tracer" refused.err || fail 'the sentence does not tell why'
[[ ! -e refused.blkbox && ! -e refused.blkbox.part ]] || fail 'a log of a refused recording is left behind'
echo nop >"$tracer"
expect_no_trace "$dev"
