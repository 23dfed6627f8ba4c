#!/bin/bash
# Names that are empty, have no ending, or are nearly right.
. "$(dirname "$0")/lib.sh"
cp "$inputs/plain.json" x.json

# An unset variable must not make a directory of the root.
status 2 attn run x.json -o ''
says 'the name of a directory is empty'
status 2 attn run x.json --heatmaps ''
says 'is empty'

# --format decides where the ending says nothing.
status 0 attn run x.json --weights /dev/null --format npy
status 0 attn run x.json --weights plain --format json
status 0 attn run x.json --weights ended.json
same 'a file without an ending' plain ended.json
status 2 attn run x.json --weights plain2
says '--format'
status 2 attn run x.json --weights w.npy --format json
says '--format'
ok 'nothing was written' test ! -e w.npy

# Axes are checked, and must agree with the weights.
status 2 attn inspect token '#0' x.json --axes layer
says "'--axes' has no effect without stored 'weights'"
status 0 attn run x.json --weights w.npy
status 2 attn inspect token '#0' weights=w.npy --axes zz
says "'layer', 'batch' or 'layer,batch'"
status 2 attn inspect token '#0' weights=w.npy --axes batch
says 'nothing before its heads'

# A prefix is nearer than a misspelling.
status 2 attn heat x.json
says "did you mean 'attn heatmap'"
status 2 attn rnu x.json
says "did you mean 'attn run'"
finish
