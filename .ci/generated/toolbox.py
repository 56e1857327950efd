"""What the tools of toolserver.py are, and everything that they answer."""

import json

TOKEN = "tools-secret-1234"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def text(*words):
    return {"content": [{"type": "text", "text": word} for word in words]}


def failed(*words, **more):
    return {**text(*words), "isError": True, **more}


def link(kind="text/plain"):
    return {"type": "resource_link", "uri": "file:///notes/a", "name": "a", "mimeType": kind}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png", "annotations": {"audience": ["user"], "priority": 0.5}}
AUDIO = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
RESOURCE = {"type": "resource", "resource": {"uri": "file:///notes/b", "mimeType": "text/plain", "text": "inside"}}
BLOB = {"type": "resource", "resource": {"uri": "file:///notes/c", "blob": "aGk="}}
STRUCTURED = {"b": 1, "a": {"x": [1.0, None, "ü"]}}
SUCCESS = {"success": True, "data": {"a": 1}, "warnings": [{"code": "W", "message": "old"}, "bare", 3]}
FAILURE = {"success": False, "error": {"code": "CONFLICT_VERSION_MISMATCH", "message": "Read it again.", "details": {"etag": "abc"}}}

# What a tool may answer, by what it is asked for.
RESULTS = {
    "words": text("hello"),
    "indented": text(" indented\n"),
    "nothing": {"content": []},
    "empty_text": text(""),
    "several": text("[1]", "plain", '{"a":1}'),
    "object_text": text('{\n  "z": 1.10, "a": [1, 2], "big": 12345678901234567890.5\n}\n'),
    "quoted": text('"quoted"'),
    "yes": text("true"),
    "null_text": text("null"),
    "number": text("42"),
    "fraction": text("-1.50"),
    "exponent": text("4e12345"),
    "long_number": text("12345678901234567890"),
    "zeros": text("007"),
    "broken_json": text("{broken"),
    "log_line": text("[INFO] started"),
    "marked": text('\ufeff{"a": 1}'),
    "surrogate": text("a\ud83d\ude00b"),
    "line_ends": text("a\u2028b\u0085c\r\nd\x00e\x7f"),
    "structured": {**text(json.dumps(STRUCTURED)), "structuredContent": STRUCTURED},
    "structured_alone": {"structuredContent": STRUCTURED},
    "structured_pretty": {**text(json.dumps(dict(reversed(STRUCTURED.items())), indent=2)), "structuredContent": STRUCTURED},
    "structured_words": {**text("Found one."), "structuredContent": STRUCTURED},
    "structured_null": {**text("beside"), "structuredContent": None},
    "structured_list": {**text("1", "2"), "structuredContent": [1, 2]},
    "wrapped": {**text("one", "two"), "structuredContent": {"result": ["one", "two"]}},
    "wrapped_marked": {**text("one", "two"), "structuredContent": {"result": ["one", "two"]}, "_meta": {"fastmcp": {"wrap_result": True}}},
    "wrapped_text": {**text("words"), "structuredContent": {"result": "words"}, "_meta": {"fastmcp": {"wrap_result": True}}},
    "image": {"content": [IMAGE]},
    "image_and_text": {"content": [{"type": "text", "text": "[1]"}, IMAGE]},
    "blocks": {"content": [IMAGE, AUDIO, link(), RESOURCE, BLOB, {"type": "hologram", "x-odd": {"a": 1}}]},
    "text_and_link": {"content": [link(), {"type": "text", "text": "see there"}]},
    "odd_blocks": {"content": [{"type": "text"}, {"type": "text", "text": 5}, {}]},
    "content_text": {"content": "text"},
    "old_result": {"toolResult": {"a": 1}},
    "bare_object": {},
    "envelope": text(json.dumps(SUCCESS)),
    "envelope_structured": {"content": [], "structuredContent": SUCCESS},
    "envelope_failure": text(json.dumps(FAILURE)),
    "envelope_odd_code": text(json.dumps({"success": False, "error": {"code": "ODD", "message": "It is odd."}})),
    "envelope_path": text(json.dumps({"success": False, "error": {"code": "INTERNAL_ERROR", "message": "open /etc/passwd failed"}})),
    "envelope_more": text(json.dumps({"success": True, "data": 1, "total": 2})),
    "envelope_text_error": text(json.dumps({"success": False, "error": "text"})),
    "envelope_no_data": text(json.dumps({"success": True})),
    "envelope_yes": text(json.dumps({"success": "yes", "data": 1})),
    "duplicate_keys": text('{"a": 1, "a": 2, "success": true}'),
    "deep_text": text("[" * 300 + "]" * 300),
    "large": text(json.dumps([{"id": number, "name": "x" * 80} for number in range(3000)])),
    "secret": text(f"the token is {TOKEN} here"),
    "with_meta": {**text("hello"), "_meta": {"trace": "t1"}},
    "many_lines": text("\n".join(f"line {number}" for number in range(500))),
}

