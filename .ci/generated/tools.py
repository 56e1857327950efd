"""What is asked of servers that pass calls on to another MCP server, the one of toolserver.py."""

import time

from client import ASKED, STATELESS
from toolbox import FAILURES, HTTP_MISBEHAVIOURS, MISBEHAVIOURS, QUESTIONS, REFUSALS, RESULTS

# How a client may answer what it is asked.
REPLIES = {
    "accepts": {},
    "declines": {"elicitation/create": {"result": {"action": "decline"}}},
    "refuses": {
        "elicitation/create": {"error": {"code": 7, "message": "no", "data": [1]}},
        "sampling/createMessage": {"error": {"code": -1, "message": "The user said no"}},
    },
}
# After these the server behind has gone, and is left alone for so many seconds before it is tried again.
ENDINGS = {"exit": 0, "exit_with_words": 0.5, "answer_and_exit": 1, "status_404": 0.5}
ONLY_OVER_STREAMS = {"exit", "exit_with_words", "answer_and_exit", "huge_line"}


class Story:
    """Calls of one server, one after the other."""

    def __init__(self, server, battery, client=None, target=None):
        self.server, self.battery, self.client, self.target = server, battery, client or server.client, target

    def call(self, name, params=None, remember=None, **more):
        params = dict(params or {})
        if self.target:
            params["target"] = self.target
        return self.server.compared(self.client.ask("tools/call", self.battery.calling(name, params, **more)), remember)

    def heard(self, name, params=None, **more):
        """An answer, and everything that was heard on the way to it."""
        self.client.notes.clear()
        answer = self.call(name, params, **more)
        said = [{"method": note["method"], "params": note.get("params", {})} for note in self.client.notes]
        for note in said:
            # What libraries add on their own.
            note["params"].pop("_meta", None)
        return {"answer": answer, "heard": self.server.canonical(said)}

    def recalled(self, wanted):
        """What the server behind has heard of that kind, once there is something."""
        deadline, heard = time.monotonic() + 5, []
        while not heard and time.monotonic() < deadline:
            answer = self.call("recall")["content"][0]["text"]
            # Calls of before may have been called off late.
            heard = [one for one in answer.get("data", {}).get("heard", []) if one.get(wanted, "another call") != "another call"]
        return heard


def about_tools(server, battery):
    is_far = "target" in [param["name"] for param in battery.by_name["tell"]["parameters"]]
    story = Story(server, battery)
    yield from about_conversation(story)
    yield from about_answers(story)
    yield from about_offers(story)
    yield from about_questions(story)
    yield from about_misbehaviour(story, [*MISBEHAVIOURS, *HTTP_MISBEHAVIOURS] if is_far else MISBEHAVIOURS, is_far)
    yield from about_hanging(story)
    yield from about_long_work(story)
    if is_far:
        stateless = Story(server, battery, target="stateless")
        yield "stateless", stateless.call("look_around")
        yield from about_answers(stateless)
        yield from about_questions(stateless)
        yield "stateless logs", stateless.heard("write_log")
        yield "no such target", Story(server, battery, target="nowhere").call("tell", {"case": "words"})
    yield from about_other_clients(server, battery, is_far)


def about_conversation(story):
    """How the server behind was greeted, and what it is given."""
    yield "surroundings", story.call("look_around")
    for level in (None, "warning", "debug", "loud"):
        if level:
            yield f"level {level}", story.server.compared(story.client.ask("logging/setLevel", {"level": level}))
        yield f"logs of level {level}", story.heard("write_log")
        yield "levels", story.call("recall")
    for params in ({}, {"steps": 2}, {"steps": 4, "total": False}):
        yield "progress", story.heard("work", params, _meta={"progressToken": "p7"})
        yield "no progress", story.heard("work", {"steps": 1})
    numbers = [story.client.begin("tools/call", story.battery.calling("work", {"steps": steps})) for steps in (4, 1, 3, 2)]
    numbers.append(story.client.begin("tools/call", story.battery.calling("tell", {"case": "words"})))
    yield "side by side", [story.server.compared(story.client.answer_to(number)) for number in numbers]


def about_answers(story):
    """Everything that a tool may answer."""
    for case in RESULTS:
        yield f"tell {case}", story.call("tell", {"case": case})
    for case in FAILURES:
        yield f"fail {case}", story.call("fail", {"case": case})
    for case in REFUSALS:
        yield f"refuse {case}", story.call("refuse", {"case": case})
    for data in ({"a": 1}, "words", [1, None], None, {"long": "x" * 9000}, 12345678901234567890):
        yield "refuse with data", story.call("refuse", {"case": "params", "data": data})
    secret = {"item_name": "lamp", "kind": "big", "api_key": "very-secret-key"}
    yield "everything given", story.call("create_item", {**secret, "count": 12345678901234567890, "ratio": 1.50, "node": {"name": "n", "children": [{"name": "m"}]}})
    for name, params in [("list_labels", {}), ("add_label", {"label": "x"}), ("add_label", {"label": "x", "action": "delete"}), ("manage_label", {"action": "delete"})]:
        yield name, story.call(name, params)


