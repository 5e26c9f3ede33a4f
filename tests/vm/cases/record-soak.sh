#!/bin/bash
# A device under full load for a long time, with CPUs that come and go, devices that are removed, and
# signals at random: every I/O is recorded or counted as lost, nothing grows, the kernel does not complain.
# VM_SOAK_SECONDS: how long (60); VM_SOAK_SEED: another course of things.
# vm: long
# vm: smp=4
# vm: timeout=240 extra=VM_SOAK_SECONDS
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

seconds=${VM_SOAK_SECONDS:-60}
RANDOM=${VM_SOAK_SEED:-8}
# Of the level "error" and above; what was under way on a device that was removed may fail.
kernel_errors() { dmesg -l emerg,alert,crit,err | grep -vE 'I/O error' || true; }
kernel_errors >errors.before

# --- what goes on around ------------------------------------------------------------------------------------------------

long=$(vm_null_blk)
main=$(vm_null_blk)
no_merges "$long"
no_merges "$main"

# As fast as it goes, but this script comes first: an emulated machine has no time to spare.
load() { # NAME [ARG...]
    exec nice -n 19 fio --name="$1" "--filename=/dev/$1" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=16 \
        --thread --size=64m --time_based --runtime=$((seconds * 10 + 600)) --output=/dev/null "${@:2}"
}
online() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online" 2>/dev/null || true; }
hotplug() {
    trap 'online 2 1; online 3 1; exit 0' TERM
    while :; do
        online $((2 + RANDOM % 2)) $((RANDOM % 2))
        sleep "0.$((RANDOM % 9 + 1))"
    done
}
is_untraced() { ! has_trace "$1"; }
# A task that is stopped does no I/O; what it had begun, null_blk has done at once.
quiet() { kill -STOP "$1"; sleep 0.5; }

# --- one recording for all of the time --------------------------------------------------------------------------------------

load "$long" & long_load=$!
sleep 1
quiet $long_load
long_before=$(device_ios "$long")
# All of the log goes nowhere: what it is made of is counted all the same.
record_start long -a complete -o /dev/null "/dev/$long"
long_recorder=$recorder
kill -CONT $long_load
load "$main" & main_load=$!
hotplug & plugger=$!

descriptors() { find "/proc/$long_recorder/fd" -mindepth 1 2>/dev/null | wc -l; }
status_of() { awk -v key="$1:" '$1 == key { print $2 }' "/proc/$long_recorder/status"; }

# --- rounds ------------------------------------------------------------------------------------------------------------------

# Whatever ends this early: what the recorders said.
told() {
    status=$?
    ((status == 0)) || tail -n 20 round.err long.err || true
}
trap told EXIT

end=$((SECONDS + seconds)) round=0 ended=0 killed=0 removed=0 recorded=0 lost=0 paused=0
threads=0 fds=0 first_kib=0 most_kib=0

# Every completion of the main device is in the log, or was counted as lost.
check_whole() {
    local status=0 events dropped
    "$BLKBOX" verify round.blkbox >verify.out 2>&1 || { cat verify.out; fail "round $round: the log is not whole"; }
    events=$(info round.blkbox "[v for v in d['devices'] if v['name'] == '$main'][0]['events']")
    dropped=$(info round.blkbox "[v for v in d['devices'] if v['name'] == '$main'][0]['dropped']")
    ((events + dropped == ios)) || fail "round $round: $events recorded and $dropped lost of $ios I/Os"
    recorded=$((recorded + events)) lost=$((lost + dropped))
}

