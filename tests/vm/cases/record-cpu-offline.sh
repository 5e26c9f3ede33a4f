#!/bin/bash
# CPUs that go offline and come back, under load and before the start: what happened on them is recorded.
# vm: smp=4
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
need taskset

online() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online" || fail "CPU $1 cannot be switched"; }
trap 'online 2 1; online 3 1' EXIT

dev=$(vm_null_blk)
no_merges "$dev"

# check NAME: the log has all of it.
check() {
    export_raw "$1.blkbox" "$1"
    count_records "$1/$dev"
    expect_eq 'completions' "$ios" "${found[completions]}"
    expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
    expect_eq 'sequence numbers that go back' 0 "${found[backwards]}"
    export_old "$1.blkbox" "$1-old"
    parse_actions "$1-old/$dev"
    expect_eq 'completions that blkparse sees' "$ios" "$(parsed C)"
    expect_no_trace "$dev"
}

before=$(device_ios "$dev")
record_start during -o during.blkbox "/dev/$dev"
run_fio "$dev" 1500 --numjobs=3 &
load=$!
for cpu in 3 2; do
    # Something that it has logged before it goes.
    taskset -c "$cpu" dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=20 status=none
    online "$cpu" 0
    sleep 0.3
done
online 3 1
taskset -c 3 dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=30 status=none
wait "$load"
record_end during INT 0
ios=$(($(device_ios "$dev") - before))
echo "CPU 2 is still offline; $ios I/Os"
check during

before=$(device_ios "$dev")
record_start late -o late.blkbox "/dev/$dev"
[[ ! -e $(trace_dir "$dev")/trace2 ]] || fail 'the offline CPU has a channel'
taskset -c 0 dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=20 status=none
online 2 1
taskset -c 2 dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=200 status=none
sleep 1
record_end late INT 0
ios=$(($(device_ios "$dev") - before))
check late
[[ ,${found[cpus]}, == *,2,* ]] || fail "nothing of CPU 2: ${found[cpus]}"

# One that comes back right before the end, when nobody has looked for new channels since.
online 2 0
before=$(device_ios "$dev")
record_start last -o last.blkbox "/dev/$dev"
online 2 1
taskset -c 2 dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=50 status=none
record_end last INT 0
ios=$(($(device_ios "$dev") - before))
check last
