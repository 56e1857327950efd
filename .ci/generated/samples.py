"""Sample values for the parameters of an operation, and misspelt names."""

import re

CANDIDATES = ["text", "https://example.com/a.png", "2026-01-31", "2026-01-31T10:00:00Z", '"abc"', "1", "a1b2c3d4",
              "12345678-1234-4234-8234-123456789abc", "#a0b1c2"]


def misspelt(text):
    return text[:2] + text[3:] if len(text) > 4 else text + "x"


def camel(name):
    first, *others = name.split("_")
    return first + "".join(other.title() for other in others)


def nested(depth):
    return [nested(depth - 1)] if depth else "x"


def sample(operation):
    """Returns required parameters that are probably valid."""
    return {param["name"]: fitting(param) for param in operation["parameters"] if param.get("required")}


def changed(operation):
    """Returns other required parameters that are probably valid; the same if there are none."""
    plain = [param for param in operation["parameters"] if param.get("required") and not {"enum", "const", "pattern", "format", "maximum"} & param.keys()]
    texts = {param["name"]: fitting(param) + "x" for param in plain if param.get("type", "string") == "string"}
    numbers = {param["name"]: fitting(param) + 1 for param in plain if param.get("type") in ("integer", "number")}
    return {**sample(operation), **texts, **numbers}


def fitting(schema):
    """Returns a value that probably matches a schema."""
    for key in ("const", "default", "example"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return fitting(schema[key][0])
    kind = schema.get("type", "string")
    kind = next(one for one in kind if one != "null") if isinstance(kind, list) else kind
    if kind == "array":
        return [fitting(schema.get("items", {}))] * max(1, schema.get("minItems", 1))
    if kind == "object":
        needed = schema["required"] if isinstance(schema.get("required"), list) else []
        return {name: fitting(inner) for name, inner in schema.get("properties", {}).items() if name in needed}
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    fits = (text for text in CANDIDATES if re.search(schema.get("pattern", ""), text) and len(text) >= schema.get("minLength", 0))
    first = {"uri": 1, "date": 2, "date-time": 3, "uuid": 7}.get(schema.get("format"))
    return CANDIDATES[first] if first else next(fits, "text")
