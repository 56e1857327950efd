"""Checks the parameters of a call. RE2 and a limited number of steps ensure that no argument can hang the server."""

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from itertools import chain, count, repeat
from typing import Any, TypeAlias
from urllib.parse import unquote

import re2  # type: ignore[import-untyped]

from .errors import OpError, check_limit, param_error
from .styles import MAX_NUMBER, json_text

Schema: TypeAlias = Any
Test: TypeAlias = Callable[[Any], object]  # whether a value fits a rule

_MAX_NAME, _MAX_STEPS, _MAX_PROBLEMS = 96, 1_000_000, 10  # longer names are never compared with spellings
_RANKS = ["VALIDATION_UNKNOWN_FIELD", "VALIDATION_MISSING_PARAM", "VALIDATION_INVALID_TYPE"]  # reported first
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
_INSIDE = {"items", "prefixItems", "properties", "patternProperties", "additionalProperties"}
_ANYTHING: Schema = {}
_texts = dict[int, str]()  # of the lists and objects in the checked value


@cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error:
        return re2.compile(b"")


def _text(value: Any) -> str:
    """Returns the same text for equal JSON values: `1` equals `1.0`, and the order of fields does not matter."""
    kind = type(value)
    if kind is int or kind is float:
        return str(int(value) if -(2**63) <= value < 2**64 and value == int(value) else float(value))
    if (kind is list or kind is dict) and id(value) not in _texts:
        parts = sorted(f"{key!r}:{_text(value[key])}" for key in value) if kind is dict else map(_text, value)
        _texts[id(value)] = f"{kind.__name__}({','.join(parts)})"
    return _texts.get(id(value)) or repr(value)


