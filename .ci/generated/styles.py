"""Writes a document with every parameter style, every kind of body, unions, recursive types, and more operations than fit on one page."""

import json

ANY = {"type": ["string", "number", "boolean", "array", "object", "null"]}
LIST, OBJECT, TEXT, FILE = {"type": "array", "items": {"type": "string"}}, {"type": "object"}, {"type": "string"}, {"type": "string", "format": "byte"}
FORMS = {
    "query": ["form", "spaceDelimited", "pipeDelimited", "deepObject", "json"],
    "path": ["simple", "label", "matrix", "json", "segments"],
    "header": ["simple", "json"],
    "cookie": ["form", "json"],
}
HEAD = """---
type: adapter
name: styles
version: 1.0.0
description: Every style of parameters and every form of body.
target:
  protocol: rest
  base_url: "${env:STYLES_URL}"
  headers: {"X-Fixed": "1", "X-Open": "${env:STYLES_HEADER:-none}"}
auth:
  type: all
  schemes:
    - type: api_key
      key_env: STYLES_KEY
      query_name: api_key
    - type: api_key
      key_env: STYLES_SESSION
      cookie_name: sid
"""
TYPES = {
    "Circle": {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"], "additionalProperties": False},
    "Square": {"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "integer"}}, "required": ["kind", "side"]},
    "Tree": {"type": "object", "properties": {"name": TEXT, "children": {"type": "array", "items": {"type": "Tree"}}}, "required": ["name"]},
}


def styled():
    """Returns one operation for each way to write a parameter."""
    for place, forms in FORMS.items():
        for form in forms:
            for explode in (True, False):
                for reserved in (False, True) if place in ("query", "path") else (False,):
                    number = f"{explode:d}{reserved:d}"
                    param = {**ANY, "in": place, "style": form, "explode": explode, "as": f"wire-{place}", "allow_reserved": reserved, "required": place == "path"}
                    path = f"/{place}/{form}/{number}" + ("/{value}" if place == "path" else "")
                    yield {"name": f"get_{place}_{form.lower()}_{number}", "tags": [place], "maps_to": f"GET {path}", "params": {"value": param}}


def operation(name, request, params, **more):
    return {"name": name, "description": "Sends.", "maps_to": request, "params": params, **more}


UNION = {
    "shape": {"oneOf": [{"type": "Circle"}, {"type": "Square"}, {"type": "integer", "minimum": 3}]},
    "word": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "boolean"}]},
    "tree": {"type": "Tree"},
    "cents": {"type": "number", "multipleOf": 0.01},
    "set": {"type": "array", "uniqueItems": True, "maxItems": 4, "items": ANY},
    "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    "slow": {"type": "string", "pattern": "^(a+)+$"},
    "both": {"allOf": [{"type": "integer"}, {"minimum": 5}]},
    "pair": {"type": "array", "prefixItems": [{"type": "integer"}, TEXT], "items": {"type": "boolean"}},
    **{name.replace("-", "_"): {"type": "string", "format": name} for name in ("date", "date-time", "email", "ipv6", "uuid", "uri", "hostname")},
}
IDENTIFIED = {"id": {"type": "string", "required": True}}
OPERATIONS = {
    "read": list(styled()),
    "create": [
        operation("post_json", "POST /json", {"list": LIST, "object": OBJECT, "count": {"type": "integer"}, "secret": {"type": "string", "sensitive": True, "pattern": "^tok_[a-z]+$"}}),
        operation("post_form", "POST /form", {"list": LIST, "object": OBJECT, "any": ANY}, body="form"),
        operation("post_parts", "POST /parts", {"list": LIST, "object": OBJECT, "file": FILE, "files": {"type": "array", "items": FILE}, "any": ANY}, body="multipart"),
        operation("post_text", "POST /text", {"any": ANY}, body="text"),
        operation("post_binary", "POST /binary", {"data": TEXT}, body="binary"),
        operation("post_union", "POST /union", UNION),
    ],
    "update": [operation("change_thing", "PATCH /things/{id}", {**IDENTIFIED, "title": {"type": "string", "default": "none"}, "user_name": TEXT, "trace": {"in": "header", "type": "string", "as": "X-Trace"}})],
    "delete": [operation("drop_thing", "DELETE /things/{id}", IDENTIFIED, aliases=["remove_thing"], deprecated="Use change_thing.")],
    "execute": [operation("head_thing", "HEAD /things/{id}", IDENTIFIED)],
}

print(f"{HEAD}types: {json.dumps(TYPES)}\noperations: {json.dumps(OPERATIONS)}\n---")
