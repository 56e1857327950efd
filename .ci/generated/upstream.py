"""An HTTP API that echoes requests, or misbehaves on demand."""

import base64
import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Headers that depend on the HTTP library.
THEIRS = {"user-agent", "accept-encoding", "connection", "host", "content-length", "transfer-encoding", "keep-alive"}
BOUNDARY = re.compile(r'boundary="?([^";]+)"?')


class Upstream:
    """Answers every request according to `behaviour`; the default is `echo`."""

    def __init__(self):
        self.behaviour = "echo"
        self.seen = 0
        self.arrived = threading.Event()
        self.left = threading.Event()
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Send head and body in one packet, to avoid the delay of Nagle's algorithm.
            wbufsize = -1

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return lambda: upstream.answer(self)
                raise AttributeError(name)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # Ignore clients that close the connection.
        self.server.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def expect(self, behaviour):
        """Sets the behaviour for the following requests."""
        self.behaviour = behaviour
        self.arrived.clear()
        self.left.clear()

    def answer(self, request):
        body = read_body(request)
        self.seen += 1
        if b"grant_type=" in body:
            return reply(request, 200, {"access_token": "token-of-the-battery", "token_type": "bearer", "expires_in": 3600})
        kind, _, detail = self.behaviour.partition(":")
        if kind == "hang":
            self.arrived.set()
            wait_for_end(request.connection)
            self.left.set()
            request.close_connection = True
            return None
        if kind == "status":
            told = {"message": f"This is a {detail}", "errors": [{"field": "title", "code": "invalid"}], "documentation_url": "https://example.com"}
            return reply(request, int(detail), told, {"Retry-After": "1"} if detail == "429" else {})
        if kind == "text":
            return reply(request, 200, detail.encode(), {"Content-Type": "text/plain; charset=utf-8"})
        if kind == "latin":
            return reply(request, 200, "grün".encode("latin-1"), {"Content-Type": "text/plain; charset=iso-8859-1"})
        if kind == "binary":
            return reply(request, 200, bytes(range(256)), {"Content-Type": "application/octet-stream"})
        if kind == "image":
            return reply(request, 200, b"\x89PNG\r\n\x1a\n" + bytes(32), {"Content-Type": "image/png"})
        if kind in ("audio", "pdf", "untyped"):
            media_type = {"audio": {"Content-Type": "Audio/MPEG; x=1"}, "pdf": {"Content-Type": "application/pdf"}}.get(kind, {})
            return reply(request, 200, b"\xff\xfbID3", media_type)
        if kind == "page":
            page = b"\n<!-- cached -->\n<!DOCTYPE html>\n<html><head><title>Down</title></head><body>Back soon</body></html>"
            return reply(request, 200, page, {"Content-Type": detail} if detail else {})
        if kind == "limited":
            wait = {} if detail == "no wait" else {"Retry-After": "5000"}
            reset = {"ms": "1893456000123", "no wait": "1000000000"}.get(detail, "1893456000")
            limits = {"X-RateLimit-Limit": "60, 60;w=60", "RateLimit-Remaining": "0", "X-Rate-Limit-Reset": reset, **wait}
            return reply(request, 429, {"message": "slow down"}, limits)
        if kind == "json":
            return reply(request, 200, detail.encode(), {"Content-Type": "application/json"})
        if kind == "broken":
            return reply(request, 200, b'{"half": [1, 2', {"Content-Type": "application/json"})
        if kind == "wrongtype":
            return reply(request, 200, b'{"a": 1}', {"Content-Type": "text/html"})
        if kind == "numbers":
            raw = b'{"big": 12345678901234567890123, "float": 1.10, "exp": 1e300, "neg": -0.0, "list": [1.0, 2e3]}'
            return reply(request, 200, raw, {"Content-Type": "application/json"})
        if kind == "deep":
            return reply(request, 200, b"[" * 300 + b"]" * 300, {"Content-Type": "application/json"})
        if kind == "empty":
            return reply(request, 204, b"")
        if kind == "short":
            request.close_connection = True
            return reply(request, 200, b'{"a": 1}', {"Content-Type": "application/json", "Content-Length": "4000"})
        if kind == "reset":
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            request.close_connection = True
            request.connection.close()
            return None
        if kind == "redirect":
            return reply(request, int(detail), b"", {"Location": "/elsewhere"}) if request.path != "/elsewhere" else echo(request, body)
        if kind == "away":
            return reply(request, 302, b"", {"Location": "https://elsewhere.example/"})
        if kind == "large":
            return reply(request, 200, json.dumps(["x" * 1000] * 11_000).encode(), {"Content-Type": "application/json"})
        return echo(request, body)


def read_body(request):
    """Reads the body, chunked or with a length."""
    if "chunked" in request.headers.get("transfer-encoding", ""):
        pieces = []
        while size := int(request.rfile.readline().split(b";")[0], 16):
            pieces.append(request.rfile.read(size))
            request.rfile.readline()
        request.rfile.readline()
        return b"".join(pieces)
    return request.rfile.read(int(request.headers.get("content-length") or 0))


def echo(request, body):
    """Answers with the request, without the headers that depend on the HTTP library."""
    headers = {name.lower(): value for name, value in request.headers.items() if name.lower() not in THEIRS}
    if boundary := BOUNDARY.search(headers.get("content-type", "")):
        body = body.replace(boundary[1].encode(), b"BOUNDARY")
        headers["content-type"] = BOUNDARY.sub("boundary=BOUNDARY", headers["content-type"])
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = base64.b64encode(body).decode()
    # Compare JSON bodies as values, not as text.
    if "json" in headers.get("content-type", ""):
        try:
            text = json.loads(text)
        except ValueError:
            pass
    asked = {"method": request.command, "target": request.path, "headers": dict(sorted(headers.items())), "body": text}
    reply(request, 200, asked)


def reply(request, status, body, headers=()):
    """Sends an answer; a value that is not bytes is sent as JSON."""
    headers = dict(headers)
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    headers.setdefault("Content-Length", str(len(body)))
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()
    try:
        if request.command != "HEAD":
            request.wfile.write(body)
    except OSError:
        request.close_connection = True


def wait_for_end(connection):
    """Returns when the client has closed the connection."""
    connection.settimeout(20)
    try:
        while connection.recv(4096):
            pass
    except OSError:
        pass
