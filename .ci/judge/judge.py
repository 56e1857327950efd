"""Checks the HTTP requests of tool calls with an independent OpenAPI validator.

    judge.py MCPAQL DOCUMENT [--sample N] [--rounds N] [--foreign]

Every operation is called through `mcpaql serve --openapi` with arguments generated from its tool's schema. openapi-core validates every
request against the original document. To prove that the validator works, each kind of request is also broken on purpose and must then be
rejected.
"""

import argparse
import collections
import copy
import http.server
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from pathlib import Path

import yaml
from generate import Generator, Hopeless
from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

# Mistakes that are accepted in documents of other projects; in our own documents each of them is a fault.
QUIRKS = {
    "Tried to write read-only property": "a parameter that is read-only",
    "None is not one of": "an enum without null although `nullable` is set",
    "None is not valid under any of the given schemas": "a oneOf without null although `nullable` is set",
    "is valid under each of": "a value that matches more than one variant of a oneOf",
}

Arrived = collections.namedtuple("Arrived", "method target headers body")


class Api(http.server.ThreadingHTTPServer):
    """Records every request and answers 200."""

    def __init__(self):
        self.arrived = []
        super().__init__(("127.0.0.1", 0), Keeper)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Keeper(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def keep(self):
        if self.headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
        target = self.requestline.split(" ")[1]
        self.server.arrived.append(Arrived(self.command, target, self.headers, body))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = keep

    def log_message(self, *_):
        pass


class Client:
    """A minimal MCP client."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.count = 0
        client = {"name": "judge", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self.count:
                return answer["result"]
        raise SystemExit("error: the server ended")

    def tools(self):
        tools, cursor = [], {}
        while True:
            page = self.ask("tools/list", cursor)
            tools += page["tools"]
            if not page.get("nextCursor"):
                return tools
            cursor = {"cursor": page["nextCursor"]}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Judge:
    def __init__(self, document, origin):
        self.document = document
        self.origin = origin
        # Do not validate the description itself: most large ones break a rule somewhere.
        json_like = {name: json.loads for name in media_types(document) if name.endswith("+json")}
        config = Config(spec_validator_cls=None, extra_media_type_deserializers=json_like)
        self.api = OpenAPI.from_dict(document, config=config)
        self.bases = [server_path(server) for server in self.all_servers()]
        self.paths = sorted(((template, pattern(template)) for template in document["paths"]), key=lambda one: one[0].count("{"))

    def all_servers(self):
        yield from self.document.get("servers", [{"url": "/"}])
        for item in self.document["paths"].values():
            for place in (item, *(operation for operation in item.values() if isinstance(operation, dict))):
                yield from place.get("servers", [])

    def resolve(self, value):
        while "$ref" in value:
            target = self.document
            for part in value["$ref"].removeprefix("#/").split("/"):
                target = target[urllib.parse.unquote(part).replace("~1", "/").replace("~0", "~")]
            value = target
        return value

    def find(self, arrived):
        """Returns the path template, the raw values in the path, and the declared parameters."""
        path = arrived.target.partition("?")[0]
        for base in sorted(set(self.bases), key=len, reverse=True):
            if not path.startswith(base):
                continue
            for template, expression in self.paths:
                match = expression.fullmatch(path[len(base) :])
                item = self.document["paths"][template]
                if match and arrived.method.lower() in item:
                    declared = [*item.get("parameters", []), *item[arrived.method.lower()].get("parameters", [])]
                    names = re.findall(r"\{([^}]+)\}", template)
                    return template, dict(zip(names, match.groups())), [self.parameter(one) for one in declared]
        return None, {}, []

    def excuse(self, arrived):
        """Returns why an operation is not validated, if so."""
        template, _, _ = self.find(arrived)
        return template and self.document["paths"][template][arrived.method.lower()].get("x-no-verdict")

    def combines_fields(self, arrived):
        """Returns whether the body has rules about combinations of fields, which the import leaves to the API."""
        template, _, _ = self.find(arrived)
        content = self.resolve(self.document["paths"][template][arrived.method.lower()].get("requestBody", {})).get("content", {})
        schemas = [self.resolve(media.get("schema", {})) for media in content.values()]
        return any("anyOf" in schema or "oneOf" in schema for schema in schemas)

    def parameter(self, value):
        value = self.resolve(value)
        return {**value, "meant": self.resolve(value.get("schema", {}))}

    def judge(self, arrived, breakage=None):
        """Returns None, or why the request does not match the document."""
        template, values, declared = self.find(arrived)
        if template is None:
            return "no such operation in the document"
        request = Presented(arrived, self.origin, values, declared, breakage)
        try:
            self.api.validate_request(request)
        except Exception as error:  # the validator raises many types
            reasons = getattr(error.__cause__, "schema_errors", None) or [error.__cause__ or ""]
            return f"{type(error).__name__}: {error}: " + "; ".join(str(getattr(one, "message", one))[-300:] for one in reasons)
        return None


class Presented:
    """A request in the form that the validator expects."""

    def __init__(self, arrived, origin, values, declared, breakage):
        path, _, query = arrived.target.partition("?")
        self.host_url, self.path, self.method = origin, path, arrived.method.lower()
        # A form without fields has an empty body, but it has one.
        self.body = arrived.body if arrived.body or "content-type" in arrived.headers else None
        self.content_type = arrived.headers.get("content-type", "")
        pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
        cookies = [pair.strip().partition("=")[::2] for pair in arrived.headers.get("cookie", "").split(";") if pair]
        parts = {
            "path": spelled_path(values),
            "query": spelled_query(pairs, declared),
            "header": list(arrived.headers.items()),
            "cookie": [(name, urllib.parse.unquote(value)) for name, value in cookies],
        }
        if breakage:
            place, name = breakage
            parts[place] = [(key, "!" if key.strip(".;*").lower() == name.lower() else value) for key, value in parts[place]]
        self.parameters = RequestParameters(
            path=dict(parts["path"]),
            query=ImmutableMultiDict(parts["query"]),
            header=Headers(parts["header"]),
            cookie=ImmutableMultiDict(parts["cookie"]),
        )


def spelled_path(values):
    # The validator looks up `.name*` if the style is label and the value is exploded.
    keys = ("{}", ".{}", ".{}*", ";{}", ";{}*")
    return [(key.format(name), urllib.parse.unquote(value)) for name, value in values.items() for key in keys]


def spelled_query(pairs, declared):
    """Returns pairs with decoded values, except for styles where the validator splits the encoded value."""
    queries = {one["name"]: one for one in declared if one["in"] == "query"}
    spaced = {name for name, one in queries.items() if one.get("style") == "spaceDelimited"}
    found = []
    for name, value in pairs:
        name = urllib.parse.unquote(name)
        found.append((name, value if name in spaced else urllib.parse.unquote_plus(value)))
    # The fields of an exploded object are separate query parameters.
    for name, one in queries.items():
        if one.get("style", "form") == "form" and one.get("explode", True) and "properties" in one["meant"]:
            fields = set(one["meant"]["properties"])
            own = [f"{key}={value}" for key, value in pairs if key in fields]
            if own:
                found.append((name, "&".join(own)))
    return found


def media_types(value):
    """Yields the media types of all bodies."""
    if isinstance(value, dict):
        if isinstance(value.get("content"), dict):
            yield from value["content"]
        for member in value.values():
            yield from media_types(member)
    elif isinstance(value, list):
        for item in value:
            yield from media_types(item)


def pattern(template):
    return re.compile("".join("([^/]*)" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^}]+\})", template)))


def server_path(server):
    url = server["url"]
    for name, variable in server.get("variables", {}).items():
        url = url.replace("{" + name + "}", variable["default"])
    return urllib.parse.urlsplit(url).path.rstrip("/")


def breakable(schema):
    """Returns whether `!` is invalid for the schema."""
    return schema.get("type") in ("integer", "number", "boolean", "object") or "enum" in schema or (
        schema.get("type") == "array" and breakable(schema.get("items", {}))) or schema.get("pattern") == "^[a-z]+$"


def prepared(path, port):
    """Returns the document with this machine as its server."""
    text = Path(path).read_text()
    document = json.loads(text) if path.endswith("json") else yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    local = [{"url": f"http://127.0.0.1:{port}"}]
    if not any("127.0.0.1" in server["url"] for server in document["servers"]):
        document["servers"] = local
        for item in document["paths"].values():
            for place in (item, *(value for value in item.values() if isinstance(value, dict))):
                if "servers" in place:
                    place["servers"] = local
    for one in [document, *(operation for item in document["paths"].values() for operation in item.values() if isinstance(operation, dict))]:
        for server in one.get("servers", []):
            if "port" in server.get("variables", {}):
                server["variables"]["port"]["default"] = str(port)
    return document


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("document")
    parser.add_argument("--sample", type=int, default=0, help="number of operations to test (default: all)")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--foreign", action="store_true", help="the document belongs to another project; accept known mistakes")
    wanted = parser.parse_args()
    chance = random.Random(20260728)
    api = Api()
    document = prepared(wanted.document, api.server_port)
    judge = Judge(copy.deepcopy(document), f"http://127.0.0.1:{api.server_port}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "document.json"
        file.write_text(json.dumps(document))
        # The operator allows everything, so that every request is sent.
        rules = Path(folder) / ".config" / "mcpaql" / "config.yaml"
        rules.parent.mkdir(parents=True)
        rules.write_text("rules: [{ name: all, decision: allow }]\n")
        environment = {"HOME": folder, "PATH": os.environ["PATH"]}
        name = re.sub(r"[^A-Za-z0-9]+", "_", document["info"]["title"]).strip("_").upper()
        environment |= {f"{name}_{key}": "secret" for key in
                        ("TOKEN", "API_KEY", "USERNAME", "PASSWORD", "SHAPE_KEY", "KEY", "SHAPE_SESSION")}
        client = Client([wanted.binary, "serve", "--openapi", str(file), "--mode", "discrete"], environment)
        tools = [tool for tool in client.tools() if not tool["name"].endswith("_introspect")]
        if wanted.sample:
            tools = chance.sample(tools, min(wanted.sample, len(tools)))
        verdicts = [run(client, api, judge, tool, chance, wanted.rounds, wanted.foreign) for tool in tools]
        client.close()
    report(wanted.document, verdicts)


def run(client, api, judge, tool, chance, rounds, foreign):
    schema = tool["inputSchema"]
    generator = Generator(chance, schema.get("$defs", {}))
    verdict = {"tool": tool["name"], "judged": 0, "broken": 0, "faults": [], "hopeless": 0, "left": 0, "quirks": []}
    for turn in range(rounds):
        share = 0 if turn == 0 else 1 if turn == 1 else 0.5
        try:
            arguments = generator.arguments(schema, share)
        except Hopeless:
            verdict["hopeless"] += 1
            continue
        api.arrived.clear()
        result = client.ask("tools/call", {"name": tool["name"], "arguments": arguments})
        if not api.arrived:
            verdict["faults"].append(f"{arguments} was rejected: {result['content'][0]['text'][:400]}")
            continue
        arrived = api.arrived[0]
        if excuse := judge.excuse(arrived):
            verdict["excuse"] = excuse
            break
        reason = judge.judge(arrived)
        verdict["judged"] += 1
        quirk = next((words for words in QUIRKS if foreign and words in (reason or "")), None)
        if quirk:
            verdict["quirks"].append(quirk)
        elif reason and "/;" in arrived.target and "%0A" in arrived.target:
            # The judge's pattern for matrix parameters does not match a line break.
            verdict["left"] += 1
        elif reason and "is not valid under any of the given schemas" in reason and judge.combines_fields(arrived):
            verdict["left"] += 1
        elif reason:
            shown = f"{arrived.method} {arrived.target} {arrived.body[:300]!r}"
            verdict["faults"].append(f"{json.dumps(arguments)[:500]}\n    {shown}\n    {reason}")
        else:
            break_it(judge, arrived, verdict)
    return verdict


def break_it(judge, arrived, verdict):
    """Breaks one parameter, or the body, of a valid request. The validator must reject the result."""
    _, values, declared = judge.find(arrived)
    query = {urllib.parse.unquote(pair.partition("=")[0]) for pair in arrived.target.partition("?")[2].split("&")}
    given = {"path": set(values), "query": query, "header": {name.lower() for name in arrived.headers}, "cookie": set()}
    for one in declared:
        place, name = one["in"], one["name"]
        there = name.lower() if place == "header" else name
        if there in given[place] and breakable(one["meant"]):
            verdict["broken"] += 1
            if judge.judge(arrived, (place, name)) is None:
                verdict["faults"].append(f"the validator accepts an invalid {name} in {place}")
    if arrived.headers.get("content-type", "").endswith("json"):
        verdict["broken"] += 1
        if judge.judge(arrived._replace(body=b"{")) is None:
            verdict["faults"].append("the validator accepts an invalid body")


def report(document, verdicts):
    judged, broken = (sum(verdict[key] for verdict in verdicts) for key in ("judged", "broken"))
    faults = [(verdict["tool"], fault) for verdict in verdicts for fault in verdict["faults"]]
    excused = [verdict for verdict in verdicts if "excuse" in verdict]
    silent = [verdict["tool"] for verdict in verdicts if not verdict["judged"] and "excuse" not in verdict]
    print(f"{Path(document).name}: {len(verdicts)} operations, {judged} requests validated, "
          f"{broken} broken on purpose and rejected, {len(faults)} faults, {len(silent)} operations without a request")
    if left := sum(verdict["left"] for verdict in verdicts):
        print(f"  {left} requests break rules about combinations of fields, which are left to the API")
    for words, count in collections.Counter(words for verdict in verdicts for words in verdict["quirks"]).items():
        print(f"  {count} requests affected by a mistake in the document: {QUIRKS[words]}")
    for verdict in excused:
        print(f"  not validated: {verdict['tool']}: {verdict['excuse']}")
    for tool, fault in faults[:40]:
        print(f"  {tool}: {fault}")
    for tool in silent[:20]:
        print(f"  no valid arguments found for {tool}")
    if faults or not judged or not broken or len(silent) * 20 > len(verdicts):
        sys.exit(1)


if __name__ == "__main__":
    main()
