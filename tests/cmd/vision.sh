#!/bin/bash
# Models that read pictures: from a file through the folder's preprocessor, and from numbers.
. "$(dirname "$0")/lib.sh"
model=$root/tests/data/models/vit
v=(--model "$model")
find_numpy
if [ -z "$python" ]; then
	skip 'models that read pictures: no python3 here has NumPy'
	finish
fi

# Known attention, and class scores, of the picture in the folder, which has the model's size.
status 0 attn run "${v[@]}" --image "$model/image.png" --weights w.npy
status 0 attn run "${v[@]}" --image "$model/image.png" --logits l.npy
ok 'known values' $python - "$model/expected.safetensors" <<'END'
import json, struct, sys
import numpy as np
data = open(sys.argv[1], 'rb').read()
length = struct.unpack('<Q', data[:8])[0]
entries = json.loads(data[8:8 + length])
def known(name):
    e = entries[name]
    begin, end = (8 + length + at for at in e['data_offsets'])
    return np.frombuffer(data[begin:end], '<f4').reshape(e['shape'])
assert abs(np.load('w.npy') - known('attention.vision')).max() < 1e-5
assert np.load('l.npy').shape == (1, 5) and abs(np.load('l.npy')[0] - known('logits')).max() < 5e-5
np.save('pixels.npy', known('pixel_values'))
np.save('batch.npy', known('pixel_values')[None])
np.save('flat.npy', known('pixel_values')[0])
END
for form in pixels batch; do
	status 0 attn run "${v[@]}" --pixels $form.npy --weights other.npy
	ok "$form as numbers" $python -c "
import numpy as np
assert abs(np.load('w.npy') - np.load('other.npy')).max() < 1e-6"
done
status 3 attn run "${v[@]}" --pixels flat.npy
says "'flat.npy' is 32 x 32, expected 3 x 32 x 32, colours first"

# The likeliest classes, by name.
status 0 attn run "${v[@]}" --image "$model/image.png" --next 2 --tsv
is 'two classes' "$(cut -f 2,3 out | tr '\t\n' ' ;')" "id token;0 LABEL_0;3 LABEL_3;"

# Tokens are [CLS] and the patches, row by row.
status 0 attn inspect token '[CLS]' "${v[@]}" --image "$model/image.png" --layer 0 --head 0 --top all --tsv
is 'keys' "$(sed 1d out | cut -f 7 | LC_ALL=C sort | tr '\n' ' ')" \
	'0,0 0,1 0,2 0,3 1,0 1,1 1,2 1,3 2,0 2,1 2,2 2,3 3,0 3,1 3,2 3,3 [CLS] '
status 0 attn inspect token 2,1 "${v[@]}" --image "$model/image.png" --layer 0 --head 0 --tsv
is 'a patch' "$(sed -n 2p out | cut -f 3)" 10

# A larger picture is resized; the twin does what Pillow does, by the formula of its filter.
status 0 attn run "${v[@]}" --image "$root/samples/scene.png" --weights w.npy
ok 'a picture of another size' $python - "$root/samples/scene.png" <<'END'
import struct, sys, zlib
import numpy as np
data = open(sys.argv[1], 'rb').read()
at, raw = 8, b''
while at < len(data):
    size, kind = struct.unpack('>I4s', data[at:at + 8])
    if kind == b'IHDR': width, height, depth, colour = struct.unpack('>IIBB', data[at + 8:at + 18])
    if kind == b'PLTE': palette = np.frombuffer(data[at + 8:at + 8 + size], np.uint8).reshape(-1, 3)
    if kind == b'IDAT': raw += data[at + 8:at + 8 + size]
    at += 12 + size
