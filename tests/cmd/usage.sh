#!/bin/bash
# Help, versions, suggestions and the exit status of every kind of failure.
. "$(dirname "$0")/lib.sh"
cp "$inputs/plain.json" x.json

# Help that was asked for is on standard output, with status 0.
for command in run heatmap inspect 'inspect token' 'inspect file'; do
	for help in --help -h; do
		status 0 attn $command $help
		silent
		is "attn $command $help" "$(head -c $((12 + ${#command})) out)" "usage: attn $command"
	done
	cp out expected
	status 0 attn help $command
	same "attn help $command" expected out
	ok "attn $command --help is at most 100 columns wide" test "$(wc -L < out)" -le 100
done
for help in --help -h help 'help help' 'help --help'; do
	status 0 attn $help
	silent
	is "attn $help" "$(head -n 1 out)" 'usage: attn COMMAND [options] INPUT...'
	ok 'the overview lists the commands' grep -q '^  inspect ' out
done
status 0 attn --version
ok 'a version' grep -qxE 'attn [0-9]+\.[0-9]+\.[0-9]+' out
silent
status 0 attn run no-such-file --help

# Wrong usage is status 2 and one line on standard error.
usage()
{
	local part=$1
	shift
	status 2 attn "$@"
	says "$part"
	is "$ran writes nothing" "$(cat out)" ''
	is "$ran says one line" "$(wc -l < err)" 1
}
usage 'no command'
usage "unknown command 'runs', did you mean 'attn run'" runs x.json
usage "unknown command 'heatmp', did you mean 'attn heatmap'" heatmp
usage "unknown command 'zzzzzzzzzz'" zzzzzzzzzz
usage "did you mean 'attn inspect token'" inspect tokn it x.json
usage "'token', 'pairs', 'tokens', 'heads', 'far', 'path', 'effects', 'file' or 'model'" inspect
usage "unknown command 'nothing'" help nothing
usage "'attn run' has no commands" help run x
usage "unknown option '--wieghts'" run x.json --wieghts w.npy
says "did you mean '--weights'"
usage "unknown option '-z'" run -z x.json
usage "unknown option '--zzz'" --zzz
usage "option '--tsv' takes no value" inspect file --tsv=3 x.json
usage "option '--c' could be more than one" run x.json --c
usage "needs a value" run x.json --weights
usage "needs a value" run x.json -o
usage 'no input' run
usage 'no input' inspect token it
usage 'no token' inspect token
usage '2 files' inspect file x.json x.json
usage '0 files' inspect file
usage "'--top' is '0', expected a whole number from 1" run x.json --top 0
usage "'--top' is 'x'" inspect token it x.json --top x
usage "'--softcap' is '-1'" run x.json --softcap -1
usage "'--scale' is 'nan'" run x.json --scale nan
usage "'--num-heads' is '0'" run x.json --num-heads 0
usage "'--causal' is 'maybe'" run x.json --causal=maybe
usage "'in,out' or 'out,in'" run x.json --layout 'in out'
usage "'--scores-stage' is 'cooked'" run x.json --scores s.npy --scores-stage cooked
usage "needs '--scores FILE'" run x.json --scores-stage raw
usage "leave it out" run x.json -o d --weights w.npy
usage "'w.txt' has no known ending" run x.json --weights w.txt
usage "'w' has no known ending" run x.json --context w
usage "'r.npy' has no known ending, expected .tsv, .json or .jsonl" run x.json --rankings r.npy
usage 'is empty' heatmap x.json -o ''
usage "'--head' has '2', expected numbers from 0 to 1" inspect token it x.json --head 2
usage "'--head' has 'other'" inspect token it x.json --head other
usage "'--layer' has '1', but there is only 0" inspect token it x.json --layer 1
usage "'--batch' has '1'" inspect token it x.json --batch 1
usage "unknown role 'wx'" run x.json wx=w.npy
usage "did you mean 'embeddings'" run embedings=x.json
usage "give --causal" run x.json causal=true
usage 'names no file' run wq=
attn run x.json --weights w.npy 2> /dev/null
usage 'a stored result has no scores' run weights=w.npy --scores s.npy
usage 'a stored result has no values' run weights=w.npy --context c.npy
rm w.npy
is 'wrong usage makes nothing' "$(listing)" './err ./expected ./out ./x.json '

# Other failures.
status 1 attn inspect token anmal x.json
says "did you mean 'animal'"
status 1 attn inspect token '#4' x.json
says "'#4' is beyond the 4 queries, expected '#0' to '#3'"
status 3 attn run x.json --num-heads 3
says "attn run: 'x.json': num_heads is 3, expected a divisor of the 4 columns of 'wq'"
status 3 attn run x.json x.json
says "may be given only once"
status 4 attn run missing.json
says "could not open 'missing.json': No such file or directory"
status 4 attn run .
says "'.' is a directory"
status 4 attn run x.json --weights missing/w.npy
says "could not write 'missing/w.npy': No such file or directory"
status 4 attn run wq=missing.npz:layer.0
says "missing.npz"
# --quiet: nothing but errors.
status 0 attn run x.json -o quiet.out --quiet
is 'no wrote' "$(cat err)" ''
status 0 attn run x.json --head 1 -o quiet.out --quiet
is 'no note' "$(cat err)" ''
status 0 attn inspect file x.json --quiet
status 2 attn run x.json --quiet --head 99
says "'--head' has '99'"

finish
