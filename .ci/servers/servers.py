"""Tests imports and the gateway with real MCP servers.

Each server is imported and its document is checked. Then all of them are served by one gateway. Every read-only call is made directly and
through the gateway, and must return the same content. With plain results, the whole result must be the same.
"""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MCPAQL, NODE, VENV, OLDER = sys.argv[1:5]
HERE = Path(__file__).parent
SMALLEST = 8
# Read-only tools that are not compared, with the reason.
EXCEPT = {("everything", "get-env"): "the gateway does not pass on its own environment variables"}
# Bytes that an answer may add: the names of blocks that stand beside the data.
ENVELOPE = 64
# Timestamps of log lines, which differ in every run.
STAMPS = re.compile(r"[EIW]\d{4} [0-9:.]+ +\d+")


class Client:
    """A minimal MCP client over standard streams."""

    def __init__(self, command, cwd, env=None):
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.last = 0
        self.notes = []
        about = {"name": "ci", "version": "1"}
        self.info = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while line := self.process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" in message:
                self.notes.append(message)
                if "id" in message:
                    refusal = {"code": -32601, "message": "not supported"}
                    self.send({"jsonrpc": "2.0", "id": message["id"], "error": refusal})
            elif message.get("id") == self.last:
                return message
        raise SystemExit(f"error: {method}: the server closed its output")

    def tools(self):
        tools, cursor = [], None
        while True:
            page = self.ask("tools/list", {"cursor": cursor} if cursor else {})["result"]
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return tools

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def node(name):
    return f"{NODE}/node_modules/.bin/{name}"


