"""Asks several servers of one adapter the same things and tells where they answer differently.

The first server is the truth: what is asked is made from what it says of itself. The others are asked side by side. Answers are compared
as values, after what no two runs have in common (identifiers, times) is named by the order in which it appears.
"""

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

from client import ASKED, Client, Silent
from executions import about_executions, about_work_over_http
from samples import camel, misspelt, nested, sample
from toolbox import TOKEN
from tools import about_tools
from toolserver import Toolserver
from upstream import Upstream

VALUES = [None, True, 0, -1, 3, 2.5, 1e300, 12345678901, "", "x", "open", "true", "12", "[1]", "a b/c?d&e=ü€😀%2F+", "x" * 300, [], ["a"],
          ["a", "a", 1], [[1]], {}, {"a": 1}, {"name": "n", "children": [{"name": 3}]}, {"text": "t", "colour": "#zz"}]
QUESTIONS = ["", "list everything", "delete", "how do I remove a label from an issue", "creat isue", "Notiz anlegen", "日本語", "x" * 5000,
             "get one by id", "search text in notes", "who changed the file", "upload picture", "merge branches", "close an issue",
             "all open orders of a customer", "move pallet to another dock", "update the state", "what happened yesterday", "!!!", "a",
             "send mail to somebody", "share calendar", "rename", "count", "history of commits", "generate an image", "list list list",
             "shipment carriers", "find truck drivers", "create invoice for supplier", "unlabel", "assign", "archive", "sql query results"]
BEHAVIOURS = ["status:400", "status:401", "status:403", "status:404", "status:409", "status:410", "status:412", "status:418", "status:422",
              "status:429", "status:500", "status:503", "text:plain words", "text:{\"looks\": \"like json\"}", "latin", "binary", "image",
              "broken", "wrongtype", "numbers", "deep", "empty", "short", "reset", "redirect:302", "redirect:307", "redirect:303", "away", "large"]
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
HASHES = re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b")
MOST_SHOWN = 12


class Server:
    """A server under test and what it has said so far."""

    def __init__(self, name, command, folder, given):
        self.name, self.upstream, self.command, self.log = name, Upstream(), command, 0
        self.home = home = Path(folder, re.sub(r"\W", "-", name))
        home.mkdir(parents=True, exist_ok=True)
        extra = dict(pair.split("=", 1) for pair in given.env) | {name: self.upstream.url for name in given.url_env}
        self.toolserver = Toolserver() if given.kind == "mcp" else None
        if self.toolserver:
            extra |= {"TOOLS_URL": self.toolserver.url, "TOOLS_TOKEN": TOKEN, "TOOLS_TEAM": "blue", "TOOLS_PLACE": str(home)}
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_DATA_HOME": str(home), "RUST_LOG": "error", "NO_COLOR": "1", **extra}
        if given.copy:
            shutil.copytree(given.copy, home / "copy")
            env = {name: value.replace("{copy}", str(home / "copy")) for name, value in env.items()}
        self.env = env
        self.client = self.start(ASKED if given.kind == "mcp" else None)
        self.names = {str(home): "<home>"}
        self.remembered = {}

    def start(self, capabilities=None, revision="2025-11-25", **changed):
        """Another process of the same server, with the same data and perhaps other variables."""
        self.log += 1
        env = {name: value for name, value in (self.env | changed).items() if value is not None}
        return Client(self.command, self.home, env, self.home / f"stderr-{self.log}.log", capabilities, revision)

    def ask(self, request):
        """The answer to a request of the battery, ready to be compared."""
        if behaviour := request.get("behaviour"):
            self.upstream.expect(behaviour)
        params = self.recalled(request["params"])
        message = self.client.ask(request["method"], params)
        if request.get("behaviour"):
            self.upstream.expect("echo")
        return self.compared(message, request.get("remember"))

    def compared(self, message, remember=None):
        """An answer without what no two runs have in common."""
        answer = message.get("result", {"error": message.get("error")})
        # A task that has ended holds the answer of its call.
        content = (answer["result"] if "taskId" in answer and "result" in answer else answer).get("content", [])
        texts = [block for block in content if block.get("type") == "text"]
        if texts:
            envelope = read(texts[0]["text"])
            if remember:
                data = envelope.get("data", {})
                self.remembered[remember] = data.get("id") or data.get("execution_id")
            texts[0]["text"] = envelope
        if remember and "taskId" in answer:
            self.remembered[remember] = answer["taskId"]
        if answer.get("ttlMs"):
            # Whole seconds of two clocks.
            answer["ttlMs"] //= 60_000
        answer.pop("_meta", None)
        return self.canonical(answer)

    def recalled(self, value):
        """A value in which identifiers of earlier answers stand for their names."""
        if isinstance(value, dict):
            if set(value) == {"$remembered"}:
                return self.remembered.get(value["$remembered"])
            return {key: self.recalled(inner) for key, inner in value.items()}
        return [self.recalled(inner) for inner in value] if isinstance(value, list) else value

    def canonical(self, value):
        """The same without times and chosen identifiers."""
        if isinstance(value, dict):
            named = {key: self.named(key, inner) for key, inner in value.items()}
            return {key: self.canonical(inner) for key, inner in named.items()}
        if isinstance(value, list):
            return [self.canonical(inner) for inner in value]
        if isinstance(value, str):
            for known, name in self.names.items():
                value = value.replace(known, name)
            return HASHES.sub("<hash>", TIMES.sub("<time>", value))
        return value

    def named(self, key, value):
        """An identifier that the server chose, as its place in the order of such identifiers."""
        chosen = key in ("id", "_etag", "endCursor", "execution_id", "taskId", "requestState") and isinstance(value, str) and len(value) >= 12
        if chosen and value not in self.names and value not in self.names.values():
            self.names[value] = f"<{key} {len(self.names)}>"
        return value


