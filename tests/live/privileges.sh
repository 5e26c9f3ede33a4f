#!/bin/bash
# SPDX-License-Identifier: MIT
# What a recorder may still do once it records, what it needs that for, and as whom its command runs.
#
# Usage: privileges.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

dir=$(mktemp -d)
device=
reader=
clean_up() {
	[ -z "$reader" ] || kill "$reader" 2>/dev/null || true
	[ -z "$device" ] || losetup -d "$device"
	rm -rf "$dir"
}
trap clean_up EXIT
tracefs=/sys/kernel/tracing
mountpoint -q $tracefs || mount -t tracefs tracefs $tracefs 2>/dev/null || skip "no tracefs"
command -v setpriv >/dev/null || skip "no setpriv"
truncate -s 8M "$dir/image"
device=$(losetup -f --show "$dir/image" 2>/dev/null) || skip "no loop device"
echo 0 >"/sys/block/${device#/dev/}/trace/enable" 2>/dev/null || true
"$blkbox" check "$device" >/dev/null || skip "nobody may trace here"
chmod 755 "$dir"
user=65534 # nobody
passed=0
pass() { passed=$((passed + 1)); }

# As `sudo blkbox` of nobody's. Of its groups, one is there only here.
sed '/^disk:/s/:[^:]*$/:nobody/' /etc/group >"$dir/group"
mount --bind "$dir/group" /etc/group
through_sudo=(env SUDO_UID=$user SUDO_GID=$user TMPDIR=/of-the-user)

# bits CAP...: the mask of these, as in /proc/PID/status.
bits() {
	local sum=0 n
	for n; do sum=$((sum | 1 << n)); done
	printf '%016x' $sum
}
# give_up NAME WANT PID: each thread has these capabilities, no way to others, and no_new_privs.
given_up() {
	local status got
	for status in "/proc/$3/task"/*/status; do
		for field in CapPrm CapEff CapBnd; do
			got=$(sed -n "s/^$field:[[:space:]]*//p" "$status")
			[ "$got" = "$2" ] || fail "$1: $field of a thread is $got, not $2"
		done
		grep -q '^NoNewPrivs:[[:space:]]*1' "$status" || fail "$1: a thread may gain rights"
	done
	pass
}
chown=0 dac_override=1 dac_read_search=2 fowner=3 kill=5 ipc_lock=14 ptrace=19 admin=21

# until_there FILE
until_there() {
	for _ in $(seq 100); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	fail "$1 does not appear"
}

# settled PID: it has given up what it will.
settled() {
	for _ in $(seq 200); do
		grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$1/status" 2>/dev/null || { sleep 0.1; continue; }
		sleep 0.5
		return 0
	done
	fail "process $1 gives up nothing: $(cat "$dir/err")"
}
"$blkbox" record -o "$dir/log" "$device" 2>"$dir/err" &
settled $!
given_up "record -o" "$(bits $admin $dac_override $ptrace $fowner $chown)" $!
kill -TERM $!
wait $! || fail "record: $(cat "$dir/err")"

"$blkbox" record -o - "$device" 2>"$dir/err" >"$dir/stream" -- sleep 5 &
settled $!
given_up "record -o -" "$(bits $admin $dac_override $ptrace $kill)" $!
wait $! || fail "record -o -: $(cat "$dir/err")"

"$blkbox" stall --out "$dir/stall.csv" 2>"$dir/err" &
settled $!
given_up stall "$(bits $ptrace $dac_read_search $ipc_lock $dac_override $fowner $chown)" $!
[ "$(sed -n 's/^VmLck:[^0-9]*\([0-9]*\).*/\1/p' /proc/$!/status)" -gt 0 ] || fail "stall: nothing is locked"
kill -TERM $!
wait $! || fail "stall: $(cat "$dir/err")"

