#!/bin/bash
# A recorder that is killed outright leaves a trace behind: told, cleared, and what it wrote can be read.
# vm: timeout=300
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
if has_trace "$dev"; then
    "$BLKBOX" status "/dev/$dev"
    record_run busy 1 -o busy.blkbox "/dev/$dev" -- true
    grep -q 'blkbox stop' busy.err || fail 'the sentence does not tell how to clear it'
    "$BLKBOX" stop "/dev/$dev" || fail 'stop does not clear it'
fi
expect_no_trace "$dev"
expect_no_status
[[ -e killed.blkbox.part && ! -e killed.blkbox ]] || fail "the log: $(ls)"
export_log 3 killed.blkbox.part raw
count_records "raw/$dev"
((found[completions] >= 400)) || fail "only ${found[completions]} completions of 500 can be read"
expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
record_run again 0 -o again.blkbox "/dev/$dev" -- true
