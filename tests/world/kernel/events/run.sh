#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The kernel's own tracepoints: how many there are; all of them on at once, under load; those of modules that come and
# go meanwhile; modules of hodo that need a further module. host.py checks the records. Nothing else runs while code
# is patched, since qemu before 8.1 does not survive that.
# guest: modules=ext4,crc32c_generic,sunrpc programs=/usr/sbin/mke2fs network disk=32 memory=1536 timeout=900
. /lib/guest.sh

# states: one line for each event of a tracepoint: name, state, object.
states() {
	awk -F '\t' '$4 == "tracepoint" { print $1, $3, $5 }' $HODO/info
}

# state EVENT
state() {
	states | awk -v "name=$1" '$1 == name { print $2, $3 }'
}

# journal: uses a file system with a journal for a moment.
journal() {
	mount -t ext4 /dev/vdb /tmp/disk && echo "$1" >/tmp/disk/file && sync && umount /tmp/disk
}

# work: uses a little of everything.
work() {
	for _ in 1 2 3; do
		head -c 300000 /dev/urandom >/tmp/work.$1
		ls -lR /proc/self /sys/devices/system >/dev/null 2>&1
		ping -c 1 -W 5 127.0.0.1 >/dev/null
		usleep 1000
	done
	rm -f /tmp/work.$1
}

# ------------------------------------------------------------ what there is
load || exit 1
said=$(dmesg | sed -n 's/.*hodo: \([0-9]* events of tracepoints.*\)/\1/p' | tail -n 1)
note "$said"
# The line says: N events of tracepoints: B of the kernel's K, …
bound=$(echo "$said" | sed -n 's/.*: \([0-9]*\) of the kernel.*/\1/p')
check bound test "$bound" -ge 500
equal bound_in_info "$(states | grep -c ' vmlinux$')" "$bound"
grep -o ' __tracepoint_.*' /proc/kallsyms | grep -v '\[' | sed 's/ __tracepoint_//' | sort >/tmp/kernel
states | sed -n 's/^[^:]*:\([^ ]*\) .* vmlinux$/\1/p' | sort >"$OUT/bound"
comm -23 /tmp/kernel "$OUT/bound" >"$OUT/unbound" 2>/dev/null ||
	awk 'NR == FNR { had[$1]; next } !($1 in had)' "$OUT/bound" /tmp/kernel >"$OUT/unbound"
note "of this kernel without an event: $(tr '\n' ' ' <"$OUT/unbound")"

# -------------------------------------------------------------- all at once
mkdir -p /tmp/disk
module crc32c_generic
check mke2fs /usr/bin/mke2fs -q -t ext4 /dev/vdb
lines=$(dmesg | wc -l)
echo 1 >$HODO/events/enable
check on sh -c "echo 1 >$HODO/enabled"
equal all_on "$(states | grep -c ' on vmlinux$')" "$bound"
equal journal_absent "$(state jbd2:jbd2_start_commit)" "absent -"
work a &
work b
wait
check module_comes module ext4
equal journal_on "$(state jbd2:jbd2_start_commit)" "on jbd2"
check journal journal one
check module_goes rmmod ext4 jbd2
equal journal_gone "$(state jbd2:jbd2_start_commit)" "absent -"
check module_again module ext4
equal journal_on_again "$(state jbd2:jbd2_start_commit)" "on jbd2"
check journal_again journal two

# A module of hodo that needs symbols of another module comes, and goes, in the middle.
if [ -e /lib/hodo_sunrpc.ko ]; then
	module sunrpc
	check sunrpc_comes insmod /lib/hodo_sunrpc.ko
	some=$(states | sed -n 's/^\(sunrpc:[^ ]*\) .*/\1/p' | head -n 1)
	equal sunrpc_bound "$(state "$some" | sed 's/.* //')" sunrpc
	check sunrpc_goes rmmod hodo_sunrpc
	equal sunrpc_gone "$(state "$some")" ""
fi
work c &
work d
wait
check off sh -c "echo 0 >$HODO/enabled"
equal all_off "$(states | grep -c ' on ')" 0
equal refused "$(dmesg | tail -n +$((lines + 1)) | grep -c 'cannot be recorded')" 0
echo 0 >$HODO/events/enable
note "$(tr '\n' ';' <$HODO/overflow)"

# ---------------------------------------------------------- with a recorder
cat >/tmp/all.sh <<'EOF'
mount -t ext4 /dev/vdb /tmp/disk
for i in 1 2 3 4 5; do
	head -c 100000 /dev/urandom >/tmp/disk/file.$i
	ls -lR /proc/self >/dev/null 2>&1
	ping -c 1 -W 5 127.0.0.1 >/dev/null
done
sync
umount /tmp/disk
EOF
check record hodo record -k -e '*' -m 16M -o "$OUT/hodo.data" -- sh /tmp/all.sh
rmmod ext4 jbd2
unload
finish
