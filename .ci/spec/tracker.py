"""A small ticket API in memory. A title that starts with a number answers with that status."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Tracker:
    """Serves the API on a free port of this machine."""

    def __init__(self):
        self.tickets = {}
        tracker = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return lambda: tracker.answer(self)
                raise AttributeError(name)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        length = int(request.headers.get("content-length") or 0)
        body = json.loads(request.rfile.read(length) or b"{}")
        address = urlsplit(request.path)
        _, kind, *rest = address.path.split("/")
        status, told = self.act(request.command, kind, rest, body, parse_qs(address.query))
        text = json.dumps(told).encode() if told is not None else b""
        request.send_response(status)
        headers = {"Content-Length": str(len(text)), "Content-Type": "application/json"}
        if status == 429:
            headers |= {"Retry-After": "3", "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0"}
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(text)

    def act(self, method, kind, rest, body, query):
        if kind == "reports":
            return 200, {"lines": 0}
        number = str(body.get("title", "")).split(" ")[0]
        if number.isdigit():
            return int(number), {"message": f"This is what there is about {number}."}
        if not rest and method == "POST":
            identifier = f"ticket_{len(self.tickets) + 1}"
            self.tickets[identifier] = {"id": identifier, **body}
            return 201, self.tickets[identifier]
        if not rest:
            return 200, {"items": list(self.tickets.values()), "asked": {name: values[0] for name, values in query.items()}}
        ticket = self.tickets.get(rest[0])
        if ticket is None:
            return 404, {"message": "There is no such ticket"}
        if method == "DELETE":
            del self.tickets[rest[0]]
            return 204, None
        if method == "PATCH":
            ticket.update(body)
        return 200, ticket
