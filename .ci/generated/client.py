"""A minimal MCP client over standard streams that returns raw messages."""

import json
import queue
import subprocess
import threading

TIMEOUT = 60


class NoAnswer(Exception):
    """The server did not answer."""


class Client:
    """A started server, after the handshake."""

    def __init__(self, command, cwd, env, log):
        self.log = open(log, "w")  # noqa: SIM115
        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.last = 0
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        about = {"name": "compare", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, method, params):
        """Sends a request and returns its id."""
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def ask_raw(self, method, params):
        """Returns the answer to a request, as text and parsed."""
        number = self.begin(method, params)
        while True:
            try:
                line = self.lines.get(timeout=TIMEOUT)
            except queue.Empty:
                raise NoAnswer(f"no answer to {method} within {TIMEOUT} s") from None
            if line is None:
                raise NoAnswer(f"the server closed its output, exit status {self.process.wait()}")
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return line.decode(), message

    def ask(self, method, params):
        """Returns the answer to a request."""
        return self.ask_raw(method, params)[1]

    def call(self, tool, arguments):
        """Returns the envelope of a call with its content blocks, and its `isError`; for a JSON-RPC error, its code and None."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in answer:
            return {"rpc_error": answer["error"]["code"]}, None
        text, *blocks = answer["result"]["content"]
        return {**json.loads(text["text"]), "blocks": blocks}, answer["result"].get("isError", False)

    def close(self):
        """Closes standard input and returns the exit status."""
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "no exit after standard input was closed"
        finally:
            self.log.close()
