"""Records how `mcpaql serve` answers over MCP, in the format that the specification's test runner reads.

Every answer is that of the real server. Parameters count as accepted if the server does not report them as unknown.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "generated"))

from client import Client  # noqa: E402
from samples import fitting, nested  # noqa: E402
from tracker import Tracker  # noqa: E402

# Names that other operations and the specification use. One that an operation accepts must be in its details.
CROSS_CUTTING = ["input", "fields", "preset", "filter", "sort", "aggregate", "include_items", "query", "search", "name", "names", "limit", "offset",
                 "page", "page_size", "per_page", "first", "after", "last", "before", "all_pages", "dry_run", "element_type", "if_match", "id"]
PROBE = "certainly_not_declared"
# The modes to record, and their names in the evidence; `all` is both of the others.
MODES = {"semantic": "crude", "single": "single", "all": None}


class Recorder:
    """A server, and the evidence about it."""

    def __init__(self, command, mode, version, env, folder):
        self.mode = mode
        self.client = Client(command, None, env, folder / "server.log")
        self.tools = {tool["name"] for tool in self.client.ask("tools/list", {})["result"]["tools"]}
        # In single mode, all operations are behind the one tool.
        self.reader = next((name for name in self.tools if name.endswith("_read")), None) or next(iter(self.tools))
        listed = self.introspect(query="operations")
        self.protocol = listed["data"]["_protocol"]
        self.names = [row["name"] for row in listed["data"]["operations"]]
        self.details = {name: self.introspect(query="operations", name=name)["data"]["operation"] for name in self.names}
        self.errors = []
        self.evidence = {
            "implementation": f"mcpaql, adapter {self.protocol['adapter']}, mode {mode}",
            "version": version,
            "spec_version": self.protocol["version"],
            "endpoint_modes": [],
            # The runner has another name for batches than the specification's schema.
            "capabilities": {**self.protocol["capabilities"], "batch_operations": self.protocol["capabilities"]["batch"]},
            "introspection": {"operations_list": listed, "types_list": self.introspect(query="types"), "operation_details": list(self.details.values())},
        }

    def ask(self, tool, arguments):
        envelope = self.client.call(tool, arguments)[0]
        # Content blocks beside the envelope are a matter of MCP.
        envelope.pop("blocks")
        return envelope

    def introspect(self, **params):
        return self.ask(self.reader, {"operation": "introspect", "params": params})

    def call(self, name, params):
        return self.ask(self.details[name]["mcpTool"], {"operation": name, "params": params})

    def fail(self, about, response, *mentions):
        """Records an answer that must be an error."""
        if response.get("success") is not False:
            raise SystemExit(f"{about} did not fail: {json.dumps(response)[:400]}")
        self.errors.append({"name": about, "must_mention": list(mentions), "response": response})
        return response

    def sample(self, name):
        """Returns the parameters of the operation's own example, and every required one."""
        detail = self.details[name]
        given = dict(detail["examples"][0]["request"]["params"]) if detail.get("examples") else {}
        return given | {param["name"]: fitting(param) for param in detail["parameters"] if param["required"] and param["name"] not in given}

    def accepted(self, name):
        """Returns the names that the operation does not report as unknown. Nothing runs, because one name is always unknown."""
        candidates = dict.fromkeys([param["name"] for detail in self.details.values() for param in detail["parameters"]] + CROSS_CUTTING)
        found = []
        for candidate in candidates:
            answer = self.call(name, {candidate: {}, PROBE: 1})
            # A control with a value of the wrong type is known, too.
            if candidate not in answer["error"]["details"].get("unknown_params", []):
                found.append(candidate)
        return found

    def parameters(self):
        missing, unknown = [], []
        for name, detail in self.details.items():
            fits = self.sample(name)
            for param in detail["parameters"]:
                if not param["required"]:
                    continue
                left = {key: value for key, value in fits.items() if key != param["name"]}
                response = self.fail(f"{name} without {param['name']}", self.call(name, left), param["name"])
                missing.append({"operation": name, "parameter": param["name"], "response": response})
            near = [param["name"] for param in detail["parameters"]][:1]
            for wrong in [PROBE, *(f"{param}x" for param in near)]:
                mentions = [wrong, *(near if wrong != PROBE else [])]
                response = self.fail(f"{name} with {wrong}", self.call(name, {**fits, wrong: 1}), *mentions)
                unknown.append({"operation": name, "parameter": wrong, "response": response})
            self.wrong_values(name, detail, fits)
        self.evidence["accepted_parameters"] = {name: self.accepted(name) for name in self.names}
        self.evidence["parameter_tests"] = {"missing_required": missing, "unknown_parameter": unknown, "optional_defaults": []}

    def wrong_values(self, name, detail, fits):
        """Sends values that are wrong for every parameter: another type, and whatever breaks its constraints."""
        for param in detail["parameters"]:
            place, kind = param["name"], param["type"]
            wrong = {"a wrong type": 5 if kind in ("string", "array", "object") else {"a": 1}}
            if "enum" in param:
                wrong["no value of the enum"] = "at home"
            if "maximum" in param:
                wrong["a number over the maximum"] = param["maximum"] + 1
            if "maxLength" in param:
                wrong["a text that is too long"] = "x" * (param["maxLength"] + 1)
            if kind == "string":
                wrong |= {"U+0000": "a\0b", "a text over the limit": "x" * ((1 << 20) + 1)}
            if kind in ("array", "object"):
                wrong["a value that is nested too deep"] = nested(40)
            for about, value in wrong.items():
                response = self.call(name, {**fits, place: value})
                if response["success"] is False:
                    self.fail(f"{name} with {about} in {place}", response, place)

    def envelopes(self):
        """Calls that name no operation, or one of another tool."""
        create = next(name for name, detail in self.details.items() if detail["endpoint"] == "create")
        for about, arguments in {
            "no operation": {},
            "an operation that is no text": {"operation": 5},
            "parameters that are no object": {"operation": "introspect", "params": 5},
            "an unknown operation": {"operation": "get_that_there"},
            "an operation with spaces": {"operation": "look at this"},
            **({} if self.mode == "single" else {"an operation of another tool": {"operation": create}}),
            "a batch that is no list": {"operations": 5},
            "an empty batch": {"operations": []},
            "a batch that is too long": {"operations": [{"operation": "introspect"}] * 51},
            "a batch of texts": {"operations": ["introspect"]},
            "a reference to a later item": {"operations": [{"operation": "introspect", "params": {"name": {"$result": "1.data"}}}]},
            "a reference that is no path": {"operations": [{"operation": "introspect", "params": {"name": {"$result": "at home"}}}]},
            "a dry run of a read": {"operation": "introspect", "params": {"dry_run": True}},
            "a cursor of nothing": {"operation": "introspect", "params": {"after": "at home"}},
            "types with a filter": {"operation": "introspect", "params": {"query": "types", "tag": "at"}},
        }.items():
            self.fail(about, self.ask(self.reader, arguments))

    def round_trips(self, create, get, update, identifier, fields, change):
        made = self.call(create, fields)["data"]
        chosen = {identifier: made["id"]}
        read = self.call(get, chosen)
        self.evidence.setdefault("round_trip_tests", []).append(
            {"name": f"{create}, {get}", "expected_fields": {f"data.{key}": value for key, value in fields.items()}, "read_response": read})
        self.call(update, chosen | {"input": change})
        kept = {f"data.{key}": value for key, value in read["data"].items() if key not in change and key not in ("updated_at", "_etag")}
        self.evidence.setdefault("update_preservation_tests", []).append(
            {"name": f"{update} with input", "preserved_fields": kept, "read_response": self.call(get, chosen)})

    def constraint(self, about, name, params, disclosed):
        """Records that a constraint is enforced, and whether the details of the operation disclose it."""
        response = self.fail(about, self.call(name, params))
        documented = disclosed in json.dumps(self.details[name], ensure_ascii=False)
        self.evidence.setdefault("constraint_tests", []).append({"name": about, "documented": documented, "response": response})

    def batch(self, tool, operations, succeeded):
        """Records a batch, and checks how many of its items succeeded."""
        response = self.ask(tool, {"operations": operations})
        total = len(operations)
        if response["summary"] != {"total": total, "succeeded": succeeded, "failed": total - succeeded}:
            raise SystemExit(f"unexpected batch: {json.dumps(response)[:600]}")
        for item in response["results"]:
            if item["result"]["success"] is False:
                self.fail(f"item {item['index']} of a batch", item["result"])
        self.evidence["batch_example"] = response

    def default(self, name, parameter, path, response):
        value = next(param["default"] for param in self.details[name]["parameters"] if param["name"] == parameter)
        test = {"operation": name, "parameter": parameter, "expected_value_path": path, "expected_value": value, "response": response}
        self.evidence["parameter_tests"]["optional_defaults"].append(test)

    def close(self):
        status = self.client.close()
        if status != 0:
            raise SystemExit(f"the server ended with {status}")

    def write(self, path):
        self.evidence["error_tests"] = self.errors
        path.write_text(json.dumps(self.evidence, indent=1))
        print(f"  {path.name}: {len(self.names)} operations, {len(self.errors)} errors")