def read(text):
    """JSON with its numbers as they are written, so that none is lost by reading it."""
    value = json.loads(text, parse_float=lambda number: ("float", float(number), number if "e" not in number.lower() else ""))
    return value


class Battery:
    """What is asked of every server, from what the first one says of itself."""

    def __init__(self, truth, most):
        self.requests = []
        self.most = most
        self.tools = truth.client.ask("tools/list", {})["result"]["tools"]
        self.truth = truth
        self.chance = random.Random(7)

    def add(self, what, method, params, **how):
        self.requests.append({"what": what, "method": method, "params": params, **how})

    def call(self, what, tool, arguments, **how):
        self.add(what, "tools/call", {"name": tool, "arguments": arguments}, **how)

    def introspect(self, params):
        answer = self.truth.client.ask("tools/call", {"name": self.door, "arguments": self.asking(params)})
        return json.loads(answer["result"]["content"][0]["text"])["data"]

    def asking(self, params):
        return params if self.flat else {"operation": "introspect", "params": params}

    def learn(self):
        """Finds the tool that introspects, and everything that it tells."""
        for tool in self.tools:
            for flat in (False, True):
                self.door, self.flat = tool["name"], flat
                answer = self.truth.client.ask("tools/call", {"name": self.door, "arguments": self.asking({"detail": "names", "first": 200})})
                text = answer["result"]["content"][0]["text"]
                if '"operations":[' in text:
                    names, after = [], None
                    while True:
                        page = self.introspect({"detail": "names", "first": 200, **({"after": after} if after else {})})
                        names += page["operations"]
                        if not page.get("pageInfo", {}).get("hasNextPage"):
                            break
                        after = page["pageInfo"]["endCursor"]
                    self.operations = [self.introspect({"name": name})["operation"] for name in names]
                    self.types = [row if isinstance(row, str) else row["name"] for row in self.introspect({"query": "types", "first": 200})["types"]]
                    return
        # A surface without introspection tells everything in its tools.
        self.door = None
        self.operations = [
            {"name": tool["name"], "mcpTool": tool["name"], "examples": [], "endpoint": "", "parameters": [
                {**schema, "name": name, "required": name in tool["inputSchema"].get("required", [])}
                for name, schema in tool["inputSchema"].get("properties", {}).items()]}
            for tool in self.tools]
        self.types = []

    def calling(self, name, params, **more):
        """The parameters of a tool call of an operation."""
        operation = self.by_name[name]
        return {"name": operation["mcpTool"], "arguments": self.arguments(operation, params), **more}

    @property
    def by_name(self):
        return {operation["name"]: operation for operation in self.operations}

    def arguments(self, operation, params):
        """A call of an operation as its tool takes it."""
        own = operation["mcpTool"]
        is_flat = any(tool["name"] == own and "operation" not in tool["inputSchema"].get("properties", {}) for tool in self.tools)
        return params if is_flat else {"operation": operation["name"], "params": params}

    def about_introspection(self):
        if not self.door:
            return
        asked = [{}, {"query": "operations"}, {"query": "types"}, {"query": "nonsense"}, {"query": ""}, {"name": "no_such_operation"}, {"query": "types", "name": "NoSuchType"},
                 {"first": 0}, {"first": 3}, {"first": 1000}, {"after": "zzz"}, {"tag": "nothing"}, {"category": "READ"}, {"category": "read"}, {"category": "NOPE"},
                 {"endpoint": "read"}, {"endpoint": "nowhere"}, {"query": "types", "search": "x"}, {"name": []}, {"name": ["introspect", "nope", "introspect"]}, {"detail": "loud"},
                 {"name": "introspect", "search": "x", "first": 2}, {"frist": 3}, {"name": 3}]
        asked += [{"detail": detail} for detail in ("names", "signature", "summary", "full")]
        asked += [{"detail": detail, "search": "list"} for detail in ("names", "signature", "summary", "full")]
        asked += [{"category": word} for word in ("CREATE", "UPDATE", "DELETE", "EXECUTE")]
        asked += [{"search": question} for question in QUESTIONS]
        asked += [{"search": question, "category": "READ", "first": 3} for question in QUESTIONS[:6]]
        asked += [{"tag": tag} for tag in sorted({tag for operation in self.operations for tag in operation.get("tags", [])})[:12]]
        for operation in self.operations:
            words = operation["name"].replace("_", " ")
            asked += [{"name": operation["name"]}, {"search": words}, {"search": operation["description"][:80]}, {"search": misspelt(words)}]
            asked += [{"name": operation["name"], "detail": detail} for detail in ("names", "signature", "summary")]
            asked += [{"name": misspelt(operation["name"])}]
        for name in self.types:
            asked += [{"query": "types", "name": name}, {"query": "types", "name": name, "detail": "signature"}]
        first = self.introspect({"first": 3, "detail": "names"}).get("pageInfo", {}).get("endCursor")
        if first:
            asked += [{"after": first, "first": 4}, {"after": first, "first": 4, "tag": "x"}]
        for params in self.sampled(asked, self.most // 3):
            self.call("introspection", self.door, self.asking(params))

    def about_envelopes(self):
        tool = self.tools[0]["name"]
        for arguments in [{}, {"operation": None}, {"operation": 3}, {"operation": ""}, {"operation": "x" * 200}, {"operation": "introspect", "params": []},
                          {"operation": "introspect", "params": "{\"query\":\"types\"}"}, {"operation": "introspect", "params": "no"},
                          {"operation": "introspect", "query": "types"}, {"operation": "__proto__", "params": {"__proto__": {"a": 1}}},
                          {"operation": "introspect", "params": {"constructor": 1, "toString": 2}}, {"operation": "drop'; table", "params": {"x": 1}},
                          {"operation": "introspect", "_meta": {"a": 1}, "params": {"_note": "x"}}, {"params": {}}, {"operation": "introspect", "params": None}]:
            self.call("envelope", tool, arguments)
            self.call("envelope", self.tools[-1]["name"], arguments)
        self.call("unknown tool", "no_such_tool", {})
        self.call("deep", tool, {"operation": "introspect", "params": {"name": nested(40)}})
        self.call("deep", tool, {"operation": "introspect", "params": {"name": nested(90)}})
        self.call("long text", tool, {"operation": "introspect", "params": {"search": "y" * 1_100_000}})
        self.call("long list", tool, {"operation": "introspect", "params": {"name": ["z"] * 10_001}})

    def about_calls(self):
        """Every operation: rightly, wrongly in every way, and through the wrong tool."""
        mine = []
        for operation in self.operations:
            if operation["name"] == "introspect":
                continue
            # What goes on in the background is started elsewhere, in an order that leads to the same each time.
            starts = operation.get("lifecycle")
            examples = [example["request"]["params"] for example in operation.get("examples", []) if not starts] or [sample(operation)]
            own, start = operation["mcpTool"], examples[0]

            def ask(what, params, tool=own, operation=operation, starts=starts):
                if params or not starts:
                    mine.append((what, tool, self.arguments(operation, params)))

            for example in examples:
                ask("example", example)
            ask("nothing given", {})
            ask("unknown parameter", {**start, "no_such_param": 1})
            ask("camel case", {camel(name): value for name, value in start.items()})
            ask("misspelt parameter", {misspelt(name): value for name, value in start.items()})
            for name in start:
                ask("one left out", {key: value for key, value in start.items() if key != name})
            for param in operation.get("parameters", []):
                for value in VALUES:
                    ask("a value", {**start, param["name"]: value})
                for value in param.get("enum", [])[:4]:
                    ask("an allowed value", {**start, param["name"]: value})
                    ask("nearly allowed", {**start, param["name"]: f"{value}s"})
            for tool in self.tools:
                if tool["name"] != own:
                    ask("wrong tool", start, tool=tool["name"])
            mine.append(("misspelt operation", own, {"operation": misspelt(operation["name"]), "params": start}))
        for what, tool, arguments in self.sampled(mine, self.most):
            self.call(what, tool, arguments)

    def about_upstream(self, answers, left_out):
        """What becomes of an upstream that refuses, fails or lies: of a call that it answered, reading and writing."""
        reached = [(request, data) for request, data in zip(self.requests, map(data_of, answers)) if isinstance(data, dict) and "target" in data]
        reads = [request for request, data in reached if data["method"] == "GET"]
        writes = [request for request, data in reached if data["method"] != "GET"]
        self.reaching = [requests[0] for requests in (reads, writes) if requests]
        for request in self.reaching:
            for behaviour in BEHAVIOURS:
                if behaviour not in left_out:
                    self.add(behaviour, request["method"], request["params"], behaviour=behaviour)

    def about_store(self):
        """A life of some records: made, read, changed, found, listed, removed."""
        by_name = self.by_name
        for create in [name for name in by_name if name.startswith("create_")]:
            thing = create.removeprefix("create_")
            things = next((name for name in by_name if name.startswith("list_") and name.startswith(f"list_{thing}"[:-1])), None)

            def ask(what, name, params, by_name=by_name, **how):
                if name in by_name:
                    self.call(what, by_name[name]["mcpTool"], self.arguments(by_name[name], params), **how)

            example = by_name[create]["examples"][0]["request"]["params"]
            texts = [name for name, value in example.items() if isinstance(value, str)]
            for turn in range(5):
                params = {**example, **({texts[0]: f"{example[texts[0]]} number {turn} ü😀"} if texts else {})}
                ask("store: create", create, params, remember=f"{thing} {turn}")
            one = {"$remembered": f"{thing} 1"}
            ask("store: get", f"get_{thing}", {"id": one})
            ask("store: get", f"get_{thing}", {"id": "nothing"})
            ask("store: update", f"update_{thing}", {"id": one, "input": {texts[0]: "changed"} if texts else {}})
            ask("store: update", f"update_{thing}", {"id": one, **({texts[0]: "changed again"} if texts else {})})
            ask("store: update", f"update_{thing}", {"id": one, "input": {"no_such_field": 1}})
            ask("store: update", f"update_{thing}", {"id": one, "input": dict.fromkeys(example)})
            ask("store: update", f"update_{thing}", {"id": one, "_etag": "wrong", **({texts[0]: "no"} if texts else {})})
            ask("store: update", f"update_{thing}", {"id": "nothing", **({texts[0]: "no"} if texts else {})})
            if things:
                ask("store: list", things, {})
                ask("store: list", things, {"first": 2})
                ask("store: list", things, {"first": 2, "after": "nonsense"})
                ask("store: list", things, {texts[0]: "changed again"} if texts else {})
            for search in [name for name in by_name if name.startswith("search_")]:
                for words in ("number", "ÜB", "3", "%", "_", "changed again", "\"", "nothing at all"):
                    ask("store: search", search, {"query": words})
            ask("store: delete", f"delete_{thing}", {"id": one})
            ask("store: delete", f"delete_{thing}", {"id": one})
            ask("store: get", f"get_{thing}", {"id": one})

    def sampled(self, asked, most):
        """All, or a choice that is the same each time, in order."""
        if len(asked) <= most:
            return asked
        return [asked[place] for place in sorted(self.chance.sample(range(len(asked)), most))]


def data_of(answer):
    """The data of a success."""
    content = answer.get("content")
    return content[0]["text"].get("data") if content and isinstance(content[0].get("text"), dict) else None


def cancelled(server, request):
    """Whether a call that is called off stops its work upstream, and leaves the server able to answer."""
    upstream, client = server.upstream, server.client
    upstream.expect("hang")
    number = client.begin("tools/call", request["params"])
    if not upstream.arrived.wait(20):
        return "the call did not reach the upstream"
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "enough"}})
    gone = upstream.left.wait(20)
    upstream.expect("echo")
    still = "result" in client.ask("ping", {})
    return "stopped" if gone and still else f"upstream left: {gone}, answers: {still}"


