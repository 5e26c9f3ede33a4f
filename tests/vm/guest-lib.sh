# shellcheck shell=bash
# Helpers of the cases that run inside a guest. A case starts with
#   source "$(dirname "$0")/../guest-lib.sh"
# and runs in an empty directory of its own, $VM_TMP. Devices, mounts and processes that it leaves behind are removed
# after it; the vm_*_remove helpers are for cases in which the removal is the point.
set -euo pipefail
VM_TMP=${VM_TMP:-/tmp}
# No udev runs in the guest: libdevmapper makes the nodes in /dev/mapper itself and waits for nobody.
export DM_DISABLE_UDEV=1

# --- verdicts ----------------------------------------------------------------------------------------------------------
# On stderr, so that they also work inside $(...); there the exit status ends the case by way of set -e.

fail() {
    echo "fail: $*" >&2
    exit 1
}

skip() {
    echo "skip: $*" >&2
    exit 77
}

# expect_eq WHAT EXPECTED FOUND
expect_eq() {
    [[ $2 == "$3" ]] || fail "$1: expected $2, found $3"
    echo "ok: $1 = $3"
}

# need COMMAND...: skips the case if one is not installed.
need() {
    local command
    for command; do
        command -v "$command" >/dev/null || skip "$command is not installed"
    done
}

# need_blkbox: skips the case if there is no built binary.
need_blkbox() {
    [[ -n ${BLKBOX:-} && -x $BLKBOX ]] || skip "blkbox has not been built"
}