def about_offers(story):
    """Resources and prompts."""
    for method, params in [
        ("prompts/list", {}), ("resources/list", {}), ("resources/templates/list", {}), ("prompts/list", {"cursor": "x"}),
        ("prompts/get", {"name": "{adapter}_greet", "arguments": {"who": "ann"}}), ("prompts/get", {"name": "{adapter}_greet"}),
        ("prompts/get", {"name": "greet"}), ("prompts/get", {"name": "{adapter}_nothing"}), ("prompts/get", {"name": "{adapter}_silent"}), ("prompts/get", {"name": ""}),
        ("resources/read", {"uri": "mcpaql://{adapter}/file:///notes/a b?x=1#y"}), ("resources/read", {"uri": "file:///notes/b"}),
        ("resources/read", {"uri": "mcpaql://{adapter}/file:///missing"}), ("resources/read", {"uri": "mcpaql://nobody/x"}), ("resources/read", {"uri": ""}),
    ]:
        adapter = story.battery.tools[0]["name"].split("_mcpaql")[0]
        params = {key: value.replace("{adapter}", adapter) if isinstance(value, str) else value for key, value in params.items()}
        yield f"{method} {params}", story.server.compared(story.client.ask(method, params))


def about_questions(story):
    """What the server behind asks goes to the client, and its answer back."""
    for how, replies in REPLIES.items():
        known = dict(story.client.replies)
        story.client.replies.update(replies)
        for case in QUESTIONS:
            yield f"ask {case}, who {how}", story.heard("ask_user", {"case": case})
        story.client.replies = known
    yield "recall", story.call("recall")


def about_misbehaviour(story, cases, is_far):
    """A server behind that breaks the protocol costs no more than its call."""
    for case in cases:
        if case == "hang" or (is_far and case in ONLY_OVER_STREAMS):
            continue
        yield f"misbehave {case}", story.heard("misbehave", {"case": case})
        if case in ("unknown_request", "ping"):
            yield "its answer", story.recalled("answer")
        if case == "exit_with_words":
            yield "left alone", story.call("tell", {"case": "words"})
        time.sleep(ENDINGS.get(case, 0) * 1.3)
        yield f"after {case}", story.call("tell", {"case": "words"})


def about_hanging(story):
    """Calls that take too long, and calls that are called off."""
    yield "too long", story.call("misbehave", {"case": "hang"})
    yield "told of it", story.recalled("cancelled")
    number = story.client.begin("tools/call", story.battery.calling("misbehave", {"case": "hang"}))
    time.sleep(0.3)
    story.client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "enough"}})
    yield "called off", story.recalled("cancelled")
    yield "news keep a call alive", story.call("work", {"steps": 9, "total": False}) if not story.target else None
    yield "answers afterwards", number in story.client.strays


def about_long_work(story):
    """A tool in the background."""
    yield "work", story.call("work_long", {"steps": 4}, remember="work")
    work = {"execution_id": story.server.remembered["work"]}
    yield "work ended", story.call("get_execution", {**work, "wait": 20})
    yield "hang", story.call("hang_long", remember="hang")
    hang = {"execution_id": story.server.remembered["hang"]}
    time.sleep(0.3)
    yield "cancelled", story.call("cancel_execution", hang)
    yield "told of it", story.recalled("cancelled")
    yield "both", story.call("list_executions")
    nobody = story.call("hang_long", remember="last")
    yield "left running", nobody


def about_other_clients(server, battery, is_far):
    """Clients that cannot be asked, and servers that do not get what they need."""
    story = Story(server, battery, server.start())
    for case in QUESTIONS:
        yield f"nobody to ask {case}", story.heard("ask_user", {"case": case})
    yield "exit of the other", story.client.close()
    yield from about_questions_without_a_handshake(server, battery)
    wrong = [{"TOOLS_URL": "http://127.0.0.1:1/mcp"}, {"TOOLS_TOKEN": "another-token"}, {"TOOLS_TOKEN": None}] if is_far else [{"PATH": "/nowhere"}]
    for env in wrong:
        story = Story(server, battery, server.start(**env))
        for _ in range(2):
            yield f"with {env}", story.call("tell", {"case": "words"})
        yield f"exit with {env}", story.client.close()


def about_questions_without_a_handshake(server, battery):
    """There a question is the answer to the request, and the client's answer comes with the request again."""
    client = server.start(ASKED, STATELESS)
    yield "stateless client", server.compared(client.ask("tools/list", {}))
    yield from about_offers(Story(server, battery, client))
    for case in QUESTIONS:
        call = battery.calling("ask_user", {"case": case})
        asked = client.ask("tools/call", call)
        state = asked.get("result", {}).get("requestState")
        for question in asked.get("result", {}).get("inputRequests", {}).values():
            # This revision has no such member any more, and some libraries leave it out.
            question["params"].pop("elicitationId", None)
        yield f"asks {case}", server.compared(asked)
        for answer in ({"action": "accept", "content": {"colour": "blue"}}, {"action": "decline"}):
            answered = client.ask("tools/call", {**call, "inputResponses": {"question": answer}, "requestState": state})
            yield f"answered {case}", server.compared(answered)
    yield "left open", server.compared(client.ask("tools/call", battery.calling("ask_user", {"case": "form"})))
    yield "asks all the same", server.compared(client.ask("tools/call", battery.calling("ask_user", {"case": "form"})))
    yield "exit of the stateless client", client.close()
