"""An MCP server over stdio that offers the tools of a file and answers every call with {}.

  python3 server.py TOOLS.json
"""

import json
import sys


def answer(message, tools):
    method = message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "bench", "version": "1"}}
    if method == "tools/list":
        return {"tools": tools}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "{}"}]}
    return {}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tools = json.load(file)["tools"]
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message, tools)}
            print(json.dumps(reply), flush=True)


main()
