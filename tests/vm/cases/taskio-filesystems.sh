#!/bin/bash
# What taskio expects of the accounting holds on ext4, xfs, btrfs and tmpfs, or it says why it cannot tell; and
# what the block layer did stands beside it.
# vm: timeout=400 mem=1536
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"

need_blkbox
need python3 losetup mkfs.ext4 mkfs.xfs mkfs.btrfs
# So that a cgroup can count I/O, writeback included.
echo '+io +memory' >/sys/fs/cgroup/cgroup.subtree_control || skip 'no io and memory controllers'
modprobe loop 2>/dev/null || true

# look DOCUMENT FSTYPE TRUTH: prints each verdict that is not "met", with its reason; fails on "not met", and on
# what cannot be undecidable on this file system.
look() {
    python3 - "$@" <<'PY'
import collections, json, sys
document = json.load(open(sys.argv[1]))
fstype, truth = sys.argv[2], sys.argv[3] == "truth"
names = {"ext4": "ext", "xfs": "xfs", "btrfs": "btrfs", "tmpfs": "tmpfs"}
bad = []
if document["environment"]["filesystem"] != names[fstype]:
    bad.append(f"the file system is {document['environment']['filesystem']}")
counts = collections.Counter()
not_counted = set()
# A kernel without io_uring, old tmpfs without O_DIRECT, no device below tmpfs; writeback that was faster.
may_be_open = {"io_uring_write", "dirty_truncate", "unlink_before_writeback"}
if fstype == "btrfs":
    may_be_open |= {"cgroup_io"}
if fstype == "tmpfs":
    may_be_open |= {"direct_read", "direct_write", "cgroup_io"}
for result in document["results"]:
    counts[result["result"]] += 1
    if result["result"] != "met":
        print(f"  {result['experiment']}: {result['result']}: {result['reason']}")
        # Newer btrfs counts no cancelled bytes; the device tells that nothing was written.
        if fstype == "btrfs" and result["experiment"] in ("dirty_truncate", "unlink_before_writeback") and \
                "is not counted here" in result["reason"]:
            not_counted.add(result["experiment"])
            continue
        if result["result"] == "not met" or not result["reason"] or result["experiment"] not in may_be_open:
            bad.append(f"{result['experiment']} is {result['result']}: {result['reason']}")
print(f"{fstype}{' with device truth' if truth else ''}: {dict(counts)}")
if truth:
    found = document["deviceTruth"]
    if not found["complete"] or found["dropped"]:
        bad.append(f"{found['dropped']} events were lost")
    for one in found["experiments"]:
        device, accounted = one["device"], one["accounted"]
        if device is None:
            print(f"  {one['experiment']}: {one['device_reason']}")
            continue
        print(f"  {one['experiment']}: device {device['completed_read_bytes']} read, "
              f"{device['completed_write_bytes']} written, {device['queued_metadata_bytes']} metadata; factors "
              f"{one['read_factor']}, {one['write_factor']}; "
              f"{sorted({owner['role'] for owner in one['owners']})}")
        if device["queued_write_bytes"] != device["completed_write_bytes"]:
            bad.append(f"{one['experiment']}: queued and completed differ")
        shared = one["experiment"] == "copy_file_range" and fstype != "ext4"
        # Nothing but what a file system has to look up: xfs its reference counts.
        if one["experiment"] != "direct_read" and device["completed_read_bytes"] > device["queued_metadata_bytes"]:
            bad.append(f"{one['experiment']}: the device was read")
        shared = shared or one["experiment"] in not_counted
        if accounted and one["write_factor"] is not None and not shared and one["write_factor"] < 1:
            bad.append(f"{one['experiment']}: less is written than accounted for")
print("; ".join(bad))
sys.exit(bool(bad))
PY
}

status=0
for fstype in ext4 xfs btrfs tmpfs; do
    if [[ $fstype == tmpfs ]]; then
        dir=$(mktemp -d "$VM_TMP/mnt.XXXXXX")
        mount -t tmpfs none "$dir"
    else
        truncate -s 512M "$fstype.image"
        device=$(vm_loop "$PWD/$fstype.image")
        dir=$(vm_mount "$device" "$fstype" -q)
    fi
    "$BLKBOX" taskio --suite extended --repetitions 3 --mib 4 --temp-dir "$dir" -o "$fstype.json" ||
        fail "taskio on $fstype"
    look "$fstype.json" "$fstype" accounts || status=1
    left=$(find "$dir" -mindepth 1 -not -name lost+found)
    expect_eq "files left on $fstype" '' "$left"
    vm_umount "$dir"
    [[ $fstype == tmpfs ]] || { vm_loop_remove "$device"; rm "$fstype.image"; }
done
for fstype in ext4 xfs btrfs; do
    "$BLKBOX" taskio --suite extended --repetitions 1 --mib 4 --temp-dir "$VM_TMP" --device-truth="$fstype" \
        -o "truth-$fstype.json" || fail "taskio --device-truth=$fstype"
    look "truth-$fstype.json" "$fstype" truth || status=1
    expect_eq "loop devices left by $fstype" '' "$(losetup -n -O NAME)"
done
expect_eq 'cgroups left' '' "$(find /sys/fs/cgroup -maxdepth 1 -name 'blkbox-io-*')"
expect_eq 'file systems that did not do as expected' 0 "$status"