one_round() {
    local extra ios_before ending
    extra=$(vm_null_blk)
    quiet $main_load
    ios_before=$(device_ios "$main")
    record_start round --force --no-flush -a complete -b 64 -n 8 -o round.blkbox "/dev/$main" "/dev/$extra"
    kill -CONT $main_load
    dd "if=/dev/$extra" of=/dev/null iflag=direct bs=4k count=$((RANDOM % 200)) status=none
    for _ in 1 2 3; do
        sleep "0.$((RANDOM % 9))"
        kill -0 "$recorder" 2>/dev/null || fail "round $round: the recorder has ended"
        case $((RANDOM % 5)) in
            0) kill -STOP "$recorder"; sleep "0.$((RANDOM % 9 + 1))"; kill -CONT "$recorder"; paused=$((paused + 1)) ;;
            1) kill -WINCH "$recorder" ;;
            2) kill -CONT "$recorder" ;;
            3) [[ ! -e /sys/block/$extra ]] || { vm_null_blk_remove "$extra"; removed=$((removed + 1)); } ;;
        esac
    done
    kill -0 "$recorder" 2>/dev/null || fail "round $round: the recorder has ended"
    quiet $main_load
    ios=$(($(device_ios "$main") - ios_before))
    ending=$((RANDOM % 5))
    if ((ending == 0)); then
        kill -KILL "$recorder"
        wait "$recorder" 2>/dev/null || true
        killed=$((killed + 1))
        wait_for 30 is_untraced "$main" || fail "round $round: a trace is left"
        # Its guardian finishes the log.
        wait_for 10 test -e round.blkbox || fail "round $round: no log of a killed recorder: $(ls)"
        "$BLKBOX" verify round.blkbox >verify.out 2>&1 || true
        ! grep -q damage verify.out || { cat verify.out; fail "round $round: a damaged log"; }
    else
        kill "-$(set -- INT TERM HUP INT; shift $((ending - 1)); echo "$1")" "$recorder"
        wait "$recorder" || true
        ended=$((ended + 1))
        check_whole
    fi
    [[ ! -e /sys/block/$extra ]] || vm_null_blk_remove "$extra"
    rm -f round.blkbox round.blkbox.part
}

# After all CPUs have been seen once, nothing of the long recording grows.
measure() {
    local now_fds now_threads now_kib
    kill -0 "$long_recorder" 2>/dev/null || { cat long.err; fail 'the long recording has ended'; }
    now_fds=$(descriptors) now_threads=$(status_of Threads) now_kib=$(status_of VmRSS)
    ((round > 3)) || { threads=$now_threads fds=$now_fds first_kib=$now_kib; return 0; }
    # A channel of a CPU that comes online for the first time: one thread, a few descriptors.
    ((now_threads <= 6)) || fail "round $round: $now_threads threads"
    ((now_fds <= fds + 2 * (now_threads - threads))) || fail "round $round: $now_fds descriptors, $fds in the beginning"
    ((now_kib <= most_kib)) || most_kib=$now_kib
    ((now_kib <= first_kib + 24 * 1024)) || fail "round $round: $now_kib KiB, $first_kib in the beginning"
}

while ((SECONDS < end || round < 5)); do
    round=$((round + 1))
    one_round
    measure
done

# --- the end -------------------------------------------------------------------------------------------------------------------

kill -TERM $plugger
wait $plugger || true
quiet $long_load
long_ios=$(($(device_ios "$long") - long_before))
recorder=$long_recorder
status=0
kill -INT "$recorder"
wait "$recorder" || status=$?
cat long.err
((status == 0 || status == 3)) || fail "exit status $status of the long recording"
read -r events dropped < <(awk -v dev="$long" '$1 == dev && $2 == "all" { print $3, $5 }' long.err)
((events + dropped == long_ios)) || fail "the long recording: $events recorded and $dropped lost of $long_ios I/Os"
kill -KILL $long_load $main_load
expect_no_trace "$main" "$long"
expect_no_status
! pgrep -x blkbox-guard >/dev/null || fail 'a guardian is left'
kernel_errors >errors.after
diff errors.before errors.after || fail 'the kernel complains'
((ended > 0)) || fail 'no recording came to its end'
echo "ok: $round rounds: $ended ended, $killed killed, $removed devices removed, $paused pauses; $recorded I/Os recorded, $lost lost;" \
    "the long one: $events recorded, $dropped lost; $first_kib KiB, at most $most_kib; $fds descriptors, $threads threads"