def told_of_progress(server, request):
    """What a client hears of a call that takes more than a second."""
    upstream, client = server.upstream, server.client
    upstream.expect("hang")
    client.notes.clear()
    number = client.begin("tools/call", {**request["params"], "_meta": {"progressToken": "p1"}})
    time.sleep(2.6)
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    upstream.expect("echo")
    client.ask("ping", {})
    news = [note["params"] for note in client.notes if note["method"] == "notifications/progress"]
    rising = all(a["progress"] < b["progress"] for a, b in zip(news, news[1:]))
    return {"heard": bool(news), "rising": rising, "token": {note["progressToken"] for note in news} == {"p1"}, "messages": sorted({note.get("message") for note in news})}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", action="append", required=True, help="NAME=COMMAND; the first one is the truth")
    parser.add_argument("--url-env", action="append", default=[], help="variable that gets the upstream's address")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE for every server")
    parser.add_argument("--copy", help="folder of which each server gets a copy of its own, {copy} in the values of --env")
    parser.add_argument("--most", type=int, default=900, help="so many calls, and a third as many introspections")
    parser.add_argument("--kind", choices=["http", "store", "command", "mcp", "works"], required=True)
    parser.add_argument("--skip", action="append", default=[], help="behaviour of the upstream that is left out")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        servers = []
        for pair in given.server:
            name, command = pair.split("=", 1)
            program, *rest = command.split(" ", 1)
            try:
                servers.append(Server(name, ["/bin/sh", "-c", f"exec {' '.join([shutil.which(program) or program, *rest])}"], folder, given))
            except Silent as error:
                log = Path(folder, re.sub(r"\W", "-", name), "stderr-1.log").read_text()
                sys.exit(f"{name} does not start: {error}\n{log[-3000:]}")
        sys.exit(compare(servers, given))


