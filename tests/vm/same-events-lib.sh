# shellcheck shell=bash
# One workload that gives the same events each time, for cases that compare what the two sources record of it.

# A quiet device: completions come at once and on the CPU that asked; no scheduler; a write cache, so that there are
# flushes and FUA writes.
same_events_device() {
    vm_null_blk size=64 blocksize=512 queue_mode=2 irqmode=0 submit_queues=1 memory_backed=1 discard=1 cache_size=4 max_sectors=256
}

# same_events_workload DEVICE: all on CPU 0.
same_events_workload() {
    taskset -c 0 python3 - "/dev/$1" <<'PY'
import fcntl, mmap, os, struct, sys
path = sys.argv[1]
buffer = mmap.mmap(-1, 1 << 20)
buffer.write(b"x" * (1 << 20))
def io(flags, jobs):
    fd = os.open(path, flags | os.O_DIRECT)
    for write, offset, size in jobs:
        view = memoryview(buffer)[:size]
        done = os.pwritev(fd, [view], offset) if write else os.preadv(fd, [view], offset)
        assert done == size, (done, size)
    return fd
seed, jobs = 7, []
for i in range(400):
    seed = seed * 1103515245 + 12345 & 0x7fffffff
    size = 512 << seed % 6
    jobs.append((seed >> 8 & 1, (seed >> 9) % ((32 << 20) // size) * size, size))
fd = io(os.O_RDWR, jobs)
os.fsync(fd)
os.close(fd)
# Larger than the device takes at once: they are split.
os.close(io(os.O_RDWR, [(1, 0, 1 << 20), (0, 0, 1 << 20), (1, 5 << 20, 300 << 10)]))
# FUA.
os.close(io(os.O_RDWR | os.O_DSYNC, [(1, i * 65536, 4096) for i in range(30)]))
# By ioctl: blkdiscard looks for file systems first, with reads whose number depends on the page cache.
BLKDISCARD, BLKZEROOUT = 0x1277, 0x127f
fd = os.open(path, os.O_RDWR | os.O_DIRECT)
for offset in range(0, 8 << 20, 1 << 20):
    fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", offset, 65536))
fcntl.ioctl(fd, BLKZEROOUT, struct.pack("QQ", 40 << 20, 131072))
os.close(fd)
PY
}

# same_events_of LOG: the multiset of its events, as sorted text: action, operation, sector, bytes. Notes are left out:
# the tracer writes none for processes.
same_events_of() {
    "$BLKBOX" dump -q -f '%a %d %S %N\n' "$1" | grep -v '^m ' | LC_ALL=C sort
}

# same_events_compare FILE FILE: prints the difference if there is one.
same_events_compare() {
    if ! diff -u "$1" "$2" >difference; then
        head -n 60 difference
        fail "$1 and $2 differ in $(grep -c '^[-+][^-+]' difference) events"
    fi
}

# The tracing state of the machine, all that a recording may change.
same_events_state() {
    local file
    for file in current_tracer trace_clock options/overwrite options/context-info buffer_percent saved_cmdlines_size tracing_on; do
        echo "$file $(cat "/sys/kernel/tracing/$file")"
    done
    for file in /sys/kernel/tracing/per_cpu/cpu*/buffer_size_kb; do
        echo "$file $(sed 's/.*expanded: \([0-9]*\).*/\1/' "$file" | awk '{ print int(($1 * 1024 + 4079) / 4080) " pages" }')"
    done
    for file in /sys/block/*/trace/*; do echo "$file $(cat "$file")"; done
    ls /run/blkbox 2>/dev/null || true
}
