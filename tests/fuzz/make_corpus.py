#!/usr/bin/env python3
"""Make the seed files of corpus/ again (needs NumPy).

What fuzzing found is kept there as well, under names that start with "found-",
and is not made here.
"""
import base64
import io
import json
import os
import struct
import zipfile
import zlib

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def put(path, data):
    with open(os.path.join(HERE, path), "wb") as f:
        f.write(data)


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def raw_npy(header, body=b"", version=(1, 0), length=None):
    text = header.encode("latin1")
    length = len(text) if length is None else length
    size = struct.pack("<H" if version[0] == 1 else "<I", length)
    return b"\x93NUMPY" + bytes(version) + size + text + body


def header(descr="'<f4'", order="False", shape="(2, 3)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)


def make_npy():
    a = np.arange(6, dtype="<f4").reshape(2, 3)
    cube = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    body = a.tobytes()
    put("npy/c-order.npy", npy(a))
    put("npy/fortran.npy", npy(np.asfortranarray(cube.astype("<i2"))))
    put("npy/fortran-big-endian.npy", npy(np.asfortranarray(cube.astype(">f8"))))
    put("npy/fortran-tall.npy", npy(np.asfortranarray(np.arange(70 * 37, dtype="<u2").reshape(70, 37))))
    put("npy/scalar.npy", npy(np.float64(1.5)))
    put("npy/empty.npy", npy(np.zeros((0, 3), "<f4")))
    put("npy/vector-fortran.npy", raw_npy(header(order="True", shape="(6,)"), body))
    for name in "<f2 >f2 <f4 >f4 <f8 >f8 |i1 <i2 >i2 <i4 >i4 <i8 >i8 |u1 <u2 >u2 <u4 >u4 <u8 >u8".split():
        order = {"<": "little", ">": "big", "|": "one"}[name[0]]
        values = [0, 1, 2, 100] if name[1] == "u" else [0, 1, -2, 100]
        put("npy/%s-%s.npy" % (name[1:], order), npy(np.array(values, name)))
    put("npy/bool.npy", npy(np.array([[True, False], [False, True]])))
    put("npy/bfloat16-void.npy", raw_npy(header("'<V2'", shape="(3,)"), bytes.fromhex("803f00c00040")))
    put("npy/bfloat16-name.npy", raw_npy(header("'bfloat16'", shape="(3,)"), bytes.fromhex("803f00c00040")))
    words = ["the", "▁it", "", "😀é"]
    put("npy/strings-scalar.npy", npy(np.array("out,in")))
    put("npy/strings-little.npy", npy(np.array(words, "<U3")))
    put("npy/strings-big.npy", npy(np.array(words, ">U3")))
    put("npy/strings-bytes.npy", npy(np.array([w.encode() for w in words])))
    for version in (1, 2, 3):
        put("npy/version%d.npy" % version, raw_npy(header(), body, (version, 0)))
    put("npy/other-order.npy",
        raw_npy('{"shape":(2,3,),"fortran_order":False,"descr":"<f4"}' + " " * 20, body))
    put("npy/python2.npy", raw_npy(header(shape="(2L, 3L)"), body))
    bad = {
        "version4": raw_npy(header(), body, (4, 0)),
        "minor1": raw_npy(header(), body, (1, 1)),
        "short": raw_npy(header(), body[:-1]),
        "long": raw_npy(header(), body + b"x"),
        "header-beyond": raw_npy(header(), body, length=60000),
        "header-beyond2": raw_npy(header(), body, (2, 0), length=2**32 - 1),
        "header-cut": raw_npy(header(), body, length=30),
        "no-shape": raw_npy("{'descr': '<f4', 'fortran_order': False}", body),
        "twice": raw_npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,3)}", body),
        "unknown-key": raw_npy("{'descr': '<f4', 'order': False, 'shape': (2,3)}", body),
        "not-dict": raw_npy("('descr', '<f4')", body),
        "after": raw_npy(header() + "x", body),
        "int-shape": raw_npy(header(shape="(6)"), body),
        "negative": raw_npy(header(shape="(-2, -3)"), body),
        "double-comma": raw_npy(header(shape="(2,,3)"), body),
        "rank9": raw_npy(header(shape="(" + "1, " * 9 + ")"), body[:4]),
        "wraps": raw_npy(header(shape="(4294967296, 4294967296, 4)"), b""),
        "wraps-bytes": raw_npy(header("'<f8'", shape="(2305843009213693952,)"), b""),
        "huge-number": raw_npy(header(shape="(99999999999999999999999,)"), b""),
        "wraps-zero": raw_npy(header(shape="(4294967296, 4294967296, 0)"), b""),
        "structure": npy(np.zeros(2, [("a", "<f4"), ("b", "<i4")])),
        "strings-2d": npy(np.array([["a", "bc"], ["a", "b"]])),
        "strings-3d": npy(np.array([[["a", "bc"]]])),
        "strings-empty": raw_npy(header("'<U2'", shape="(0,)")),
        "strings-nothing": raw_npy(header("'<U0'", shape="(1000000000000,)")),
        "strings-wrap": raw_npy(header("'<U4611686018427387905'", shape="(1,)"), bytes(4)),
        "strings-short": raw_npy(header("'<U2'", shape="(2,)"), bytes(15)),
        "strings-code": raw_npy(header("'<U2'", shape="(1,)"), b"a\0\0\0\0\0\x11\0"),
        "strings-surrogate": raw_npy(header("'<U1'", shape="(1,)"), b"\0\xd8\0\0"),
        "strings-zero": raw_npy(header("'|S3'", shape="(2,)"), b"abca\0b"),
        "bytes-latin1": raw_npy(header("'|S1'", shape="(1,)"), b"\xe9"),
        "objects": npy(np.array([None, {}], object)),
        "complex": npy(np.zeros(2, "<c8")),
        "date": npy(np.zeros(2, "<M8[s]")),
        "longdouble": raw_npy(header("'<f16'", shape="(1,)"), bytes(16)),
        "void3": raw_npy(header("'|V3'", shape="(1,)"), bytes(3)),
        "empty-descr": raw_npy(header("''"), body),
        "open-string": raw_npy("{'descr", body),
        "only-magic": b"\x93NUMPY",
    }
    for name, data in bad.items():
        put("npy/bad-%s.npy" % name, data)


def archive(members, **options):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as z:
        for name, data in members:
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, options.get("compression", 0))
    return out.getvalue()


def zip64_archive(name, data):
    """As numpy.savez does: force_zip64."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        with z.open(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), "w", force_zip64=True) as f:
            f.write(data)
    return out.getvalue()


def full_zip64(name, data):
    """Every field that may stand in a zip64 record does."""
    import zlib
    crc = zlib.crc32(data)
    ones = 0xFFFFFFFF
    raw = name.encode()
    extra = struct.pack("<HHQQ", 1, 16, len(data), len(data))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0, 0, 0, 33, crc, ones, ones, len(raw), len(extra)) + raw + extra
    extra = struct.pack("<HHB", 0x7777, 1, 9) + struct.pack("<HHQQQ", 1, 24, len(data), len(data), 0)
    central = struct.pack("<4s6H3L5H2L", b"PK\1\2", 45, 45, 0, 0, 0, 33, crc, ones, ones, len(raw), len(extra),
                          0, 0, 0, 0, ones) + raw + extra
    start = len(local) + len(data)
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(central), start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, start + len(central), 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, ones, ones, 0)
    return local + data + central + end64 + locator + end


class Stream(io.RawIOBase):
    """A file without seek, so that zipfile writes data descriptors."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def patched(data, at, new):
    return data[:at] + new + data[at + len(new):]


