"""The parameters of a call against what the operation declares: names, required ones, limits, schema, defaults.

Patterns are checked by RE2 in linear time, and recursion is bounded, so that no argument hangs the server.
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

from .errors import Code, OpError
from .styles import json_text

Schema: TypeAlias = Any
Keyword: TypeAlias = Callable[[Any, Any, Any, Schema], Iterator[ValidationError]]

_MAX_NAME = 96  # longer names are not another spelling of a parameter
_MAX_RECURSIONS = 100_000  # more than fit into a call of the largest size, so only a wrong turn takes so many
_RANKS = [Code.UNKNOWN_FIELD, Code.MISSING_PARAM, Code.INVALID_TYPE, Code.INVALID_VALUE]  # the gravest first
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


def _keyword(fits: Callable[[Any, Any], object]) -> Keyword:
    def check(_: Any, rule: Any, value: Any, __: Schema) -> Iterator[ValidationError]:
        if not fits(rule, value):
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
        # Beyond that nobody can tell which integer was written.
        exact = abs(value) < 2**53 if isinstance(value, float) else -(2**63) <= value < 2**64
        yield from [] if exact else [ValidationError("", validator="maximum")]


def _is_multiple(step: float, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return True
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    return abs(value / step - round(value / step)) <= 1e-9 * max(abs(value / step), 1.0)


def _key(value: Any) -> str:
    """Equal JSON values have equal keys: `1` and `1.0` are the same number, the order of fields means nothing."""
    whole = json.loads(json.dumps(value), parse_float=lambda text: int(n) if (n := float(text)).is_integer() else n)
    return json.dumps(whole, sort_keys=True)


def _may_enter(_: Any, __: Any) -> bool:
    _recursions[0] += 1
    if _recursions[0] > _MAX_RECURSIONS:
        raise OpError(Code.PAYLOAD_TOO_LARGE, "A parameter is too complex to be checked. Send a simpler value.")
    return True


_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "pattern": _keyword(lambda pattern, value: not isinstance(value, str) or _compiled(pattern).search(value)),
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
        "type": _type,
        "multipleOf": _keyword(_is_multiple),
        "uniqueItems": _keyword(lambda on, v: not on or not isinstance(v, list) or len(set(map(_key, v))) == len(v)),
        "x-recursive": _keyword(_may_enter),
    },
)


def snake_case(text: str) -> str:
    """`userID`, `user-id` and `User ID` as `user_id`."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?!.s(?![a-z]))", "_", text)
    return "_".join(re.findall(r"[^\W_]+", text)).lower()


def nearest(word: str, names: Iterable[str], count: int = 1) -> list[str]:
    return difflib.get_close_matches(snake_case(word[:_MAX_NAME]), list(names), count)


