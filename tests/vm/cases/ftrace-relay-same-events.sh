#!/bin/bash
# Relay and ftrace must tell the same of the same workload.
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../same-events-lib.sh
source "$(dirname "$0")/../same-events-lib.sh"
need_blkbox
need python3 taskset

mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
dev=$(same_events_device)
same_events_workload "$dev" # so that both find the same memory behind the device
same_events_state >state.before
for source in relay ftrace; do
    "$BLKBOX" record --source $source -o $source.log "/dev/$dev" -- bash -c "$(declare -f same_events_workload); same_events_workload $dev" 2>report.$source ||
        { cat report.$source; fail "record --source $source"; }
    same_events_of $source.log >events.$source
done
same_events_state >state.after
echo "events: $(wc -l <events.relay) by relay, $(wc -l <events.ftrace) by ftrace"
cut -d' ' -f1,2 events.relay | sort | uniq -c
[[ $(wc -l <events.relay) -gt 2000 ]] || fail 'so few events?'
if kernel_at_least 7 0; then
    grep -q '^Q WFS' events.relay || grep -q '^Q .*F' events.relay || fail 'no FUA write was recorded'
fi
same_events_compare events.relay events.ftrace
same_events_compare state.before state.after
for source in relay ftrace; do
    [[ $("$BLKBOX" info --json $source.log | python3 -c 'import json, sys; i = json.load(sys.stdin); print(i["complete"], i["source"])') == "True $source" ]] ||
        { "$BLKBOX" info $source.log; fail "$source.log is not complete, or not by $source"; }
done
expect_eq 'protocol of both' "$("$BLKBOX" info --json relay.log | grep -m1 '"protocol"')" "$("$BLKBOX" info --json ftrace.log | grep -m1 '"protocol"')"
