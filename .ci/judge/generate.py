"""Random values that match a JSON Schema. The seed is fixed, so every run gets the same values."""

import base64
import re

TEXTS = ["a", "sky blue", "Überfluß/ß", "a&b=c", "100%", "x+y", "#1?", 'say "hi"', "日本", "semi;colon", "two\nlines", "../up"]
FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "ada@example.com",
    "uri": "https://example.com/a?b=c",
    "url": "https://example.com",
    "uuid": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


class Hopeless(Exception):
    """The generator found no value for the schema."""


class Generator:
    def __init__(self, random, definitions):
        self.random = random
        self.definitions = definitions

    def arguments(self, schema, share):
        """Returns arguments of a tool: all required ones, and the given share of the optional ones."""
        required = set(schema.get("required", []))
        names = [name for name in schema.get("properties", {}) if name in required or self.random.random() < share]
        return {name: self.value(schema["properties"][name], 0, name) for name in names}

    def value(self, schema, depth, name=""):
        if schema is True or schema == {}:
            return self.random.choice(TEXTS)
        if depth > 12:
            raise Hopeless("too deep")
        if "$ref" in schema:
            return self.value(self.definitions[schema["$ref"].removeprefix("#/$defs/")], depth + 1, name)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        for key in ("oneOf", "anyOf"):
            if key in schema:
                rest = {word: value for word, value in schema.items() if word != key}
                return self.value(merged(rest, self.followed(self.random.choice(schema[key]))), depth + 1, name)
        if "allOf" in schema:
            rest = {word: value for word, value in schema.items() if word != "allOf"}
            for part in schema["allOf"]:
                rest = merged(rest, self.followed(part))
            return self.value(rest, depth + 1, name)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self.random.choice(kind)
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
        return getattr(self, f"{kind}_value")(schema, depth, name)

    def followed(self, schema):
        while isinstance(schema, dict) and "$ref" in schema:
            schema = self.definitions[schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def null_value(self, *_):
        return None

    def boolean_value(self, *_):
        return self.random.random() < 0.5

    def integer_value(self, schema, *_):
        least = int(schema.get("minimum", schema.get("exclusiveMinimum", 0) + ("exclusiveMinimum" in schema)))
        most = int(schema.get("maximum", schema.get("exclusiveMaximum", least + 1000) - ("exclusiveMaximum" in schema)))
        step = int(schema.get("multipleOf", 1)) or 1
        value = self.random.randint(least, max(least, most))
        return value - value % step if value - value % step >= least else least

    def number_value(self, schema, *_):
        return self.random.choice([self.integer_value(schema), self.integer_value(schema) + 0.0])

    def string_value(self, schema, _depth, name):
        if schema.get("format") == "byte":
            return base64.b64encode(bytes(self.random.randrange(256) for _ in range(9))).decode()
        if schema.get("format") in FORMATS:
            return FORMATS[schema["format"]]
        if name == "content_type":
            return "image/png"
        least, most = schema.get("minLength", 0), schema.get("maxLength", 1 << 30)
        texts = [text for text in TEXTS if least <= len(text) <= most]
        texts = texts or [("a" * max(least, 1))[:most]]
        if "pattern" in schema:
            plain = ["a", "abc", "blue", "A1", "0", "12", "2026-01-31", "a" * 40, "0" * 40, "#ffffff", "a/b", "a_b"]
            fits = [text for text in plain + texts if re.search(schema["pattern"], text) and least <= len(text) <= most]
            if not fits:
                raise Hopeless(f"pattern {schema['pattern']}")
            return self.random.choice(fits)
        return self.random.choice(texts)

    def array_value(self, schema, depth, name):
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", least + 3), least + (0 if depth > 4 else 3))
        items = [self.value(schema.get("items", True), depth + 1, name) for _ in range(self.random.randint(least, max(least, most)))]
        if schema.get("uniqueItems"):
            items = [item for position, item in enumerate(items) if item not in items[:position]]
        if len(items) < least:
            raise Hopeless("not enough different items")
        return items

    def object_value(self, schema, depth, _name):
        required = set(schema.get("required", []))
        share = 0.5 if depth < 3 else 0
        names = [name for name in schema.get("properties", {}) if name in required or self.random.random() < share]
        value = {name: self.value(schema["properties"][name], depth + 1, name) for name in names}
        for name in required - set(value):
            value[name] = self.value(True, depth + 1)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and not value and depth < 6:
            value["key"] = self.value(extra, depth + 1)
        if len(value) < schema.get("minProperties", 0):
            spare = [name for name in schema.get("properties", {}) if name not in value]
            for name in spare[: schema["minProperties"] - len(value)]:
                value[name] = self.value(schema["properties"][name], depth + 1, name)
        return value


def merged(one, other):
    """Merges two schemas, as far as plain objects are concerned."""
    both = {**one, **other}
    for key in ("properties",):
        if key in one and key in other:
            both[key] = {**one[key], **other[key]}
    if "required" in one and "required" in other:
        both["required"] = [*one["required"], *other["required"]]
    return both