def make_npz():
    a = npy(np.arange(6, dtype="<f4").reshape(2, 3))
    b = npy(np.asfortranarray(np.arange(6, dtype=">i4").reshape(3, 2)))
    two = [("q.npy", a), ("k.npy", b)]
    stored, deflated = archive(two), archive(two, compression=zipfile.ZIP_DEFLATED)
    put("npz/stored.npz", stored)
    put("npz/settings.npz", archive([("layout.npy", npy(np.array("out,in"))), ("axes.npy", npy(np.array("batch"))),
                                     ("scale.npy", npy(np.float64(0.1))), ("num_heads.npy", npy(np.int64(8))),
                                     ("causal.npy", npy(np.bool_(True)))]))
    put("npz/tokens.npz", archive([("embeddings.npy", a), ("tokens.npy", npy(np.array(["the", "cat"])))],
                                  compression=zipfile.ZIP_DEFLATED))
    put("npz/deflated.npz", deflated)
    put("npz/zip64.npz", zip64_archive("q.npy", a))
    put("npz/zip64-all.npz", full_zip64("q.npy", a))
    put("npz/empty.npz", archive([]))
    put("npz/directory.npz", archive([("d/", b"")] + [("d/q.npy", a)]))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo("q.npy", (1980, 1, 1, 0, 0, 0)), a)
        z.comment = b"a comment with PK\5\6 in it"
    put("npz/comment.npz", out.getvalue())
    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(zipfile.ZipInfo("q.npy", (1980, 1, 1, 0, 0, 0)), a, zipfile.ZIP_DEFLATED)
    put("npz/descriptor.npz", stream.data)
    zeros = npy(np.zeros((300, 300), "<f4"))
    put("npz/zeros.npz", archive([("q.npy", zeros)], compression=zipfile.ZIP_DEFLATED))

    one = archive([("q.npy", a)])
    one_deflated = archive([("q.npy", a)], compression=zipfile.ZIP_DEFLATED)
    central, central_deflated = one.index(b"PK\1\2"), one_deflated.index(b"PK\1\2")
    end = one.index(b"PK\5\6")
    big = struct.pack("<L", 0x7FFFFFFF)
    put("npz/other-member.npz", archive([("q.npy", a), ("readme.txt", b"hello")]))
    put("npz/no-name.npz", archive([(".npy", a)]))
    others = {
        "object": np.array([None, {}], object),
        "date": np.array(["2020-01-01"], "M8[D]"),
        "complex": np.zeros((2, 2), "c8"),
        "structure": np.zeros(2, [("a", "<f4"), ("b", "<i4")]),
        "cube": np.array([[["a"]]]),
    }
    put("npz/others.npz", archive([("q.npy", a)] + [(name + ".npy", npy(x)) for name, x in others.items()]))
    bad = {
        "twice": archive([("q.npy", a), ("r.npy", a)]).replace(b"r.npy", b"q.npy"),
        "torch": archive([("model/data.pkl", b"\x80\x02}.")]),
        "member": archive([("q.npy", b"not an array")]),
        "bzip2": archive([("q.npy", a)], compression=zipfile.ZIP_BZIP2),
        "lzma": archive([("q.npy", a)], compression=zipfile.ZIP_LZMA),
        "encrypted": patched(one, central + 8, b"\1\0"),
        "crc": patched(one, central + 16, b"\0\0\0\0"),
        "stored-size": patched(one, central + 24, big),
        "stored-packed": patched(one, central + 20, big + big),
        "deflated-size": patched(one_deflated, central_deflated + 24, big),
        "deflated-larger": patched(one_deflated, central_deflated + 24, struct.pack("<L", len(a) + 1)),
        "deflated-smaller": patched(one_deflated, central_deflated + 24, struct.pack("<L", len(a) - 1)),
        "deflated-data": patched(one_deflated, 36, b"\xff\xff\xff\xff"),
        "offset": patched(one, central + 42, big),
        "offset-one": patched(one, central + 42, b"\1"),
        "local": patched(one, 0, b"PK\3\5"),
        "local-name": patched(one, 26, b"\xff\xff"),
        "name-nul": patched(one, central + 46, b"\0"),
        "name-bytes": patched(one, central + 46, b"\xff"),
        "central-name": patched(one, central + 28, b"\xff\xff"),
        "count-more": patched(one, end + 8, b"\2\0\2\0"),
        "count-less": patched(one, end + 8, b"\0\0\0\0"),
        "count-most": patched(one, end + 8, b"\xff\xff\xff\xff"),
        "directory-size": patched(one, end + 12, big),
        "directory-start": patched(one, end + 16, big),
        "disks": patched(one, end + 4, b"\1\0"),
        "no-zip64": patched(one, central + 20, b"\xff" * 8),
        "overlap": patched(stored, stored.rindex(b"PK\1\2") + 42, b"\0\0\0\0"),
        "no-end": one[:end],
        "comment-cut": out.getvalue()[:-1],
    }
    for name, data in bad.items():
        put("npz/bad-%s.npz" % name, data)
    all64 = full_zip64("q.npy", a)
    at = all64.index(b"PK\6\7")
    put("npz/bad-locator.npz", patched(all64, at + 8, b"\xff" * 8))
    at = all64.index(b"PK\6\6")
    put("npz/bad-directory64.npz", patched(all64, at + 40, b"\xff" * 16))
    put("npz/bad-count64.npz", patched(all64, at + 24, b"\xff" * 16))
    at = all64.index(b"PK\1\2") + 46 + len("q.npy") + 5
    put("npz/bad-extra-short.npz", patched(all64, at + 2, b"\x08"))
    put("npz/bad-extra-long.npz", patched(all64, at + 2, b"\xff\xff"))
    put("npz/bad-extra-offset.npz", patched(all64, at + 20, b"\xff" * 8))
    put("npz/bad-extra-size.npz", patched(all64, at + 4, b"\xff" * 16))


