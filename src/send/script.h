/* SPDX-License-Identifier: MIT */
/*
 * script.h - what runs at the receiver: POSIX's sh and utilities, and of the other ones `head -c`, and `sync FILE` and
 * `find -mmin` where these exist.
 *
 * It is the same text for everybody: directory, names and sizes come on standard input, as lines, and are never part
 * of a command. It has no quote, backslash or line break, so that any login shell passes it on as it is. Each answer is
 * a line `hodo ok`, `hodo yes` or `hodo no REASON`; after the last the shell ends.
 *
 *	DIR                    makes and enters it
 *	have PATH SIZE SUM     whether that file is there, with that size and checksum
 *	put PATH SIZE SUM      takes SIZE bytes; the file appears under its name when it is whole and on the disk
 *	prune PATH BYTES MIN NEWEST
 *
 * noclobber (set -C) opens the new file with O_EXCL, so that no link leads elsewhere. What a lost connection left stays
 * as NAME.part until the same part comes again.
 */
#pragma once

#define HODO_SEND_SCRIPT \
	"LC_ALL=C; export LC_ALL; set -f -C; unset CDPATH; " \
	"no() { echo hodo no $*; exit 1; }; " \
	"sum() { set -- $(cksum < \"$1\"); echo $1 $2; }; " \
	"take() { mkdir -p -- \"${f%/*}\" && rm -f -- \"$f.part\" && " \
	"{ head -c \"$n\" > \"$f.part\" || { rm -f -- \"$f.part\"; return 1; }; } && " \
	"{ sync \"$f.part\" 2> /dev/null || :; } && " \
	"{ [ \"$(sum \"$f.part\")\" = \"$c $n\" ] || { echo it arrived damaged or cut short; return 1; }; } && " \
	"mv -f -- \"$f.part\" \"$f\" && { sync \"${f%/*}\" 2> /dev/null || :; }; }; " \
	"old() { find \"$f\" -type f -name \"part-*.hodo*\" ! -path \"$k*\" \"$@\"; }; " \
	"prune() { if [ \"$c\" -gt 0 ]; then old -mmin +\"$c\" -exec rm -f -- {} +; fi; " \
	"if [ \"$n\" -gt 0 ]; then t=$(wc -c < \"$k\") && old ! -name \"*.part\" -exec wc -c {} + | " \
	"grep \"/part-\" | sort -r -k 2 | while read -r z p; do t=$((t + z)); " \
	"if [ $t -gt \"$n\" ]; then rm -f -- \"$p\"; fi; done; fi; " \
	"set +f; rmdir -- \"$f\"/* 2> /dev/null; set -f; :; }; " \
	"IFS= read -r d || exit; case $d in /*) ;; *) d=./$d ;; esac; " \
	"e=$( { mkdir -p -- \"$d\" && cd -- \"$d\"; } 2>&1 ) || no $e; cd -- \"$d\" || no; echo hodo ok; " \
	"while read -r v f n c k; do case $v in " \
	"have) if [ -f \"$f\" ] && [ \"$(sum \"$f\")\" = \"$c $n\" ]; then echo hodo yes; else echo hodo ok; fi ;; " \
	"put) if e=$(take 2>&1); then echo hodo ok; else no $e; fi ;; " \
	"prune) if e=$(prune 2>&1); then echo hodo ok; else no $e; fi ;; " \
	"*) no ;; esac; done"
