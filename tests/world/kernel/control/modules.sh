# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
#
# modules.sh - (part of run.sh) events of a module: their files come and go, also while they are read and written.
MODULE=$HODO/events/control_test

insmod ./control_events.ko
equal module_events "$(ls $MODULE | tr '\n' ' ')" "empty enable fixed variable "
equal module_format "$(sed -n 's/^\tfield:\([^;]*\);\t\(.*\);$/\1 \2/p' $MODULE/variable/format | tr -d '\t')" \
	"u32 number offset:0;size:4;signed:0;type:u32
str text_of offset:4;size:-;signed:0;type:str
u32[] numbers offset:-;size:-;signed:0;type:u32[]
i64 wide offset:-;size:8;signed:1;type:i64"
equal module_info "$(awk -F '\t' '$1 == "control_test:fixed" { print $3, $4, $5, $7 }' $HODO/info)" \
	"off module control_events number:u32 wide:i64 small:u8 flag:bool letter:char place:ptr"
equal module_info_empty "$(awk -F '\t' '$1 == "control_test:empty" { print $7, $8 }' $HODO/info)" "- -"
equal module_info_mark "$(awk -F '\t' '$1 ~ "control_other:mark" { print $8 }' $HODO/info)" \
	'number %u\011of a "mark"\012'
echo 1 >$MODULE/enable
echo 1 >$HODO/enabled
echo 10 >/sys/module/control_events/parameters/fire
equal module_recorded "$(./count)" 30
echo 'text_of == "odd" && number > 4' >$MODULE/variable/filter
echo 10 >/sys/module/control_events/parameters/fire
equal module_filtered "$(./count)" $((30 + 20 + 3))
exec 5<$MODULE/fixed/format 6<$MODULE/fixed/enable
read -r first <&5
equal module_file_open "$first" "name: fixed"
check module_goes rmmod control_events
refused module_file_gone cat <&6
exec 5<&- 6<&-
check module_tree_gone test ! -e $MODULE
equal module_not_in_info "$(grep -c ^control_ $HODO/info)" 0
equal module_kept "$(./count)" $((30 + 20 + 3))

# Several processes use files of events all the time.
./users ./control_events.ko 40 || not_ok users "status $?"
echo 0 >$HODO/enabled
echo 0 >$HODO/events/enable
