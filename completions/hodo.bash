# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# hodo in bash. What a word could be, 'hodo --complete' says, from the verbs' tables of options.

# What begins a command line of its own: word $1 of COMP_WORDS.
_hodo_command()
{
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
	fi
}

# hodo's words: bash parts them at ':' and '=' as well as at blanks. Sets words, first (of each, in COMP_WORDS),
# index and current (as far as the cursor), which are its caller's.
_hodo_words()
{
	local i at=0 start=0 blank rest=$COMP_LINE word

	for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
		word=${COMP_WORDS[i]}
		blank=${rest%%[![:blank:]]*}
		at=$((at + ${#blank} + ${#word}))
		rest=${COMP_LINE:at}
		if ((i == 0)) || [[ $blank ]]; then
			start=$((at - ${#word}))
			words+=("$word")
			first+=("$i")
		else
			words[-1]+=$word
		fi
		if ((i == COMP_CWORD)); then
			index=$((${#words[@]} - 1))
			current=${COMP_LINE:start:COMP_POINT-start}
		fi
	done
	words[index]=$current
	for ((i = 0; i < ${#words[@]}; i++)); do
		words[i]=${words[i]//[\\\'\"]/}
		# shellcheck disable=SC2088 # it is looked for, not expanded
		[[ ${words[i]} == '~/'* ]] && words[i]=$HOME/${words[i]#*/}
	done
}

_hodo()
{
	local -a words=() first=()
	local index=0 current='' break part prefix='' value

	COMPREPLY=()
	_hodo_words
	# The part of the word that bash takes for words of their own stays as it is.
	for break in : =; do
		[[ $COMP_WORDBREAKS == *"$break"* && $current == *"$break"* && $current != [\'\"]* ]] || continue
		part=${current%"${current##*"$break"}"}
		((${#part} > ${#prefix})) && prefix=$part
	done
	while IFS='' read -r value; do
		case $value in
		*$'\t'*) # a word, whatever its name
			value=${value%%$'\t'*}
			[[ $current == [\'\"]* ]] || value=${value//\*/\\*}
			COMPREPLY+=("${value#"$prefix"}")
			;;
		@command*)
			_hodo_command "${first[${value#@command }]}"
			return
			;;
		@files)
			compopt -o filenames
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${words[index]#"$prefix"}")
			;;
		@dirs)
			compopt -o filenames
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${words[index]#"$prefix"}")
			;;
		@programs)
			compopt -o filenames
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "${words[index]}" | sort -u)
			;;
		esac
	done < <("${words[0]}" --complete "$index" "${words[@]}" 2>/dev/null)
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:,] ]] && compopt -o nospace
	return 0
} && complete -F _hodo hodo
