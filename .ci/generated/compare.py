"""Sends the same requests to all servers of one adapter and compares their answers with those of the first, `mcpaql serve`.

Must be equal: `tools/list` byte for byte; introspection (lists, details, types); the data of successful calls, with and without query controls; error
codes and `isError`.
Wording may differ, and a search may find other operations besides the one it names.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from client import Client
from queries import Queries
from samples import camel, changed, fitting, misspelt, nested, sample
from upstream import Upstream

# Capabilities that only small projects report.
ADDED = ("ranked_search", "background_executions", "store", "mcp_upstreams", "aggregations", "batch", "confirmation")
# Parameters of many operations that introspection of `mcpaql serve` shows for each of them.
COMMON = {"dry_run", "fields", "preset", "filter", "sort", "aggregate", "include_items", "first", "after", "last", "before", "limit", "offset",
          "page", "page_size", "part", "answer_budget", "all_pages"}
VARIABLE = re.compile(r"\$\{env:([A-Z_]+)|_env:\s*([A-Z_]+)")
STATUSES = (301, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 418, 422, 429, 500, 503)
# Details of failures that must be equal.
UPSTREAM_DETAILS = ("http_status", "limit", "remaining", "resets_at", "retry_after_seconds")
BEHAVIOURS = ("text:hello", "text:", "latin", "binary", "image", "audio", "pdf", "untyped", "broken", "wrongtype", "numbers", "empty", "short",
              "reset", "away", "redirect:302", "redirect:307", "large", "page:text/html", "page:application/json", "page:",
              "limited", "limited:ms", "limited:no wait", *(f"status:{status}" for status in STATUSES))
# Answers with status 200 that the rules of a document read in different ways.
ANSWERS = (
    '{"result": {"balance": 1.10, "items": [{"10": 1, "9": 12345678901234567890123, "e": 1e400, "t": "\\u00e9\\" 5"}]}, "error": null}',
    '{"result": null, "data": {"user": {"name": "Ann"}}, "ok": true, "status": "success"}', '{"result": {"items": []}, "status": "success"}',
    '{"error": {"code": -32602, "message": "id must be positive"}}', '{"error": {"code": -32601}}', '{"error": {"code": -32000, "data": {"text": "not found"}}}',
    '{"error": {"code": 404}, "status": 500}', '{"error": {"status": 403, "message": "x"}}', '{"error": {"code": 400, "message": "must be one of a, b"}}',
    '{"errors": [{"message": "User not found"}], "data": null}', '{"ok": false, "error": "channel_not_found"}', '{"ok": false, "error": {"code": 429}}',
    '{"ok": false}', '{"ok": "false"}', '{"status": "failed", "reason": "quota exceeded"}', '{"status": 1, "code": 409}', '{"error": true, "reason": "timed out"}',
    '{"error": 0}', '{"error": ""}', '{"error": {}}', '{"error": "secret-unusual_token is unknown"}', '{"error": ["already exists"]}', "[]", "null", '"text"', "7",
)
# Number of operations that are also called with invalid parameters; the others get only valid calls.
THOROUGH = 12
# Number of random queries of each operation that is queried.
QUERIES = 12


class Comparison:
    """The servers, the number of equal answers, and the differences."""

    def __init__(self, servers):
        self.servers = servers
        self.agreed = 0
        self.differences = []

    def same(self, about, told):
        """Records whether every server's answer is equal to the first one's."""
        (_, first), *others = told.items()
        for name, one in others:
            if one == first:
                self.agreed += 1
            else:
                self.differences.append(f"{name}: {about}\n    {short(first)}\n    {short(one)}")

    def call(self, tool, arguments, judged):
        """Makes one call on every server."""
        told = {name: judged(*confirmed(server, tool, arguments)) for name, server in self.servers.items()}
        self.same(f"{tool} {short(arguments, 200)}", told)
        return next(iter(told.values()))


def confirmed(server, tool, arguments):
    """Makes a call. If it needs a confirmation, it is sent again with the token."""
    envelope, is_error = server.call(tool, arguments)
    token = envelope.get("error", {}).get("details", {}).get("confirmation_token")
    return (envelope, is_error) if token is None else server.call(tool, with_token(arguments, token))


def with_token(arguments, token):
    params = arguments.get("params")
    if "operation" not in arguments:
        return {**arguments, "_confirmation": token}
    return {**arguments, "params": {**(json.loads(params) if isinstance(params, str) else params or {}), "_confirmation": token}}


def short(value, most=600):
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else f"{text[:most]}…"


def outcome(envelope, is_error):
    """Returns the parts of an answer that must be equal."""
    if "rpc_error" in envelope:
        return envelope
    warnings = [warning["code"] for warning in envelope.get("warnings", [])]
    if envelope["success"]:
        return {"data": settled(envelope["data"]), "warnings": warnings, "isError": is_error, "blocks": envelope["blocks"]}
    details = envelope["error"].get("details", {})
    return {"code": envelope["error"]["code"], "isError": is_error, **{name: details[name] for name in UPSTREAM_DETAILS if name in details}}


def settled(value):
    """Returns the value without parts that differ between runs, such as commit hashes and multipart boundaries."""
    if isinstance(value, str):
        return re.sub(r"\b[0-9a-f]{7,40}\b|\d{4}-\d\d-\d\dT[\d:+-]+|[A-Z][a-z]{2} \d+ [\d:]{8} \d{4} [+-]\d{4}", "#", value)
    if isinstance(value, list):
        return [settled(item) for item in value]
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items()}
    return value


def introspected(envelope, is_error):
    for added in ADDED:
        envelope.get("data", {}).get("_protocol", {}).get("capabilities", {}).pop(added, None)
    # Aggregates, batches and dry runs are features of `mcpaql serve`.
    data = envelope.get("data") or {}
    for feature in ("query_controls", "dry_run", "batch"):
        data.get("_protocol", {}).pop(feature, None)
    for operation in [data.get("operation"), *data.get("operations", [])]:
        if isinstance(operation, dict):
            operation.pop("aggregation_support", None)
            if "parameters" in operation:
                operation["parameters"] = [
                    param for param in operation["parameters"] if param["name"].removeprefix("_") not in COMMON
                ]
    return outcome(envelope, is_error)


def list_tools(comparison):
    """Compares the text of the result byte for byte, except for the batches that only `mcpaql serve` takes."""
    told = {}
    for name, server in comparison.servers.items():
        line, answer = server.ask_raw("tools/list", {})
        text = json.dumps(answer["result"], ensure_ascii=False, separators=(",", ":"))
        if text not in line:
            told[name] = f"not minified JSON in the original order: {line[:300]}"
            continue
        for tool in answer["result"]["tools"]:
            schema = tool["inputSchema"]
            if "operation" in schema["properties"] and schema["properties"].pop("operations", None):
                schema["required"] = ["operation"]
        told[name] = json.dumps(answer["result"], ensure_ascii=False, separators=(",", ":"))
    comparison.same("tools/list", told)


def introspect(comparison, tool):
    """Compares every list, operation and type, in every form."""
    def ask(**params):
        return comparison.call(tool, {"operation": "introspect", "params": params}, introspected)

    names = all_names(comparison, tool, "operations")
    for detail in (None, "names", "signature", "summary", "full"):
        form = {} if detail is None else {"detail": detail}
        for query in ("operations", "types"):
            ask(query=query, **form)
            ask(query=query, first=3, **form)
        for name in names if detail in (None, "signature") else names[:3]:
            ask(name=name, **form)
    for name in all_names(comparison, tool, "types"):
        ask(query="types", name=name)
    for category in ("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"):
        ask(category=category)
    for params in ({"name": ["introspect", names[0]]}, {"name": "no_such"}, {"name": names[0], "first": 2}, {"after": "x"}, {"tag": "no such"},
                   {"query": "types", "search": "x"}, {"first": 0}, {"first": 999}, {"query": "x"}, {"endpoint": "x"}, {"search": " "}):
        ask(**params)
    for server in comparison.servers.values():
        for name in [name for name in names if name != "introspect"][:20]:
            found, _ = server.call(tool, {"operation": "introspect", "params": {"search": name.replace("_", " "), "first": 10}})
            if name not in [hit["name"] for hit in found["data"]["operations"]]:
                comparison.differences.append(f"search does not find {name}")
    return names


def all_names(comparison, tool, query):
    names, after = [], {}
    server = next(iter(comparison.servers.values()))
    while True:
        params = {"query": query, "detail": "names", "first": 200, **after}
        data = server.call(tool, {"operation": "introspect", "params": params})[0]["data"]
        names += data[query]
        page = data["_protocol"]["pageInfo"]
        if not page["hasNextPage"]:
            return names
        after = {"after": page["endCursor"]}


def described(server, tool, names):
    """Returns the details of operations."""
    return [server.call(tool, {"operation": "introspect", "params": {"name": name, "detail": "full"}})[0]["data"]["operation"]
            for name in names]


def of_tools(tools):
    """Returns the same for an adapter without introspection, where each tool is one operation."""
    for tool in tools:
        hints, schema = tool.get("annotations", {}), tool["inputSchema"]
        category = "READ" if hints.get("readOnlyHint") else "DELETE" if hints.get("destructiveHint") else "CREATE"
        needed = schema.get("required", [])
        params = [{**param, "name": name, "required": name in needed} for name, param in schema.get("properties", {}).items()]
        yield {"name": tool["name"], "mcpTool": tool["name"], "semantic_category": category, "parameters": params}


def asks_with(server, tools):
    """Returns the tool that has `introspect`, or None."""
    arguments = {"operation": "introspect", "params": {"detail": "names"}}
    return next((tool["name"] for tool in tools if "operations" in (server.call(tool["name"], arguments)[0].get("data") or {})), None)


def decides(server, tool):
    """Whether a server decides which operations may run. A server that does not would run those that others refuse."""
    if tool is None:
        return True
    data = server.call(tool, {"operation": "introspect"})[0].get("data") or {}
    return data.get("_protocol", {}).get("capabilities", {}).get("confirmation") is True


def wrong_calls(operation):
    """Yields invalid parameters, one problem at a time."""
    fits = sample(operation)
    for name in list(fits):
        yield {key: value for key, value in fits.items() if key != name}
    yield {**fits, "no_such_parameter": 1}
    yield {camel(name): value for name, value in fits.items()}
    yield {**fits, "_meta": 1}
    yield {**fits, "input": {"no_such": 1}}
    yield {**fits, "input": 5}
    for param in operation["parameters"]:
        name = param["name"]
        schema = param.get("schema", param)
        for value in (None, True, 5, 1.5, -1, 10**18, "", "text", "x\0y", "a\nb", "..", "-x", [], [1], ["a", "a"], {}, {"no_such": 1}, [[]],
                      fitting(schema), misspelt(str(fitting(schema)))):
            yield {**fits, name: value}
        yield {**fits, misspelt(name): 1}
    if operation["parameters"]:
        first = operation["parameters"][0]["name"]
        yield {**fits, first: "x" * (1 << 20)}
        yield {**fits, first: nested(40)}
        yield {**fits, first: ["x"] * 10_001}


def calls(comparison, details, upstream):
    """Calls every operation with valid parameters, and some of them with invalid ones."""
    thorough = details[:: max(1, len(details) // THOROUGH)]
    for detail in details:
        name, through = detail["name"], detail["mcpTool"]
        upstream.expect("echo")
        comparison.call(through, {"operation": name, "params": sample(detail)}, outcome)
        full = {param["name"]: fitting(param.get("schema", param)) for param in detail["parameters"]}
        comparison.call(through, {"operation": name, "params": full}, outcome)
        if detail in thorough:
            for params in wrong_calls(detail):
                comparison.call(through, {"operation": name, "params": params}, outcome)
    names, tool = [detail["name"] for detail in details], details[-1]["mcpTool"]
    for arguments in ({}, {"operation": 5}, {"operation": names[0], "params": "x"}, {"operation": names[0], "params": "{}"}, {"operation": None},
                      {"operation": misspelt(names[0])}, {"operation": names[0], "params": None}, *({"operation": name} for name in names[:3]),
                      {"operation": names[0], "element_type": "thing"}):
        comparison.call(tool, arguments, outcome)
    comparison.call("no_such_tool", {}, outcome)


def confirmations(comparison, details, upstream, servers):
    """Compares what these servers take for a valid confirmation of the first operation that needs one."""
    upstream.expect("echo")
    last = list(servers.values())[-1]
    needing = [(detail, {"operation": detail["name"], "params": sample(detail)}) for detail in details if detail.get("danger") == "destructive"]
    needing = [row for row in needing if last.call(row[0]["mcpTool"], row[1])[0].get("error", {}).get("code") == "CONFIRMATION_REQUIRED"][:2]
    if len(needing) < 2:
        return
    (detail, arguments), (other, others) = needing
    told = {name: server.call(detail["mcpTool"], arguments)[0].get("error", {}) for name, server in servers.items()}
    tokens = {name: error.get("details", {}).pop("confirmation_token", "") for name, error in told.items()}
    for error in told.values():
        error.get("details", {}).pop("expires_at", None)
    comparison.same(f"the question before {detail['name']}", told)
    steps = (
        ("an unknown token", detail, arguments, lambda token: "conf_" + "A" * 43),
        ("a token of another type", detail, arguments, lambda token: 5),
        ("another operation", other, others, str),
        ("an unknown parameter", detail, {**arguments, "params": {**arguments["params"], "no_such_parameter": 1}}, str),
        ("other parameters", detail, {**arguments, "params": changed(detail)}, str),
        ("the confirmed call", detail, arguments, str),
        ("the confirmed call again", detail, arguments, str),
    )
    for about, through, given, token_of in steps:
        judged = {name: servers[name].call(through["mcpTool"], with_token(given, token_of(token))) for name, token in tokens.items()}
        comparison.same(f"{about} of {detail['name']}", {name: outcome(*answer) for name, answer in judged.items()})


def behaviours(comparison, details, upstream, rules):
    """Compares how a read, a write and a delete handle each behaviour of the API. With rules for answers, all operations get every answer."""
    chosen = {detail["semantic_category"]: detail for detail in reversed(details)}
    chosen = [chosen[category] for category in ("READ", "CREATE", "DELETE") if category in chosen]
    every = [(detail, behaviour) for detail in chosen for behaviour in BEHAVIOURS]
    if rules:
        every += [(detail, behaviour) for detail in details for behaviour in ("page:text/html", *(f"json:{text}" for text in ANSWERS))]
    for detail, behaviour in every:
        told, sent = {}, {}
        for name, one in comparison.servers.items():
            upstream.expect(behaviour)
            before = upstream.seen
            told[name] = outcome(*confirmed(one, detail["mcpTool"], {"operation": detail["name"], "params": sample(detail)}))
            sent[name] = upstream.seen - before
        comparison.same(f"{detail['name']} when the API does {behaviour}", told)
        comparison.same(f"requests of {detail['name']} when the API does {behaviour}", sent)


def queries(comparison, details, upstream, is_http):
    """Compares the answers of operations that read to random query controls. With an API, the data is random, too."""
    reads = [detail for detail in details if detail["semantic_category"] == "READ"]
    for number, detail in enumerate(reads[:: max(1, len(reads) // THOROUGH)]):
        own = [re.sub(r"\W|_", "", param["name"]).lower() for param in detail["parameters"]]
        known = Queries(number, own)
        text = json.dumps(comparison.call(detail["mcpTool"], {"operation": detail["name"], "params": sample(detail)}, outcome).get("data"))
        names = sorted(set(re.findall(r'"(\w{1,30})":', text)))[:8] or ["id"]
        for _ in range(QUERIES):
            if is_http:
                upstream.expect("json:" + known.answer())
            cursors = {}
            for controls in known.calls(None if is_http else names):
                told = {}
                for name, server in comparison.servers.items():
                    given = {key: cursors.get((name, value), value) if isinstance(value, str) else value for key, value in controls.items()}
                    one = outcome(*server.call(detail["mcpTool"], {"operation": detail["name"], "params": {**sample(detail), **given}}))
                    told[name] = known.without_cursors(one, name, cursors)
                comparison.same(f"{detail['name']} {short(controls, 300)} of {upstream.behaviour[:600]}", told)
        for behaviour in ("text:hello", "image", "binary", "empty", "broken", "page:text/html", "status:404") if is_http else ():
            upstream.expect(behaviour)
            for controls in ({"_fields": ["bytes"], "_first": 1}, {"_fields": "standard", "_answer_budget": 100}):
                comparison.call(detail["mcpTool"], {"operation": detail["name"], "params": {**sample(detail), **controls}}, outcome)
        for name, server in comparison.servers.items():
            for control in ("_aggregate", "_part", "_include_items") if name in ("typescript", "python") else ():
                params = {**sample(detail), control: {"n": {"count": True}}}
                one = outcome(*server.call(detail["mcpTool"], {"operation": detail["name"], "params": params}))
                if one.get("code") != "VALIDATION_UNKNOWN_PARAM":
                    comparison.differences.append(f"{name}: {control} is not refused: {short(one, 200)}")
    upstream.expect("echo")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--document", required=True, type=Path)
    parser.add_argument("--copy", type=Path, help="folder to copy for each server; GIT_ADAPTER_DIR is set to the copy")
    parser.add_argument("--server", action="append", required=True, help="NAME=COMMAND; the first is `mcpaql serve`")
    args = parser.parse_args()
    upstream = Upstream()
    named = {one or other for one, other in VARIABLE.findall(args.document.read_text())}
    settings = {name: upstream.url if name.endswith("_URL") else f"secret-{name.lower()}" for name in named}
    place = Path(tempfile.mkdtemp(prefix="compare-"))
    servers = {}
    for server in args.server:
        name, command = server.split("=", 1)
        env = {**os.environ, **settings, "HOME": str(place), "RUST_LOG": "error"}
        if args.copy:
            env["GIT_ADAPTER_DIR"] = str(place / name / "repository")
            shutil.copytree(args.copy, env["GIT_ADAPTER_DIR"])
        servers[name] = Client(shlex.split(command), None, env, place / f"{name}.log")
    comparison = Comparison(servers)
    list_tools(comparison)
    first = next(iter(servers.values()))
    tools = first.ask("tools/list", {})["result"]["tools"]
    tool = asks_with(first, tools)
    # A small project lists only the parameters that every server takes.
    last = list(servers.values())[-1]
    details = list(of_tools(tools)) if tool is None else described(last, tool, introspect(comparison, tool))
    details = [detail for detail in details if detail["name"] != "introspect"]
    deciding = {name: server for name, server in servers.items() if decides(server, tool)}
    if len(deciding) < len(servers):
        details = [detail for detail in details if detail.get("danger") not in ("dangerous", "forbidden")]
    # A call that only some servers run changes what the others find.
    if len(deciding) == len(servers) or (deciding and "base_url" in args.document.read_text()):
        confirmations(comparison, details, upstream, deciding)
    calls(comparison, details, upstream)
    text = args.document.read_text()
    queries(comparison, details, upstream, "base_url" in text)
    if "base_url" in text:
        behaviours(comparison, details, upstream, rules=re.search(r"^ +(result|error): ", text, re.MULTILINE))
    for name, server in servers.items():
        if (status := server.close()) != 0:
            comparison.differences.append(f"{name}: exit status {status}")
    for difference in comparison.differences[:40]:
        print(difference)
    print(f"  {comparison.agreed} answers equal, {len(comparison.differences)} different ({', '.join(list(servers)[1:])})")
    shutil.rmtree(place)
    sys.exit(bool(comparison.differences))


if __name__ == "__main__":
    main()
