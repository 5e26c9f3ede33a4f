#!/bin/bash
# Devices that go away while they are recorded.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

# some_reads NAME: I/O that fills small sub-buffers, which the recorder fetches at once.
some_reads() {
    dd "if=/dev/$1" of=/dev/null iflag=direct bs=4k count=500 status=none
    sleep 1
}

# One of two: the other goes on.
gone=$(vm_scsi_debug)
stays=$(vm_null_blk)
record_start two -b 4 -n 64 -o two.blkbox "/dev/$gone" "/dev/$stays"
some_reads "$gone"
echo 1 >"/sys/block/$gone/device/delete"
sleep 2
run_fio "$stays" 500
kill -0 "$recorder" || fail 'the recording of the other device ended as well'
record_end two INT 3
grep -q "$gone was removed" two.err || fail 'the report does not tell that the device was removed'
export_log 0 two.blkbox raw || true
count_records "raw/$stays"
expect_eq 'completions of the device that stays' "$(fio_ios "fio-$stays.json")" "${found[completions]}"
expect_eq 'its missing sequence numbers' 0 "${found[gaps]}"
count_records "raw/$gone"
# What lay in an unfinished sub-buffer went with the device: at most 4 KiB for each CPU.
((found[completions] >= 450)) || fail "only ${found[completions]} completions of 500 from before the removal"
expect_eq 'missing sequence numbers of the device that went' 0 "${found[gaps]}"
expect_no_trace "$stays"

# The only one: the recording ends by itself.
record_start one -b 4 -n 64 -o one.blkbox "/dev/$stays"
some_reads "$stays"
vm_null_blk_remove "$stays"
record_ended one 3
grep -q "$stays was removed" one.err || fail 'the report does not tell that the device was removed'
export_log 0 one.blkbox raw-one || true
count_records "raw-one/$stays"
((found[completions] >= 450)) || fail "only ${found[completions]} completions of 500 from before the removal"

# With a command, which must not be left behind or waited for in vain.
dev=$(vm_null_blk)
(
    wait_for 10 has_trace "$dev"
    sleep 1
    vm_null_blk_remove "$dev"
) &
record_run command 3 -o command.blkbox "/dev/$dev" -- sleep 4
grep -q "$dev was removed" command.err || fail 'the report does not tell that the device was removed'

# A loop device is detached when the recorder closes it, not before.
dev=$(vm_loop 64M)
record_start loop -o loop.blkbox "/dev/$dev"
vm_loop_remove "$dev"
run_fio "$dev" 200
record_end loop INT 0
export_raw loop.blkbox raw-loop
count_records "raw-loop/$dev"
ios=$(fio_ios "fio-$dev.json")
((found[completions] >= ios)) || fail "completions: expected $ios, found ${found[completions]}"
wait_for 5 test ! -e "/sys/block/$dev/loop" || fail 'the loop device stays'
! has_trace "$dev" || fail 'a trace is left behind'