def safetensors(head, body=b"", length=None):
    text = head if isinstance(head, bytes) else json.dumps(head, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def make_safetensors():
    body = np.arange(6, dtype="<f4").tobytes() + np.array([1, -2, 3], "<i2").tobytes()
    q = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    k = {"dtype": "I16", "shape": [3], "data_offsets": [24, 30]}
    metadata = {"tokens": json.dumps(["the", "▁it", 'a "b"'], ensure_ascii=False),
                "head_names": '["coreference"]', "num_heads": "2", "format": "pt"}
    put("safetensors/good.safetensors", safetensors({"__metadata__": metadata, "q": q, "k": k}, body))
    put("safetensors/padded.safetensors",
        safetensors(json.dumps({"k": k, "q": q}).encode() + b"    ", body))
    put("safetensors/none.safetensors", safetensors({}))
    names = "F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL".split()
    sizes = [8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1]
    head, at = {}, 0
    for name, size in zip(names, sizes):
        head[name.lower()] = {"dtype": name, "shape": [2], "data_offsets": [at, at + 2 * size]}
        at += 2 * size
    head["scalar"] = {"dtype": "U8", "shape": [], "data_offsets": [at, at + 1]}
    head["zero"] = {"dtype": "F32", "shape": [0, 3], "data_offsets": [at + 1, at + 1]}
    put("safetensors/dtypes.safetensors", safetensors(head, bytes(range(at + 1))))
    for name in ("E4M3", "E5M2"):
        every = {"q": {"dtype": "F8_" + name, "shape": [256], "data_offsets": [0, 256]}}
        put("safetensors/f8-%s.safetensors" % name.lower(), safetensors(every, bytes(range(256))))
    others = {"q": q, "c": {"dtype": "C64", "shape": [3], "data_offsets": [24, 48]},
              "f": {"dtype": "F4", "shape": [2, 2], "data_offsets": [48, 50]}}
    put("safetensors/others.safetensors", safetensors(others, body[:24] * 2 + b"ab"))
    for name, text in (("text", "the cat"), ("numbers", "[1,2]")):
        put("safetensors/tokens-%s.safetensors" % name,
            safetensors({"__metadata__": {"tokens": text}, "q": q}, body[:24]))

    def one(**change):
        return safetensors({"q": dict(q, **change)}, body[:24])

    def twice(text):
        return safetensors(text.encode(), body[:24])
    info = json.dumps(q)
    bad = {
        "dtype-number": one(dtype=3),
        "shape-number": one(shape=6),
        "shape-negative": one(shape=[-2, -3]),
        "shape-fraction": one(shape=[1.5, 4]),
        "shape-huge": one(shape=[2**53, 2**53]),
        "shape-beyond": one(shape=[2**60]),
        "shape-zero-huge": one(shape=[0, 2**53, 2**53], data_offsets=[0, 24]),
        "rank9": one(shape=[1] * 9),
        "offsets-swapped": one(data_offsets=[24, 0]),
        "offsets-beyond": one(data_offsets=[0, 28]),
        "offsets-huge": one(data_offsets=[0, 2**53]),
        "offsets-one": one(data_offsets=[0]),
        "offsets-three": one(data_offsets=[0, 12, 24]),
        "offsets-infinite": safetensors(info.replace("[0, 24]", "[0, 1e999]").join(['{"q":', "}"]).encode(), body[:24]),
        "size": one(shape=[2, 2]),
        "gap": safetensors({"q": q, "k": dict(k, data_offsets=[26, 32])}, body + b"xx"),
        "overlap": safetensors({"q": q, "k": dict(k, data_offsets=[22, 28])}, body[:28]),
        "same": safetensors({"q": q, "k": q}, body[:24]),
        "rest": safetensors({"q": q}, body),
        "short": safetensors({"q": q}, body[:23]),
        "no-dtype": safetensors({"q": {"shape": [2, 3], "data_offsets": [0, 24]}}, body[:24]),
        "not-object": safetensors({"q": [1]}, body[:24]),
        "twice": twice('{"q":%s,"q":%s}' % (info, info)),
        "dtype-twice": twice('{"q":%s}' % info.replace('"shape"', '"dtype":"F32","shape"')),
        "metadata-twice": twice('{"__metadata__":{},"__metadata__":{},"q":%s}' % info),
        "metadata-key-twice": twice('{"__metadata__":{"a":"1","a":"1"},"q":%s}' % info),
        "metadata-number": twice('{"__metadata__":{"a":1},"q":%s}' % info),
        "metadata-list": twice('{"__metadata__":["a"],"q":%s}' % info),
        "nul": twice('{"q\\u0000":%s}' % info),
        "trailing": twice('{"q":%s} x' % info),
        "array": safetensors(b"[1]"),
        "space-first": safetensors(b' {"q":' + info.encode() + b"}", body[:24]),
        "not-utf8": safetensors(b'{"\xff":' + info.encode() + b"}", body[:24]),
        "length-beyond": safetensors({"q": q}, body[:24], length=5000),
        "length-cap": safetensors({"q": q}, body[:24], length=100000001),
        "length-huge": safetensors({"q": q}, body[:24], length=2**64 - 1),
        "length-zero": safetensors(b"", b"{}"),
        "seven": b"\2\0\0\0\0\0\0",
        "deep": safetensors(b'{"q":' + b"[" * 2000 + b"]" * 2000 + b"}"),
    }
    for name, data in bad.items():
        put("safetensors/bad-%s.safetensors" % name, data)


def make_json():
    good = {
        "object": '{"_note": "by hand", "tokens": ["a", "b"], "embeddings": [[1, 2.5], [-3e2, 0]],'
                  ' "mask": [[0, null], [0, 0]], "kv_lengths": [16777217], "num_heads": 2,'
                  ' "causal": true, "scale": 0.1, "layout": "in,out"}',
        "heads": '{"embeddings": [[1, 2]], "heads": ['
                 '{"name": "coreference", "wq": [[1], [2]], "wk": [[3], [4]], "wv": [[5, 6], [7, 8]], "bq": [9]},'
                 '{"_": 0, "wq": [[10], [20]], "wk": [[30], [40]], "wv": [[50, 60], [70, 80]], "bq": [90]}]}',
        "source": '{"tokens": ["x"], "embeddings": [[1]], "source":'
                  ' {"tokens": ["u", "v"], "embeddings": [[1], [2]], "values": [[3], [4]], "_why": []}}',
        "array": "[[1, 2], [3, 4]]",
        "strings": '["\\u00e9", "\\ud83d\\ude00", "plain"]',
        "bom": "\ufeff{\"q\": [[[true, false]]]}\n",
        "booleans": '{"key_padding": [true, false, true]}',
        "rank8": '{"weights": ' + "[" * 8 + "1" + "]" * 8 + "}",
    }
    bad = {
        "ragged": '{"wq": [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3]]}',
        "ragged-deep": '{"q": [[[1, 2], [3, 4]], [[5, 6], [7]]]}',
        "row-missing": '{"q": [[[1, 2], [3, 4]], [[5, 6]]]}',
        "number-row": '{"wq": [[1, 2], 3]}',
        "deeper": '{"wq": [[1, 2], [3, [4]]]}',
        "string": '{"wq": [[1, "2"]]}',
        "holds-numbers": '{"mask": [[true, false], [1, 0]]}',
        "holds-numbers-deep": '{"q": [[[1, 2]], [3]]}',
        "holds-arrays": '{"wq": [[1, 2], [[3]]]}',
        "holds-arrays-bool": '{"mask": [[true], [[true]]]}',
        "mixed": '{"mask": [[true, 0]]}',
        "mixed-null": '{"mask": [[true, null]]}',
        "null": '{"wq": [[1, null]]}',
        "empty": '{"wq": []}',
        "empty-row": '{"wq": [[], []]}',
        "infinite": '{"wq": [[1, 1e999]]}',
        "scalar": '{"wq": 3}',
        "rank9": '{"weights": ' + "[" * 9 + "1" + "]" * 9 + "}",
        "deep": "[" * 100000,
        "deep-comment": '{"_": ' + "[" * 70 + "]" * 70 + "}",
        "unknown": '{"embedings": [[1]]}',
        "unknown-far": '{"zzzzzz": 1}',
        "case": '{"WQ": [[1]]}',
        "twice": '{"wq": [[1]], "wq": [[1]]}',
        "setting-twice": '{"num_heads": 1, "num_heads": 1}',
        "setting-array": '{"num_heads": [1]}',
        "setting-null": '{"num_heads": null}',
        "setting-infinite": '{"scale": 1e999}',
        "tokens-number": '{"tokens": ["a", 1]}',
        "tokens-object": '{"tokens": {"a": 1}}',
        "tokens-empty": '{"tokens": []}',
        "nul": '{"tokens": ["a\\u0000b"]}',
        "key-nul": '{"wq\\u0000": [[1]]}',
        "surrogate": '{"tokens": ["\\ud83d"]}',
        "surrogate-low": '{"tokens": ["\\ude00"]}',
        "control": '{"tokens": ["a\tb"]}',
        "escape": '{"tokens": ["\\x41"]}',
        "trailing": '{"wq": [[1]]} x',
        "two": '{"wq": [[1]]}{"wk": [[1]]}',
        "comma": '{"wq": [[1,]]}',
        "key-comma": '{"wq": [[1]],}',
        "infinity": '{"mask": [[-Infinity, 0]]}',
        "case2": '{"Wq": [[1]]}',
        "nan": '{"wq": [[NaN]]}',
        "zero": '{"wq": [[01]]}',
        "plus": '{"wq": [[+1]]}',
        "dot": '{"wq": [[1.]]}',
        "long-number": '{"wq": [[0.' + "1" * 70 + "]]}",
        "brackets": '{"wq": [[1}}',
        "quotes": "{'wq': [[1]]}",
        "number": "3",
        "white": "  \n ",
        "heads-empty": '{"heads": []}',
        "heads-object": '{"heads": {}}',
        "heads-number": '{"heads": [1]}',
        "heads-missing": '{"heads": [{"wq": [[1]], "wk": [[1]]}]}',
        "heads-bias": '{"heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]]}, {"wq":[[1]],"wk":[[1]],"wv":[[1]],"bq":[1]}]}',
        "heads-bias2": '{"heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]],"bq":[1]}, {"wq":[[1]],"wk":[[1]],"wv":[[1]]}]}',
        "heads-shape": '{"heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]]}, {"wq":[[1,2]],"wk":[[1]],"wv":[[1]]}]}',
        "heads-rank": '{"heads": [{"wq":[1],"wk":[[1]],"wv":[[1]]}]}',
        "heads-bool": '{"heads": [{"wq":[[true]],"wk":[[1]],"wv":[[1]]}]}',
        "heads-key": '{"heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]],"nane":"x"}]}',
        "heads-name": '{"heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]],"name":1}]}',
        "heads-twice": '{"heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]],"wq":[[1]]}]}',
        "heads-and-wq": '{"wq": [[1]], "heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]]}]}',
        "heads-and-num": '{"heads": [{"wq":[[1]],"wk":[[1]],"wv":[[1]]}], "num_heads": 1}',
        "source-array": '{"source": [1]}',
        "source-key": '{"source": {"embedding": [[1]]}}',
        "source-twice": '{"source": {"tokens": ["a"], "tokens": ["a"]}}',
        "source-both": '{"source": {"tokens": ["a"]}, "source_tokens": ["a"]}',
    }
    for name, text in good.items():
        put("json/%s.json" % name, text.encode())
    for name, text in bad.items():
        put("json/bad-%s.json" % name, text.encode())
    put("json/bad-utf8.json", b'{"tokens": ["\xff"]}')
    put("json/bad-utf16.json", '{"tokens": ["a"]}'.encode("utf-16"))
    put("json/bad-raw-nul.json", b'{"wq": [[1]]}\0')


def make_json_part():
    """Documents of other programs."""
    attn = [[[[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]]]
    steps = [[[[[1, 0], [0.5, 0.5]]]], [[[[0.2, 0.3, 0.5]]]], [[[[0.1, 0.2, 0.3, 0.4]]]]]
    left = ["a", "b", "c"]
    view = {"name": None, "attn": attn, "left_text": left, "right_text": left}
    documents = {
        "dump": {"prompt": "a b c", "n": 3, "ok": True, "none": None, "tokens": left, "layers": attn},
        "nested": {"examples": [{"attn": attn, "words": left}, {"attn": attn, "words": left}], "a.b": [1]},
        "bertviz": {"attention": [view], "default_filter": "0"},
        "bertviz-all": {"all": view, "aa": view},
        "steps": {"attentions": steps},
        "causal": {"w": [[1], [0.5, 0.5], [0.2, 0.3, 0.5]]},
        "ragged": {"w": [[1], [0.5, 0.5, 0], [0.5, 0.5]], "x": [[[1, 2]], [[1, 2], [3, 4]]], "m": [1, "a"]},
        "roles": {"wq": [[1, 2], [3]], "tokens": [["a", "b"], ["a", "c"]], "layer": [[1, 2]], "heads": [1]},
    }
    for name, document in documents.items():
        put("json_part/%s.json" % name, json.dumps(document).encode())
    put("json_part/lines.jsonl", b'{"a": [1, 2]}\r\n\n{"a": [3, 4], "b": "x"}\n')
    put("json_part/rows.jsonl", b"[0.5, 0.5]\n[0.25, 0.75]\n")
    put("json_part/python.json", b'{"a": [1, NaN], "b": -Infinity, "c": [[1, 2]], "t": [{"token": "x"}]}')
    put("json_part/bare.json", b"[[1, 2], [3, 4]]")
    put("json_part/bad-comma.json", b'{"a": [1, 2,]}')
    put("json_part/bad-comment.json", b'{"a": 1} // none')


def make_table():
    files = {
        "both.csv": ",the,cat\nthe,0.9,0.1\ncat,0.7,0.3\n",
        "quoted.csv": '"","a,b","say ""no""",\r\n'
                      '"a,b",0.5,0.25,0.25\r\n"x\ny",1,0,0\r\nz,0,1,0\r\n',
        "semicolon.csv": "q;the;cat\nthe;0.9;0.1\n",
        "header.tsv": "the\tcat\n0.9\t0.1\n0.7\t0.3\n",
        "numbered.csv": ",0,1,2\n0,1,0,0\n1,0.5,0.5,0\n2,0.2,0.3,0.5\n",
        "index.csv": "0,1,2\n1,0,0\n0.5,0.5,0\n0.2,0.3,0.5\n",
        "column.txt": "0 1 0 0\n1 0.5 0.5 0\n2 0.2 0.3 0.5\n",
        "savetxt.txt": "# made by numpy\n1.000000000000000000e+00 0.000000000000000000e+00\n"
                       "5.000000000000000000e-01 nan\n",
        "short-header.txt": "the cat\nthe 0.9 0.1\n##at 0.7 -inf\n",
        "weights.tsv": "layer\thead\tquery\tquery_token\tkey\tkey_token\tweight\tbatch\n" +
                       "".join("3\t%d\t%d\t%s\t%d\t%s\t0.5\t0\n" % (h, q, "a\\t"[q * 1:], k, "a\\t"[k * 1:])
                               for h in (1, 2) for q in (0, 1) for k in (0, 1)),
        "triples.txt": "0 0 1\n1 0 0.25\n1 1 0.75\n2 2 1\n",
        "tokens.tsv": "query\tkey\tweight\nthe\tthe\t1\ncat\tthe\t0.25\ncat\tcat\t0.75\n",
        "words.csv": "le,the,0.9\nchat,cat,0.8\n",
        "bad-twice.csv": "query,key,weight\n0,0,1\n0,0,0.5\n",
        "bad-huge.csv": "query,key,weight\n99999999,99999999,0.5\n",
        "bad-wraps.csv": "layer,head,query,key,weight\n0,0,0,0,1\n4294967296,4294967296,4294967296,1,1\n",
        "bad-ragged.csv": "1,2\n3\n",
        "bad-open.csv": '"a,b\n1,2,x\n',
        "bad-story.txt": "Once upon a time\n",
        "bad-nothing.txt": "# no more\n",
    }
    for name, text in files.items():
        put("table/" + name, text.encode())
    put("table/bad-latin1.txt", b"0.5 \xe9\n")
    put("table/bad-zero.txt", b"0.5 \0\n")


def part(sizes, **more):
    """Part 1 of 1 with the sizes layers, batch, heads, queries, keys, value size, output size."""
    layers, batch, heads, queries, keys, value_size, output_size = sizes
    rows = layers * batch * heads * queries
    arrays = {"weights": (rows, keys), "context": (rows, value_size), "wo": (heads * value_size, output_size)}
    arrays = {name: shape for name, shape in arrays.items() if 0 < shape[0] * shape[1] < 1000}
    arrays = more.pop("arrays", arrays)
    meta = {"version": "0.1.0", "attn_part": "1/1", "attn_run": "00000000000000ab", "attn_tokens": "false",
            "attn_sizes": ",".join(map(str, sizes)), "attn_kernel": "scalar", "num_heads": str(heads)}
    meta.update(more)
    head, body = {"__metadata__": meta}, b""
    for name, shape in arrays.items():
        values = np.full(shape, 1 / keys if name == "weights" else 0.5, "<f4").tobytes()
        head[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(body), len(body) + len(values)]}
        body += values
    text = json.dumps(head).encode()
    return safetensors(text + b" " * (-len(text) % 8), body)  # aligned, as attn writes it


def make_parts():
    huge = 1 << 40
    files = {
        "whole": part((1, 1, 2, 3, 3, 2, 2)),
        "context": part((1, 1, 2, 3, 3, 2, 0), arrays={"context": (6, 2)}),
        "past": part((1, 1, 1, 2, 6, 2, 0), past_keys="3", appended_keys="bias", causal="true",
                     arrays={"context": (2, 2)}),
        "batch": part((1, 2, 1, 2, 2, 1, 0), axes="batch", tokens='["a", "b"]', attn_tokens="true"),
        "bad-past": part((1, 1, 1, 2, huge + 2, 2, 0), past_keys=str(huge), arrays={"context": (2, 2)}),
        "bad-queries": part((1, 1, 1, huge, huge, 0, 0), arrays={"context": (huge, 0)}),
        "bad-output": part((1, 1, 1, 1, 1, 0, huge), arrays={"weights": (1, 1)}),
        "bad-rows": part((huge, huge, 1, 1, 1, 1, 0), arrays={"context": (1, 1)}),
        "bad-number": part((1, 1, 1, 1, 1, 1, 0), attn_part="2/1"),
        "bad-missing": part((1, 1, 1, 1, 1, 1, 0), attn_part="1/2"),
        "bad-source": part((1, 1, 1, 2, 3, 1, 0)),
    }
    for name, data in files.items():
        put("parts/%s.safetensors" % name, data)


def chunk(kind, data=b"", crc=0):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) ^ crc)


