#!/bin/bash
# What the command leaves dirty is written out before the end, and so recorded; not with --no-flush.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
# The page cache holds it back for longer than this takes.
echo 60000 >/proc/sys/vm/dirty_writeback_centisecs
trap 'echo 500 >/proc/sys/vm/dirty_writeback_centisecs' EXIT
dirty() { dd if=/dev/zero "of=/dev/$dev" bs=4k count=200 conv=nocreat,notrunc status=none; }
bytes=$((200 * 4096))

record_start flush -o flush.blkbox "/dev/$dev"
dirty
record_end flush INT 0
export_raw flush.blkbox raw
count_records "raw/$dev"
expect_eq 'bytes written' "$bytes" "${found[written_bytes]}"

record_run command 0 -o command.blkbox "/dev/$dev" -- dd if=/dev/zero "of=/dev/$dev" bs=4k count=200 conv=nocreat,notrunc status=none
export_raw command.blkbox raw-command
count_records "raw-command/$dev"
expect_eq 'bytes written with a command' "$bytes" "${found[written_bytes]}"

record_start no-flush --no-flush -o no-flush.blkbox "/dev/$dev"
dirty
record_end no-flush INT 0
export_raw no-flush.blkbox raw-no
count_records "raw-no/$dev"
expect_eq 'bytes written with --no-flush' 0 "${found[written_bytes]}"
expect_no_trace "$dev"