def notebook(recorder):
    note = {"title": "How the heating works", "body": "Turn it\nup.", "tags": ["house", "winter"]}
    recorder.round_trips("create_note", "get_note", "update_note", "id", note, {"body": "Turn it down."})
    task = {"title": "Renew the passport", "status": "doing", "due": "2026-06-30", "priority": 2}
    recorder.round_trips("create_task", "get_task", "update_task", "id", task, {"priority": 5})
    recorder.default("create_task", "status", "data.status", recorder.call("create_task", {"title": "Plain"}))
    recorder.default("create_task", "priority", "data.priority", recorder.call("create_task", {"title": "Plain"}))
    for number in range(25):
        recorder.call("create_note", {"title": f"Note {number}"})
    recorder.default("list_notes", "first", "data.items.length", recorder.call("list_notes", {}))
    recorder.fail("a note that does not exist", recorder.call("get_note", {"id": "note_nowhere"}))
    recorder.fail("a version that is gone", recorder.call("update_note", {"id": "note_nowhere", "if_match": "7", "input": {"body": "x"}}))
    recorder.fail("a cursor of another list", recorder.call("list_notes", {"after": "at home"}), "after")
    recorder.fail("a read-only field", recorder.call("update_note", {"id": "x", "input": {"created_at": "2026-01-01T00:00:00Z"}}), "created_at")
    recorder.fail("an identifier inside input", recorder.call("update_note", {"id": "x", "input": {"id": "y"}}))
    for field in ("id", "created_at", "updated_at", "_etag"):
        recorder.constraint(f"the read-only field {field}", "update_note", {"id": "x", "input": {field: "2026-01-01T00:00:00Z"}}, field)
    recorder.constraint("a value outside an enum", "create_task", {"title": "x", "status": "never"}, '"enum"')
    recorder.constraint("a number over its maximum", "create_task", {"title": "x", "priority": 99}, '"maximum"')
    create = recorder.details["create_task"]["mcpTool"]
    recorder.batch(create, [
        {"operation": "create_task", "params": {"title": "One"}},
        {"operation": "create_task", "params": {"title": {"$result": "0.data.id"}}},
        {"operation": "create_task", "params": {}},
        {"operation": "get_task", "params": {"id": "x"}},
        {"operation": "create_task", "params": {"title": {"$result": "0.data.titel"}}},
        {"operation": "create_task", "params": {"title": {"$result": "2.data.title"}}},
        {"operation": "create_task", "params": {"title": "Three", "dry_run": True}},
    ], 3)


