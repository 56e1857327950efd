"""An MCP client over standard streams that adds nothing and hides nothing."""

import json
import queue
import subprocess
import threading

PATIENCE = 60


class Silent(Exception):
    """The server did not answer."""


class Client:
    """One server, started and greeted."""

    def __init__(self, command, cwd, env, log):
        self.log = open(log, "w")  # noqa: SIM115
        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.last = 0
        self.lines = queue.Queue()
        self.notes = []
        self.strays = []
        threading.Thread(target=self.listen, daemon=True).start()
        about = {"name": "battery", "version": "1"}
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}
        self.info = self.ask("initialize", greeting)
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
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def ask(self, method, params):
        """What a request is answered with."""
        return self.answer_to(self.begin(method, params))

    def answer_to(self, number):
        while True:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise Silent(f"request {number} was not answered in {PATIENCE} s") from None
            if line is None:
                raise Silent(f"the server has closed its output, status {self.process.wait()}")
            message = json.loads(line)
            if "method" in message:
                self.notes.append(message)
            elif message.get("id") == number:
                return message
            else:
                self.strays.append(message)

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
