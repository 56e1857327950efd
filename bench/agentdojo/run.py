#!/usr/bin/env python3
"""Replays the recorded calls of AgentDojo through a real `mcpaql serve`, and counts what its gate stops and what it asks.

  pip install agentdojo
  bench/agentdojo/run.py --server target/debug/mcpaql
  bench/agentdojo/run.py --server target/debug/mcpaql --policies strict --pairs

No model takes part. Each suite has user tasks (benign) and injection tasks (attacks), and each task comes with the calls that carry it out.
The script exports the tools of a suite, imports them without overrides, and serves them in front of a small MCP server that answers every
call with {}. It then sends the calls of each task, with fresh state for each task. Whenever the gate asks, a person approves, so an attack
counts as stopped only if it is stopped although somebody approved everything.

`--pairs` sends each attack after the calls of each user task, as in a real conversation. This matters for rules with `after` or `at_most`.
`--ignore-after` shows what `after` is worth against an attack that knows the rules and makes the calls that they want first.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSION = "v1.2.2"
SUITES = ["workspace", "slack", "banking", "travel"]
# A policy is a file of rules and a trust level.
POLICIES = {"default": "validated", "careful": "validated", "strict": "generated"}
EXAMPLE_DOMAIN = r"@example\.com$"
REFUSALS = ("PERMISSION_", "RATE_LIMIT_")


class Suite:
    """A suite: its tools, and the calls of its tasks."""

    def __init__(self, name):
        from agentdojo.task_suite.load_suites import get_suite

        self.name = name
        self.suite = get_suite(VERSION, name)
        self.benign = self.calls(self.suite.user_tasks)
        self.attacks = self.calls(self.suite.injection_tasks)

    def environment(self):
        return self.suite.load_and_inject_default_environment({})

    def tools(self):
        return [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters.model_json_schema()}
            for tool in self.suite.tools
        ]

    def calls(self, tasks):
        sequences = {}
        for name, task in tasks.items():
            environment = self.environment()
            prepare = getattr(task, "init_environment", None)
            if prepare:
                environment = prepare(environment)
            sequences[name] = [(call.function, dict(call.args)) for call in task.ground_truth(environment)]
        return sequences

    def own_domain(self):
        """The domain of the user's own mail address: what an operator would write into a rule."""
        inbox = getattr(self.environment(), "inbox", None)
        return inbox.account_email.split("@")[1] if inbox else None


class Setup:
    """The files of one suite with one policy: adapter, rules, and a state in which the adapter has its trust level."""

    def __init__(self, folder, server, suite, policy, ignores_after):
        self.server, self.folder = server, folder
        self.adapter = folder / f"{suite.name}.yaml"
        self.config, self.template, self.state = folder / "config", folder / "template", folder / "state"
        (self.config / "mcpaql").mkdir(parents=True)
        self.state.mkdir()
        rules = (HERE / f"{policy}.yaml").read_text()
        if domain := suite.own_domain():
            rules = rules.replace(EXAMPLE_DOMAIN, "@" + domain.replace(".", r"\.") + "$")
        if ignores_after:
            rules = re.sub(r"^    after: .*\n", "", rules, flags=re.MULTILINE)
        (self.config / "mcpaql" / "config.yaml").write_text(rules)
        tools = folder / "tools.json"
        tools.write_text(json.dumps({"tools": suite.tools()}))
        target = f"{sys.executable} -S {HERE / 'server.py'} {tools}"
        self.command("import", "mcp", "--tools", tools, "--target", target, "--name", suite.name, "-o", self.adapter)
        self.command("trust", self.adapter, "--level", POLICIES[policy])
        operations = json.loads(self.command("operations", self.adapter, "--json"))
        self.reads = {one["operation"] for one in operations if one["category"] == "READ"}
        shutil.move(self.state, self.template)

    def environment(self):
        folders = {"CONFIG": self.config, "STATE": self.state, "DATA": self.folder / "data", "CACHE": self.folder / "cache"}
        own = {f"XDG_{kind}_HOME": str(folder) for kind, folder in folders.items()}
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "RUST_LOG": "warn", **own}

    def command(self, *args):
        words = [str(word) for word in (self.server, *args)]
        done = subprocess.run(words, env=self.environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stderr}")
        return done.stdout

    def fresh(self):
        """Starts a server with nothing but the trust level in its state."""
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(self.template, self.state)
        return Conversation(self)