def _is_multiple(step: float, value: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    times = value / step
    return abs(times) > 2**53 or abs(times - round(times)) <= 1e-9 * max(abs(times), 1.0)


# Type → keyword → whether a value fits the argument of the keyword.
_KEYWORDS: dict[type[Any], dict[str, Callable[[Any, Any], object]]] = {
    kind: {f"min{noun}": lambda least, value: len(value) >= least, f"max{noun}": lambda most, value: len(value) <= most}
    for kind, noun in ((str, "Length"), (list, "Items"), (dict, "Properties"))
}
_KEYWORDS[str]["pattern"] = lambda pattern, value: _compiled(pattern).search(value.encode())
_KEYWORDS[list]["uniqueItems"] = lambda _, value: len(set(map(_text, value))) == len(value)
_KEYWORDS[int] = {"minimum": operator.le, "exclusiveMinimum": operator.lt, "multipleOf": _is_multiple}
_KEYWORDS[int] = _KEYWORDS[float] = _KEYWORDS[int] | {"maximum": operator.ge, "exclusiveMaximum": operator.gt}


def _is_ignored(name: str) -> bool:
    """Whether a name belongs to the protocol. A dry run never does: this server has none, and the call would run."""
    return name.startswith("_") and re.sub(r"[^a-z]", "", name.lower()) != "dryrun"


def snake_case(text: str) -> str:
    """Returns `user_id` for `userID`, `user-id` and `User ID`."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?!.s(?![a-z]))", "_", text)
    return "_".join(re.findall(r"[^\W_]+", text)).lower()


def nearest(word: str, names: Iterable[str], count: int = 1) -> list[str]:
    return difflib.get_close_matches(snake_case(word[:_MAX_NAME]), list(names), count)


def _unknown(code: str, noun: str, unknown: list[str], valid: list[str], **details: Any) -> OpError:
    shown = [name[:64] for name in unknown[:10]]
    meant = {name: near[0] for name in shown if (near := nearest(name, valid))}
    hint = f"Did you mean {', '.join(meant.values())}?" if meant else f"There are: {', '.join(valid[:10])}"
    details |= {f"unknown_{noun}": shown, f"valid_{noun}": valid, "did_you_mean": meant}
    return OpError(code, f"Unknown {noun}: {', '.join(shown)}. {hint}", **details)


class Checker:
    """Checks the calls of one operation, in the order of `mcpaql serve`."""

    def __init__(self, operation: Mapping[str, Any], catalog: Mapping[str, Any]) -> None:
        self._operation, self._limits, self._definitions = operation, catalog["limits"], catalog["$defs"]
        self._params: dict[str, dict[str, Any]] = {param["name"]: param for param in operation["params"]}
        self._spellings: dict[str, str | None] = operation.get("spellings", {}) | {name: name for name in self._params}
        self._tests = dict[tuple[int, type[Any]], list[Test]]()

    def check(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the parameters under their declared names, with defaults. Raises `OpError`."""
        _texts.clear()
        args, self._path, self._steps, self._limit = self._named(given), list[Any](), 0, _MAX_PROBLEMS
        if missing := [name for name, param in self._params.items() if param.get("required") and name not in args]:
            about: dict[str, Any] = {"param_name": missing[0], "missing_params": missing}
            raise OpError("VALIDATION_MISSING_PARAM", f"Missing: {', '.join(missing)}", **about)
        self._measure(args)
        self._found, self._whole = list[Any](), set[int]()
        try:
            self._fits(self._operation["schema"], args)
        except RecursionError:
            raise param_error(self._path[0], "is too large to be checked.", "VALIDATION_PAYLOAD_TOO_LARGE") from None
        if self._found:
            raise self._error(*min(self._found, key=lambda found: [*_RANKS, found[0]].index(found[0])))
        return {name: param["default"] for name, param in self._params.items() if "default" in param} | args

    def name_of(self, name: str) -> str | None:
        if name in self._spellings or name.startswith("_") or len(name.encode()) > _MAX_NAME:
            return self._spellings.get(name)
        return self._spellings.get(snake_case(name))

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the parameters by their declared names. The exact name takes precedence over other spellings."""
        fields = given.pop("input", {}) if self._operation.get("takes_input") else {}
        if unknown := [name for name in given if self.name_of(name) is None and not _is_ignored(name)]:
            valid = [*self._params, *["input"][: self._operation.get("takes_input", 0)]]
            raise _unknown("VALIDATION_UNKNOWN_PARAM", "params", unknown, valid)
        args = {name: value for name, value in given.items() if name in self._params}
        for name, value in given.items():
            if own := self.name_of(name):
                args.setdefault(own, value)
        if not isinstance(fields, dict):
            raise param_error("input", "must be an object.", "VALIDATION_INVALID_TYPE")
        valid = [name for name, param in self._params.items() if not param.get("identifier")]
        wrong = [name for name in fields if self.name_of(name) not in valid]
        if unknown := [name for name in wrong if self.name_of(name) or not _is_ignored(name)]:
            raise _unknown("VALIDATION_UNKNOWN_FIELD", "fields", unknown, valid, param_name="input")
        for name, value in fields.items():
            if (own := self.name_of(name)) and _text(args.setdefault(own, value)) != _text(value):
                raise param_error(own, "has another value inside 'input'; send it once.")
        return args

    def _measure(self, args: Mapping[str, Any]) -> None:
        """Rejects values that are too large, before the more expensive checks."""
        limits, size = self._limits, 1  # of the JSON, without most digits and escapes
        for name, value in args.items():
            forbidden = "[\0-\x08\x0a-\x1f\x7f\ud800-\udfff]" if "text" in self._params[name] else "[\0\ud800-\udfff]"
            level, depth, size = [value], 1, size + len(name.encode()) + 3
            while level:
                inner, depth = [item for item in level if isinstance(item, (list, dict))], depth + 1
                keys = [key for item in inner if isinstance(item, dict) for key in item]
                texts = [*keys, *(item for item in level if isinstance(item, str))]
                sizes = [len(text.encode(errors="surrogatepass")) for text in texts]
                check_limit("nesting_depth", depth if inner else 0, limits["depth"], param_name=name)
                check_limit("array_elements", max([0, *map(len, inner)]), limits["array_items"], param_name=name)
                check_limit("string_length", max([0, *sizes]), limits["string_bytes"], param_name=name)
                if re.search(forbidden, "".join(texts)):
                    raise param_error(name, "has control characters; remove them.", "VALIDATION_INVALID_ENCODING")
                if not all(abs(item) <= MAX_NUMBER for item in level if isinstance(item, (int, float))):
                    raise param_error(name, "is not a finite number.")
                words = sum(item is None or isinstance(item, bool) for item in level)
                size += sum(sizes) + len(texts) + 2 * len(keys) + 2 * len(level) + 3 * words
                level = [one for item in inner for one in (item.values() if isinstance(item, dict) else item)]
            if size > limits["request_bytes"]:
                check_limit("request_size", len(json_text(args).encode()), limits["request_bytes"], param_name=name)

    def _joined(self, schema: Schema) -> list[Schema]:
        name = unquote(schema.get("$ref", "").removeprefix("#/$defs/")).replace("~1", "/").replace("~0", "~")
        return [*([self._definitions.get(name, _ANYTHING)] if name else []), *schema.get("allOf", ())]

    def _read(self, schema: Schema, kind: type[Any]) -> list[Test]:
        """Returns the tests for values of one type, together with those of the joined schemas."""
        schema = {"type": ()} if schema is False else schema
        name = _TYPES.get(kind, "null")
        joins = "if" in schema or "anyOf" in schema or schema.keys() == {"type", "allOf"}
        tests: list[Test] = [] if joins else [self._step]  # a schema that only joins others is not a step
        types = schema.get("type", (name, "number"))

        def own(key: str, fits: Test, code: str = "VALIDATION_INVALID_VALUE") -> None:
            tests.append(lambda value: fits(value) or self._fail(code, key, schema))

        if kind in (int, float) and "integer" in types and "number" not in types:
            own("type", lambda value: value % 1 == 0, "VALIDATION_INVALID_TYPE")
            own("type", self._is_exact)
        elif name not in types and not (kind is int and "number" in types):
            return [self._step, lambda _: self._fail("VALIDATION_INVALID_TYPE", "type", schema)]
        if "enum" in schema:
            own("enum", partial(lambda texts, value: _text(value) in texts, set(map(_text, schema["enum"]))))
        for field in schema.get("required", ()) if kind is dict else ():
            own(field, partial(lambda field, value: field in value, field), "VALIDATION_MISSING_PARAM")
        for key, fits in _KEYWORDS.get(kind, {}).items():
            if key in schema:
                own(key, partial(fits, schema[key]))
        tests += [partial(self._inside_fits, schema)] if kind in (list, dict) and _INSIDE & schema.keys() else []
        tests += chain.from_iterable(self._read(part, kind) for part in self._joined(schema))
        tests += [partial(self._case_fits, schema)] if "if" in schema else []
        if "anyOf" in schema:
            own("anyOf", lambda value: any(self._fits(variant, value, 0) for variant in schema["anyOf"]))
        if "not" in schema:
            own("not", lambda value: not self._fits(schema["not"], value, 0))
        return tests

    def _step(self, _: Any) -> bool:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise RecursionError
        return True

    def _fail(self, code: str, key: str, schema: Schema) -> bool:
        if len(self._found) < self._limit:
            self._found.append((code, key, schema, tuple(self._path)))
        return False

    def _error(self, code: str, key: str, schema: Schema, path: tuple[Any, ...]) -> OpError:
        rules = json_text(self._operation["schema"]["properties"][path[0]])
        secret = self._params[path[0]].get("sensitive") or "writeOnly" in rules  # the keys of a secret are secret, too
        place = path[0] + "".join(f"[{s}]" if isinstance(s, int) else f".{s[:64]}" for s in path[1:] if not secret)
        if code == "VALIDATION_UNKNOWN_FIELD":
            return _unknown(code, "fields", [] if secret else [key], [*schema.get("properties", ())], param_name=place)
        if code == "VALIDATION_MISSING_PARAM":
            return param_error(f"{place}.{key}", "is missing.", code)
        return param_error(place, f"does not fit its rule {key}: {json_text(schema[key])[:200]}", code)

    def _fits(self, schema: Schema, value: Any, limit: int | None = None) -> bool:
        """Whether a value fits. Reports its problems; with a limit, it stops at this number and reports none."""
        outer, fits = (self._limit, self._found), True
        self._limit, self._found = outer if limit is None else (limit, [])
        if (tests := self._tests.get((id(schema), type(value)))) is None:
            tests = self._tests[id(schema), type(value)] = self._read(schema, type(value))
        for test in tests:
            if not test(value):
                fits = False
                if len(self._found) >= self._limit:
                    break
        self._limit, self._found = outer
        return fits

    def _inside_fits(self, schema: Schema, value: Any) -> bool:
        fits, items = True, repeat(schema["items"]) if "items" in schema else ()
        rows: Iterable[Any] = zip(count(), value, chain(schema.get("prefixItems", ()), items), strict=False)
        if isinstance(value, dict):
            rows = ((key, item, inner) for key, item in value.items() for inner in self._fields(schema, key))
        for key, item, inner in rows:
            if inner is None:
                fits = self._fail("VALIDATION_UNKNOWN_FIELD", key, schema)
            else:
                self._path.append(key)
                fits = self._fits(inner, item) and fits
                self._path.pop()
                value[key] = int(item) if id(item) in self._whole else item
            if not fits and len(self._found) >= self._limit:
                break
        return fits

    def _fields(self, schema: Schema, key: str) -> list[Schema]:
        """Returns the schemas of a field; None if it is not allowed."""
        found = [schema["properties"][key]] if key in schema.get("properties", ()) else []
        patterns, others = schema.get("patternProperties", {}), schema.get("additionalProperties", _ANYTHING)
        found += [inner for pattern, inner in patterns.items() if _compiled(pattern).search(key.encode())]
        return found or ([] if others == _ANYTHING else [others or None])

    def _case_fits(self, schema: Schema, value: Any) -> bool:
        while "if" in schema and not self._fits(schema["if"], value, 0):
            schema = schema.get("else", _ANYTHING)
        return schema == _ANYTHING or self._fits(schema.get("then", schema), value)

    def _is_exact(self, value: float) -> bool:
        """Whether this is the integer that the client wrote. Larger numbers may be rounded."""
        self._whole.update([id(value)] if isinstance(value, float) else [])
        return -(2**63) <= value < 2**64 if isinstance(value, int) else abs(value) < 2**53