# The command has none of that, and is the user's.
"${through_sudo[@]}" "$blkbox" record -o "$dir/log2" "$device" -- sh -c \
	'id -u; id -g; id -G; echo "$TMPDIR"; grep -E "^(Cap(Eff|Prm|Bnd|Amb|Inh)|NoNewPrivs)" /proc/self/status' \
	>"$dir/out" 2>"$dir/err" || fail "as the user: $(cat "$dir/err")"
grep -E '^(CapBnd|NoNewPrivs)' /proc/self/status >"$dir/own"
{
	echo $user
	echo $user
	id -G nobody
	echo /of-the-user
} >"$dir/want"
head -4 "$dir/out" | cmp - "$dir/want" || fail "the command runs as: $(head -4 "$dir/out" | xargs)"
id -G nobody | grep -qw 6 || fail "the test's own group is not heeded"
grep -E '^(CapBnd|NoNewPrivs)' "$dir/out" | cmp - "$dir/own" ||
	fail "the command inherits what the recorder gave up: $(cat "$dir/out")"
! grep -E '^Cap(Eff|Prm|Amb|Inh)' "$dir/out" | grep -vE '0{16}$' || fail "the command has capabilities"
pass
[ "$("${through_sudo[@]}" "$blkbox" record -o "$dir/log3" --as-root "$device" -- id -u 2>"$dir/err")" = 0 ] ||
	fail "--as-root: $(cat "$dir/err")"
pass
[ "$("${through_sudo[@]}" "$blkbox" stall --out "$dir/s2" -- id -u 2>"$dir/err")" = $user ] ||
	fail "stall's command: $(cat "$dir/err")"
[ "$(stat -c '%u %a' "$dir/s2")" = "$user 600" ] || fail "the samples are not the user's: $(stat -c '%u %a' "$dir/s2")"
pass

# What is written is the user's, and readable by nobody else, where the user may write and root needs
# a capability for it: in a folder of the user's, in a sticky one of a third.
mkdir -m 700 "$dir/home"
mkdir -m 1777 "$dir/sticky"
chown $user "$dir/home"
chown 12345 "$dir/sticky"
for where in home sticky; do
	"${through_sudo[@]}" "$blkbox" record -w 0.3 -o "$dir/$where/log" "$device" 2>"$dir/err" ||
		fail "in $where: $(cat "$dir/err")"
	[ "$(stat -c '%u %g %a' "$dir/$where/log")" = "$user $user 600" ] ||
		fail "in $where: $(stat -c '%u %g %a' "$dir/$where/log")"
	[ ! -e "$dir/$where/log.part" ] || fail "in $where: not renamed"
	pass
done
"${through_sudo[@]}" "$blkbox" record -w 0.3 --format blktrace -D "$dir/home/new/files" "$device" 2>"$dir/err" ||
	fail "-D: $(cat "$dir/err")"
[ "$(stat -c %u "$dir/home/new" "$dir/home/new/files" "$dir/home/new/files"/* | sort -u)" = $user ] ||
	fail "-D: not all of it is the user's"
pass

# Somebody has put a link there, to nowhere yet.
for name in log log.part; do
	ln -s "$dir/target" "$dir/sticky/x$name"
	! "$blkbox" record -w 0.3 -o "$dir/sticky/xlog" "$device" 2>"$dir/err" || fail "$name: a link was taken"
	"$blkbox" record -w 0.3 --force -o "$dir/sticky/xlog" "$device" 2>"$dir/err" || fail "$(cat "$dir/err")"
	[ ! -e "$dir/target" ] || fail "$name: the link was followed"
	[ ! -L "$dir/sticky/xlog" ] && [ -f "$dir/sticky/xlog" ] || fail "$name: still a link"
	rm "$dir/sticky/xlog"
	pass
done
ln -s "$dir/target" "$dir/sticky/csv"
for how in "" --force --append; do
	rm -f "$dir/target"
	"$blkbox" stall --duration 0.3 --out "$dir/sticky/csv" $how 2>"$dir/err" || true
	[ ! -e "$dir/target" ] || fail "stall $how follows a link"
	pass
