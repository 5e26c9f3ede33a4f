#!/bin/bash
# The merged stream on standard output: soon there, in order of time, complete, and fit for blkparse.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
no_merges "$dev"
read -ra words < <(old_protocol; echo)
mkfifo raw to-blkparse
python3 "$vm_lib/records.py" tap lag <raw | tee stream >to-blkparse &
tap=$!
blkparse -q -i - -f '%a\n' <to-blkparse >parsed &
parser=$!
env --default-signal=INT "$BLKBOX" record -o - "${words[@]}" "/dev/$dev" >raw 2>live.err &
recorder=$!
wait_for 20 record_runs live
# Little, so that no buffer fills by itself: 10 reads, 4 records each.
dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=10 status=none
sleep 2
early=$(stat -c %s stream)
echo "after 2 s: $early bytes"
((early >= 30 * 48)) || fail 'the events do not come while the recorder runs'
run_fio "$dev" 600
record_end live INT 0
wait "$tap" "$parser"
ios=$((10 + $(fio_ios "fio-$dev.json")))
cat lag
median=$(sed -n 's/^median_ms=//p' lag)
((median <= 1000)) || fail "half of the records took more than $median ms"
expect_eq 'bytes of cut records' 0 "$(sed -n 's/^cut=//p' lag)"
# The time of each record is not before that of the one in front of it.
python3 "$vm_lib/records.py" order stream >order || fail 'the stream is not in order of time'
expect_eq 'completions' "completions=$ios" "$(grep '^completions=' order)"
expect_eq 'missing sequence numbers' gaps=0 "$(grep '^gaps=' order)"
expect_eq 'completions that blkparse sees' "$ios" "$(grep -cx C parsed)"
expect_no_trace "$dev"