def compare(servers, given):
    truth, others = servers[0], servers[1:]
    battery = Battery(truth, given.most)
    battery.learn()
    battery.add("tools", "tools/list", {})
    battery.about_envelopes()
    battery.about_introspection()
    battery.about_calls()
    if given.kind == "store":
        battery.about_store()
    began = time.monotonic()
    expected = answers_of(truth, battery.requests, given)
    if given.kind == "http":
        known = len(expected)
        battery.about_upstream(expected, given.skip)
        if not battery.reaching:
            sys.exit(f"{truth.name}: no call reached the upstream")
        expected += answers_of(truth, battery.requests[known:], given)
    told, last = zip(*timed(truth, ending(truth, battery, given), given))
    expected += last
    print(f"{truth.name}: {len(expected)} requests, {sum(map(succeeded, expected))} of them succeed ({time.monotonic() - began:.1f} s)")
    asked = [*battery.requests, *[{"what": what, "params": None} for what in told]]
    failed = 0
    with ThreadPoolExecutor() as pool:
        for server, (answers, seconds) in zip(others, pool.map(lambda server: everything(server, battery, given), others)):
            both = zip_longest(asked, expected, answers, fillvalue={"what": "more", "params": None})
            wrong = [(request, right, answer) for request, right, answer in both if right != answer]
            failed += len(wrong)
            print(f"{server.name}: {len(answers)} requests, {len(wrong)} answered differently ({seconds:.1f} s)")
            for request, right, answer in wrong[: None if given.verbose else MOST_SHOWN]:
                print(f"  {request['what']}: {short(request['params'])}\n    {truth.name}: {around(right, answer)}\n    {server.name}: {around(answer, right)}")
    return 1 if failed else 0