def tracker(recorder):
    ticket = {"title": "It does not start", "state": "closed", "labels": ["engine"]}
    recorder.round_trips("create_ticket", "get_ticket", "update_ticket", "ticket_id", ticket, {"title": "It starts"})
    recorder.default("create_ticket", "state", "data.state", recorder.call("create_ticket", {"title": "Plain"}))
    asked = recorder.call("list_tickets", {})
    asked["data"]["asked"]["per_page"] = int(asked["data"]["asked"]["per_page"])
    recorder.default("list_tickets", "per_page", "data.asked.per_page", asked)
    for status in (400, 401, 403, 404, 409, 410, 412, 413, 418, 422, 429, 500, 503):
        response = recorder.fail(f"an API that answers {status}", recorder.call("create_ticket", {"title": f"{status} please"}))
        if response["error"]["details"]["http_status"] != status:
            raise SystemExit(f"no http_status {status}: {response}")
    recorder.fail("a ticket that does not exist", recorder.call("get_ticket", {"ticket_id": "nowhere"}))
    recorder.fail("an identifier inside input", recorder.call("update_ticket", {"ticket_id": "x", "input": {"ticket_id": "y"}}), "ticket_id")
    recorder.fail("an unknown field in input", recorder.call("update_ticket", {"ticket_id": "x", "input": {"titel": "y"}}), "titel", "title")
    recorder.constraint("a value outside an enum", "create_ticket", {"title": "x", "state": "never"}, '"enum"')
    recorder.batch(recorder.details["list_tickets"]["mcpTool"], [
        {"operation": "list_tickets", "params": {"fields": "minimal"}},
        {"operation": "get_ticket", "params": {"ticket_id": "nowhere"}},
    ], 1)
    recorder.fail("an execution that does not exist", recorder.call("get_execution", {"execution_id": "exec_nowhere"}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True, help="command of `mcpaql`")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    here = Path(__file__).resolve().parent
    api = Tracker()
    version = subprocess.run([*shlex.split(args.server), "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    args.output.mkdir(parents=True, exist_ok=True)
    documents = [("notebook", here.parent.parent / "examples/notebook-adapter.md", notebook), ("tracker", here / "tracker-adapter.md", tracker)]
    for name, document, record in documents:
        recorders = []
        for mode in MODES:
            with tempfile.TemporaryDirectory(prefix="spec-") as folder:
                folder = Path(folder)
                env = {**os.environ, "TRACKER_URL": api.url, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "RUST_LOG": "error"}
                serve = [*shlex.split(args.server), "serve", str(document), "--data", str(folder), "--mode", mode]
                recorder = Recorder(serve, mode, version, env, folder)
                recorder.parameters()
                recorder.envelopes()
                record(recorder)
                recorder.close()
                recorders.append(recorder)
        # A mode counts if its server answered the same question with the same operations.
        names = recorders[0].names
        modes = [MODES[one.mode] for one in recorders if MODES[one.mode] and one.protocol["mode"] == one.mode and one.names == names]
        for recorder in recorders:
            recorder.evidence["endpoint_modes"] = modes
            recorder.write(args.output / f"{name}-{recorder.mode}.json")


if __name__ == "__main__":
    main()