def png(width, height, depth, kind, rows, interlace=0, chunks=b"", end=None):
    """A PNG of these filtered rows, as they are deflated."""
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlace)
    end = chunk(b"IEND") if end is None else end
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunks +
            chunk(b"IDAT", zlib.compress(rows, 9)) + end)


def make_picture():
    palette = chunk(b"PLTE", bytes(range(9)))
    whole = png(2, 2, 8, 2, b"\0abcdef\2\1\1\1\1\1\1")
    files = {
        "grey1": png(9, 2, 1, 0, b"\0\xaa\x80\0\x55\0"),
        "grey16": png(2, 1, 16, 0, b"\0\1\x7f\1\x82"),
        "grey-alpha": png(2, 2, 8, 4, b"\0\1\xff\2\0\4\3\4\5\6"),
        "grey-clear": png(4, 1, 2, 0, b"\0\x1b", chunks=chunk(b"tRNS", b"\0\2")),
        "colour": whole,
        "colour-alpha16": png(1, 1, 16, 6, b"\0\1\2\3\4\5\6\x80\0"),
        "palette": png(4, 2, 2, 3, b"\0\x18\0\x24", chunks=palette + chunk(b"tRNS", b"\xff\x33")),
        "interlaced": png(3, 3, 8, 0, b"\0\1\0\2\0\5\6\0\3\0\4\0\7\x08\x09", interlace=1),
        "gamma": png(1, 1, 8, 0, b"\0\5", chunks=chunk(b"gAMA", struct.pack(">I", 20000))),
        "bad-huge": png(0x7fffffff, 0x7fffffff, 16, 6, b"\0"),
        "bad-wide": png(40000, 1, 1, 0, bytes(5001)),
        "bad-empty": png(0, 1, 8, 0, b"\0"),
        "bad-index": png(4, 1, 2, 3, b"\0\xff", chunks=palette),
        "bad-no-palette": png(4, 1, 2, 3, b"\0\xff"),
        "bad-filter": png(2, 1, 8, 0, b"\7\1\2"),
        "bad-short": png(4, 9, 8, 0, b"\0\1\2\3\4"),
        "bad-no-end": png(1, 1, 8, 0, b"\0\1", end=b""),
        "bad-crc": png(1, 1, 8, 0, b"\0\1", end=chunk(b"IEND", crc=1)),
        "bad-cut": whole[:-20],
        "bad-chunk": png(1, 1, 8, 0, b"\0\1", chunks=struct.pack(">I", 0x7fffffff) + b"tEXtx"),
        "bad-inflate": whole.replace(b"IDAT\x78", b"IDAT\x79"),
    }
    for name, data in files.items():
        put("picture/%s.png" % name, data)


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def message(*fields):
    """A message of protocol buffers: numbers, floats and bytes by the number of their field."""
    out = b""
    for field, value in fields:
        if isinstance(value, float):
            out += varint(field << 3 | 5) + struct.pack("<f", value)
        elif isinstance(value, int):
            out += varint(field << 3) + varint(value)
        else:
            out += varint(field << 3 | 2) + varint(len(value)) + value
    return out