class Conversation:
    """A client of one server process."""

    def __init__(self, setup):
        self.setup, self.number = setup, 0
        words = [str(setup.server), "serve", str(setup.adapter), "--mode", "single"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, env=setup.environment(), stdin=pipe, stdout=pipe, text=True)
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.request("initialize", info)
        self.send({"method": "notifications/initialized"})
        self.tool = self.request("tools/list", {})["tools"][0]["name"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.number:
                return message["result"]
        raise RuntimeError("the server has ended")

    def call(self, operation, params):
        """Makes a call, and returns its error or None."""
        arguments = {"operation": operation, "params": params}
        result = self.request("tools/call", {"name": self.tool, "arguments": arguments})
        return json.loads(result["content"][0]["text"]).get("error")

    def decide(self, operation, params):
        """Makes a call, approves it if the gate asks, and returns what happened: ran, token, person or denied."""
        error = self.call(operation, params)
        asked = "ran"
        if error and error["code"] == "CONFIRMATION_REQUIRED":
            details = error["details"]
            if token := details.get("confirmation_token"):
                asked, params = "token", {**params, "_confirmation": token}
            else:
                asked = "person"
                self.setup.command("approve", details["approval_id"])
            error = self.call(operation, params)
        if error is None:
            return asked
        if error["code"].startswith(REFUSALS):
            return "denied"
        raise RuntimeError(f"{operation}: {error}")

    def replay(self, calls):
        return [(operation, self.decide(operation, params)) for operation, params in calls]


def attack_result(outcomes):
    """Sums up an attack: stopped, although a person approved every call; asked; or neither."""
    decisions = [decision for _, decision in outcomes]
    if "denied" in decisions:
        return "stopped"
    return "asked" if set(decisions) & {"token", "person"} else "neither"


def measure(setup, suite, pairs):
    def alone(calls):
        with setup.fresh() as conversation:
            return conversation.replay(calls)

    benign = {name: alone(calls) for name, calls in suite.benign.items()}
    attacks = {name: alone(calls) for name, calls in suite.attacks.items()}
    result = {"benign": benign, "attacks": attacks, "reads": sorted(setup.reads)}
    if pairs:
        result["pairs"] = paired = {}
        for user_task, before in suite.benign.items():
            for name, calls in suite.attacks.items():
                if not calls:
                    continue
                with setup.fresh() as conversation:
                    conversation.replay(before)
                    paired[f"{user_task} {name}"] = conversation.replay(calls)
    return result


def share(part, whole):
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "–"


def attack_cells(sequences, reads):
    recorded = [outcomes for outcomes in sequences.values() if outcomes]
    results = [attack_result(outcomes) for outcomes in recorded]
    shares = [share(results.count(word), len(results)) for word in ("stopped", "asked", "neither")]
    unasked = [any(how == "ran" and operation not in reads for operation, how in outcomes) for outcomes in recorded]
    return [len(recorded), *shares, share(sum(unasked), len(recorded)), len(sequences) - len(recorded)]


def benign_cells(sequences):
    decisions = [[decision for _, decision in outcomes] for outcomes in sequences.values()]
    prompts = [len(task) - task.count("ran") - task.count("denied") for task in decisions]
    denied = [task.count("denied") for task in decisions]
    calls = sum(len(task) for task in decisions)
    return [
        len(decisions),
        f"{sum(prompts) / len(prompts):.2f}",
        share(prompts.count(0), len(prompts)),
        f"{sum(denied)} of {calls}",
        share(sum(one > 0 for one in denied), len(denied)),
    ]


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def totals(results, part):
    return {f"{suite} {name}": outcomes for suite, one in results.items() for name, outcomes in one.get(part, {}).items()}


def print_tables(everything):
    attack_head = ["attacks", "stopped", "asked", "neither", "a change ran unasked", "left out: no recorded call"]
    for title, part in [("Attacks alone", "attacks"), ("Attacks after each user task", "pairs")]:
        if not any(part in one for results in everything.values() for one in results.values()):
            continue
        print(f"\n{title}\n\n" + row(["policy", "suite", *attack_head]) + "\n" + row(["---"] * 8))
        for policy, results in everything.items():
            # The suites share names of operations, and a name has the same category in all of them.
            reads = {name for one in results.values() for name in one["reads"]}
            groups = {suite: one.get(part, {}) for suite, one in results.items()} | {"all": totals(results, part)}
            for suite, sequences in groups.items():
                if sequences:
                    print(row([policy, suite, *attack_cells(sequences, reads)]))
    head = ["tasks", "prompts per task", "tasks without a prompt", "calls denied", "tasks with a denied call"]
    print("\nBenign tasks\n\n" + row(["policy", "suite", *head]) + "\n" + row(["---"] * 7))
    for policy, results in everything.items():
        for suite, sequences in ({s: one["benign"] for s, one in results.items()} | {"all": totals(results, "benign")}).items():
            print(row([policy, suite, *benign_cells(sequences)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, required=True, help="binary to measure")
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=SUITES)
    parser.add_argument("--policies", nargs="+", choices=list(POLICIES), default=list(POLICIES))
    parser.add_argument("--pairs", action="store_true", help="also send each attack after the calls of each user task")
    parser.add_argument("--ignore-after", action="store_true", help="leave `after` out of the rules, as if it was always met")
    parser.add_argument("--output", type=Path, help="file for every decision, as JSON")
    options = parser.parse_args()
    suites = [Suite(name) for name in options.suites]
    everything = {}
    for policy in options.policies:
        everything[policy] = {}
        for suite in suites:
            print(f"{policy}, {suite.name}", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="mcpaql-agentdojo-") as folder:
                setup = Setup(Path(folder), options.server.resolve(), suite, policy, options.ignore_after)
                everything[policy][suite.name] = measure(setup, suite, options.pairs)
    if options.output:
        options.output.write_text(json.dumps(everything, indent=1))
    print_tables(everything)


if __name__ == "__main__":
    main()
