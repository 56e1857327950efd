"""Runs the test vectors of query controls on the runtime of a generated Python project: vectors.py PACKAGE VECTORS

The format is described in `crates/mcpaql-shape/tests/vectors.rs`.
"""

import importlib
import json
import sys
from pathlib import Path

package, vectors = sys.argv[1:]
controls, errors, requests = (importlib.import_module(f"{package}.runtime.{name}") for name in ("controls", "errors", "requests"))


def answer(case, call, cursors):
    own, params = case.get("own", []), call["params"]
    params = {key: cursors.get(value, value) if isinstance(value, str) else value for key, value in params.items()}
    rules = {key: case[key] for key in ("items", "more") if key in case}
    row = {"name": call.get("operation", "list"), "controls": rules}
    try:
        before = []
        taken = controls.take(row, params, own.__contains__, {}, before)
        given = requests.Answer(case["data"], json.dumps(case["data"], ensure_ascii=False, separators=(",", ":")))
        told, notes = controls.shape(given, row, params, taken, own.__contains__)
    except errors.OpError as error:
        return {"error": [error.code, error.details.get("param_name")]}
    data = json.loads(told.text)
    info = data.get("pageInfo", {}) if isinstance(data, dict) and "items" in data else {}
    for key, meant in (("endCursor", "$end"), ("startCursor", "$start")):
        if "hasPreviousPage" in info and key in info:
            cursors[meant], info[key] = info[key], "#"
    told_of = [(code, *details, {}) for code, _, *details in before + notes]
    warnings = [[code, about.get("param_name", about.get("step"))] for code, about, *_ in told_of]
    return {"data": data, **({"warnings": warnings} if warnings else {}), **({"args": params} if params else {})}


def same(one, other):
    """Compares JSON: 1 equals 1.0, but not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


calls, wrong = 0, 0
for file in sorted(Path(vectors).glob("*.json")):
    for case in json.loads(file.read_text()):
        rows = [({"text": case["text"]}, controls.tokens(case["text"]), case["tokens"])] if "text" in case else []
        cursors = {}
        rows += [(call["params"], answer(case, call, cursors), call["expect"]) for call in case.get("calls", [])]
        for about, actual, expected in rows:
            calls += 1
            if not same(actual, expected):
                wrong += 1
                texts = (json.dumps(value, ensure_ascii=False) for value in (about, expected, actual))
                print("{}: {}\n    expected {}\n    actual   {}".format(case.get("name"), *texts))
print(f"  python: {calls} vectors, {wrong} different")
sys.exit(wrong > 0)
