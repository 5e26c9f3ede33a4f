#!/bin/bash
# Outputs that fail: the recording ends at once, nothing is left behind, and what was written can be read.
# vm: timeout=420
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
load() { dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count="$1" status=none; }

# A pipe whose reader has enough.
mkfifo pipe
head -c 4096 <pipe >head.out &
env --default-signal=INT "$BLKBOX" record -o - "/dev/$dev" >pipe 2>pipe.err &
recorder=$!
wait_for 10 record_runs pipe
load 2000
record_ended pipe 1
expect_no_trace "$dev"

# A file system that fills up.
mkdir full
mount -t tmpfs -o size=256k none full
record_start full --no-compress -b 4 -n 64 -o full/full.blkbox "/dev/$dev"
# Slowly, so that several blocks are written before the one that does not fit.
for _ in {1..12}; do
    load 400
    sleep 0.6
done
grep -q 'No space left.*recording goes on in memory' full.err || fail 'nobody tells that the output is full'
record_end full INT 1
! grep -q 'buffers were too small' full.err || fail 'advice that cannot help'
expect_no_trace "$dev"
part=$(echo full/*)
[[ -s $part ]] || fail "nothing is left of what was written: $part"
status=0
"$BLKBOX" verify "$part" >verify.out 2>&1 || status=$?
cat verify.out
expect_eq 'exit status of verify' 3 "$status"
grep -q 'cut off' verify.out || fail 'verify does not tell that it was cut off'
export_log 3 "$part" full-raw
count_records "full-raw/$dev"
# What is claimed is what is there.
expect_eq 'events of the table' "${found[events]}" "$(awk -v dev="$dev" '$1 == dev && $2 == "all" { print $3 }' full.err)"
((found[events] > 200)) || fail "only ${found[events]} events can be read from $part"
umount full

# Every write fails.
record_run dev-full 1 --force -o /dev/full "/dev/$dev" -- dd "if=/dev/$dev" of=/dev/null iflag=direct count=100 status=none
[[ -c /dev/full ]] || fail '/dev/full was replaced'
expect_no_trace "$dev"

# What is there is not overwritten, and nothing is traced.
echo precious >there.blkbox
record_run there 1 -o there.blkbox "/dev/$dev" -- touch command-ran
grep -q 'there.blkbox' there.err || fail 'the sentence does not name the file'
expect_eq 'the file that was there' precious "$(<there.blkbox)"
[[ ! -e command-ran ]] || fail 'the command was run'
record_run forced 0 --force -o there.blkbox "/dev/$dev" -- dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=10 status=none
export_raw there.blkbox there-raw

# Directories.
record_run missing 1 -o no/such/dir/x.blkbox "/dev/$dev" -- true
grep -q 'no/such/dir' missing.err || fail 'the sentence does not name the file'
record_run made 0 -D new/dir "/dev/$dev" -- true
[[ -s new/dir/$dev.blkbox ]] || fail 'no log in the new directory'
record_run made 0 -D new/dir -o again.blkbox "/dev/$dev" -- true
[[ -s new/dir/again.blkbox ]] || fail 'no log in the directory that is there'
touch file
record_run no-dir 1 -D file/dir "/dev/$dev" -- true
mkdir directory.blkbox
record_run is-dir 1 -o directory.blkbox "/dev/$dev" -- true
expect_no_trace "$dev"
