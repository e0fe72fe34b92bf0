#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Events in process context, soft and hard interrupts and NMIs, nested in each other, on two CPUs with two threads each:
# each is read back whole, with its thread and in order, or counted as lost; events that filling in other events causes.
# guest: timeout=900
. /lib/guest.sh

# storm NAME MODULE-PARAMETER OPTION...
storm() {
	storm_name=$1
	export storm_parameter="$2"
	shift 2
	check "$storm_name" hodo record -q -k "$@" -e 'irqs:*' -o "$OUT/$storm_name" -- \
		sh -c 'insmod ./irqs.ko $storm_parameter; echo 1500 >/sys/module/irqs/parameters/run; cat /sys/module/irqs/parameters/emitted >emitted'
	mv emitted "$OUT/$storm_name.emitted"
	hodo stat --json "$OUT/$storm_name" >"$OUT/$storm_name.stat"
	rmmod irqs
	sed 's/^/# /' "$OUT/$storm_name.emitted"
}

load || exit 1
# Most of these events are kept, and host.py reads them, in Python.
storm large most=150000 -m 4M
# A packet holds some ten events, so that NMIs keep meeting the switch.
storm switches "" -m 64K --packet-size 1K
# Most events are lost, and all losses are counted.
storm full "" -m 4K --packet-size 1K
storm filtered "" -m 4M --filter 'n % 3 == 1'
storm overwritten "" -m 64K --packet-size 4K --overwrite

# Filling in this event calls a function that is an event, too, and that finds its CPU's ring taken.
mkdir /tmp/ramfs
mount -t ramfs none /tmp/ramfs
touch /tmp/ramfs/touched
cat >touch.sh <<'END'
i=0
while [ $i -lt 200 ]; do
	chmod 644 /tmp/ramfs/touched
	chmod 600 /tmp/ramfs/touched
	i=$((i + 1))
done
END
if [ -d $HODO/events/writeback/writeback_mark_inode_dirty ]; then
	check recursion hodo record -q -k -m 4M -e 'writeback:writeback_mark_inode_dirty,func:bdi_dev_name' \
		-o "$OUT/recursion" -- sh touch.sh
	hodo stat --json "$OUT/recursion" >"$OUT/recursion.stat"
	umount /tmp/ramfs
else
	skip recursion "no event writeback:writeback_mark_inode_dirty"
fi
unload
finish
