"""Writes an OpenAPI description with more than a hundred operations and every kind of parameter."""

import json
import sys

THINGS = (
    "bin pallet order shipment carrier invoice supplier customer product batch return inspection dock truck driver route "
    "zone aisle label scanner"
).split()
STATES = ["open", "closed", "on-hold"]


def parameters(turn):
    """Returns four query, header or cookie parameters, depending on the turn."""
    spellings = [
        {"name": "sort", "schema": {"type": "string", "enum": ["created", "updated", "name"], "default": "created"}},
        {"name": "ids", "schema": {"type": "array", "items": {"type": "integer"}, "maxItems": 5}, "style": "form", "explode": False},
        {"name": "tags", "schema": {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True}},
        {"name": "codes", "schema": {"type": "array", "items": {"type": "string"}}, "style": "pipeDelimited", "explode": False},
        {"name": "words", "schema": {"type": "array", "items": {"type": "string"}}, "style": "spaceDelimited", "explode": False},
        {"name": "filter", "style": "deepObject", "explode": True, "schema": {
            "type": "object", "properties": {"state": {"enum": STATES}, "weight": {"type": "number", "minimum": 0}}}},
        {"name": "since", "schema": {"type": "string", "format": "date-time"}},
        {"name": "email", "schema": {"type": "string", "format": "email"}},
        {"name": "callback", "schema": {"type": "string", "format": "uri"}, "allowReserved": True},
        {"name": "exact", "schema": {"type": "boolean"}},
        {"name": "ratio", "schema": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "multipleOf": 0.25}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string", "pattern": "^[a-f0-9]{8}$"}},
        {"name": "X-Flags", "in": "header", "schema": {"type": "array", "items": {"type": "string"}}},
        {"name": "query", "content": {"application/json": {"schema": {"type": "object", "additionalProperties": {"type": "string"}}}}},
        {"name": "uuid", "schema": {"type": "string", "format": "uuid"}},
    ]
    chosen = [spellings[(turn * 3 + step) % len(spellings)] for step in range(4)]
    return [{"in": "query", "description": f"Narrows by {one['name']}", **one} for one in chosen]


def thing_schema(turn):
    """Returns the schema of a thing."""
    extras = [
        {"weight": {"type": "number", "minimum": 0, "maximum": 20000}},
        {"size": {"type": "object", "required": ["width"], "additionalProperties": False,
                  "properties": {"width": {"type": "integer", "minimum": 1}, "height": {"type": "integer", "minimum": 1}}}},
        {"labels": {"type": "array", "items": {"$ref": "#/components/schemas/Label"}, "maxItems": 4}},
        {"owner": {"oneOf": [{"type": "integer"}, {"type": "string", "minLength": 3}]}},
        {"notes": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 20}}},
        {"due": {"type": "string", "format": "date"}},
        {"parent": {"$ref": "#/components/schemas/Node"}},
    ]
    schema = {"name": {"type": "string", "minLength": 2, "maxLength": 40}, "state": {"type": "string", "enum": STATES},
              "comment": {"type": "string", "nullable": True}}
    for step in range(3):
        schema.update(extras[(turn + step * 2) % len(extras)])
    return {"type": "object", "required": ["name"], "properties": schema}


def bodies(turn, schema):
    """Returns a body in one of the four formats."""
    forms = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "application/merge-patch+json"]
    form = forms[turn % len(forms)]
    if form == "application/x-www-form-urlencoded":
        schema = {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "count": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}}
    if form == "multipart/form-data":
        schema = {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "file": {"type": "string", "format": "binary"}, "meta": {"type": "object", "properties": {"a": {"type": "integer"}}}}}
    return {"required": True, "content": {form: {"schema": schema}}}


def description(url):
    paths = {}
    answer = {"200": {"description": "What was asked for", "content": {"application/json": {"schema": {"type": "object"}}}}}
    for turn, thing in enumerate(THINGS):
        things, by_id = f"{thing}s", {"name": f"{thing}_id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}
        about = {"tags": [things], "responses": answer}
        paths[f"/{things}"] = {
            "get": {**about, "operationId": f"list{thing.title()}s", "summary": f"List {things}", "parameters": parameters(turn)},
            "post": {**about, "operationId": f"create{thing.title()}", "summary": f"Create a {thing}",
                     "description": f"Creates a {thing}. It stands in the list at once.", "requestBody": bodies(turn, thing_schema(turn))},
        }
        paths[f"/{things}/{{{thing}_id}}"] = {
            "parameters": [by_id],
            "get": {**about, "operationId": f"get{thing.title()}", "summary": f"Get a {thing}"},
            "patch": {**about, "operationId": f"update{thing.title()}", "summary": f"Update a {thing}",
                      "requestBody": {"content": {"application/json": {"schema": thing_schema(turn)}}}},
            "delete": {**about, "operationId": f"delete{thing.title()}", "summary": f"Delete a {thing}", "deprecated": turn == 3},
        }
        paths[f"/{things}/{{{thing}_id}}/moves/{{place}}"] = {
            "post": {**about, "operationId": f"move{thing.title()}", "summary": f"Move a {thing} to another place",
                     "parameters": [by_id, {"name": "place", "in": "path", "required": True, "schema": {"type": "string"},
                                            "style": ["simple", "label", "matrix"][turn % 3]},
                                    {"name": "lane", "in": "cookie", "schema": {"type": "string"}}]}}
    schemas = {
        "Label": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}, "colour": {"type": "string", "pattern": "^#[0-9a-f]{6}$"}}},
        "Node": {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}},
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Warehouse", "version": "2.1.0", "description": "Everything in a warehouse, and where it goes."},
        "servers": [{"url": url}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}}},
    }


if __name__ == "__main__":
    json.dump(description(sys.argv[1]), sys.stdout, indent=1)
