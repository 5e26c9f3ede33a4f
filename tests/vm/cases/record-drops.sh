#!/bin/bash
# Buffers that are too small: what is lost is counted as the kernel counts it, dated, and told.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
need chrt taskset

dev=$(vm_null_blk)
no_merges "$dev"
mapfile -t words < <(fio_args "$dev" 1000)
before=$(device_ios "$dev")
record_start small -b 4 -n 2 -a issue -a complete -o small.blkbox "/dev/$dev"
# Above the recorder's priority, so that its readers come too late; with pauses, so that there are several windows.
for _ in 1 2; do
    chrt -f 20 "${words[@]}"
    sleep 1
done
# What comes last is recorded, so that a gap before it shows.
for cpu in 0 1; do taskset -c "$cpu" dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=5 status=none; done
sleep 1
lost=$(kernel_dropped "$dev")
# What the kernel has finished to write.
finished=$(stat -c %s "$(trace_dir "$dev")"/trace[0-9]* | awk '{ n += $1 } END { print n }')
ios=$(($(device_ios "$dev") - before))
echo "the kernel lost $lost events of $ios I/Os"
((lost > 100)) || fail "the load was too small: the kernel lost $lost events"
record_end small INT 3
grep -q "$lost events were lost" small.err || fail 'the report does not tell the loss'
grep -qE 'take larger ones \(-n|larger buffers' small.err || fail 'no advice'
expect_eq 'lost events in the table' "$lost" "$(awk -v d="$dev" '$1 == d { print $5 }' small.err)"

"$BLKBOX" verify small.blkbox || fail 'verify finds fault with what is there'
expect_eq 'dropped, complete, sum of the loss windows, and those that are longer than nothing' \
    "$lost False $lost True" "$(info small.blkbox '" ".join(map(str, (d["dropped"], d["complete"], sum(w["count"] for w in d["loss_windows"]),
    len(d["loss_windows"]) >= 2 and all(w["from_ns"] < w["to_ns"] for w in d["loss_windows"]))))')"

export_log 3 small.blkbox raw
count_records "raw/$dev"
echo "the kernel had finished $finished bytes, ${found[bytes]} were recorded"
((found[bytes] >= finished)) || fail "$((finished - found[bytes])) finished bytes were not recorded"
# One issue and one completion for each I/O. The kernel's count has lost notes too: at most one for each process that
# did something, a handful.
over=$((found[events] + lost - 2 * ios))
echo "recorded ${found[events]}, lost $lost, of $((2 * ios)); notes among the lost: $over"
((over >= 0 && over <= 20)) || fail "events and losses do not add up to what the device did: $over"
if has_v2; then
    expect_eq 'missing sequence numbers, and lost notes' "$lost" "$((found[gaps] + over))"
else
    expect_eq 'missing sequence numbers where the kernel leaves none' 0 "${found[gaps]}"
fi
expect_eq 'sequence numbers that go back' 0 "${found[backwards]}"

expect_no_trace "$dev"

# With a command its own status counts, unless --strict asks for ours.
overload() { record_run "$1" "$2" "${@:3}" -b 4 -n 2 -o "$1.blkbox" "/dev/$dev" -- chrt -f 20 "${words[@]}"; }
overload command 0
overload strict 3 --strict
for name in command strict; do
    grep -q 'events were lost' "$name.err" || fail 'nothing was lost'
done
expect_no_trace "$dev"
