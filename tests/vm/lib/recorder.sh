# shellcheck shell=bash
# Helpers of the cases that run the recorder. Sourced behind guest-lib.sh.
vm_lib=$(dirname "${BASH_SOURCE[0]}")
need_blkbox
need python3 fio blkparse

# --- the recorder in the background ------------------------------------------------------------------------------------

# record_start NAME ARG...: "blkbox record ARG..." in the background; its messages are in NAME.err, its output in NAME.out,
# its pid in $recorder. Returns when it records.
record_start() {
    local name=$1
    shift
    # A shell without job control gives its background processes an ignored SIGINT.
    env --default-signal=INT,QUIT "$BLKBOX" record "$@" >"$name.out" 2>"$name.err" &
    recorder=$!
    wait_for 20 record_runs "$name" || fail "the recorder does not start: $(<"$name.err")"
    kill -0 "$recorder" 2>/dev/null || fail "the recorder ended: $(<"$name.err")"
}

record_runs() { grep -q '^blkbox: recording ' "$1.err" || ! kill -0 "$recorder" 2>/dev/null; }

# record_end NAME SIGNAL STATUS: ends it and expects this exit status.
record_end() {
    kill "-$2" "$recorder"
    record_ended "$1" "$3"
}

# record_ended NAME STATUS: waits until it ends by itself.
record_ended() {
    local status=0
    wait "$recorder" || status=$?
    cat "$1.err"
    expect_eq "exit status of the recorder" "$2" "$status"
}

# record_run NAME STATUS ARG...: "blkbox record ARG..." in the foreground; messages in NAME.err.
record_run() {
    local name=$1 expected=$2 status=0
    shift 2
    timeout -k 5 60 "$BLKBOX" record "$@" >"$name.out" 2>"$name.err" || status=$?
    cat "$name.err"
    expect_eq "exit status of the recorder" "$expected" "$status"
}

# --- what the kernel says ------------------------------------------------------------------------------------------------

trace_dir() { echo "/sys/kernel/debug/block/$1"; }

# kernel_dropped NAME: the kernel's own count of a trace that runs.
kernel_dropped() { cat "$(trace_dir "$1")/dropped"; }

has_trace() { [[ -e $(trace_dir "$1")/dropped ]]; }

# expect_no_trace NAME...: nothing is left of a trace, as the kernel sees it.
expect_no_trace() {
    local dev
    for dev; do
        ! has_trace "$dev" || fail "a trace of $dev is left behind: $(trace_dir "$dev")/dropped"
        expect_eq "a new set-up on $dev" free "$(trace_ioctl probe "$dev")"
    done
}

# expect_no_status: "blkbox status" knows of no trace at all.
expect_no_status() {
    "$BLKBOX" status --json >status.json || fail 'blkbox status fails'
    expect_eq 'traces that status knows' '[]' "$(python3 -c 'import json; print(json.load(open("status.json"))["traces"])')"
}

# trace_ioctl COMMAND NAME: like somebody else with the trace calls.
trace_ioctl() { python3 "$vm_lib/trace-ioctl.py" "$1" "/dev/$2"; }

# device_ios NAME: what the device itself counted: reads, writes, discards and flushes.
device_ios() { awk '{ print $1 + $5 + $12 + $16 }' "/sys/class/block/$1/stat"; }

# no_merges NAME: one request for each I/O, so that counts can be compared.
no_merges() { echo 2 >"/sys/block/$1/queue/nomerges"; }

# --- a workload ----------------------------------------------------------------------------------------------------------

# fio_args NAME IOS [ARG...]: the words of a fio command line that does so many random I/Os on each of two jobs.
fio_args() {
    local dev=$1 ios=$2
    shift 2
    printf '%s\n' fio --name=job "--filename=/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=psync --numjobs=2 \
        "--number_ios=$ios" --size=32m --group_reporting --output-format=json "--output=fio-$dev.json" "$@"
}

# run_fio NAME IOS [ARG...]; the result is in fio-NAME.json.
run_fio() {
    local words
    mapfile -t words < <(fio_args "$@")
    "${words[@]}"
}

# --- what was recorded -----------------------------------------------------------------------------------------------------

# old_protocol: the words that make blkparse understand what is written on this kernel.
old_protocol() {
    if has_v2; then echo --protocol 1; fi
}

has_v2() { kernel_at_least 6 19; }

# info LOG EXPRESSION: a figure of "info --json"; EXPRESSION is Python, the figures are in d.
info() {
    local status=0
    # 3 where events are missing, which the caller knows.
    "$BLKBOX" info --json "$1" >info.json || status=$?
    ((status == 0 || status == 3)) || fail "info of $1: status $status"
    python3 -c 'import json, sys; d = json.load(open("info.json")); print(eval(sys.argv[1]))' "$2"
}

# export_raw LOG DIR: the log as blktrace files, as the kernel wrote them.
export_raw() {
    export_log 0 "$1" "$2"
}

# export_old LOG DIR: the same for blkparse.
export_old() {
    local words
    read -ra words < <(old_protocol; echo)
    export_log 0 "$1" "$2" "${words[@]}"
}

# export_log STATUS LOG DIR [ARG...]: expects this exit status, 3 where the log is incomplete.
export_log() {
    local status=0
    mkdir -p "$3"
    "$BLKBOX" export --format blktrace "${@:4}" -o "$3/" "$2" || status=$?
    expect_eq "exit status of the export of $2" "$1" "$status"
}

# count_records BASE...: the figures of lib/records.py, in the array $found.
# shellcheck disable=SC2034 # the cases read it
declare -A found
# shellcheck disable=SC2034
count_records() {
    local all key value
    all=$(python3 "$vm_lib/records.py" counts "$@") || fail "the records of $* are broken"
    found=()
    while IFS='=' read -r key value; do found[$key]=$value; done <<<"$all"
}

# parse_actions BASE: the events that blkparse sees, one action a line, into the file "actions".
parse_actions() {
    blkparse -q -i "$1" -f '%a\n' >blkparse.out 2>blkparse.err || fail "blkparse refuses $1: $(<blkparse.err)"
    grep -xE '[A-Z]+' blkparse.out >actions || true
}

# parsed ACTION: how many of them there were.
parsed() { grep -cx "$1" actions || true; }
