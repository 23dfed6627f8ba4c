# bash completion for attn(1).

_attn_files()
{
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	COMPREPLY+=($(compgen -f -- "$1"))
}

# What the program says of roles and settings, into the variables of _attn: roles, settings,
# those that take a value, and the words that setting $1 takes.
_attn_load()
{
	local name kind form meaning option
	while IFS=$'\t' read -r name kind form meaning option; do
		case $kind,$name in
		tensor,* | text,* | result,weights) roles+=" $name" ;;
		esac
		if [[ $option ]]; then
			settings+=" ${option%%[[ ]*}"
		fi
		if [[ $option == *" "* ]]; then
			valued+=" ${option%% *}"
		fi
		if [[ ${option%% *} == "$1" && $form =~ ^\'[a-z0-9,-]+\'([ ,]|$) ]]; then
			while [[ $form =~ \'([^\']*)\'(.*) ]]; do
				words+=" ${BASH_REMATCH[1]}"
				form=${BASH_REMATCH[2]}
			done
		fi
	done < <("${COMP_WORDS[0]/#\~\//$HOME/}" help roles 2>/dev/null)
}

# FILE or ROLE=.  Bash breaks words at '=', so what follows one is a file.
_attn_inputs()
{
	_attn_files "$1"
	if [[ $1 && ! $1 == */* ]]; then
		local matches=($(compgen -W "$roles" -S = -- "$1"))
		if ((${#matches[@]})); then
			compopt -o nospace 2>/dev/null
			COMPREPLY+=("${matches[@]}")
		fi
	fi
}

# The first operand of inspect token or pairs is a token or pairs, which nobody can complete.
_attn_token()
{
	local i operands=0 previous=
	for ((i = 3; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) ;;
		*)
			case $previous in
			--top | --min-distance | --head | --layer | --batch | --threads | --key | --exclude-token | --columns | \
				--pairs | --conllu | --relation | --model | --text-file | --text-pair | --ids | --type-ids | --attention | --target | --target-ids | --generate | --image | --pixels | --without-head | =) ;;
			*) [[ "$valued " == *" $previous "* ]] || operands=$((operands + 1)) ;;
			esac
			;;
		esac
		previous=${COMP_WORDS[i]}
	done
	if [[ $2 ]]; then
		_attn_files "$1"
	elif ((operands > 0)); then
		_attn_inputs "$1"
	fi
}

_attn()
{
	local roles= settings= valued= words=
	local picture="--colormap --cell --size --dpi --title --transpose --numbers --reduce --max --theme --transparent
		--font --font-size --width --range --clip --transform --sentences --xlabel --ylabel --no-colorbar --no-caption --markers"
	local view="--key --words --exclude-first --exclude-diagonal --exclude-token --renormalise"
	local matrix="--query --top-keys $view"
	local model="--model --text --text-file --ids --text-pair --type-ids --no-special --attention --target --target-ids --generate --image --pixels --without-head"
	local forms="--text --tsv --json --jsonl --columns"
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	local command= options= i after_equals=
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		case $command,${COMP_WORDS[i]} in
		,run | ,merge | ,heatmap | ,view | ,compare | ,align | ,inspect | ,bench | ,help) command=${COMP_WORDS[i]} ;;
		inspect,token | inspect,pairs | inspect,tokens | inspect,heads | inspect,far | inspect,path | inspect,effects | inspect,file | inspect,model) command="inspect ${COMP_WORDS[i]}" ;;
		esac
	done

	if [[ $before == = ]]; then # --option=value, ROLE=FILE
		before=${COMP_WORDS[COMP_CWORD-2]} after_equals=1
	elif [[ $word == = ]]; then
		word= after_equals=1
	fi
	case $before in
	--colormap)
		COMPREPLY=($(compgen -W "ink greys viridis magma inferno plasma cividis balance
			purple-green$([[ $command == heatmap ]] && echo " list")" -- "$word"))
		return
		;;
	--range)
		COMPREPLY=($(compgen -W "shared fixed head" -- "$word"))
		return
		;;
	--transform)
		COMPREPLY=($(compgen -W "linear sqrt log" -- "$word"))
		return
		;;
	--mode)
		COMPREPLY=($(compgen -W "context weights projected all" -- "$word"))
		return
		;;
	--order)
		COMPREPLY=($(compgen -W "head entropy similarity" -- "$word"))
		return
		;;
	--statistic)
		COMPREPLY=($(compgen -W "queries entropy effective_keys largest diagonal previous next first separator within5
			distance distance_spread offset offset_share repeats induction coverage weight even_entropy
			even_distance" -- "$word"))
		return
		;;
	--method)
		COMPREPLY=($(compgen -W "argmax reverse mutual union grow-diag threshold monotone" -- "$word"))
		return
		;;
	--rows)
		COMPREPLY=($(compgen -W "written read" -- "$word"))
		return
		;;
	--theme)
		COMPREPLY=($(compgen -W "light dark" -- "$word"))
		return
		;;
	--numbers)
		COMPREPLY=($(compgen -W "auto on off" -- "$word"))
		return
		;;
	--reduce)
		COMPREPLY=($(compgen -W "max mean" -- "$word"))
		return
		;;
	--markers)
		COMPREPLY=($(compgen -W "keep drop" -- "$word"))
		return
		;;
	--scores-stage)
		COMPREPLY=($(compgen -W "product raw capped masked" -- "$word"))
		return
		;;
	--mode)
		COMPREPLY=($(compgen -W "context weights projected all" -- "$word"))
		return
		;;
	--format)
		if [[ $command == heatmap ]]; then
			COMPREPLY=($(compgen -W "png svg pdf" -- "$word"))
		else
			COMPREPLY=($(compgen -W "safetensors npy npz json tsv" -- "$word"))
		fi
		return
		;;
	-b | --input-b)
		_attn_load -
		_attn_inputs "$word"
		return
		;;
	-o | --model | --model-b | --text-file | --text-file-b | --ids | --ids-b | --image-b | --pixels-b | --type-ids | --target-ids | --pixels | --hidden | --logits | --image | --directory | --output | --context | --weights | --scores | --q | --k | --v | --rankings | --heatmaps | --pairs | --conllu | --list | --gold | --draw)
		_attn_files "$word"
		return
		;;
	--kernel | --kernel-b)
		COMPREPLY=($(compgen -W "scalar avx2 avx512 neon" -- "$word"))
		return
		;;
	--what)
		COMPREPLY=($(compgen -W "weights context scores output all" -- "$word"))
		return
		;;
	--attention)
		COMPREPLY=($(compgen -W "encoder decoder cross text vision" -- "$word"))
		return
		;;
	--text)
		if [[ $command == "inspect tokens" || " ${COMP_WORDS[*]} " == *" --model"[\ =]* ]]; then
			return
		fi
		;;
	--head | --head-b | --layer | --layer-b | --text-b | --target-b | --batch | --patches | --skip-keys | --columns | --top | --min-distance | --cell | --size | --dpi | --title | --max | --clip | \
		--font | --font-size | --width | --shape | --shard | --threads | --seconds | --query | --key | --top-keys | \
		--exclude-token | --text-pair | --target | --generate | --without-head | --sort | --next-token | --next | --tolerance | --relation | --median | --special | --null | --gold-first | --windows | --distance)
		return
		;;
	esac
	_attn_load "$before"
	if [[ "$valued " == *" $before "* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$word"))
		return
	fi

	case $command in
	"") options="run merge heatmap view compare align inspect bench help --help --version --verbose" ;;
	help) options="run merge heatmap view compare align inspect bench roles" ;;
	inspect) options="token pairs tokens heads far path effects file model --help" ;;
	run)
		options="--directory --context --output --weights --scores --q --k --v --rankings --heatmaps --scores-stage
			--format --top --min-distance --shard --dry-run --lengths --plot --head --layer --norms --rollout --flow --mean --threads --quiet --help --hidden --logits --next --pretty $model $matrix $forms $picture $settings"
		;;
	merge)
		options="--directory --context --output --weights --rankings --heatmaps --format --top --min-distance --threads
			--quiet --help $forms $picture"
		;;
	heatmap)
		options="--output --format --terminal --scores --statistic --head --layer --norms --rollout --flow --mean --batch --order --image --patches
			--skip-keys --threads --quiet --help $model $matrix $picture $settings"
		;;
	view) options="--output --head --layer --norms --rollout --flow --mean --batch --title --markers --threads --quiet --help $model $matrix $settings" ;;
	compare)
		options="--what --scores-stage --tolerance --top --head --layer --norms --rollout --flow --mean --batch --query --input-b --head-b --layer-b --kernel --kernel-b
			--model-b --text-b --text-file-b --ids-b --target-b --image-b --pixels-b --output $picture $view --pretty --threads --quiet --help $model $forms $settings"
		;;
	align)
		options="--output --list --together --head --layer --batch --method --median --no-standardise --rows --no-words --special
			--keep-special --null --confidence --reverse --gold --gold-first --gold-reverse --each --by-head --draw --threads
			--quiet --help --pretty --query $model $view $forms $picture $settings"
		;;
	bench) options="--shape --mode --causal --model --tokens --lengths --kind --dry-run --output --format --title
			--theme --transparent --font --font-size --width --dpi --no-caption --threads --seconds --quiet --help
			--text --tsv --json" ;;
	"inspect token")
		options="--to --steps --top --min-distance --head --layer --norms --rollout --flow --mean --batch --threads --quiet --help --pretty $model $view $forms $settings"
		;;
	"inspect pairs")
		options="--pairs --conllu --relation --reverse --score --top --head --layer --norms --rollout --flow --mean --batch --threads --quiet --help --pretty $model $view $forms $settings"
		;;
	"inspect heads")
		options="--similar --scaling --sizes --tokens --output --format --title --theme --transparent --font --font-size
			--width --dpi --no-caption --rule --head --layer --norms --rollout --flow --mean --batch --threads --quiet --help --query $view $model --pretty --tsv --json
			--jsonl --columns $settings"
		;;
	"inspect far")
		options="--windows --links --distance --top --head --layer --norms --rollout --flow --mean --batch --threads --quiet --help --query $view $model
			--pretty --tsv --json --jsonl --columns $settings"
		;;
	"inspect path")
		options="--to --greedy --by-head --head --layer --batch --norms --threads --quiet --help $model --pretty --tsv --json --jsonl --columns $settings"
		;;
	"inspect effects")
		options="--head --layer --batch --sort --next-token --prune --greedy --output --format --title --theme --transparent --font
			--font-size --width --dpi --no-caption --threads --quiet --help $model --pretty --tsv --json --jsonl --columns $settings"
		;;
	"inspect file") options="--quiet --help $forms" ;;
	"inspect model") options="--quiet --help --text --tsv --json" ;;
	"inspect tokens") options="--text --text-file --text-pair --no-special --pretty --tsv --json --jsonl --columns --quiet --help" ;;
	esac
	if [[ $command == help && $before == inspect ]]; then
		options="token pairs tokens heads far path effects file model"
	fi
	case $command,$word in
	run,-* | merge,-* | heatmap,-* | view,-* | compare,-* | align,-* | bench,* | inspect\ *,-* | ,* | help,* | inspect,*)
		COMPREPLY=($(compgen -W "$options" -- "$word"))
		;;
	"inspect file",* | "inspect model",* | "inspect tokens",* | merge,*)
		_attn_files "$word"
		;;
	"inspect token",* | "inspect pairs",* | "inspect path",*)
		_attn_token "$word" "$after_equals"
		;;
	*)
		if [[ $after_equals ]]; then
			_attn_files "$word"
		else
			_attn_inputs "$word"
		fi
		;;
	esac
}

complete -F _attn attn