def piece(text, score, kind=1):
    return (1, message((1, text.encode()), (2, float(score)), (3, kind)))


def raw_map(units, strings):
    array = [units.get(i, 0) for i in range(512)]
    return struct.pack("<513I", 4 * len(array), *array) + strings


def make_sentencepiece():
    pieces = [piece("<unk>", 0, 2), piece("\u2581", -1), piece("a", -2), piece("ab", -1.5), piece("aa", -3, 5),
              piece("bc", 0, 4), piece("aaa", -2.5)]
    octets = [piece("<0x%02X>" % i, 0, 6) for i in range(256)]
    # "a" -> "b", and a node that leads back to itself.
    one = raw_map({97: (97 ^ 256) << 10 | 1 << 8 | 97, 256: 1 << 31}, b"b\0")
    loop = raw_map({97: 97 << 10 | 97, 98: 0x1fffff << 10 | 1 << 9 | 1 << 8 | 98}, b"")
    files = {
        "unigram": message(*pieces),
        "bpe": message(*pieces, (2, message((3, 2))), (3, message((3, 0), (4, 0)))),
        "bytes": message(*pieces, *octets, (2, message((3, 2), (35, 1), (24, 1)))),
        "map": message(*pieces, (3, message((2, one)))),
        "bad-loop": message(*pieces, (3, message((2, loop), (5, 0)))),
        "bad-map": message(*pieces, (3, message((2, b"\xff\xff\xff\xff1234")))),
        "bad-twice": message(*pieces, piece("a", 0)),
        "bad-score": message(*pieces, piece("b", float("nan"))),
        "bad-type": message(*pieces, piece("b", 0, 9)),
        "bad-word": message(*pieces, (2, message((3, 3)))),
        "bad-no-bytes": message(*pieces, (2, message((35, 1)))),
        "bad-cut": message(*pieces)[:-3],
        "bad-group": message(*pieces) + b"\x0b\x0c",
        "bad-empty": b"",
    }
    for name, data in files.items():
        put("sentencepiece/%s.model" % name, data)


def make_algorithm():
    letters = {"a": 0, "b": 1, "c": 2}
    files = {
        "bpe": {"vocab": {**letters, "ab": 3, "bc": 4, "abc": 9}, "merges": ["b c", ["a", "b"], ["a", "bc"]]},
        "bpe-unknown": {"type": "BPE", "vocab": {**letters, "?": 4}, "merges": [], "unk_token": "?", "fuse_unk": True},
        "bpe-bytes": {"vocab": {**letters, "<0xC3>": 7, "<0xA9>": 7}, "merges": [], "byte_fallback": True,
                      "ignore_merges": True},
        "bpe-affixes": {"vocab": {"a": 0, "##b": 1, "ab": 2, "##b</w>": 3}, "merges": ["a ##b"],
                        "continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"},
        "wordpiece": {"vocab": {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "a": 4, "##b": 5},
                      "max_input_chars_per_word": 20},
        "wordlevel": {"type": "WordLevel", "vocab": {"abcabaab": 5, "<unk>": 3}},
        "unigram": {"unk_id": 0, "vocab": [["?", -1], ["a", -2.5], ["ab", -3], ["abc", -1], ["abc", -2]]},
        "unigram-bytes": {"type": "Unigram", "unk_id": None, "byte_fallback": True,
                          "vocab": [["a", -2], ["b", -1], ["c", -1], ["<0xC3>", 0]]},
        "bad-merge": {"vocab": letters, "merges": ["a d"]},
        "bad-pair": {"vocab": letters, "merges": [["a"]]},
        "bad-prefix": {"vocab": {**letters, "ab": 4}, "merges": ["a b"], "continuing_subword_prefix": "####"},
        "bad-id": {"vocab": {"a": 1e15}},
        "bad-unknown": {"unk_id": 7, "vocab": [["a", 0]]},
        "bad-type": {"type": "CharBPE"},
    }
    for name, data in files.items():
        put("algorithm/%s.json" % name, json.dumps(data).encode())


