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

from toolbox import FAILURES, HTTP_MISBEHAVIOURS, LEVELS, PROMPTS, QUESTIONS, REFUSALS, RESOURCES, RESULTS, TEMPLATES, TOKEN, TOOLS, text

STATELESS = "2026-07-28"


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
                send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "logger": "box", "data": {"said": level, "token": TOKEN}}})
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
        progress = {"progressToken": token, "progress": step, **({"total": steps + 1} if given.get("total", True) else {}), "message": f"step {step} with {TOKEN}"}
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