def servers(folder):
    """Returns the command of each server and its read-only calls."""
    files = f"{folder}/files"
    repo = f"{folder}/repo"
    path = {"path": f"{files}/a.txt"}
    return {
        "everything": (
            [node("mcp-server-everything")],
            [
                ("echo", {"message": "hello"}),
                ("get-sum", {"a": 2, "b": 40}),
                ("get-annotated-message", {"messageType": "success", "includeImage": True}),
                ("get-resource-links", {"count": 3}),
                ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
                ("get-structured-content", {"location": "Chicago"}),
                ("get-tiny-image", {}),
                ("trigger-long-running-operation", {"duration": 1, "steps": 2}),
            ],
        ),
        "files": (
            [node("mcp-server-filesystem"), files],
            [
                ("read_file", path),
                ("read_text_file", {**path, "head": 1}),
                ("read_media_file", {"path": f"{files}/dot.png"}),
                ("read_multiple_files", {"paths": [f"{files}/a.txt", f"{files}/b.json"]}),
                ("list_directory", {"path": files}),
                ("list_directory_with_sizes", {"path": files, "sortBy": "size"}),
                ("directory_tree", {"path": files}),
                ("search_files", {"path": files, "pattern": "*.json"}),
                ("get_file_info", path),
                ("list_allowed_directories", {}),
                ("read_file", {"path": "/etc/hostname"}),
            ],
        ),
        "memory": (
            [node("mcp-server-memory")],
            [("read_graph", {}), ("search_nodes", {"query": "nobody"}), ("open_nodes", {"names": ["nobody"]})],
        ),
        "thinking": (
            [node("mcp-server-sequential-thinking")],
            [
                (
                    "sequentialthinking",
                    {"thought": "One.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
                )
            ],
        ),
        "playwright": (
            [node("playwright-mcp")],
            [
                ("browser_console_messages", {"level": "error"}),
                ("browser_find", {"text": "x"}),
                ("browser_network_requests", {"static": False}),
                ("browser_network_request", {"index": 1}),
                ("browser_snapshot", {}),
                ("browser_take_screenshot", {"type": "png"}),
                ("browser_wait_for", {"time": 0}),
            ],
        ),
        "kubernetes": (
            [node("mcp-server-kubernetes")],
            [
                ("ping", {}),
                ("kubectl_get", {"resourceType": "pods", "namespace": "default"}),
                ("kubectl_describe", {"resourceType": "pods", "name": "x"}),
                ("kubectl_logs", {"resourceType": "pod", "name": "x", "namespace": "default"}),
                ("kubectl_context", {"operation": "list"}),
                ("list_api_resources", {}),
                ("explain_resource", {"resource": "pods"}),
            ],
        ),
        "time": (
            [f"{VENV}/bin/mcp-server-time", "--local-timezone", "UTC"],
            [
                ("convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
                ("get_current_time", {"timezone": "Nowhere/City"}),
            ],
        ),
        "git": (
            [f"{VENV}/bin/mcp-server-git", "--repository", repo],
            [
                ("git_status", {"repo_path": repo}),
                ("git_diff_unstaged", {"repo_path": repo}),
                ("git_diff_staged", {"repo_path": repo}),
                ("git_diff", {"repo_path": repo, "target": "HEAD"}),
                ("git_log", {"repo_path": repo, "max_count": 2}),
                ("git_show", {"repo_path": repo, "revision": "HEAD"}),
                ("git_branch", {"repo_path": repo, "branch_type": "local"}),
                ("git_show", {"repo_path": repo, "revision": "no-such-thing"}),
            ],
        ),
        "fetch": ([f"{VENV}/bin/mcp-server-fetch"], [("fetch", {"url": "http://127.0.0.1:9/"})]),
        "sqlite": (
            [f"{OLDER}/bin/mcp-server-sqlite", "--db-path", f"{folder}/test.db"],
            [
                ("list_tables", {}),
                ("read_query", {"query": "SELECT 1 AS one"}),
                ("read_query", {"query": "SELECT nonsense"}),
            ],
        ),
    }


def prepare(folder):
    files = folder / "files"
    files.mkdir()
    (files / "a.txt").write_text("one\ntwo\n")
    (files / "b.json").write_text('{"b": [1, 2]}')
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    (files / "dot.png").write_bytes(base64.b64decode(dot))
    repo = folder / "repo"
    repo.mkdir()
    (repo / "a.txt").write_text("one\n")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_COUNT": "0"}
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "First"]):
        identity = ["-c", "user.name=ci", "-c", "user.email=ci@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=repo, env=environment, check=True)
    (repo / "a.txt").write_text("one\ntwo\n")


def tokens(texts):
    lines = "\n".join(text.replace("\n", " ") for text in texts) + "\n"
    counted = subprocess.run(["node", HERE / "tokens.mjs", f"{NODE}/node_modules"], input=lines, capture_output=True, text=True, check=True)
    return [int(line) for line in counted.stdout.split()]


def mcpaql(*arguments, cwd):
    done = subprocess.run([MCPAQL, *arguments], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"mcpaql {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
    return done


def json_or_text(text):
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (dict, list)) else text


def size(values):
    return len(json.dumps(values, separators=(",", ":"), ensure_ascii=False))


def addressed(server, block):
    """Returns a block as the gateway sends it: with the adapter in the address of its resource."""
    prefix = f"mcpaql://{server.replace('-', '_')}/"
    if block["type"] == "resource_link":
        return {**block, "uri": prefix + block["uri"]}
    if block["type"] == "resource":
        return {**block, "resource": {**block["resource"], "uri": prefix + block["resource"]["uri"]}}
    return block


def compare(server, tool, direct, through):
    """Compares the direct answer with the answer of the gateway. Returns the difference, or None."""
    direct, through = (json.loads(STAMPS.sub("", json.dumps(said))) for said in (direct, through))
    envelope = json.loads(through["result"]["content"][0]["text"])
    beside = through["result"]["content"][1:]
    if "error" in direct:
        return None if not envelope["success"] else f"an error became a success: {envelope}"
    result = direct["result"]
    result["content"] = [addressed(server, block) for block in result["content"]]
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    others = [block for block in result["content"] if block["type"] != "text"]
    if result.get("isError"):
        words = json_or_text(texts[0]) if len(texts) == 1 else None
        if isinstance(words, dict):
            upstream = envelope.get("error", {}).get("details", {}).get("upstream")
            kept = upstream == words or (isinstance(upstream, str) and json.dumps(words)[:100] in upstream)
            return None if kept and not envelope["success"] else f"a failure came as {envelope}"
        message = json.dumps(envelope, ensure_ascii=False)
        said = all(json.dumps(line.strip(), ensure_ascii=False)[1:-1] in message for text in texts for line in text.splitlines()[:3])
        return None if not envelope["success"] and said else f"a failure came as {envelope}"
    if not envelope["success"]:
        return f"a success came as {envelope}"
    data = envelope["data"]
    # A client shows one of the two forms of an answer.
    own, ours = max(size(result["content"]), size(result.get("structuredContent"))), size([data, beside])
    if ours > own + ENVELOPE:
        return f"the answer has {ours} bytes, the server's own {own}"
    if others != [block for block in beside if block["type"] != "text"]:
        return f"other blocks came as {beside}"
    if "structuredContent" in result and not (others and "blocks" in data):
        return None if data == result["structuredContent"] else f"structured content came as {data}"
    expected = [json_or_text(text) for text in texts]
    kept = [block["text"] for block in beside if block["type"] == "text"]
    found = data if isinstance(data, list) and len(expected) > 1 else [data]
    if found == expected or data == expected or kept == texts:
        return None
    return f"{expected} came as {data} with {kept}"


def main():
    with tempfile.TemporaryDirectory(prefix="mcpaql-servers-") as folder:
        run(Path(folder))


def run(folder):
    prepare(folder)
    rows, faults, entries = [], [], []
    known = servers(folder)
    if len(known) < SMALLEST:
        raise SystemExit("error: too few servers")
    for name, (command, calls) in known.items():
        row, found = look_at(folder, name, command, calls)
        rows.append(row)
        faults += found
        entries.append(f"  - name: {name}\n    mcp: {{command: {json.dumps(command)}}}\n")
    # Answers are compared, not decisions.
    rules = folder / ".config" / "mcpaql" / "config.yaml"
    rules.parent.mkdir(parents=True)
    rules.write_text("rules: [{ name: all, decision: allow }]\n")
    (folder / "mcpaql.yaml").write_text("adapters:\n" + "".join(entries))
    mcpaql("check", cwd=folder)
    sizes = {name: [] for name in known}
    compared, found = through_the_gateway(folder, known, sizes)
    faults += found
    (folder / "plain").mkdir()
    (folder / "plain" / "mcpaql.yaml").write_text("mode: discrete\nresults: plain\nadapters:\n" + "".join(entries))
    plain, different = plain_results(folder, known, sizes)
    faults += different
    show(rows)
    show_sizes(sizes)
    print(f"{plain} calls compared with plain results: {len(different)} different")
    print("Note: a server may list more tools for clients that support elicitation or sampling.")
    print(f"{compared} read-only calls compared, directly and through the gateway: {len(found)} different")
    if faults:
        raise SystemExit("\n".join(faults))


def look_at(folder, name, command, calls):
    """Imports one server. Returns its row of the table, and problems."""
    client = Client(command, folder)
    tools = client.tools()
    client.close()
    document = f"{name}-adapter.md"
    done = mcpaql("import", "mcp", "--name", name, "-o", document, "--report", "json", "--", *command, cwd=folder)
    report = json.loads(done.stdout)
    mcpaql("check", document, cwd=folder)
    surface = json.loads(mcpaql("tools", document, "--json", cwd=folder).stdout)["tools"]
    operations = {operation["source_id"]: operation for operation in report["operations"]}
    faults = []
    missing = [tool["name"] for tool in tools if tool["name"] not in operations]
    if missing:
        faults.append(f"{name}: not imported: {missing}")
    called = {tool for tool, _ in calls}
    reading = [tool["name"] for tool in tools if (tool.get("annotations") or {}).get("readOnlyHint")]
    forgotten = [tool for tool in reading if tool not in called and (name, tool) not in EXCEPT]
    if forgotten:
        faults.append(f"{name}: read-only tools that are not compared: {forgotten}")
    agree = disagree = 0
    for tool in tools:
        hint = (tool.get("annotations") or {}).get("readOnlyHint")
        operation = operations.get(tool["name"])
        if hint is None or operation is None:
            continue
        reads = operation["category"] == "READ"
        agree += reads == hint
        disagree += reads != hint
        if reads and not hint:
            faults.append(f"{name}: {tool['name']} has readOnlyHint: false but is imported as READ")
    before = tokens([json.dumps(tool, separators=(",", ":"), ensure_ascii=False) for tool in tools])
    after = tokens([json.dumps(tool, separators=(",", ":"), ensure_ascii=False) for tool in surface])
    return (name, len(tools), len(operations), sum(before), sum(after), f"{agree}/{agree + disagree}"), faults


def through_the_gateway(folder, known, sizes):
    home = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": f"{folder}/cache"}
    gateway = Client([MCPAQL, "serve", "--config", "mcpaql.yaml"], folder, home)
    names = wait_for_tools(gateway, known)
    faults, compared = [], 0
    for name, (command, calls) in known.items():
        direct = Client(command, folder)
        for tool, arguments in calls:
            operation = snake(tool)
            said = direct.call(tool, arguments)
            endpoint = home_of(gateway, names[name], name, operation)
            if endpoint is None:
                faults.append(f"{name}: the gateway has no operation {operation}")
                continue
            params = {snake(key): value for key, value in arguments.items()}
            heard = gateway.call(endpoint, {"operation": operation, "params": params})
            compared += 1
            sizes[name].append([said.get("result"), heard.get("result")])
            wrong = compare(name, tool, said, heard)
            if wrong:
                faults.append(f"{name}: {tool}: {wrong}"[:800])
        direct.close()
    gateway.close()
    return compared, faults


def plain_results(folder, known, sizes):
    """Makes the same calls with plain results, which must be equal. Returns their number, and problems."""
    home = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": f"{folder}/plain-cache"}
    gateway = Client([MCPAQL, "serve", "--config", "plain/mcpaql.yaml"], folder, home)
    names = wait_for_tools(gateway, known, "")
    schemas = {tool["name"]: tool["inputSchema"] for tool in gateway.tools()}
    faults, compared = [], 0
    for name, (command, calls) in known.items():
        direct = Client(command, folder)
        own = {tool["name"]: tool["inputSchema"] for tool in direct.tools()}
        for (tool, arguments), row in zip(calls, sizes[name]):
            operation = f"{name}_{snake(tool)}"
            if operation not in names[name]:
                faults.append(f"{name}: the gateway has no tool {operation}")
                continue
            if schemas[operation] != {**own[tool], "additionalProperties": False}:
                faults.append(f"{name}: {tool}: the schema {own[tool]} came as {schemas[operation]}"[:800])
            said, heard = direct.call(tool, arguments), gateway.call(operation, arguments)
            compared += 1
            row.append(heard.get("result"))
            if "error" in said:
                equal = heard["result"]["isError"]
            else:
                equal = STAMPS.sub("", json.dumps(said["result"], sort_keys=True)) == STAMPS.sub("", json.dumps(heard["result"], sort_keys=True))
            if not equal:
                faults.append(f"{name}: {tool}: {json.dumps(said)} came as {json.dumps(heard)}"[:1200])
        direct.close()
    gateway.close()
    return compared, faults


def wait_for_tools(gateway, known, kind="mcpaql"):
    """Waits until every server has started. Returns the tools of each adapter."""
    for _ in range(600):
        tools = [tool["name"] for tool in gateway.tools()]
        by_adapter = {name: [tool for tool in tools if tool.startswith(f"{name}_{kind}")] for name in known}
        if all(by_adapter.values()):
            return by_adapter
        time.sleep(0.1)
    raise SystemExit(f"error: some servers did not start: {by_adapter}")


def home_of(gateway, tools, name, operation):
    reader = next(tool for tool in tools if tool.endswith("_read")) if any(t.endswith("_read") for t in tools) else tools[0]
    asked = {"operation": "introspect", "params": {"name": operation, "detail": "full"}}
    envelope = json.loads(gateway.call(reader, asked)["result"]["content"][0]["text"])
    found = envelope["data"]["operation"]
    return found and found["mcpTool"]


def snake(name):
    out = ""
    for at, letter in enumerate(name):
        if letter.isupper() and at and not name[at - 1].isupper():
            out += "_"
        out += letter.lower() if letter.isalnum() else "_"
    return out


def show_sizes(sizes):
    """Shows what the answers cost: the server's own, with plain results, and in an envelope."""
    head = ("server", "calls", "own bytes", "plain bytes", "envelope bytes", "own tokens", "plain tokens", "envelope tokens")
    rows = []
    for name, answers in sizes.items():
        # An answer that is an error of the protocol has no result.
        whole = [row for row in answers if len(row) == 3 and all(row)]
        shown = [[json.dumps(row[at], separators=(",", ":"), ensure_ascii=False) for row in whole] for at in (0, 2, 1)]
        counted = [sum(len(text.encode()) for text in texts) for texts in shown] + [sum(tokens(texts)) for texts in shown]
        rows.append((name, len(whole), *counted))
    table(head, rows)


def show(rows):
    head = ("server", "tools", "operations", "tokens before", "tokens after", "categories that match readOnlyHint")
    table(head, rows)


def table(head, rows):
    rows = [head, *[tuple(map(str, row)) for row in rows]]
    sums = [column for column in range(1, len(head)) if all(row[column].isdigit() for row in rows[1:])]
    rows.append(("all", *[str(sum(int(row[column]) for row in rows[1:])) if column in sums else "" for column in range(1, len(head))]))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) if at == 0 else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths))))


main()
