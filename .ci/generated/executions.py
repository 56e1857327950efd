"""What is asked of servers with work that goes on in the background."""

import json
import os
import signal
import time

from client import STATELESS, TASKS
from tools import Story

GONE = 10


class Works(Story):
    """Work of one server, by the names that the battery gives it."""

    def start(self, name, params=None, called="it"):
        return self.call(name, params, remember=called)

    def get(self, called="it", **params):
        return self.call("get_execution", {"execution_id": self.id(called), **params})

    def cancel(self, called="it"):
        return self.call("cancel_execution", {"execution_id": self.id(called)})

    def id(self, called):
        return self.server.remembered[called]

    def program(self, mark):
        """The process of a `hold`, once it runs."""
        path, deadline = self.server.home / f"pid-{mark}", time.monotonic() + GONE
        while not (path.exists() and path.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return int(path.read_text())

    def ends(self, mark):
        """Whether the process of a `hold` ends."""
        pid, deadline = self.program(mark), time.monotonic() + GONE
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
            time.sleep(0.02)
        return not os.path.exists(f"/proc/{pid}")


def about_executions(server, battery):
    works = Works(server, battery)
    yield from about_outcomes(works)
    yield from about_lists(works)
    yield from about_cancelling(works)
    yield from about_several_processes(works)
    yield from about_tasks(works)
    yield from about_many(works)
    yield from about_ends(works)


def about_outcomes(works):
    """Each way in which work ends."""
    yield "start", works.start("build_site", {"branch": "site-main", "token": "very-secret"})
    yield "get", works.get(wait=20)
    yield "get again", works.get()
    yield "get in camel case", works.call("get_execution", {"executionId": works.id("it")})
    yield "cancel what has ended", works.cancel()
    yield "slow", works.start("build_site", {"branch": "site-slow", "seconds": 1.2}, "slow")
    yield "not yet", works.get("slow")
    yield "too little patience", works.get("slow", wait=0.2)
    waiting = works.battery.calling("get_execution", {"execution_id": works.id("slow"), "wait": 20}, _meta={"progressToken": "w"})
    works.client.notes.clear()
    yield "patience", works.server.compared(works.client.ask("tools/call", waiting))
    yield "first news", works.server.canonical([note["params"] for note in works.client.notes[:1]])
    for name in ("fail_late", "fail_oddly", "break_off", "take_too_long", "flood", "drown"):
        yield name, works.start(name, called=name)
        yield f"{name} ended", works.get(name, wait=20)
        yield f"{name} cancelled", works.cancel(name)
    yield "forget", works.start("forget_soon", called="forgotten")
    yield "kept", works.get("forgotten", wait=20)
    time.sleep(3.1)
    yield "forgotten", works.get("forgotten")
    yield "without a life", works.call("run_quickly")
    for wrong in ({}, {"execution_id": ""}, {"execution_id": "nothing"}, {"execution_id": "a/../ü b"}, {"execution_id": "x" * 65}, {"execution_id": 3},
                  {"execution_id": works.id("it"), "wait": 31}, {"execution_id": works.id("it"), "wait": -1}, {"execution_id": works.id("it"), "wait": "5"}):
        yield f"wrong get {wrong}", works.call("get_execution", wrong)
    for wrong in ({}, {"execution_id": "nothing"}, {"execution_id": works.id("it"), "wait": 1}):
        yield f"wrong cancel {wrong}", works.call("cancel_execution", wrong)
    yield "batch", works.server.compared(works.client.ask("tools/call", {"name": works.battery.by_name["build_site"]["mcpTool"], "arguments": {"operations": [
        {"operation": "run_quickly"}, {"operation": "build_site", "params": {"branch": "wrong"}}]}}))


def about_lists(works):
    """Pages, the newest first, and cursors that are none."""
    yield "all", works.call("list_executions")
    for status in ("pending", "running", "completed", "failed", "cancelled", "lost"):
        yield f"list {status}", works.call("list_executions", {"status": status})
    after, pages = None, 0
    while pages < 20:
        page = works.client.ask("tools/call", works.battery.calling("list_executions", {"first": 3, **({"after": after} if after else {})}))
        info = json.loads(page["result"]["content"][0]["text"])["data"]["pageInfo"]
        yield "page", without_cursor(works.server.compared(page))
        after, pages = info["endCursor"], pages + 1
        if not info["hasNextPage"]:
            break
    yield "pages", pages
    yield "behind the last", without_cursor(works.call("list_executions", {"after": after}))
    cursors = ["zzz", "", "x", "x0", "x-1", "x02f", "x2F", "x" * 65, 3]
    for wrong in (*({"after": cursor} for cursor in cursors),
                  {"first": 0}, {"first": 201}, {"first": 1.5}, {"first": "2"}, {"last": 2}, {"fields": "minimal"}):
        yield f"wrong page {wrong}", without_cursor(works.call("list_executions", wrong))
    yield "largest page", without_cursor(works.call("list_executions", {"first": 200}))


def about_cancelling(works):
    yield "hold", works.start("hold", {"mark": "mark1"})
    works.program("mark1")
    yield "held", works.get()
    yield "cancel", works.cancel()
    yield "its program ends", works.ends("mark1")
    yield "cancelled", works.get(wait=5)
    yield "cancel again", works.cancel()


def about_several_processes(works):
    """Other processes see the same work, and what one leaves behind when it is killed."""
    server, battery = works.server, works.battery
    other = Works(server, battery, server.start())
    yield "hold", works.start("hold", {"mark": "mark2"})
    works.program("mark2")
    yield "seen by another", other.get()
    yield "listed by another", other.call("list_executions", {"status": "running"})
    yield "cancelled by another", other.cancel()
    yield "its program ends", works.ends("mark2")
    yield "cancelled", works.get(wait=5)
    yield "work of another", other.start("build_site", {"branch": "site-other", "seconds": 0.5})
    yield "waited for", works.get(wait=20)
    yield "hold", other.start("hold", {"mark": "mark3"}, "orphan")
    pid = other.program("mark3")
    other.client.kill()
    yield "left behind", works.get("orphan")
    yield "left behind, cancelled", works.cancel("orphan")
    yield "hold", works.start("hold", {"mark": "mark4"}, "mine")
    works.program("mark4")
    another = Works(server, battery, server.start())
    yield "started again", another.call("list_executions", {"first": 3})
    yield "still running", another.get("mine")
    yield "end of another", another.client.close()
    yield "not its to end", works.get("mine")
    yield "cancel", works.cancel("mine")
    # Whoever is killed cannot end what it started.
    os.kill(pid, signal.SIGKILL)


def about_tasks(works):
    """The same work as clients see it that know MCP's tasks."""
    server, battery = works.server, works.battery
    for revision in ("2025-11-25", STATELESS):
        other = Works(server, battery, server.start(TASKS, revision))

        def ask(method, called, client=other.client):
            return server.compared(client.ask(method, {"taskId": server.remembered.get(called, called)}))

        yield "task", other.start("build_site", {"branch": "site-task"}, "task")
        yield "ended", other.get("task", wait=20)
        yield "its end", ask("tasks/get", "task")
        yield "too late", ask("tasks/cancel", "task")
        yield "failing task", other.start("fail_late", called="failing")
        yield "failed", other.get("failing", wait=20)
        yield "its failure", ask("tasks/get", "failing")
        yield "long task", other.start("hold", {"mark": "mark50"}, "long")
        yield "long task works", ask("tasks/get", "long")
        yield "cancel", ask("tasks/cancel", "long")
        yield "cancelled", ask("tasks/get", "long")
        for method in ("tasks/get", "tasks/cancel"):
            yield f"{method} of nothing", ask(method, "nothing")
        yield "no task", other.call("run_quickly")
        yield "wrong", other.call("build_site", {})
        yield "exit", other.client.close()


def about_many(works):
    """So many run together, so many wait, and the rest is refused."""
    calls = [works.battery.calling("hold", {"mark": f"mark{number}"}) for number in range(100, 372)]
    for number, call in enumerate(calls):
        answer = works.client.ask("tools/call", call)
        if number in (0, 15, 16, 17, 271):
            yield f"number {number}", works.server.compared(answer, remember=f"number {number}")
    yield "too many", works.call("hold", {"mark": "mark999"})
    yield "pending", works.get("number 271", wait=0.1)
    yield "cancel what waits", works.cancel("number 271")
    yield "list what waits", works.call("list_executions", {"status": "pending", "first": 1})["content"][0]["text"]["data"]["executions"][0]["status"]
    yield "cancel what runs", works.cancel("number 0")
    works.program("mark116")
    yield "the next one runs", works.get("number 16")


def about_ends(works):
    """What becomes of work when its session ends, and when the server does."""
    server, battery = works.server, works.battery
    other = Works(server, battery, server.start())
    yield "hold", other.start("hold", {"mark": "mark5"}, "ends")
    yield "hold anyway", other.start("hold_anyway", {"mark": "mark6"}, "survives")
    other.program("mark5"), other.program("mark6")
    yield "exit of another", other.client.close()
    yield "its programs end", [works.ends("mark5"), works.ends("mark6")]
    yield "ended with its session", works.get("ends")
    yield "ended with its server", works.get("survives")
    other = Works(server, battery, server.start())
    yield "hold", other.start("hold", {"mark": "mark7"}, "hung up")
    other.program("mark7")
    # `mcpaql serve` reads its files again at a hangup.
    other.client.process.send_signal(signal.SIGTERM if server.name == "serve" else signal.SIGHUP)
    yield "exit at a hangup", other.client.process.wait(20)
    yield "its program ends", works.ends("mark7")
    yield "ended with its terminal", works.get("hung up")


def about_work_over_http(server, battery):
    """Work of an HTTP API: its time, its failures, and that cancelling drops the request."""
    works, upstream = Works(server, battery), server.upstream
    for behaviour in ("echo", "status:404", "status:500", "text:plain words", "large", "reset", "away"):
        upstream.expect(behaviour)
        yield f"start, {behaviour}", works.start("count_stock", {"zone": "zone-1", "key": "very-secret"})
        yield f"end, {behaviour}", works.get(wait=20)
    upstream.expect("hang")
    yield "hang", works.start("count_stock", {"zone": "zone-2"})
    yield "reached", upstream.arrived.wait(20)
    yield "cancel", works.cancel()
    yield "dropped", upstream.left.wait(20)
    upstream.expect("hang")
    yield "hang again", works.start("count_stock", {"zone": "zone-3"})
    yield "too long", works.get(wait=20)
    upstream.expect("echo")


def without_cursor(answer):
    """A page without its cursor, which each server spells in its own way."""
    data = answer["content"][0]["text"].get("data") if "content" in answer else None
    if isinstance(data, dict) and "pageInfo" in data:
        data["pageInfo"]["endCursor"] = bool(data["pageInfo"]["endCursor"])
    return answer
