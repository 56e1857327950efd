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


class Recorder:
    """A server, and the evidence about it."""

    def __init__(self, command, version, env, folder):
        self.client = Client(command, None, env, folder / "server.log")
        self.tools = {tool["name"] for tool in self.client.ask("tools/list", {})["result"]["tools"]}
        self.reader = next(name for name in self.tools if name.endswith("_read"))
        listed = self.introspect(query="operations")
        self.protocol = listed["data"]["_protocol"]
        self.names = [row["name"] for row in listed["data"]["operations"]]
        self.details = {name: self.introspect(query="operations", name=name)["data"]["operation"] for name in self.names}
        self.errors = []
        self.evidence = {
            "implementation": f"mcpaql, adapter {self.protocol['adapter']}",
            "version": version,
            "spec_version": self.protocol["version"],
            "endpoint_modes": [],
            "capabilities": self.protocol["capabilities"],
            "introspection": {"operations_list": listed, "types_list": self.introspect(query="types"), "operation_details": list(self.details.values())},
        }

    def introspect(self, **params):
        return self.client.call(self.reader, {"operation": "introspect", "params": params})[0]

    def call(self, name, params):
        return self.client.call(self.details[name]["mcpTool"], {"operation": name, "params": params})[0]

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
            if candidate not in answer["error"]["details"]["unknown_params"]:
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
            "an operation of another tool": {"operation": create},
            "a cursor of nothing": {"operation": "introspect", "params": {"after": "at home"}},
            "types with a filter": {"operation": "introspect", "params": {"query": "types", "tag": "at"}},
        }.items():
            self.fail(about, self.client.call(self.reader, arguments)[0])

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

    def default(self, name, parameter, path, response):
        value = next(param["default"] for param in self.details[name]["parameters"] if param["name"] == parameter)
        test = {"operation": name, "parameter": parameter, "expected_value_path": path, "expected_value": value, "response": response}
        self.evidence["parameter_tests"]["optional_defaults"].append(test)

    def finish(self, path):
        self.evidence["error_tests"] = self.errors
        status = self.client.close()
        if status != 0:
            raise SystemExit(f"the server ended with {status}")
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
    for name, document, record in [("notebook", here.parent.parent / "examples/notebook-adapter.md", notebook), ("tracker", here / "tracker-adapter.md", tracker)]:
        with tempfile.TemporaryDirectory(prefix="spec-") as folder:
            folder = Path(folder)
            env = {**os.environ, "TRACKER_URL": api.url, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "RUST_LOG": "error"}
            serve = [*shlex.split(args.server), "serve", str(document), "--data", str(folder)]
            recorder = Recorder(serve, version, env, folder)
            recorder.parameters()
            recorder.envelopes()
            record(recorder)
            # Both modes are recorded if the single tool answers the same question.
            modes = {"crude": recorder.protocol["mode"] == "semantic"}
            single = Client([*serve, "--mode", "single"], None, env, folder / "single.log")
            (tool,) = [tool["name"] for tool in single.ask("tools/list", {})["result"]["tools"]]
            listed = single.call(tool, {"operation": "introspect", "params": {"query": "operations"}})[0]
            modes["single"] = [row["name"] for row in listed["data"]["operations"]] == recorder.names
            single.close()
            recorder.evidence["endpoint_modes"] = [mode for mode, works in modes.items() if works]
            recorder.finish(args.output / f"{name}.json")


if __name__ == "__main__":
    main()