FAILURES = {
    "plain": failed("boom"),
    "silent": failed(),
    "empty": failed(""),
    "two_texts": failed("Nothing", "matches"),
    "invalid": failed("MCP error -32602: Invalid arguments: expected number, received undefined at a.b[0]; too long at c"),
    "not_found": failed("Error: Issue 7 not found"),
    "rate": failed("API rate limit exceeded for user"),
    "denied": failed("Access denied - outside allowed directories"),
    "exists": failed("Entity already exists"),
    "slow": failed("Navigation timed out"),
    "unknown_tool": failed("Unknown tool: nope"),
    "path": failed("ENOENT: open '/var/lib/x'"),
    "trace": failed("crash\n    at Object.run (x.js:1)"),
    "json": failed('{"message": "no", "status": 404, "k": [1]}'),
    "json_list": failed("[1]"),
    "long": failed("x" * 100_000),
    "unicode": failed("Größe ungültig – „ü“ 😀 " * 200),
    "structured": failed(structuredContent={"message": "gone", "code": 7}),
    "envelope": failed(json.dumps(FAILURE)),
    "image": {"content": [IMAGE], "isError": True},
    "secret": failed(f"token {TOKEN} is invalid"),
    "not_a_flag": {**text("fine"), "isError": "true"},
    "no_flag": {**text("fine"), "isError": None},
}

REFUSALS = {
    "parse": (-32700, "Parse error"),
    "request": (-32600, "Invalid request"),
    "method": (-32601, "Method not found"),
    "params": (-32602, "a must be a number"),
    "tool": (-32602, "Unknown tool: x"),
    "tool_not_found": (-32602, "Tool x not found"),
    "internal": (-32603, "broken"),
    "resource": (-32002, "Resource not found"),
    "address": (-32042, "Open the address"),
    "server": (-32000, "Server error"),
    "own": (1234, "MCP error 1234: own words"),
    "zero": (0, "zero"),
    "path": (-32603, "cannot open /var/lib/x"),
    "empty": (-32603, ""),
    "secret": (-32603, f"bad token {TOKEN}"),
    "long": (-32602, "y" * 20_000),
}

MISBEHAVIOURS = ["garbage", "half", "twice", "wrong_id", "text_id", "batch", "null_id", "no_result", "error_text", "both", "bad_utf8", "deep_result",
                 "number_result", "lone_surrogate", "spaces", "too_large", "huge_line", "chatter", "unknown_request", "ping", "list_changed", "exit",
                 "exit_with_words", "answer_and_exit", "hang"]
HTTP_MISBEHAVIOURS = ["forget", "status_404", "status_400", "status_401", "status_403", "status_429", "status_500", "status_error", "html",
                      "empty_body", "no_content", "cut_stream", "resumed", "comments", "redirect"]