def charsmap(entries):
    """SentencePiece's precompiled map: a double array of strings to the offsets of what replaces them."""
    trie, values, texts = {}, {}, b""
    for key, text in entries.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        values[id(node)] = len(texts)
        texts += text.encode() + b"\0"
    units, used = {0: 0}, {0}

    def place(node, at):
        labels = sorted(node) + ([0] if id(node) in values else [])
        base = next(b for b in range(1, 4096) if all((b ^ label) not in used for label in labels))
        used.update(base ^ label for label in labels)
        units[at] = units.get(at, 0) | (base ^ at) << 10 | (id(node) in values) << 8
        if id(node) in values:
            units[base] = 1 << 31 | values[id(node)]
        for label in sorted(node):
            units[base ^ label] = label
            place(node[label], base ^ label)

    place(trie, 0)
    array = b"".join(struct.pack("<I", units.get(i, 0)) for i in range((max(units) | 255) + 1))
    return base64.b64encode(struct.pack("<I", len(array)) + array + texts).decode()


def tokenizer(model, normalizer=None, pre=None, post=None, added=()):
    keys = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
    return {"version": "1.0", "added_tokens": [dict(zip(keys, a), id=i) for i, a in enumerate(added)],
            "normalizer": normalizer, "pre_tokenizer": pre, "post_processor": post, "model": model}


def template(first, last, pair_type=1):
    def special(name, kind=0):
        return {"SpecialToken": {"id": name, "type_id": kind}}

    def sequence(name, kind=0):
        return {"Sequence": {"id": name, "type_id": kind}}

    return {"type": "TemplateProcessing", "single": [special(first), sequence("A"), special(last)],
            "pair": [special(first), sequence("A"), special(last), sequence("B", pair_type),
                     special(last, pair_type)],
            "special_tokens": {first: {"id": first, "ids": [0], "tokens": [first]},
                               last: {"id": last, "ids": [1], "tokens": [last]}}}


def make_tokenizer():
    def listed(words):
        return {word: i for i, word in enumerate(words)}

    def seq(kind, *items):
        return {"type": "Sequence", kind: list(items)}

    def split(pattern, behavior, kind="Regex", invert=False):
        return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}

    def typed(name, **keys):
        return dict(keys, type=name)

    letters = "HelowrdaIm123b_! ,'".replace(" ", "\u0120")
    words = ["[CLS]", "[SEP]", "[UNK]", "hello", "a", "##b", "b", "world", "wo", "##rld", "!", "_", "i", "##m"]
    byte_words = ["<s>", "</s>"] + list(letters) + ["ll", "He", "Hell", "Hello", "\u0120w", "aa", "aaaa"]
    merges = ["l l", ["H", "e"], "He ll", "Hell o", "\u0120 w", "a a", "aa aa"]
    pieces = [["<s>", 0], ["</s>", 0], ["<unk>", 0], ["\u2581", -2], ["\u2581Hello", -3.5], ["l", -4], ["a", -3],
              ["aa", -4.5], ["1", -3], ["..", -5]]
    bert = typed("WordPiece", vocab=listed(words), unk_token="[UNK]", max_input_chars_per_word=10)
    bpe = typed("BPE", vocab=listed(byte_words), merges=merges, ignore_merges=True)
    level = typed("WordLevel", vocab=listed(words), unk_token="[UNK]")
    unigram = typed("Unigram", vocab=pieces, unk_id=2)
    flags = [("[X]", True, True, True, False, True), ("a_", False, False, True, True, False),
             ("aaa", False, True, False, True, False), ("[", False, False, False, False, False)]
    mapped = typed("Precompiled", precompiled_charsmap=charsmap({"\u2460": "1", "\u2026": "...", "\u0301": "", "\t": " "}))
    everything = seq("normalizers", *(typed(form) for form in "NFC NFD NFKC NFKD Nmt Lowercase StripAccents".split()),
                     typed("Strip", strip_left=True, strip_right=False), typed("Prepend", prepend="\u2581"),
                     typed("Replace", pattern={"String": " "}, content="_"),
                     typed("Replace", pattern={"Regex": "l*"}, content="-"), typed("BertNormalizer", lowercase=False,
                           clean_text=True, strip_accents=None, handle_chinese_chars=True), typed("ByteLevel"))
    cuts = seq("pretokenizers", typed("CharDelimiterSplit", delimiter="_"), typed("WhitespaceSplit"),
               split("[0-9]", "MergedWithPrevious"), split("(", "MergedWithNext", "String"),
               split("[aeiou]+", "Contiguous"), split("", "Isolated", "String"), split("x|(?=l)", "Removed"),
               split("[^a-z&&[^\\s]]", "Isolated", invert=True), typed("Punctuation", behavior="Contiguous"),
               typed("Digits", individual_digits=True), typed("FixedLength", length=3), typed("Whitespace"),
               typed("BertPreTokenizer"))
    roberta = typed("RobertaProcessing", cls=["<s>", 0], sep=["</s>", 1], trim_offsets=True, add_prefix_space=True)
    good = {
        "bert": tokenizer(bert, typed("BertNormalizer", lowercase=True), typed("BertPreTokenizer"),
                          template("[CLS]", "[SEP]"), flags),
        "bytes": tokenizer(bpe, None, typed("ByteLevel", add_prefix_space=True, trim_offsets=True),
                           seq("processors", typed("ByteLevel", trim_offsets=True), roberta), flags),
        "unigram": tokenizer(unigram, seq("normalizers", mapped, typed("Strip", strip_left=False, strip_right=True)),
                             seq("pretokenizers", typed("WhitespaceSplit"), typed("Metaspace", replacement="\u2581")),
                             template("<s>", "</s>", 0)),
        "fallback": tokenizer(typed("BPE", vocab=listed(["<s>", "</s>", "<unk>"] + ["<0x%02X>" % b for b in range(256)]),
                                    merges=[], unk_token="<unk>", fuse_unk=True, byte_fallback=True),
                              seq("normalizers", typed("Prepend", prepend="\u2581")),
                              typed("Metaspace", replacement="\u2581", prepend_scheme="first", split=False), roberta),
        "forms": tokenizer(level, everything, None, typed("BertProcessing", cls=["[CLS]", 0], sep=["[SEP]", 1]), flags),
        "cuts": tokenizer(level, typed("Lowercase"), cuts, None, flags),
    }
    bad = {
        "bad-type": tokenizer(level, typed("Cyrillic")),
        "bad-scripts": tokenizer(level, None, typed("UnicodeScripts")),
        "bad-merge": tokenizer(typed("BPE", vocab=listed("ab"), merges=["a c"])),
        "bad-template": tokenizer(level, None, None, dict(template("[CLS]", "[SEP]"), special_tokens={})),
        "bad-template-id": tokenizer(level, None, None, typed("BertProcessing", cls=["[CLS]", 0], sep=["x", 99])),
        "bad-template-pair": tokenizer(level, None, None, dict(template("[CLS]", "[SEP]"),
                                       single=[{"Sequence": {"id": "B", "type_id": 0}}])),
        "bad-regex": tokenizer(level, None, split("(?C1)a", "Removed")),
        "bad-exploding": tokenizer(level, None, split("(a+)+$", "Removed")),
        "bad-behavior": tokenizer(level, None, split("a", "Kept")),
        "bad-pattern": tokenizer(level, None, typed("Split", pattern="a", behavior="Removed")),
        "bad-mark": tokenizer(level, None, typed("Metaspace", replacement="ab")),
        "bad-scheme": tokenizer(level, None, typed("Metaspace", replacement="_", prepend_scheme="last")),
        "bad-length": tokenizer(level, None, typed("FixedLength", length=0)),
        "bad-content": tokenizer(level, added=[("a" * 2000, False, False, False, False, False)]),
        "bad-growth": tokenizer(level, seq("normalizers", *[typed("Replace", pattern={"Regex": "."}, content="a" * 5000)] * 9)),
    }
    for name, value in dict(good, **bad).items():
        put("tokenizer/%s.json" % name, json.dumps(value, ensure_ascii=name == "forms").encode())


