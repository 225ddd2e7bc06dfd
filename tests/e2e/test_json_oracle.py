"""What src/base/json takes for JSON, compared with Python's json on thousands of texts.

The oracle adds the rules that are ours: no NaN and Infinity, no equal keys, no \\u0000, no lone
surrogates, integers of at most 64 bits, finite numbers, at most 64 levels."""

import json
import math
import random
import subprocess

import pytest

SEED = 20240611
MUTANTS = 20000
DEPTH_MAX = 64
MUTATIONS_MAX = 3

SEEDS = [
    '{"id":"relief","nodes":[{"id":"mesh","params_schema":[{"id":"a","default":0.35}]}]}',
    '{"type":"progress","id":"42","pct":17,"step":"Meshing"}',
    '{"a":{"b":{"c":[1,2,{"d":null}]}},"e":[true,false,null]}',
    '[0,-0,1,-1,1.5,-2.25,1e5,1E-5,1e+30,123456789012345678,18446744073709551615]',
    '["","\\u0041","\\ud83d\\ude00","\\"\\\\\\/\\b\\f\\n\\r\\t","\u00e9\U0001f600"]',
    '{"a/b":1,"a\\/c":2,"\\u00e9":3,"\u00f6":4,"A":5,"a":6}',
    ' \t\r\n{ "x" : [ 1 , 2 ] , "y" : { } } \n',
    '"just text"',
    "9223372036854775807",
    "-9223372036854775808",
    "1.7976931348623157e308",
]
PIECES = [
    "{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "\\u0000", "\\ud800", "\\udc00", "\\u0061",
    "\\/", "/", "0", "1", "9", "00", "-", "+", ".", "e", "E", "e400", "e-400", "true", "false",
    "null", "NaN", "Infinity", "'", " ", "\n", "\t", "\x00", "\x01", "\x7f", "\u00e9", "\ufeff",
    '"a":1,', '"a":2', "18446744073709551616", "[[[[[[[[", "]]]]]]]]", "//", "#",
]  # fmt: skip
RAW_BYTES = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]


class NotOurs(ValueError):
    """JSON for Python, but not for us."""


def _object(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise NotOurs("equal keys")
    return dict(pairs)


def _constant(name):
    raise NotOurs(name)


def _integer(text):
    value = int(text) if len(text) < 30 else 1 << 99
    if not -(2**63) <= value < 2**64:
        raise NotOurs("over 64 bits")
    return value


def _real(text):
    value = float(text)
    if not math.isfinite(value):
        raise NotOurs("not finite")
    return value


def _check(value, depth=0):
    if depth > DEPTH_MAX:
        raise NotOurs("too deep")
    if isinstance(value, str):
        value.encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
        if "\0" in value:
            raise NotOurs("NUL")
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(key)
            _check(item, depth + 1)


def oracle(text):
    """(True, value) or (False, None)."""
    try:
        value = json.loads(
            text.decode(), object_pairs_hook=_object, parse_constant=_constant,
            parse_int=_integer, parse_float=_real,
        )  # fmt: skip
        _check(value)
    except (ValueError, RecursionError):
        return False, None
    return True, value


def mutant(rng):
    text = rng.choice(SEEDS).encode()
    for _ in range(rng.randint(1, MUTATIONS_MAX)):
        at = rng.randint(0, len(text))
        kind = rng.randrange(4)
        if kind == 0:  # cut out
            text = text[:at] + text[at + rng.randint(1, 4) :]
        elif kind == 1:  # put in
            text = text[:at] + rng.choice(PIECES).encode() + text[at:]
        elif kind == 2:  # a part twice
            end = rng.randint(at, len(text))
            text = text[:end] + text[at:end] + text[end:]
        else:  # foreign bytes
            text = text[:at] + rng.choice(RAW_BYTES) + text[at:]
    return text


def verdicts(program, texts):
    """[(accepted, the tree as JSON text)], one per text."""
    feed = b"".join(b"%d\n%s" % (len(text), text) for text in texts)
    done = subprocess.run([program], input=feed, capture_output=True, timeout=120, check=True)
    lines = done.stdout.decode().split("\n")[:-1]
    assert len(lines) == len(texts)
    return [(line.startswith("ok "), line[3:]) for line in lines]


@pytest.fixture(scope="module")
def program(build_dir):
    path = build_dir / "tests" / "unit" / "base" / "json_oracle"
    if not path.exists():
        pytest.fail(f"{path} is not built")
    return path


def compare(program, texts):
    for text, (accepted, again) in zip(texts, verdicts(program, texts)):
        expected, value = oracle(text)
        assert accepted == expected, (text, again)
        if accepted:
            assert json.loads(again) == value, text


def test_known_texts_agree_with_python(program):
    texts = [seed.encode() for seed in SEEDS] + [piece.encode() for piece in PIECES]
    texts += [b"[" * n + b"]" * n for n in range(DEPTH_MAX - 1, DEPTH_MAX + 3)]
    texts += [b'{"k":' * n + b"1" + b"}" * n for n in range(DEPTH_MAX - 1, DEPTH_MAX + 3)]
    compare(program, texts)


def test_mutated_texts_agree_with_python(program):
    rng = random.Random(SEED)
    compare(program, [mutant(rng) for _ in range(MUTANTS)])


def test_random_trees_survive_python_to_c_to_python(program):
    rng = random.Random(SEED + 1)

    def tree(depth):
        kind = rng.randrange(7 if depth < 5 else 5)
        if kind == 0:
            return rng.choice([None, True, False])
        if kind == 1:
            return rng.choice([0, 1, -1, 2**63 - 1, -(2**63), 2**64 - 1, rng.randrange(10**12)])
        if kind == 2:
            return rng.choice([0.1, -2.5e-9, 1e300, rng.random(), rng.random() * 10**18])
        if kind in (3, 4):
            return "".join(rng.choice('ab"\\/\n\x7f\u00e9\u20ac\U0001f600') for _ in range(6))
        if kind == 5:
            return [tree(depth + 1) for _ in range(rng.randrange(4))]
        return {f"k{i}\u00e9": tree(depth + 1) for i in range(rng.randrange(4))}

    texts = [json.dumps(tree(0), ensure_ascii=rng.random() < 0.5).encode() for _ in range(2000)]
    compare(program, texts)
