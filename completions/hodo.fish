# SPDX-License-Identifier: MIT
#
# hodo in fish. What a word could be, 'hodo --complete' says, from the verbs' tables of options.

function __hodo_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l all (commandline -op)
    # Words behind the cursor say which program or recording it is about.
    set -l from (math (count $before) + 1)
    test -n "$word"; and set from (math $from + 1)
    set -l behind
    test $from -le (count $all); and set behind $all[$from..-1]
    # What is between quotes is completed as it stands there.
    set word (string replace -ra '[\'"\\\\]' '' -- $word)

    for answer in ($before[1] --complete (count $before) $before "$word" $behind 2>/dev/null)
        switch $answer
            case '*'\t'*' # a word, whatever its name
                echo $answer
            case '@command *'
                __fish_complete_subcommand --fcs-skip=(string replace '@command ' '' -- $answer)
            case @files
                __fish_complete_path $word
            case @dirs
                __fish_complete_directories $word ''
            case @programs
                __fish_complete_command
        end
    end
end

complete -c hodo -f -a '(__hodo_complete)'
