#!/bin/bash
# NumPy, and a reader of safetensors that follows its specification, open what is
# written.  Optional: without Python or NumPy it is skipped.
. "$(dirname "$0")/lib.sh"
find_numpy
if [ -z "$python" ]; then
	skip 'NumPy: no python3 here has it'
	finish
fi

cat > check.py << 'END'
import json, struct, sys
import numpy

def safetensors(path):
    """Names, arrays and metadata, as the format's specification has them."""
    data = open(path, 'rb').read()
    length, = struct.unpack('<Q', data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop('__metadata__', {})
    assert all(isinstance(v, str) for v in metadata.values())
    types = {'F32': '<f4', 'I64': '<i8', 'BOOL': '?'}
    tensors, end = {}, 0
    for name, t in sorted(header.items(), key=lambda item: item[1]['data_offsets']):
        first, last = t['data_offsets']
        assert first == end, 'a hole in the data'
        end = last
        raw = data[8 + length + first:8 + length + last]
        tensors[name] = numpy.frombuffer(raw, types[t['dtype']]).reshape(t['shape'])
    assert 8 + length + end == len(data), 'something behind the data'
    return tensors, metadata

stem = sys.argv[1]
npy = numpy.load(stem + '.npy')
npz = numpy.load(stem + '.npz')
st, metadata = safetensors(stem + '.safetensors')
document = json.load(open(stem + '.json'))
assert npy.dtype == numpy.float32 and npy.flags.c_contiguous
assert list(npz) == ['weights']
assert (npy == npz['weights']).all()
assert (npy == st['weights']).all()
assert (npy == numpy.array(document['weights'], 'f4')).all()
rows = npy.sum(-1)
assert ((abs(rows - 1) < 1e-6) | (rows == 0)).all()
assert 'version' in metadata
if 'tokens' in metadata:
    assert json.loads(metadata['tokens']) == document['tokens']
    assert len(document['tokens']) == npy.shape[-2]
END
for input in "$inputs"/*.json; do
	name=$(basename "$input" .json)
	for format in npy npz safetensors json; do
		attn run "$input" --weights "$name.$format" 2> /dev/null
	done
	status 0 "$python" check.py "$name"
done

# And the other way: what NumPy writes is read.
cat > write.py << 'END'
import numpy
q = numpy.arange(24, dtype='f8').reshape(2, 3, 4) / 10
numpy.save('c.npy', q)
numpy.save('fortran.npy', numpy.asfortranarray(q))
numpy.save('big.npy', q.astype('>f4'))
numpy.savez('stored.npz', q=q, k=q, v=q)
numpy.savez_compressed('deflated.npz', q=q, k=q, v=q)
numpy.savez('text.npz', q=q, k=q, v=q, temperature=numpy.array('0.5,1'), window=numpy.array([1, 0]))
numpy.savez('words.npz', q=q, k=q, v=q, segments=numpy.array(['a', 'b', 'a']))
END
status 0 "$python" write.py
attn run q=c.npy k=c.npy v=c.npy --weights expected.npy 2> /dev/null
for form in fortran big; do
	status 0 attn run q=$form.npy k=$form.npy v=$form.npy --weights found.npy
	same "$form.npy" expected.npy found.npy
done
for form in stored deflated; do
	status 0 attn run $form.npz --weights found.npy
	same "$form.npz" expected.npy found.npy
done
status 0 attn run stored.npz --temperature 0.5,1 --window 1,0 --weights expected.npy
status 0 attn run text.npz --weights found.npy
same 'text that is a setting' expected.npy found.npy
status 3 attn run words.npz --weights found.npy
says "'words.npz': 'segments' is text, expected numbers, (N) or (B, N)"
finish