done
# And after a rotation, while it runs.
rm -f "$dir/sticky/csv"
"$blkbox" stall --duration 2 --out "$dir/sticky/csv" 2>"$dir/err" &
until_there "$dir/sticky/csv"
mv "$dir/sticky/csv" "$dir/sticky/csv.old"
ln -s "$dir/target" "$dir/sticky/csv"
sleep 0.5
kill -HUP $!
wait $! || true
[ ! -e "$dir/target" ] || fail "stall follows a link after SIGHUP"
pass
mkfifo -m 666 "$dir/sticky/pipe"
chown 12345 "$dir/sticky/pipe"
cat "$dir/sticky/pipe" >"$dir/stolen" 8>&- &
reader=$!
sleep 1
! "$blkbox" record -w 0.3 -o "$dir/sticky/pipe" "$device" 2>"$dir/err" || fail "another's pipe was written to"
grep -q 'belongs to another user' "$dir/err" || fail "another's pipe: $(cat "$dir/err")"
kill $reader 2>/dev/null || true
reader=
pass

# What each capability is for: without it, that does not work.
without() { setpriv --bounding-set="-$1" --inh-caps="-$1" "${@:2}"; }
# Where the events come through tracefs, only the flush needs it; set-up and end of a relay trace do.
without sys_admin "$blkbox" record -w 0.3 -o "$dir/w1" "$device" 2>"$dir/err" || true
grep -qE 'could not be flushed|CAP_SYS_ADMIN|not permitted' "$dir/err" || fail "no need for SYS_ADMIN"
! "${through_sudo[@]}" setpriv --bounding-set=-dac_override "$blkbox" record -w 0.3 -o "$dir/home/w2" "$device" \
	2>/dev/null || fail "no need for DAC_OVERRIDE"
! "${through_sudo[@]}" setpriv --bounding-set=-fowner "$blkbox" record -w 0.3 -o "$dir/sticky/w3" "$device" \
	2>/dev/null || fail "no need for FOWNER"
"${through_sudo[@]}" setpriv --bounding-set=-chown "$blkbox" record -w 0.3 -o "$dir/w4" "$device" 2>/dev/null
[ "$(stat -c %u "$dir/w4")" = 0 ] || fail "no need for CHOWN"
setpriv --reuid $user --clear-groups sleep 20 &
sleeper=$!
for cap in none sys_ptrace; do
	drop=()
	[ $cap = none ] || drop=(setpriv --bounding-set=-$cap)
	"${drop[@]}" "$blkbox" stall --duration 2 --pid $sleeper >"$dir/$cap.csv" 2>"$dir/$cap.err" &
	sleep 1
	kill -USR1 $!
	wait $! || true
done
kill $sleeper
denied() { sed -n 's/.*(counters of \([0-9]*\) may.*/\1/p' "$dir/$1.err"; }
[ "$(denied none)" -lt "$(denied sys_ptrace)" ] || fail "no need for SYS_PTRACE"
pass
# The command gets a signal, though it is another user's.
for cap in none kill; do
	drop=()
	[ $cap = none ] || drop=(setpriv --bounding-set=-$cap)
	rm -f "$dir/w5"
	"${through_sudo[@]}" "${drop[@]}" env --default-signal=INT,TERM "$blkbox" record -o "$dir/w5" "$device" -- \
		sh -c "sleep 5; echo slept" >"$dir/out" 2>"$dir/err" &
	settled $!
	kill -TERM $! || fail "the recorder has ended: $(cat "$dir/err")"
	wait $! && status=0 || status=$?
	if [ $cap = none ]; then
		[ $status = 143 ] && ! grep -q slept "$dir/out" || fail "the signal is not handed on: $status"
	else
		grep -q slept "$dir/out" || fail "no need for KILL"
	fi
done
pass
[ "$(cat "/sys/block/${device#/dev/}/trace/enable")" = 0 ] || fail "a trace is left behind"
[ "$(cat $tracefs/current_tracer)" = nop ] || fail "the tracer is left behind"
echo "$passed passed, 0 failed"