def everything(server, battery, given):
    """All answers of a server, and how long they took."""
    began = time.monotonic()
    answers = answers_of(server, battery.requests, given) + [answer for _, answer in timed(server, ending(server, battery, given), given)]
    return answers, time.monotonic() - began


def answers_of(server, requests, given):
    """What a server answers to each of the requests."""
    answers = []
    for request in requests:
        started = time.monotonic()
        try:
            answers.append(server.ask(request))
        except Silent as error:
            log = Path(server.client.log.name).read_text()
            sys.exit(f"{server.name}: {error} while it was asked {short(request, 600)}\n{log[-2000:]}")
        if given.verbose and time.monotonic() - started > 1:
            print(f"  {server.name}: {request['what']} took {time.monotonic() - started:.1f} s")
    return answers


def ending(server, battery, given):
    """What takes more than one request: calls that are called off, news and questions, work in the background, and how the server ends."""
    try:
        if given.kind == "http":
            yield "cancelled", cancelled(server, battery.reaching[0])
            yield "progress", told_of_progress(server, battery.reaching[0])
        if given.kind == "http" and "count_stock" in battery.by_name:
            yield from about_work_over_http(server, battery)
        if given.kind == "mcp":
            yield from about_tools(server, battery)
        if given.kind == "works":
            yield from about_executions(server, battery)
    except Silent as error:
        yield "silent", str(error)
    yield "exit", server.client.close()
    if given.kind == "mcp":
        yield "left behind", left_behind(server)


def timed(server, told, given):
    """The same, and where somebody wants to know it, what took long."""
    began = time.monotonic()
    for what, answer in told:
        if given.verbose and time.monotonic() - began > 1:
            print(f"  {server.name}: {what} took {time.monotonic() - began:.1f} s")
        yield what, answer
        began = time.monotonic()


def left_behind(server):
    """What the server has not ended: programs, and sessions over HTTP."""
    deadline = time.monotonic() + 5
    programs = [path.stem for path in server.home.glob("*.pid")]
    while (alive := [pid for pid in programs if Path("/proc", pid).exists()]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return {"programs": len(alive), "sessions": len(server.toolserver.conversations) - 1}


def succeeded(answer):
    content = answer.get("content", []) if isinstance(answer, dict) else []
    return any(isinstance(block.get("text"), dict) and block["text"].get("success") for block in content)


def short(value, most=300):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[:most] + "…"


def around(value, other):
    """The value from a little before the first difference on."""
    text, against = json.dumps(value, ensure_ascii=False), json.dumps(other, ensure_ascii=False)
    start = len(os.path.commonprefix([text, against]))
    begin = max(0, start - 80)
    return ("…" if begin else "") + text[begin : start + 220]


if __name__ == "__main__":
    main()