def make_model_json():
    """config.json of models, and indexes of shards."""
    config = {"model_type": "llama", "hidden_size": 64, "a": {"b": {"c": 3}}, "none": None,
              "rope_scaling": {"factor": 2.5, "type": "linear"}, "layer_types": ["full", "sliding", 1]}
    shards = {"weight_map": {"b.weight": "two.safetensors", "a.weight": "one.safetensors", "c": "two.safetensors"}}
    files = {
        "config": json.dumps(config, indent=1),
        "config-twice": '{"hidden_size": 1, "a": [1, 2, -3e5], "hidden_size": 2, "a": [[], {}, NaN, [1]]}',
        "config-not-finite": '{"hidden_size": NaN, "a": [0.0, Infinity, -Infinity]}',
        "config-fraction": '{"hidden_size": 1.5, "rope_scaling": "linear", "layer_types": {"0": 1}, "model_type": 7}',
        "config-huge": '{"hidden_size": 1e400, "a": 123456789012345678901234567890}',
        "config-dots": '{"a.b.c": 1, "a.b": {"c": 2}, "a": {"b.c": 3}}',
        "bad-config-array": "[1, 2]",
        "bad-config-cut": '{"model_type": "bert',
        "bad-config-deep": '{"a":' * 70 + "1" + "}" * 70,
        "index": json.dumps(shards),
        "index-empty": '{"weight_map": {}}',
        "index-prefix": '{"weight_map": {"model.embed_tokens.weight": "x", "model.decoder.a": "x"}}',
        "bad-index-up": '{"weight_map": {"a": "../x.safetensors"}}',
        "bad-index-here": '{"weight_map": {"a": "."}}',
        "bad-index-twice": '{"weight_map": {"a": "x", "b": "y", "a": "z"}}',
        "bad-index-number": '{"weight_map": {"a": 1}}',
        "bad-index-array": '{"weight_map": ["a"]}',
    }
    for name, text in files.items():
        put("model_json/%s.json" % name, text.encode())


def gguf_string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_pair(key, kind, value):
    """A value is bytes, or for an array (kind 9) those with its element type and length."""
    return gguf_string(key) + struct.pack("<I", kind) + value


def gguf_array(kind, count, data):
    return struct.pack("<IQ", kind, count) + data


def gguf_tensor(name, dims, kind=0, offset=0):
    return gguf_string(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, kind, offset)


def gguf(pairs=(), tensors=(), data=b"", version=3, pair_count=None, tensor_count=None, alignment=32):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if tensor_count is None else tensor_count,
                                 len(pairs) if pair_count is None else pair_count)
    head += b"".join(pairs) + b"".join(tensors)
    return head + (bytes(-len(head) % alignment) + data if data else b"")


def make_gguf():
    u32 = struct.Struct("<I").pack
    architecture = gguf_pair("general.architecture", 8, gguf_string("llama"))
    kinds = [gguf_pair("k.u8", 0, b"\xff"), gguf_pair("k.i8", 1, b"\xff"), gguf_pair("k.u16", 2, b"\xfe\xff"),
             gguf_pair("k.i16", 3, b"\xfe\xff"), gguf_pair("k.u32", 4, u32(4000000000)),
             gguf_pair("k.i32", 5, struct.pack("<i", -5)), gguf_pair("k.f32", 6, struct.pack("<f", 0.1)),
             gguf_pair("k.bool", 7, b"\1"), gguf_pair("k.text", 8, gguf_string("\u2581it")),
             gguf_pair("k.u64", 10, struct.pack("<Q", 1 << 40)), gguf_pair("k.i64", 11, struct.pack("<q", -(1 << 40))),
             gguf_pair("k.f64", 12, struct.pack("<d", 0.1)),
             gguf_pair("k.texts", 9, gguf_array(8, 3, gguf_string("a") + gguf_string("") + gguf_string("bc"))),
             gguf_pair("k.bools", 9, gguf_array(7, 2, b"\0\1")), gguf_pair("k.empty", 9, gguf_array(4, 0, b"")),
             gguf_pair("k.numbers", 9, gguf_array(5, 3, struct.pack("<3i", 1, -2, 3)))]
    six = np.arange(6, dtype="<f4").tobytes()
    a = gguf_tensor("a.weight", (3, 2))
    files = {
        "good": gguf([architecture] + kinds, [a, gguf_tensor("b.weight", (4,), 1, 32)],
                     six + bytes(8) + np.array([1, -2, 0.5, 0], "<f2").tobytes()),
        "version2": gguf([architecture], [a], six, version=2),
        "empty": gguf(),
        "scalar": gguf([], [gguf_tensor("s", ())], six[:4]),
        "blocks": gguf([], [gguf_tensor("q", (32, 2), 2), gguf_tensor("x", (64,), 40, 64)], bytes(64) + b"\1"),
        "aligned64": gguf([gguf_pair("general.alignment", 4, u32(64))], [a, gguf_tensor("b", (1,), 0, 64)],
                          six + bytes(40) + six[4:8], alignment=64),
        "llama": gguf([architecture] + [gguf_pair("llama." + k, 4, u32(v)) for k, v in (
            ("block_count", 1), ("embedding_length", 4), ("attention.head_count", 2), ("context_length", 8),
            ("feed_forward_length", 4), ("rope.dimension_count", 2))] +
            [gguf_pair("llama.rope.scaling.type", 8, gguf_string("yarn")),
             gguf_pair("llama.rope.scaling.factor", 6, struct.pack("<f", 4)),
             gguf_pair("llama.rope.freq_base", 6, struct.pack("<f", 10000))],
            [gguf_tensor("token_embd.weight", (3, 2)), gguf_tensor("rope_freqs.weight", (1,), 0, 32)], six + bytes(8) + six[4:8]),
        "not-utf8": gguf([gguf_pair("k", 8, gguf_string(b"\xff\0"))]),
        "bad-short": b"GGUF\3\0\0",
        "bad-version1": gguf(version=1),
        "bad-version4": gguf(version=4),
        "bad-big-endian": gguf(version=3 << 24),
        "bad-pairs": gguf(pair_count=1 << 60),
        "bad-tensors": gguf(tensor_count=(1 << 64) - 1),
        "bad-pair-missing": gguf([architecture], pair_count=2) + bytes(20),
        "bad-key-empty": gguf([gguf_pair("", 0, b"\1")]) + bytes(8),
        "bad-key-huge": gguf([struct.pack("<Q", 1 << 62) + bytes(20)]),
        "bad-key-long": gguf([gguf_pair("k" * 70000, 0, b"\1")]),
        "bad-key-nul": gguf([gguf_pair("k\0k", 0, b"\1")]),
        "bad-key-twice": gguf([gguf_pair("k", 0, b"\1"), gguf_pair("j", 0, b"\1"), gguf_pair("k", 0, b"\2")]),
        "bad-kind": gguf([gguf_pair("k", 13, b"\1")]),
        "bad-array-kind": gguf([gguf_pair("k", 9, gguf_array(13, 1, b"\1"))]),
        "bad-array-array": gguf([gguf_pair("k", 9, gguf_array(9, 1, gguf_array(0, 1, b"\1")))]),
        "bad-array-huge": gguf([gguf_pair("k", 9, gguf_array(12, 1 << 61, b"\1"))]),
        "bad-text-huge": gguf([gguf_pair("k", 8, struct.pack("<Q", (1 << 64) - 1))]),
        "bad-texts-cut": gguf([gguf_pair("k", 9, gguf_array(8, 2, gguf_string("ab") + struct.pack("<Q", 9)))]),
        "bad-alignment-zero": gguf([gguf_pair("general.alignment", 4, u32(0))]),
        "bad-alignment-odd": gguf([gguf_pair("general.alignment", 4, u32(48))]),
        "bad-alignment-text": gguf([gguf_pair("general.alignment", 8, gguf_string("32"))]),
        "bad-rank": gguf([], [gguf_tensor("t", (1, 1, 1, 1, 1))], six),
        "bad-dims": gguf([], [gguf_tensor("t", (1 << 33, 1 << 33))], six),
        "bad-bytes": gguf([], [gguf_tensor("t", ((1 << 62),), 0)], six),
        "bad-block": gguf([], [gguf_tensor("t", (33,), 2)], bytes(99)),
        "bad-offset": gguf([], [gguf_tensor("t", (2,), 0, 8)], six),
        "bad-offset-huge": gguf([], [gguf_tensor("t", (2,), 0, (1 << 64) - 32)], six),
        "bad-beyond": gguf([], [gguf_tensor("t", (7,))], six),
        "bad-no-data": gguf([], [a]),
        "bad-name-twice": gguf([], [a, gguf_tensor("b", (1,)), a], six),
        "bad-name-nul": gguf([], [gguf_tensor("t\0", (1,))], six),
    }
    for name, data in files.items():
        put("gguf/%s.gguf" % name, data)


