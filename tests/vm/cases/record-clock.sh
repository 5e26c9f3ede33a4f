#!/bin/bash
# The wall clock is set forth and back while we record: times of events and lengths do not care.
# vm: timeout=200
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
no_merges "$dev"
record_start clock -o clock.blkbox "/dev/$dev"
for step in '+1 hour' '-3 hours' '+2 hours'; do
    dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=200 status=none
    date -s "$step" >/dev/null
    sleep 1
done
record_end clock INT 0
"$BLKBOX" verify clock.blkbox || fail 'the log is not whole'
export_raw clock.blkbox raw
count_records "raw/$dev"
expect_eq 'completions' 600 "${found[completions]}"
expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
expect_eq 'sequence numbers that go back' 0 "${found[backwards]}"
seconds=$(info clock.blkbox 'round(d["duration_ns"] / 1e9)')
((seconds >= 3 && seconds < 60)) || fail "the recording took $seconds s"
# The times of events, in order, within that.
"$BLKBOX" dump -q -f '%5T.%9t\n' clock.blkbox >times
sort -c -n times || fail 'times go back'
awk -v most="$((seconds + 1))" '$1 > most { exit 1 }' times || fail 'times are longer than the recording'
