"""Checks the parameters of a call: names, required parameters, limits and schema; then fills in defaults.

No argument can hang the server: RE2 matches patterns in linear time, and recursion is bounded.
"""

import difflib
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

import re2  # type: ignore[import-untyped]
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from .errors import Code, OpError, check_limit, param_error
from .styles import json_text

Schema: TypeAlias = Any

_MAX_NAME = 96  # longer names are never compared with the spellings of a parameter
_MAX_RECURSIONS = 100_000  # more than the largest call can need
_RANKS = [Code.UNKNOWN_FIELD, Code.MISSING_PARAM, Code.INVALID_TYPE, Code.INVALID_VALUE]  # reported in this order
_CODES: dict[Any, Code] = {"additionalProperties": _RANKS[0], "required": _RANKS[1], "type": _RANKS[2], None: _RANKS[2]}
_FORBIDDEN = {"no_nul": "[\0\ud800-\udfff]", "no_control": "[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]"}
_recursions = [0]


@cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return re2.compile("")


def _keyword(kind: str, fits: Callable[[Any, Any], object]) -> Any:
    def check(validator: Any, rule: Any, value: Any, _: Schema) -> Iterator[ValidationError]:
        if validator.is_type(value, kind) and not fits(rule, value):
            yield ValidationError("")

    return check


def _pattern_properties(validator: Any, patterns: Schema, value: Any, _: Schema) -> Iterator[ValidationError]:
    for pattern, schema in patterns.items() if isinstance(value, dict) else ():
        for key in filter(_compiled(pattern).search, value):
            yield from validator.descend(value[key], schema, path=key)


def _additional(validator: Any, rule: Schema, value: Any, schema: Schema) -> Iterator[ValidationError]:
    patterns = [_compiled(pattern) for pattern in schema.get("patternProperties", ())]
    for key in value.keys() - schema.get("properties", {}).keys() if isinstance(value, dict) else ():
        if not any(pattern.search(key) for pattern in patterns):
            yield from [ValidationError("")] if rule is False else validator.descend(value[key], rule, path=key)


def _type(validator: Any, types: Any, value: Any, _: Schema) -> Iterator[ValidationError]:
    types = [types] if isinstance(types, str) else types
    if not any(validator.is_type(value, name) for name in types):
        yield ValidationError("")
    elif "number" not in types and validator.is_type(value, "number"):
        # A larger number may not be the integer that the client wrote.
        exact = abs(value) < 2**53 if isinstance(value, float) else -(2**63) <= value < 2**64
        yield from [] if exact else [ValidationError("", validator="maximum")]


def _is_multiple(step: float, value: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    return abs(value / step - round(value / step)) <= 1e-9 * max(abs(value / step), 1.0)


def _key(value: Any) -> str:
    """Returns the same text for equal JSON values: `1` equals `1.0`, and the order of fields does not matter."""
    whole = json.loads(json.dumps(value), parse_float=lambda text: int(n) if (n := float(text)).is_integer() else n)
    return json.dumps(whole, sort_keys=True)


def _count_recursion(*_: Any) -> None:
    _recursions[0] += 1
    if _recursions[0] > _MAX_RECURSIONS:
        raise OpError(Code.PAYLOAD_TOO_LARGE, "A parameter is too complex to be checked. Send a simpler value.")


_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "pattern": _keyword("string", lambda pattern, text: _compiled(pattern).search(text)),
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
        "type": _type,
        "multipleOf": _keyword("number", _is_multiple),
        "uniqueItems": _keyword("array", lambda on, items: not on or len(set(map(_key, items))) == len(items)),
        "x-recursive": _count_recursion,
    },
)