def make_tokenizer_gguf():
    def key(name, kind, value):
        return gguf_pair("tokenizer.ggml." + name, kind, value)

    def texts(name, values):
        return key(name, 9, gguf_array(8, len(values), b"".join(map(gguf_string, values))))

    def numbers(name, values, kind=5, code="i"):
        return key(name, 9, gguf_array(kind, len(values), struct.pack("<%d%s" % (len(values), code), *values)))

    def model(name):
        return key("model", 8, gguf_string(name))

    pieces = ["<unk>", "<s>", "</s>", "\u2581a", "a", "bc", "\u2581"]
    letters = ["a", "b", "\u0120", "ab", "\u0120a", "<|x|>"]
    words = ["[UNK]", "[CLS]", "[SEP]", "\u2581ab", "a", "\u2581a"]
    scores = numbers("scores", [0, 0, 0, -1, -2, -3, -4], 6, "f")
    types = numbers("token_type", [2, 3, 3, 1, 1, 4, 1])
    bpe = [model("gpt2"), texts("tokens", letters), texts("merges", ["a b", "\u0120 a"])]
    ids = [key(name, 4, struct.pack("<I", i)) for i, name in
           enumerate(("unknown_token_id", "cls_token_id", "seperator_token_id"))]
    files = {
        "llama": gguf([model("llama"), texts("tokens", pieces), scores, types]),
        "t5": gguf([model("t5"), texts("tokens", pieces), scores, types]),
        "gpt2": gguf(bpe + [key("pre", 8, gguf_string("gpt-2"))]),
        "llama3": gguf(bpe + [key("pre", 8, gguf_string("llama-bpe"))]),
        "bert": gguf([model("bert"), texts("tokens", words), numbers("token_type", [2, 3, 3, 1, 1, 1])] + ids),
        "bad-model": gguf([model("rwkv"), texts("tokens", words)]),
        "bad-pre": gguf(bpe),
        "bad-scores": gguf([model("llama"), texts("tokens", pieces), numbers("scores", [1]), types]),
        "bad-types": gguf([model("llama"), texts("tokens", pieces), scores, numbers("token_type", [1])]),
        "bad-token": gguf([model("llama"), texts("tokens", ["a", b"\xff"])]),
        "bad-bos": gguf([model("llama"), texts("tokens", pieces), scores, types,
                         key("bos_token_id", 4, b"\xff\0\0\0")]),
    }
    for name, data in files.items():
        put("tokenizer_gguf/%s.gguf" % name, data)


def make_conllu():
    def line(*cells):
        return "\t".join(cells + ("_",) * (10 - len(cells))) + "\n"

    def word(index, form, head, relation):
        return line(str(index), form, form, "X", "_", "_", str(head), relation)

    files = {
        "multiword": line("1-2", "du") + word(1, "de", 3, "case") + word(2, "le", 3, "det") + line("2.1", "x")
        + word(3, "vin", 0, "root") + "\n" + word(1, "Oui", 0, "root"),
        "range-alone": line("1-5", "ab") + "\n" + word(1, "a", 0, "root") + word(2, "b", 1, "dep"),
        "head-beyond": word(1, "a", 9, "dep") + "1-2",
    }
    for name, text in files.items():
        put("conllu/%s.conllu" % name, text.encode())


def ct2_name(text):
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data


def ct2_variable(name, shape, kind, data, size=None):
    return (ct2_name(name) + bytes([len(shape)]) + struct.pack("<%dI" % len(shape), *shape) + bytes([kind]) +
            struct.pack("<I", len(data) if size is None else size) + data)


def ct2_file(version, variables, aliases=None, count=None, name="TransformerSpec", rest=b""):
    data = struct.pack("<I", version) + ct2_name(name) + struct.pack("<I", 2)
    data += struct.pack("<I", len(variables) if count is None else count) + b"".join(variables)
    if aliases is not None:
        data += struct.pack("<I", len(aliases)) + b"".join(ct2_name(a) + ct2_name(b) for a, b in aliases)
    return data + rest


def make_ctranslate2():
    floats = np.arange(6, dtype="<f4").tobytes()
    old = ct2_variable("a/weight", (2, 3), 4, floats, 6)
    new = [ct2_variable("a/weight", (2, 3), 0, floats), ct2_variable("a/half", (3,), 4, b"\0<" * 3),
           ct2_variable("a/num_heads", (), 1, b"\x08"), ct2_variable("a/words", (2,), 3, b"\1\0\0\0\2\0\0\0"),
           ct2_variable("a/short", (2,), 2, b"\1\0\2\0"), ct2_variable("a/brain", (1,), 5, b"\x80\x3f")]
    huge = ct2_name("a") + b"\x08" + b"\xff" * 32 + b"\0" + struct.pack("<I", 0)
    files = {
        "version-2": ct2_file(2, [old]),
        "version-6": ct2_file(6, new, []),
        "alias": ct2_file(6, new, [("b/weight", "a/weight")]),
        "empty": ct2_file(6, []),
        "bad-alias": ct2_file(6, new, [("b/weight", "c/weight")]),
        "bad-cut": ct2_file(6, new)[:-3],
        "bad-version": ct2_file(7, new),
        "bad-type": ct2_file(6, [ct2_variable("a", (1,), 9, b"\0\0\0\0")]),
        "bad-size": ct2_file(6, [ct2_variable("a", (2,), 0, b"\0\0\0\0")]),
        "bad-rank": ct2_file(6, [ct2_name("a") + b"\x09" + b"\1\0\0\0" * 9 + b"\0" + struct.pack("<I", 4) + b"1234"]),
        "bad-shape": ct2_file(6, [huge]),
        "bad-count": ct2_file(6, new, count=1 << 31),
        "bad-name": ct2_file(6, [b"\3\0ab\xff" + b"\0" * 9]),
        "bad-rest": ct2_file(6, new, [], rest=b"more"),
    }
    for name, data in files.items():
        put("ctranslate2/%s.bin" % name, data)


if __name__ == "__main__":
    for folder in ("npy", "npz", "safetensors", "json", "json_part", "table", "parts", "picture", "tokenizer",
                   "sentencepiece", "algorithm", "model_json", "gguf", "tokenizer_gguf",
                   "conllu", "ctranslate2"):
        os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    make_npy()
    make_npz()
    make_safetensors()
    make_json()
    make_json_part()
    make_table()
    make_parts()
    make_picture()
    make_tokenizer()
    make_sentencepiece()
    make_algorithm()
    make_model_json()
    make_gguf()
    make_tokenizer_gguf()
    make_conllu()
    make_ctranslate2()
