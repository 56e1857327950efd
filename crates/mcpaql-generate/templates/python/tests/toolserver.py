"""A real MCP server in a process of its own, with faults that can be switched on: the tests start it."""

import json
import os
import subprocess
import sys
import time
from typing import Any

FAULTS = sys.argv[1:]
cancelled: list[Any] = []
levels: list[str] = []
held: list[Any] = []
asking: dict[str, Any] = {}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(number: Any, result: Any) -> None:
    say({"jsonrpc": "2.0", "id": number, "result": result})


def refuse(number: Any, code: int, message: str) -> None:
    say({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})


def text(number: Any, words: str) -> None:
    answer(number, {"content": [{"type": "text", "text": words}]})


def notify(method: str, params: dict[str, Any]) -> None:
    say({"jsonrpc": "2.0", "method": method, "params": params})


def confide(number: Any, progress: Any, token: str) -> None:
    notify("notifications/message", {"level": "info", "logger": token, "data": {"inside": [f"Bearer {token}"]}})
    notify("notifications/progress", {"progressToken": progress, "progress": 1, "message": f"with {token}"})
    text(number, '"confided"')


def call(number: Any, params: dict[str, Any]) -> None:
    given = params.get("arguments", {})
    match params["name"]:
        case "echo":
            text(number, json.dumps(given))
        case "environment":
            child = subprocess.Popen(["sleep", "60"])  # noqa: S607
            text(number, json.dumps({"names": sorted(os.environ), "pids": [os.getpid(), child.pid]}))
        case "hold":
            notify("notifications/message", {"level": "info", "data": "held"})
        case "confide":
            confide(number, params["_meta"]["progressToken"], os.environ["TOKEN"])
        case "gather":
            held.append(number)
            if len(held) == given["count"]:
                for one in reversed(held):
                    text(one, str(held.index(one)))
        case "seen":
            text(number, json.dumps({"cancelled": cancelled, "levels": levels}))
        case "die":
            sys.stderr.write("starting\nout of cheese\nsee /var/log/cheese.log\n")
            sys.exit(7)
        case "flood":
            sys.stdout.write("x" * (3 << 20) + '\nnot json\n{"level":"info"}\n\n[1,2\n{"id":\n')
            sys.stdout.buffer.write(b"\xff\xfe\n")
            text(number, "still here")
        case "big":
            text(number, "y" * 3_000_000)
        case "broken":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{number},"result":{{]}}\n')
            sys.stdout.flush()
        case "progress":
            for done in range(1, 5):
                time.sleep(0.15)
                token = params["_meta"]["progressToken"]
                notify("notifications/progress", {"progressToken": token, "progress": done, "message": f"step {done}"})
            text(number, "done")
        case "log":
            for level in ("debug", "warning"):
                notify("notifications/message", {"level": level, "data": level})
            text(number, "logged")
        case "elicitation/create" | "sampling/createMessage" | "ping" as method:
            asking[f"q{number}"] = number
            say({"jsonrpc": "2.0", "id": f"q{number}", "method": method, "params": given})
        case "asks" if params.get("requestState") == "s":
            text(number, json.dumps(params["inputResponses"]))
        case "asks":
            requests = {"a": {"method": "elicitation/create", "params": given}, "b": {"method": "roots/list"}}
            answer(number, {"resultType": "input_required", "requestState": "s", "inputRequests": requests})
        case other:
            refuse(number, -32602, f"Unknown tool: {other}")


def hear(message: dict[str, Any]) -> None:
    number, params = message.get("id"), message.get("params", {})
    match message.get("method"):
        case "initialize" if "silent" in FAULTS:
            pass
        case "initialize" if "stateless" in FAULTS:
            refuse(number, -32601, "Method not found")
        case "initialize":
            capabilities: dict[str, Any] = {"tools": {}, "logging": {}}
            about = {"name": "fixture", "version": "1.2.3"}
            answer(number, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": about})
        case "server/discover":
            answer(number, {"capabilities": {}, "serverInfo": {"name": "modern", "version": "9"}})
        case "notifications/cancelled":
            cancelled.append(params["reason"])
            text(params["requestId"], "late")
        case "logging/setLevel":
            levels.append(params["level"])
            answer(number, {})
        case "tools/call":
            call(number, params)
        case None:
            text(asking.pop(message["id"]), json.dumps({key: message.get(key) for key in ("result", "error")}))


def main() -> None:
    if "dies" in FAULTS:
        sys.stderr.write(f"the database refuses {os.environ.get('TOKEN')}\n")
        sys.exit(3)
    for line in sys.stdin:
        hear(json.loads(line))


if __name__ == "__main__":
    main()
