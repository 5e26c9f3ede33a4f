#!/bin/bash
# Protocol v2: operations of zones have the letters that the kernel's own tracepoints print, and every action has some.
# vm: timeout=300 kernels=7
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
need blkzone

dev=$(vm_zoned_null_blk memory_backed=1 zone_nr_conv=2 irqmode=2 completion_nsec=2000000)
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
instance=/sys/kernel/tracing/instances/letters
mkdir "$instance"
echo 1 >"$instance/events/block/block_bio_queue/enable"

cat >workload <<WORK
set -e
zone=\$((16 * 2048))
blkzone reset /dev/$dev
blkzone open -o \$((2 * zone)) -c 1 /dev/$dev
dd if=/dev/zero of=/dev/$dev bs=64k seek=512 count=16 oflag=direct conv=notrunc status=none
blkzone close -o \$((2 * zone)) -c 1 /dev/$dev
blkzone finish -o \$((2 * zone)) -c 1 /dev/$dev
blkzone reset -o \$((2 * zone)) -c 1 /dev/$dev
# More than one write to a zone at a time: they are plugged.
fio --name=job --filename=/dev/$dev --zonemode=zbd --rw=write --bs=64k --direct=1 --ioengine=libaio --iodepth=16 \\
    --offset=48m --size=16m --output=/dev/null
WORK
record_run zones 0 -o zones.blkbox "/dev/$dev" -- bash workload
echo 0 >"$instance/events/block/block_bio_queue/enable"
# "dd-123 [000] d..1. 9.9: block_bio_queue: 252,0 ZRS 65536 + 0 [blkzone]"
number=$(tr : , <"/sys/block/$dev/dev")
grep -o "block_bio_queue: $number .* \[" "$instance/trace" | awk '{ print $3, $4, $6 }' | sort >of-kernel
rmdir "$instance"

"$BLKBOX" dump -q --action Q -f '%d %S %n\n' zones.blkbox | sort >ours
uniq -c <ours | sort -rn | sed '21,$d'
diff of-kernel ours || fail 'the kernel prints other letters'
for letters in ZRA ZR ZO ZC ZF; do grep -q "^$letters" ours || fail "no $letters in the workload"; done
"$BLKBOX" dump -q -f '%a\n' zones.blkbox | sort | uniq -c | tee actions
! grep -qE '[0-9]$' actions || fail 'an action without letters'
grep -q ' ZP$' actions || fail 'no plugged zone'
# What v1 cannot say is told, and blkparse reads the rest.
export_old zones.blkbox old
parse_actions "old/$dev"
expect_eq 'completions that blkparse sees' "$("$BLKBOX" dump -q --action C zones.blkbox | wc -l)" "$(parsed C)"
"$BLKBOX" dump --legend >legend
for letters in ZP ZU ZA WZ; do grep -q "^  $letters " legend || fail "the legend has no $letters"; done
