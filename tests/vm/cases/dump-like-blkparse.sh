#!/bin/bash
# What dump prints of a fresh recording is what blkparse prints, line for line and count for count; btt and fio take it.
# vm: timeout=500
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
# shellcheck disable=SC2034 # the library reads it
blkbox=$BLKBOX work=$VM_TMP
# shellcheck source=../../golden/like-blkparse.sh
source "$(dirname "$0")/../../golden/like-blkparse.sh"
need addpart btt taskset blkdiscard

null=$(vm_null_blk memory_backed=1 discard=1 submit_queues=2 size=256 max_sectors=256)
disk=$(vm_scsi_debug lbpu=1 lbpws=1 dev_size_mb=128)
cache_type=(/sys/block/"$disk"/device/scsi_disk/*/cache_type)
echo 'write back' >"${cache_type[0]}"
addpart "/dev/$disk" 1 2048 102400
wait_for 5 test -b "/dev/${disk}1" || fail 'no partition'

# Two CPUs; plugs, merges and splits; remaps of a partition; read-ahead and write-back; flushes, FUA, discards, zeroes.
cat >workload <<WORK
set -e
for cpu in 0 1; do
    taskset -c \$cpu fio --name=job --filename=/dev/$null --rw=randrw --bsrange=4k-256k --direct=1 --ioengine=libaio \\
        --iodepth=16 --iodepth_batch_submit=8 --number_ios=300 --size=64m --offset=\${cpu}00m --output=/dev/null &
done
wait
taskset -c 0 fio --name=job --filename=/dev/${disk}1 --rw=randwrite --bs=4k --direct=1 --ioengine=psync --sync=dsync \\
    --number_ios=60 --size=16m --output=/dev/null
taskset -c 1 dd if=/dev/zero of=/dev/${disk}1 bs=64k count=64 conv=fsync status=none
echo 3 >/proc/sys/vm/drop_caches
taskset -c 0 dd if=/dev/${disk}1 of=/dev/null bs=64k count=64 status=none
blkdiscard -o 1M -l 4M /dev/$null
blkdiscard -o 8M -l 2M /dev/${disk}1
blkdiscard -z -o 12M -l 1M /dev/${disk}1
WORK
record_run mixed 0 -o mixed.blkbox "/dev/$null" "/dev/$disk" -- bash workload
export_old mixed.blkbox old

set=$PWD/old notes=$without_notes
for base in "$PWD/old/$null" "$PWD/old/$disk"; do
    compare "$base" --
    compare "$base" -- -q -A 2 -w 0.1:1
    compare "$base" -- -q -f '%a %c %d %D %M %m %n %N %p %s %S %T %t %%\n'
done
compare "$PWD/old/$null" "$PWD/old/$disk" --
((bad == 0)) || fail 'dump and blkparse differ'
expect_eq 'comparisons with blkparse' 7 "$compared"

# The log itself, in the kernel's own protocol. v1 has no words for write-zeroes: they are plain writes in it.
"$BLKBOX" dump mixed.blkbox >of-log-as-it-is
sed -E 's/  WZ /   W /; s/ WZS /  WS /; s/ WZFS / WFS /' of-log-as-it-is >of-log
"$BLKBOX" dump "old/$null" "old/$disk" >of-files
diff of-log of-files | sed '21,$d' || true
cmp of-log of-files || fail 'the log and its files differ'
"$BLKBOX" dump -q -f '%a\n' mixed.blkbox | sort | uniq -c
for needed in ' Q +D' ' A +WS? ' ' P +N' ' X +' ' D +FN' ' [QD] +WFS' ' M '; do
    grep -qE "$needed" of-log || fail "the workload has no $needed"
done
! has_v2 || grep -q ' WZ' of-log-as-it-is || fail 'no write-zeroes'
[[ $(cut -c 9-10 of-log | grep -E '^ [01]' | sort -u | wc -l) -ge 2 ]] || fail 'not two CPUs'

# btt counts the same requests with data (the parts of a split as Qs, too), and fio replays what was queued.
status=0
"$BLKBOX" export --merged --protocol 1 --device "$null" -o merged mixed.blkbox || status=$?
expect_eq 'exit status of the merged export' 0 "$status"
shown() { "$BLKBOX" dump merged -q --size 1- "$@" | wc -l; }
btt -i merged -o btt >/dev/null || fail 'btt'
expect_eq 'D of btt' "$(shown --action D)" \
    "$(awk '/Device Merge Information/ { found = 1 } found && /^ \(/ { print $5; exit }' btt.avg)"
fio --name=replay --read_iolog=merged --ioengine=null --replay_no_stall=1 --replay_redirect=/dev/null --output-format=json \
    --output=replay.json
expect_eq 'I/Os that fio replays' "$(shown --action Q)" "$(python3 -c '
import json
text = open("replay.json").read()
job = json.loads(text[text.index("{"):])["jobs"][0]
print(sum(job[way]["total_ios"] for way in ("read", "write", "trim")))')"