def snake_case(text: str) -> str:
    """Returns `user_id` for `userID`, `user-id` and `User ID`."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?!.s(?![a-z]))", "_", text)
    return "_".join(re.findall(r"[^\W_]+", text)).lower()


def nearest(word: str, names: Iterable[str], count: int = 1) -> list[str]:
    return difflib.get_close_matches(snake_case(word[:_MAX_NAME]), list(names), count)


class Checker:
    """Checks the calls of one operation."""

    def __init__(self, operation: Mapping[str, Any], catalog: Mapping[str, Any]) -> None:
        self._operation, self._definitions, self._limits = operation, catalog["$defs"], catalog["limits"]
        self._params: dict[str, dict[str, Any]] = {param["name"]: param for param in operation["params"]}
        self._spellings: dict[str, str | None] = operation.get("spellings", {})
        self._schemas: dict[str, Schema] = operation["schema"]["properties"]
        self._validator = _Validator({**operation["schema"], "$defs": self._definitions})

    def check(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the parameters under their declared names, with defaults. Raises `OpError`."""
        args = self._named(given)
        if missing := [name for name, param in self._params.items() if param.get("required") and name not in args]:
            message = f"Missing required parameter '{missing[0]}'"
            raise OpError(Code.MISSING_PARAM, message, param_name=missing[0], missing_params=missing)
        for name, value in args.items():
            self._measure(name, value, 2)
        check_limit("max_request_size", len(json_text(args).encode()), self._limits["request_bytes"])
        _recursions[0] = 0
        errors = itertools.islice(self._validator.iter_errors(args), 50)
        if found := [violation for error in errors for violation in self._violations(error)]:
            code, name, rule = min(found, key=lambda violation: _RANKS.index(violation[0]))
            raise param_error(code, name, f"does not fit its rule {rule}")
        args = {name: self._integers(value, self._schemas[name]) for name, value in args.items()}
        defaults = {name: param["default"] for name, param in self._params.items() if "default" in param}
        return args | {name: value for name, value in defaults.items() if name not in args}

    def _name(self, name: str) -> str | None:
        if name in self._params or name in self._spellings:
            return name if name in self._params else self._spellings[name]
        snake = "" if name.startswith("_") or len(name.encode()) > _MAX_NAME else snake_case(name)
        return self._spellings.get(snake, snake if snake in self._params else None)

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the parameters by their declared names. The exact name takes precedence over other spellings."""
        fields = given.pop("input", {}) if self._operation.get("takes_input") else {}
        if unknown := [name for name in given if self._name(name) is None and not name.startswith("_")]:
            raise self._unknown(Code.UNKNOWN_PARAM, unknown, list(self._params))
        args = {name: value for name, value in given.items() if name in self._params}
        for name, value in given.items():
            if own := self._name(name):
                args.setdefault(own, value)
        if not isinstance(fields, dict):
            raise param_error(Code.INVALID_TYPE, "input", "must be an object.")
        valid = [name for name, param in self._params.items() if not param.get("identifier")]
        wrong = {name: own for name in fields if (own := self._name(name)) not in valid}
        if unknown := [name for name, own in wrong.items() if own or not name.startswith("_")]:
            raise self._unknown(Code.UNKNOWN_FIELD, unknown, valid)
        for name, value in fields.items():
            if (own := self._name(name)) and args.setdefault(own, value) != value:
                raise param_error(Code.INVALID_VALUE, own, "has another value inside 'input'; send it once.")
        return args

    def _unknown(self, code: Code, unknown: list[str], valid: list[str]) -> OpError:
        shown = [name[:64] for name in unknown[:10]]
        meant = {name: near[0] for name in shown if (near := nearest(name, valid))}
        hint = f"Did you mean {', '.join(meant.values())}?" if meant else f"There are: {', '.join(valid[:10])}"
        message = f"Unknown parameters: {', '.join(shown)}. {hint}"
        return OpError(code, message, unknown_params=shown, valid_params=valid, did_you_mean=meant)

    def _measure(self, name: str, value: Any, depth: int) -> None:
        """Rejects values that are too large, before the more expensive checks."""
        match value:
            case str():
                size = len(value.encode(errors="surrogatepass"))
                check_limit("max_string_length", size, self._limits["string_bytes"])
                if re.search(_FORBIDDEN.get(self._params[name].get("text", ""), "[\ud800-\udfff]"), value):
                    raise param_error(Code.INVALID_ENCODING, name, "has characters which cannot be sent; remove them.")
            case list() | dict():
                check_limit("max_nesting_depth", depth, self._limits["depth"])
                check_limit("max_array_elements", len(value), self._limits["array_items"])
                for item in [*value, *value.values()] if isinstance(value, dict) else value:
                    self._measure(name, item, depth + 1)
            case float() if not math.isfinite(value):
                raise param_error(Code.INVALID_VALUE, name, "is not a finite number.")

    def _violations(self, error: ValidationError) -> list[tuple[Code, str, str]]:
        if error.validator == "anyOf":
            variants: Any = error.validator_value
            marked = [at for at, schema in enumerate(variants) if self._is_marked(schema, error.instance)]
            if len(marked) == 1:
                meant = (inner for inner in error.context or () if inner.relative_schema_path[0] == marked[0])
                return [found for inner in meant for found in self._violations(inner)]
        name, *path = map(str, error.absolute_path)
        # The keys of a secret object are secret, too.
        secret = self._params[name].get("sensitive") or "writeOnly" in json.dumps(self._schemas[name])
        place = name if secret else ".".join([name, *(part[:64] for part in path)])
        code = _CODES.get(error.validator, Code.INVALID_VALUE)
        return [(code, place, f"{error.validator}: {json_text(error.validator_value)[:200]}")]

    def _is_marked(self, schema: Schema, value: Any) -> bool:
        """Whether a field that allows only one value identifies this variant, such as `kind: circle`."""
        schema = self._resolved(schema)
        for key, rule in schema.get("properties", {}).items() if isinstance(value, dict) else ():
            only = rule.get("enum", []) if isinstance(rule, dict) else []
            if len(only) == 1 and key in value and _key(only[0]) == _key(value[key]):
                return True
        return any(self._is_marked(part, value) for part in schema.get("allOf", ()))

    def _resolved(self, schema: Schema) -> dict[str, Any]:
        while isinstance(schema, dict) and "$ref" in schema and not {"properties", "items"} & schema.keys():
            name = schema["$ref"].removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
            schema = self._definitions.get(name, {})
        return schema if isinstance(schema, dict) else {}

    def _integers(self, value: Any, schema: Schema) -> Any:
        """Returns whole floats as integers where the schema has the type integer and not number."""
        schema = self._resolved(schema) if isinstance(value, (float, list, dict)) else {}
        match value:
            case float() if value.is_integer() and self._types(schema) & {"integer", "number"} == {"integer"}:
                return int(value)
            case list():
                rules = itertools.chain(schema.get("prefixItems", ()), itertools.repeat(schema.get("items", {})))
                return [self._integers(item, rule) for item, rule in zip(value, rules, strict=False)]
            case dict():
                fields, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
                return {key: self._integers(item, fields.get(key, rest)) for key, item in value.items()}
        return value

    def _types(self, schema: Schema) -> set[str]:
        schema = self._resolved(schema)
        own = schema.get("type") or set[str]().union(*map(self._types, schema.get("allOf", ())))
        return {own} if isinstance(own, str) else set(own)