raw = np.frombuffer(zlib.decompress(raw), np.uint8)
wide = {2: 3, 6: 4, 3: 1, 0: 1}[colour]
assert depth == 8
rows, before = [], np.zeros(width * wide, int)
for line in raw.reshape(height, -1):
    kind, row = line[0], line[1:].astype(int)
    for i in range(len(row)):
        a = row[i - wide] if i >= wide else 0
        b, c = before[i], before[i - wide] if i >= wide else 0
        p = a + b - c
        near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        row[i] = (row[i] + [0, a, b, (a + b) // 2, near][kind]) % 256
    rows.append(row)
    before = row
picture = np.array(rows).reshape(height, width, wide)
picture = palette[picture[..., 0]] if colour == 3 else picture[..., :3] if wide >= 3 else np.repeat(picture, 3, 2)
def shrink(p, size):  # along axis 0
    scale, out = len(p) / size, []
    for i in range(size):
        centre = (i + .5) * scale
        first, end = int(max(centre - scale + .5, 0)), int(min(centre + scale + .5, len(p)))
        w = np.array([max(0, 1 - abs((k - centre + .5) / scale)) for k in range(first, end)])
        w = np.floor(w / w.sum() * 2 ** 22 + .5).astype(np.int64)
        out.append(np.clip((np.tensordot(w, p[first:end].astype(np.int64), 1) + 2 ** 21) >> 22, 0, 255))
    return np.array(out)
small = shrink(shrink(picture.swapaxes(0, 1), 32).swapaxes(0, 1), 32)
np.save('small.npy', ((small / 255 - .5) / .5).transpose(2, 0, 1).astype('f4'))
END
status 0 attn run "${v[@]}" --pixels small.npy --weights other.npy
ok 'the same as numbers' $python -c "
import numpy as np
assert abs(np.load('w.npy') - np.load('other.npy')).max() < 1e-6"

# What the preprocessor's file says.
cp -r "$model" m
chmod -R u+w m
settings=$(cat m/preprocessor_config.json)
change() { jq "$1" <<< "$settings" > m/preprocessor_config.json; }
for change in '.resample = 3' '.image_mean = [0.1, 0.2, 0.3]' '.do_normalize = false' '.rescale_factor = 0.01' \
	'.do_center_crop = true | .crop_size = 32 | .size = {"shortest_edge": 40}'; do
	change "$change"
	status 0 attn run --model m --image "$root/samples/scene.png" --weights other.npy
	ok "$change has an effect" test "$(cksum < w.npy)" != "$(cksum < other.npy)"
done
change '.size = 31'
status 3 attn run --model m --image "$root/samples/scene.png"
says "makes pictures of 31 x 31, expected 32 x 32 as the model's 'image_size' says"
change '.size = {"shortest_edge": 32}'
status 3 attn run --model m --image "$root/samples/scene.png"
says "makes pictures of any shape, expected 'do_center_crop'"
change '.resample = 9'
status 3 attn run --model m --image "$root/samples/scene.png"
says "'resample' is 9, expected a whole number from 0 to 5"
change '.image_std = [1, 0, 1]'
status 3 attn run --model m --image "$root/samples/scene.png"
says "'image_std' is an array, expected three numbers, one a colour"
rm m/preprocessor_config.json
status 0 attn run --model m --image "$root/samples/scene.png" --weights other.npy
same 'without the file' w.npy other.npy

# Weights over the picture, with no further option, and the matrix without a query.
status 0 attn heatmap "${v[@]}" --image "$root/samples/scene.png" --query '[CLS]' --layer 1 -o over.png
status 0 attn heatmap "${v[@]}" --image "$root/samples/scene.png" --query '#0' --layer 1 --patches 4x4 --skip-keys 1 \
	-o other.png
same 'patches are the model'"'"'s' <(tail -c +1 over.png | wc -c) <(wc -c < other.png)
status 0 attn heatmap "${v[@]}" --image "$root/samples/scene.png" --layer 1 --head 0 -o matrix.svg
ok 'a matrix of all tokens' grep -q '3,3' matrix.svg

# What does not go together.
status 2 attn run "${v[@]}" --text a
says 'a ViT model also requires a picture: --image FILE'
status 2 attn run "${v[@]}" --image x.png --pixels y.npy
says "'--image' and '--pixels' cannot be combined: a picture is given once"
status 2 attn run "${v[@]}" --image "$model/image.png" --text a
says 'a ViT model reads a picture, and no text'
status 2 attn run --model "$root/samples/stories260K" --text a --image x.png
says "'--image' is a picture, and a Llama model reads texts"
status 4 attn run "${v[@]}" --image nowhere.png
says "could not open 'nowhere.png'"
printf 'no picture' > no.png
status 3 attn run "${v[@]}" --image no.png
says "'no.png'"
printf '\xff\xd8\xff' > no.jpg
status 3 attn run "${v[@]}" --image no.jpg
says "'no.jpg' is not a good JPEG picture"
status 2 attn bench "${v[@]}" --tokens 8
says 'a ViT model reads pictures, which are not measured'
status 2 attn run --model "$root/tests/data/models/bert_min_config" --ids 1 --next 2
says "'--next' is for decoders, which predict the next token, and for classes of pictures"

# Both towers of a model of texts and pictures.
clip=$root/../shared/models/families/clip
if [ -e "$clip" ]; then
	status 0 attn run --model "$clip" --image "$clip/image.png" --weights vision.npy
	status 0 attn run --model "$clip" --text 'a photo' --weights text.npy
	status 0 attn run --model "$clip" --text 'a photo' --image "$clip/image.png" --weights both.npy
	says 'attention is that of the text: the picture is not used'
	same 'a text' text.npy both.npy
	status 0 attn run --model "$clip" --text 'a photo' --image "$clip/image.png" --attention vision --weights both.npy
	says 'attention is that of the picture: the text is not used'
	same 'a picture' vision.npy both.npy
else
	skip 'a model of texts and pictures: ../shared/models is not there'
fi
photo=$root/../shared/models/images/photo2.jpg
if [ -e "$photo" ]; then
	status 0 attn heatmap "${v[@]}" --image "$photo" --query '[CLS]' --layer 1 -o jpeg.png
else
	skip 'a JPEG picture: ../shared/models is not there'
fi
finish
