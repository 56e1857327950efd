"""An MCP server whose tools answer in every way there is, rightly and wrongly.

It speaks over standard streams; with a command as its arguments over HTTP, as long as that command runs and at the address TOOLS_URL. An
address that ends in `/stateless` knows no handshake: questions are put by the answer.
"""

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOKEN = "tools-secret-1234"
STATELESS = "2026-07-28"
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

MISBEHAVIOURS = ["garbage", "half", "twice", "wrong_id", "text_id", "batch", "null_id", "no_result", "error_text", "both", "bad_utf8", "deep_result", "number_result", "lone_surrogate",
                 "spaces", "too_large", "huge_line", "chatter", "unknown_request", "ping", "list_changed", "exit", "exit_with_words", "answer_and_exit", "hang"]
HTTP_MISBEHAVIOURS = ["forget", "status_404", "status_400", "status_401", "status_403", "status_429", "status_500", "status_error", "html", "empty_body", "no_content", "cut_stream", "resumed",
                      "comments", "redirect"]

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


class Refusal(Exception):
    """An error of JSON-RPC."""

    def __init__(self, code, message, data=None):
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}


class Conversation:
    """One client: what it was asked, what it said unasked."""

    def __init__(self, stateless=False):
        self.stateless = stateless
        self.heard = []
        self.waiting = {}
        self.hanging = {}
        self.asked = 0
        self.forgotten = False
        self.greeting = None

    def take(self, message, send, headers):
        """Answers one message; `send` sends another one, a value or bytes."""
        if "method" not in message:
            self.heard.append({"answer": {key: value for key, value in message.items() if key not in ("id", "jsonrpc")}})
            if question := self.waiting.pop(message.get("id"), None):
                question[1].append(message)
                question[0].set()
            return
        if "id" not in message:
            self.notified(message)
            return
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            result = self.result(message, send, headers)
            if result is not None:
                send({**answer, "result": result})
        except Refusal as refusal:
            send({**answer, "error": refusal.error})

    def notified(self, message):
        if message["method"] == "notifications/cancelled":
            params = message.get("params", {})
            hanging = self.hanging.pop(params.get("requestId"), None)
            self.heard.append({"cancelled": "a call that hangs" if hanging else "another call", "reason": params.get("reason")})
            if hanging:
                hanging.set()
        elif message["method"] != "notifications/initialized":
            self.heard.append(message)

    def result(self, message, send, headers):
        method, params = message["method"], message.get("params") or {}
        about = {"capabilities": {"tools": {}, "prompts": {}, "resources": {}, "logging": {}},
                 "serverInfo": {"name": "toolbox", "title": "Toolbox", "version": "1.2.3"}, "instructions": "Ask for a case."}
        if method == "initialize" and not self.stateless:
            self.greeting = {**params, "clientInfo": sorted(params.get("clientInfo", {}))}
            return {"protocolVersion": "2025-11-25", **about}
        if method == "server/discover" and self.stateless:
            return {"supportedVersions": [STATELESS], "resultType": "complete", **about}
        if method == "logging/setLevel" and not self.stateless:
            self.heard.append(message["params"])
            return {}
        if method == "tools/list":
            # Two pages.
            half = len(TOOLS) // 2
            return {"tools": TOOLS[half:]} if params.get("cursor") == "second" else {"tools": TOOLS[:half], "nextCursor": "second"}
        if method == "tools/call":
            return self.call(message, params, send, headers)
        if method == "prompts/list":
            return {"prompts": PROMPTS}
        if method == "prompts/get":
            if params.get("name") != "greet":
                raise Refusal(-32602, f"Unknown prompt: {params.get('name')}", {"name": params.get("name")})
            said = json.dumps(params.get("arguments"), sort_keys=True)
            return {"description": "A greeting", "messages": [{"role": "user", "content": {"type": "text", "text": f"Greet {said}"}}]}
        if method == "resources/list":
            return {"resources": RESOURCES}
        if method == "resources/templates/list":
            return {"resourceTemplates": TEMPLATES}
        if method == "resources/read":
            if params.get("uri") == "file:///missing":
                raise Refusal(-32002, "Resource not found", {"uri": params.get("uri")})
            return {"contents": [{"uri": params.get("uri"), "mimeType": "text/plain", "text": "read"}]}
        if method == "ping":
            return {}
        raise Refusal(-32601, f"Method not found: {method}")

    def call(self, message, params, send, headers):
        name, given = params.get("name"), params.get("arguments") or {}
        case = given.get("case")
        if name == "tell":
            return RESULTS[case]
        if name == "fail":
            return FAILURES[case]
        if name == "refuse":
            raise Refusal(*REFUSALS[case], given.get("data"))
        if name == "ask_user":
            return self.question(QUESTIONS[case], params, send)
        if name == "write_log":
            for level in LEVELS:
                send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "logger": "box", "data": {"said": level}}})
            return text("logged")
        if name == "work":
            return work(given, params, send)
        if name == "recall":
            heard, self.heard = self.heard, []
            return {"content": [], "structuredContent": {"heard": heard}}
        if name == "look_around":
            env = {key: value for key, value in sorted(os.environ.items()) if key.startswith("TOOLS_")} if headers is None else None
            told = {"env": env, "place": str(Path.cwd())} if headers is None else {"headers": headers}
            meta = {key: value for key, value in params.get("_meta", {}).items() if key not in ("progressToken", "io.modelcontextprotocol/clientInfo")}
            return {"content": [], "structuredContent": {**told, "meta": meta, "given": given, "greeting": self.greeting}}
        if name == "misbehave":
            return self.misbehave(case, message, send)
        return {"content": [{"type": "text", "text": json.dumps({"tool": name, "given": given})}]}

    def question(self, question, params, send):
        """Asks the client and tells what it said."""
        method, asked = question
        if self.stateless:
            if "inputResponses" in params:
                return {"resultType": "complete", "content": [], "structuredContent": {"said": params["inputResponses"], "state": params.get("requestState")}}
            return {"resultType": "input_required", "inputRequests": {"q1": {"method": method, "params": asked}}, "requestState": "state-1"}
        self.asked += 1
        number, done, said = f"question {self.asked}", threading.Event(), []
        self.waiting[number] = (done, said)
        send({"jsonrpc": "2.0", "id": number, "method": method, "params": asked})
        done.wait(20)
        answer = {key: value for key, value in said[0].items() if key not in ("id", "jsonrpc")} if said else "nothing"
        return {"content": [], "structuredContent": {"said": answer}}

    def misbehave(self, case, message, send):
        """Breaks the protocol; gives a result where one is still to be sent."""
        number = message["id"]
        answer = {"jsonrpc": "2.0", "id": number}
        fine = text("after all")
        if case == "garbage":
            send(b"this is no message\n\n{\"half\": \n[]\n[1, 2]\n42\nnull\n")
        elif case == "half":
            send(f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"content": [\n'.encode())
            return None
        elif case == "twice":
            send({**answer, "result": text("first")})
            send({**answer, "result": text("second")})
            return None
        elif case == "wrong_id":
            send({**answer, "id": 999_999, "result": text("for somebody else")})
            send({**answer, "id": -1, "result": text("for somebody else")})
        elif case == "text_id":
            send({**answer, "id": str(number), "result": text("by text")})
            return None
        elif case == "batch":
            send([{**answer, "id": 999_999, "result": {}}, {**answer, "result": text("in a batch")}])
            return None
        elif case == "null_id":
            send({**answer, "id": None, "result": text("for nobody")})
        elif case == "no_result":
            send({**answer, "result": None})
            return None
        elif case == "error_text":
            send({**answer, "error": "just words"})
            return None
        elif case == "both":
            send({**answer, "result": text("good"), "error": {"code": -32000, "message": "and bad"}})
            return None
        elif case == "bad_utf8":
            send(f'{{"jsonrpc":"2.0","id":{number},"result":{{"content":[{{"type":"text","text":"a'.encode() + b"\xff\xfe" + b'b"}]}}\n')
            return None
        elif case == "deep_result":
            send(f'{{"jsonrpc":"2.0","id":{number},"result":{{"content":[{{"type":"text","text":"deep"}}],"x":{"[" * 400}{"]" * 400}}}}}\n'.encode())
            return None
        elif case == "number_result":
            send({**answer, "result": 5})
            return None
        elif case == "lone_surrogate":
            send(f'{{"jsonrpc":"2.0","id":{number},"result":{{"content":[{{"type":"text","text":"\\ud800"}}]}}}}\n'.encode())
            return None
        elif case == "spaces":
            send(f'  \t{{ "id" : {number} ,\t"result":{{"content" : [ ] }} , "jsonrpc":"2.0" }}  \r\n'.encode())
            return None
        elif case == "too_large":
            return text("x" * 400_000)
        elif case == "huge_line":
            send(b"z" * 3_000_000 + b"\n")
        elif case == "chatter":
            for turn in range(300):
                send({"jsonrpc": "2.0", "method": "notifications/odd", "params": {"turn": turn}})
        elif case == "unknown_request":
            send({"jsonrpc": "2.0", "id": "r1", "method": "roots/list", "params": {}})
        elif case == "ping":
            send({"jsonrpc": "2.0", "id": "p1", "method": "ping"})
        elif case == "list_changed":
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        elif case == "exit":
            os._exit(3)
        elif case == "exit_with_words":
            sys.stderr.write("first line\nthe disk is full\n/etc/secret/path is not shown\n")
            sys.stderr.flush()
            os._exit(4)
        elif case == "answer_and_exit":
            send({**answer, "result": text("last words")})
            os._exit(0)
        elif case == "hang":
            done = self.hanging[number] = threading.Event()
            done.wait(30)
            return None
        elif case == "forget":
            self.forgotten = True
        return fine


def work(given, params, send):
    """Some steps, each told, with time between them."""
    steps, token = given.get("steps", 3), params.get("_meta", {}).get("progressToken")
    for step in range(1, steps + 1):
        progress = {"progressToken": token, "progress": step, **({"total": steps + 1} if given.get("total", True) else {}), "message": f"step {step}"}
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
        time.sleep(0.15)
    return text("done")


def as_line(message):
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def over_streams():
    """Every request in a thread of its own, so that one that hangs holds up nobody."""
    if place := os.environ.get("TOOLS_PLACE"):
        Path(place, f"{os.getpid()}.pid").touch()
    conversation, lock = Conversation(), threading.Lock()

    def send(message):
        with lock:
            sys.stdout.buffer.write(as_line(message))
            sys.stdout.buffer.flush()

    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "method" in message and "id" in message:
            threading.Thread(target=conversation.take, args=(message, send, None), daemon=True).start()
        else:
            conversation.take(message, send, None)


class Toolserver:
    """The same over HTTP, in a thread of the caller."""

    def __init__(self):
        self.conversations = {"": Conversation(stateless=True)}
        self.ended = 0
        self.kept = {}
        toolserver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body in one packet; two would wait for each other.
            wbufsize = -1

            def do_POST(self):  # noqa: N802
                toolserver.posted(self)

            def do_GET(self):  # noqa: N802
                toolserver.resumed(self)

            def do_DELETE(self):  # noqa: N802
                toolserver.ended += toolserver.conversations.pop(self.headers.get("mcp-session-id"), None) is not None
                respond(self, 200, b"")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/mcp"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forget_everybody(self):
        """As after a restart."""
        self.conversations = {"": Conversation(stateless=True)}

    def posted(self, request):
        body = request.rfile.read(int(request.headers.get("content-length") or 0))
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return respond(request, 401, {"error": "invalid_token", "sent": request.headers.get("authorization")})
        if not body:
            # Who sent it has gone before it was complete.
            request.close_connection = True
            return None
        message = json.loads(body)
        stateless, session = request.path.endswith("/stateless"), request.headers.get("mcp-session-id")
        more = {}
        if stateless:
            conversation = self.conversations[""]
        elif message.get("method") == "initialize":
            conversation, session = Conversation(), uuid.uuid4().hex
            self.conversations[session] = conversation
            more = {"Mcp-Session-Id": session}
        else:
            conversation = self.conversations.get(session)
        if conversation is None or conversation.forgotten:
            self.conversations.pop(session, None)
            return respond(request, 404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}})
        theirs = ("accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "authorization", "x-team")
        headers = {name: request.headers.get(name) for name in theirs}
        if "id" not in message or "method" not in message:
            conversation.take(message, lambda _: None, headers)
            return respond(request, 202, b"")
        case = (message.get("params") or {}).get("arguments", {}).get("case") if message["method"] == "tools/call" else None
        if case in HTTP_MISBEHAVIOURS and case != "forget":
            return self.misbehave(case, request, message)
        if message["method"] == "tools/call" and message["params"]["name"] in ("ask_user", "write_log", "work", "misbehave"):
            return stream(request, lambda send: conversation.take(message, send, headers), more)
        answers = []
        conversation.take(message, answers.append, headers)
        return respond(request, 200, answers[0], more)

    def misbehave(self, case, request, message):
        """Breaks what HTTP promises."""
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        kind, _, status = case.partition("_")
        if kind == "status" and status == "error":
            return respond(request, 400, {**answer, "error": {"code": -32602, "message": "Header mismatch", "data": {"a": 1}}})
        if kind == "status":
            return respond(request, int(status), {"message": f"This is a {status}", "key": TOKEN}, {"Retry-After": "1"} if status == "429" else {})
        if case == "html":
            return respond(request, 200, b"<html>hello</html>", {"Content-Type": "text/html"})
        if case == "empty_body":
            return respond(request, 200, b"", {"Content-Type": "application/json"})
        if case == "no_content":
            return respond(request, 202, b"")
        if case == "redirect":
            return respond(request, 307, b"", {"Location": "/elsewhere"})
        if case == "comments":
            data = json.dumps({**answer, "result": text("between comments")}, indent=1).replace("\n", "\ndata: ")
            return raw_stream(request, f": hello\n\nevent: message\nid: 1\nretry: 10\ndata: {data}\n\n".encode())
        if case == "resumed":
            name = uuid.uuid4().hex
            self.kept[name] = {**answer, "result": text("later")}
            return raw_stream(request, f"id: {name}\nretry: 20\ndata: \n\n".encode())
        return raw_stream(request, b'data: {"jsonrpc":"2.0","method":"notifications/odd"}\n\n')

    def resumed(self, request):
        """Only a stream that broke off can be taken up again; there is none besides."""
        kept = self.kept.pop(request.headers.get("last-event-id"), None)
        if kept is None:
            return respond(request, 405, b"")
        return stream(request, lambda send: send(kept), {})


def respond(request, status, body, headers=()):
    """A whole answer; a value is sent as JSON."""
    headers = dict(headers)
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    request.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)


def start_stream(request, headers):
    request.send_response(200)
    for name, value in {"Content-Type": "text/event-stream", "Connection": "close", **headers}.items():
        request.send_header(name, value)
    request.end_headers()
    request.close_connection = True


def raw_stream(request, events):
    start_stream(request, {})
    request.wfile.write(events)


def stream(request, take, headers):
    """An answer as events, one for each message."""
    start_stream(request, headers)

    def send(message):
        lines = as_line(message).rstrip(b"\n").split(b"\n")
        try:
            request.wfile.write(b"".join(b"data: " + line + b"\n" for line in lines) + b"\n")
            request.wfile.flush()
        except OSError:
            pass

    take(send)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(subprocess.run(sys.argv[1:], env={**os.environ, "TOOLS_URL": Toolserver().url, "TOOLS_TOKEN": TOKEN}, check=False).returncode)
    over_streams()
