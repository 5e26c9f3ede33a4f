#!/bin/bash
# The harness itself: a known recorder must count what a known workload did, in a guest with this machine's programs.
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
need blktrace blkparse fio python3

dev=$(vm_null_blk)
# Protocol v1 loses nothing of plain reads and writes, not even on kernels that have v2.
blktrace -d "/dev/$dev" -o trace -b 512 -n 8 >blktrace.out 2>&1 &
tracer=$!
traced() { [[ -e /sys/kernel/debug/block/$dev/trace0 ]]; }
wait_for 10 traced || fail "blktrace did not start: $(<blktrace.out)"

fio --name=job --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=psync --numjobs=2 --number_ios=1000 \
    --size=256m --group_reporting --output-format=json --output=fio.json
kill -INT "$tracer"
wait "$tracer" || fail "blktrace: $(<blktrace.out)"
cat blktrace.out

expect_eq 'dropped events' 0 "$(awk '/dropped/ { sub(/^.*dropped/, ""); n += $1 } END { print n + 0 }' blktrace.out)"
# The action is field 6 of blkparse's default line; messages and notes have none.
blkparse -q -i trace -f '%a\n' >actions
expect_eq 'completions' "$(fio_ios fio.json)" "$(grep -cx C actions)"
expect_eq 'issues' "$(fio_ios fio.json)" "$(grep -cx D actions)"