class Checker:
    """Checks the calls of one operation."""

    def __init__(self, operation: Mapping[str, Any], definitions: Schema, limits: Mapping[str, int]) -> None:
        self._operation, self._definitions, self._limits = operation, definitions, limits
        self._params: dict[str, dict[str, Any]] = {param["name"]: param for param in operation["params"]}
        self._spellings: dict[str, str | None] = operation.get("spellings", {})
        self._schemas: dict[str, Schema] = operation["schema"]["properties"]
        self._validator = _Validator({**operation["schema"], "$defs": definitions})

    def check(self, given: dict[str, Any]) -> dict[str, Any]:
        """The parameters under their declared names, with defaults. Raises `OpError`."""
        args = self._named(given)
        if missing := [name for name, param in self._params.items() if param.get("required") and name not in args]:
            message = f"Missing required parameter '{missing[0]}'"
            raise OpError(Code.MISSING_PARAM, message, param_name=missing[0], missing_params=missing)
        for name, value in args.items():
            self._measure(name, value, 2)
        self._limit("max_request_size", len(json_text(args).encode()), "request_bytes")
        _recursions[0] = 0
        errors = itertools.islice(self._validator.iter_errors(args), 50)
        if found := [violation for error in errors for violation in self._violations(error)]:
            code, name, rule = min(found, key=lambda violation: _RANKS.index(violation[0]))
            raise OpError(code, f"Parameter '{name}' does not fit its rule {rule}", param_name=name)
        args = {name: self._integers(value, self._schemas[name]) for name, value in args.items()}
        defaults = {name: param["default"] for name, param in self._params.items() if "default" in param}
        return args | {name: value for name, value in defaults.items() if name not in args}

    def _name(self, name: str) -> str | None:
        if name in self._params or name in self._spellings:
            return name if name in self._params else self._spellings[name]
        snake = "" if name.startswith("_") or len(name.encode()) > _MAX_NAME else snake_case(name)
        return self._spellings.get(snake, snake if snake in self._params else None)

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        """What was given under declared names; next to the exact name, other spellings are ignored."""
        fields = {}
        if self._operation.get("takes_input") and "input" in given:
            fields = given["input"]
            given = {name: value for name, value in given.items() if name != "input"}
        if unknown := [name for name in given if self._name(name) is None and not name.startswith("_")]:
            raise self._unknown(Code.UNKNOWN_PARAM, unknown, list(self._params))
        args = {name: value for name, value in given.items() if name in self._params}
        for name, value in given.items():
            if own := self._name(name):
                args.setdefault(own, value)
        if not isinstance(fields, dict):
            raise OpError(Code.INVALID_TYPE, "Parameter 'input' must be an object", param_name="input")
        valid = [name for name, param in self._params.items() if not param.get("identifier")]
        wrong = (name for name in fields if self._name(name) not in valid)
        if unknown := [name for name in wrong if self._name(name) or not name.startswith("_")]:
            raise self._unknown(Code.UNKNOWN_FIELD, unknown, valid)
        for name, value in fields.items():
            if (own := self._name(name)) and args.setdefault(own, value) != value:
                message = f"Parameter '{own}' has two different values, one of them inside 'input'. Send it once"
                raise OpError(Code.INVALID_VALUE, message, param_name=own)
        return args

    def _unknown(self, code: Code, unknown: list[str], valid: list[str]) -> OpError:
        shown = [name[:64] for name in unknown[:10]]
        meant = {name: near[0] for name in shown if (near := nearest(name, valid))}
        hint = f"Did you mean {', '.join(meant.values())}?" if meant else f"There are: {', '.join(valid[:10])}"
        message = f"Unknown parameters: {', '.join(shown)}. {hint}"
        return OpError(code, message, unknown_params=shown, valid_params=valid, did_you_mean=meant)

    def _limit(self, limit: str, actual: int, key: str) -> None:
        if actual > (maximum := self._limits[key]):
            message = f"The call exceeds {limit}: {actual}, the maximum is {maximum}. Send less in one call"
            raise OpError(Code.PAYLOAD_TOO_LARGE, message, limit=limit, actual=actual, maximum=maximum)

    def _measure(self, name: str, value: Any, depth: int) -> None:
        """Refuses what is too large before anything more expensive looks at it."""
        match value:
            case str():
                self._limit("max_string_length", len(value.encode(errors="surrogatepass")), "string_bytes")
                if re.search(_FORBIDDEN.get(self._params[name].get("text", ""), "[\ud800-\udfff]"), value):
                    message = f"Parameter '{name}' holds characters that cannot be sent. Send it without"
                    raise OpError(Code.INVALID_ENCODING, message, param_name=name)
            case list() | dict():
                self._limit("max_nesting_depth", depth, "depth")
                self._limit("max_array_elements", len(value), "array_items")
                for item in [*value, *value.values()] if isinstance(value, dict) else value:
                    self._measure(name, item, depth + 1)
            case float() if not math.isfinite(value):
                raise OpError(Code.INVALID_VALUE, f"Parameter '{name}' is not a finite number", param_name=name)

    def _violations(self, error: ValidationError) -> list[tuple[Code, str, str]]:
        code = _CODES.get(error.validator, Code.INVALID_VALUE)
        if error.validator == "anyOf":
            meant = self._meant(error)
            if len(meant) == 1:
                return [found for inner in meant[0] for found in self._violations(inner)]
            code = Code.INVALID_VALUE if meant else Code.INVALID_TYPE
        name, *path = map(str, error.absolute_path)
        # The keys of a secret are secret, too.
        secret = self._params[name].get("sensitive") or "writeOnly" in json.dumps(self._schemas[name])
        place = name if secret else ".".join([name, *(part[:64] for part in path)])
        return [(code, place, f"{error.validator}: {json_text(error.validator_value)[:200]}")]

    def _meant(self, error: ValidationError) -> list[list[ValidationError]]:
        """The errors of the variants that may have been meant: they admit the type, or have a fitting constant."""
        variants: dict[Any, list[ValidationError]] = {}
        for inner in error.context or ():
            variants.setdefault(inner.relative_schema_path[0], []).append(inner)
        admitted = {at: inner for at, inner in variants.items() if not any(map(self._refuses_type, inner))}
        schemas: Any = error.validator_value
        marked = [inner for at, inner in admitted.items() if self._is_marked(schemas[at], error.instance, 16)]
        return marked or list(admitted.values())

    def _refuses_type(self, error: ValidationError) -> bool:
        nested = error.validator == "anyOf" and not self._meant(error)
        return not error.relative_path and (error.validator in ("type", None) or nested)

    def _is_marked(self, schema: Schema, value: Any, fuel: int) -> bool:
        """Whether a field that can have only one value says that this variant is meant."""
        schema = self._resolved(schema)
        if not isinstance(value, dict) or not fuel:
            return False
        for key, rule in schema.get("properties", {}).items():
            only = rule.get("enum", [rule["const"]] if "const" in rule else []) if isinstance(rule, dict) else []
            if len(only) == 1 and key in value and _key(only[0]) == _key(value[key]):
                return True
        return any(self._is_marked(part, value, fuel // 2) for part in schema.get("allOf", ())[:8])

    def _resolved(self, schema: Schema) -> dict[str, Any]:
        for _ in range(16):
            if isinstance(schema, dict) and "$ref" in schema and not {"properties", "items"} & schema.keys():
                name = schema["$ref"].removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
                schema = self._definitions.get(name, {})
        return schema if isinstance(schema, dict) else {}

    def _integers(self, value: Any, schema: Schema) -> Any:
        """Whole floats as integers wherever the schema asks for an integer and not for a number."""
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
        own = schema.get("type", ())
        inner = [*schema.get("allOf", ()), *schema.get("anyOf", ())] if not own else []
        return {own} if isinstance(own, str) else set(own).union(*map(self._types, inner))