QUESTIONS = {
    "form": ("elicitation/create", {"message": "Which colour?", "requestedSchema": {
        "type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}, "required": ["colour"]}}),
    "url": ("elicitation/create", {"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "e1"}),
    "sampling": ("sampling/createMessage", {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}], "maxTokens": 10}),
    "odd": ("elicitation/create", {"message": "x", "x-odd": [1]}),
}


def choice(description, options, **more):
    """The schema of a tool that is asked for one of some cases."""
    case = {"type": "string", "enum": list(options), "description": "Which of its answers"}
    return {"description": description, "inputSchema": {"type": "object", "properties": {"case": case, **more}, "required": ["case"]}}


READS = {"readOnlyHint": True, "openWorldHint": False}
NODE = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}, "maxItems": 3}}}
TOOLS = [
    {"name": "tell", "title": "Tell", **choice("Tells something in one of many forms.", RESULTS), "annotations": READS},
    {"name": "fail", **choice("Fails with words of its own.", FAILURES), "annotations": READS},
    {"name": "refuse", **choice("Refuses with an error of the protocol.", REFUSALS, data={"description": "What is added"}), "annotations": READS},
    {"name": "misbehave", **choice("Breaks the protocol.", MISBEHAVIOURS + HTTP_MISBEHAVIOURS), "annotations": {"destructiveHint": False}},
    {"name": "ask_user", **choice("Asks its caller something, and tells the answer.", QUESTIONS), "annotations": {"openWorldHint": True}},
    {"name": "write_log", "description": "Logs once in every level.", "inputSchema": {"type": "object", "properties": {}}, "annotations": READS},
    {"name": "work", "description": "Works in steps and tells how far it is.", "annotations": READS, "inputSchema": {"type": "object", "properties": {
        "steps": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}, "total": {"type": "boolean"}}}},
    {"name": "look_around", "description": "Tells what the server was started or called with.", "inputSchema": {"type": "object"}, "annotations": READS},
    {"name": "recall", "description": "Tells what else it has heard since it was last asked.", "inputSchema": {"type": "object", "properties": {}}, "annotations": READS},
    {"name": "create-item", "description": "Creates an item. Gives back everything it was given.", "annotations": {"destructiveHint": False}, "inputSchema": {
        "type": "object", "$defs": {"Node": NODE}, "required": ["item-name", "kind"], "properties": {
            "item-name": {"type": "string", "minLength": 2, "maxLength": 20, "description": "Its name"},
            "kind": {"type": "string", "enum": ["big", "small"]},
            "apiKey": {"type": "string", "format": "password", "description": "Secret of the shop"},
            "count": {"type": "integer", "minimum": 0, "maximum": 12345678901234567890, "default": 1},
            "ratio": {"type": "number", "exclusiveMinimum": 0},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            "node": {"$ref": "#/$defs/Node"}, "more": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "owner": {"anyOf": [{"type": "integer"}, {"type": "string", "format": "email"}]}}}},
    {"name": "manage_label", "description": "Lists, adds or deletes labels.", "annotations": {"destructiveHint": True}, "inputSchema": {
        "type": "object", "required": ["action"], "properties": {
            "action": {"type": "string", "enum": ["list", "add", "delete"], "description": "What to do"},
            "label": {"type": "string", "description": "Name of the label"}, "colour": {"type": "string", "pattern": "^#[0-9a-f]{6}$"}}}},
    {"name": "delete_item", "description": "Deletes an item.", "annotations": {"destructiveHint": True, "idempotentHint": True}, "inputSchema": {
        "type": "object", "required": ["id"], "properties": {"id": {"type": ["integer", "string"]}}, "additionalProperties": False}},
]
PROMPTS = [{"name": "greet", "title": "Greet", "description": "Greets somebody", "arguments": [{"name": "who", "required": True}]}, {"name": "silent"}]
RESOURCES = [{"uri": "file:///notes/a b?x=1#y", "name": "a", "mimeType": "text/plain", "size": 4}, {"uri": "demo:x", "name": "x", "description": "Odd"}]
TEMPLATES = [{"uriTemplate": "file:///notes/{name}", "name": "note"}]
