"""An MCP client over standard streams that adds nothing and hides nothing."""

import json
import queue
import subprocess
import threading

PATIENCE = 60


class Silent(Exception):
    """The server did not answer."""


ASKED = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
STATELESS = "2026-07-28"

# What a client that can be asked says, unless it is told to say something else.
REPLIES = {
    "elicitation/create": {"result": {"action": "accept", "content": {"colour": "red"}}},
    "sampling/createMessage": {"result": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "none", "stopReason": "endTurn"}},
    "ping": {"result": {}},
}


class Client:
    """One server, started and greeted."""

    def __init__(self, command, cwd, env, log, capabilities=None, revision="2025-11-25"):
        self.log = open(log, "w")  # noqa: SIM115
        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.last = 0
        self.lines = queue.Queue()
        self.notes = []
        self.strays = {}
        self.replies = dict(REPLIES)
        threading.Thread(target=self.listen, daemon=True).start()
        about = {"name": "battery", "version": "1"}
        self.meta = {}
        if revision == STATELESS:
            said = {"protocolVersion": revision, "clientInfo": about, "clientCapabilities": capabilities or {}}
            self.meta = {f"io.modelcontextprotocol/{key}": value for key, value in said.items()}
            self.info = self.ask("server/discover", {})
        else:
            self.info = self.ask("initialize", {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": about})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, method, params):
        """Sends a request and gives its number."""
        self.last += 1
        if self.meta:
            params = {**params, "_meta": {**params.get("_meta", {}), **self.meta}}
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def ask(self, method, params):
        """What a request is answered with."""
        return self.answer_to(self.begin(method, params))

    def answer_to(self, number):
        """The answer to one of the requests that were sent; what else comes meanwhile is kept."""
        while number not in self.strays:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise Silent(f"request {number} was not answered in {PATIENCE} s") from None
            if line is None:
                raise Silent(f"the server has closed its output, status {self.process.wait()}")
            message = json.loads(line)
            if "method" not in message:
                self.strays[message.get("id")] = message
                continue
            self.notes.append(message)
            if "id" in message:
                unknown = {"error": {"code": -32601, "message": "Method not found"}}
                self.send({"jsonrpc": "2.0", "id": message["id"], **self.replies.get(message["method"], unknown)})
        return self.strays.pop(number)

    def kill(self):
        """Ends the server without a word."""
        self.process.kill()
        self.process.wait()
        self.log.close()

    def close(self):
        """Hangs up and gives the exit status."""
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "does not end when its client hangs up"
        finally:
            self.log.close()