# wait_for SECONDS COMMAND [ARG...]: until the command succeeds.
wait_for() {
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# kernel_at_least MAJOR MINOR
kernel_at_least() {
    local major minor
    IFS=.- read -r major minor _ < <(uname -r)
    ((major > $1 || (major == $1 && minor >= $2)))
}

# --- null_blk ----------------------------------------------------------------------------------------------------------

nullb_configfs=/sys/kernel/config/nullb

# vm_null_blk [KEY=VALUE...]: a null_blk device with these configfs attributes (sizes in MiB); prints its name.
vm_null_blk() {
    local n=0 dir word
    if [[ ! -d $nullb_configfs ]]; then
        modprobe null_blk nr_devices=0 || skip 'no null_blk module'
        mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    fi
    # mkdir is what decides who gets a number.
    until mkdir "$nullb_configfs/nullb$n" 2>/dev/null; do
        n=$((n + 1))
        ((n < 64)) || fail 'cannot make a null_blk device'
    done
    dir=$nullb_configfs/nullb$n
    for word in size=1024 "$@"; do
        [[ -e $dir/${word%%=*} ]] || { rmdir "$dir"; skip "null_blk of this kernel has no ${word%%=*}"; }
        echo "${word#*=}" >"$dir/${word%%=*}" || { rmdir "$dir"; fail "null_blk refuses $word"; }
    done
    echo 1 >"$dir/power" || { rmdir "$dir"; fail "null_blk refuses $*"; }
    nullb_disk "$dir"
}

# Newer kernels name the disk after the configfs directory, older ones after a count of their own.
nullb_disk() {
    local name=${1##*/}
    [[ -e /sys/block/$name ]] || name=nullb$(<"$1/index")
    wait_for 5 test -b "/dev/$name" || fail "no /dev/$name"
    echo "$name"
}

# vm_zoned_null_blk [KEY=VALUE...]: a host-managed zoned one, 16 MiB zones.
vm_zoned_null_blk() {
    vm_null_blk zoned=1 zone_size=16 size=512 "$@"
}

# vm_null_blk_remove NAME: also while it is in use.
vm_null_blk_remove() {
    local dir
    for dir in "$nullb_configfs"/*/; do
        dir=${dir%/}
        [[ -e $dir/power && $(<"$dir/power") == 1 && $(nullb_disk "$dir") == "$1" ]] || continue
        echo 0 >"$dir/power"
        rmdir "$dir"
        return
    done
    fail "no null_blk device $1"
}

# --- scsi_debug --------------------------------------------------------------------------------------------------------

scsi_debug_disks() {
    local block
    for block in /sys/bus/pseudo/devices/adapter*/host*/target*/*/block/sd*; do
        [[ ! -e $block ]] || echo "${block##*/}"
    done
}

has_scsi_debug_disk() { [[ -n $(scsi_debug_disks) ]]; }

# vm_scsi_debug [PARAMETER...]: loads scsi_debug (64 MiB, no delay unless told); prints the names of its disks.
vm_scsi_debug() {
    [[ ! -d /sys/module/scsi_debug ]] || vm_scsi_debug_remove
    modprobe sd_mod
    modprobe scsi_debug dev_size_mb=64 delay=0 "$@" || skip "scsi_debug refuses $*"
    wait_for 10 has_scsi_debug_disk || fail 'scsi_debug made no disk'
    local disk
    for disk in $(scsi_debug_disks); do
        wait_for 5 test -b "/dev/$disk" || fail "no /dev/$disk"
        echo "$disk"
    done
}

# vm_scsi_debug_remove: takes its disks away, also while they are in use, then the module.
vm_scsi_debug_remove() {
    local disk
    for disk in $(scsi_debug_disks); do
        echo 1 >"/sys/block/$disk/device/delete"
    done
    wait_for 5 rmmod scsi_debug 2>/dev/null || fail 'scsi_debug cannot be unloaded'
}

# --- loop, device mapper -----------------------------------------------------------------------------------------------

# vm_loop FILE|SIZE: a loop device on a file, or on a new one of that size (64M); prints its name.
vm_loop() {
    local file=$1 device
    if [[ ! -e $file ]]; then
        file=$(mktemp "$VM_TMP/loop.XXXXXX")
        truncate -s "$1" "$file"
    fi
    modprobe loop 2>/dev/null || true
    device=$(losetup --find --show "$file") || fail "no loop device on $file"
    echo "${device#/dev/}"
}

# vm_loop_remove NAME
vm_loop_remove() { losetup -d "/dev/$1"; }

# vm_dm NAME TABLE...: a device mapper device, also /dev/mapper/NAME; prints its kernel name (dm-N).
vm_dm() {
    local name=$1 minor
    shift
    need dmsetup
    modprobe dm_mod
    dmsetup create "$name" --table "$*" >&2 || fail "dmsetup refuses: $*"
    minor=$(dmsetup info -c --noheadings -o minor "$name")
    wait_for 5 test -b "/dev/dm-$minor" || fail "no /dev/dm-$minor"
    echo "dm-$minor"
}

# vm_dm_linear LOWER [NAME]: all of the device LOWER; prints dm-N.
vm_dm_linear() {
    vm_dm "${2:-linear-$1}" "0 $(blockdev --getsz "/dev/$1") linear /dev/$1 0"
}

# vm_dm_delay LOWER MILLISECONDS [NAME]
vm_dm_delay() {
    modprobe dm_delay || skip 'no dm-delay module'
    vm_dm "${3:-delay-$1}" "0 $(blockdev --getsz "/dev/$1") delay /dev/$1 0 $2"
}

# vm_dm_remove dm-N|NAME
vm_dm_remove() {
    local name=$1
    [[ $name != dm-* ]] || name=$(<"/sys/block/$1/dm/name")
    dmsetup remove "$name"
}

# --- file systems ------------------------------------------------------------------------------------------------------

# vm_mount DEVICE FSTYPE [mkfs option...]: makes a file system and mounts it; prints the directory.
vm_mount() {
    local device=$1 type=$2 dir
    shift 2
    need "mkfs.$type"
    modprobe "$type" 2>/dev/null || true
    "mkfs.$type" "$@" "/dev/$device" >&2 || fail "mkfs.$type on $device"
    dir=$(mktemp -d "$VM_TMP/mnt.XXXXXX")
    mount -t "$type" "/dev/$device" "$dir" >&2 || fail "mount of $device"
    echo "$dir"
}

vm_umount() { umount "$1"; }

# --- numbers -----------------------------------------------------------------------------------------------------------

# fio_ios FILE: all reads, writes and trims that a fio --output-format=json file tells of.
fio_ios() {
    # fio writes its warnings before the JSON text.
    python3 - "$1" <<'PY'
import json, sys
text = open(sys.argv[1]).read()
jobs = json.loads(text[text.index("{"):])["jobs"]
print(sum(job[way]["total_ios"] for job in jobs for way in ("read", "write", "trim")))
PY
}

# --- after a case ------------------------------------------------------------------------------------------------------

# vm_cleanup: removes everything that the helpers can have made. Prints what resists, and fails then.
vm_cleanup() {
    local dir disk module left=()
    set +e
    while read -r dir; do
        umount "$dir" || left+=("mount $dir")
    done < <(awk '$2 ~ "^/tmp/|^/mnt" && $3 != "overlay" && $3 != "9p" { print $2 }' /proc/mounts | sort -r)
    [[ ! -d /sys/module/dm_mod ]] || dmsetup remove_all --force >/dev/null
    ! compgen -G '/sys/block/loop*/loop' >/dev/null || losetup -D
    for dir in "$nullb_configfs"/*/; do
        if [[ -e $dir/power ]]; then
            echo 0 >"$dir/power"
            rmdir "$dir"
        fi
    done
    for disk in $(scsi_debug_disks); do
        echo 1 >"/sys/block/$disk/device/delete"
    done
    for module in null_blk scsi_debug brd zram; do
        # Only loaded modules have a state, built-in ones do not.
        [[ -e /sys/module/$module/initstate ]] || continue
        wait_for 3 modprobe -r "$module" 2>/dev/null || left+=("module $module")
    done
    for disk in $(compgen -G '/sys/block/loop*/loop') $(compgen -G '/sys/block/dm-*/dm'); do
        left+=("$(basename "$(dirname "$disk")")")
    done
    set -e
    ((${#left[@]} == 0)) || { printf '%s\n' "${left[*]}"; return 1; }
}
