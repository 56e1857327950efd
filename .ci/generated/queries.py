"""Random query controls, and random answers of an API that they are about."""

import json
import random

NAMES = ["id", "name", "state", "created_at", "url", "tags", "user", "n"]
PATHS = [*NAMES, "user.login", "tags.name", "items.id", "nmae"]


class Queries:
    """A source of queries of one operation; `own` are its parameters, in lower case without marks.

    Very small budgets and numbers such as 1.0 are left out: cursors and numbers of other lengths can change where an answer is cut.
    """

    def __init__(self, seed, own):
        self.random = random.Random(seed)
        self.own = own

    def scalar(self):
        pick = self.random.choice
        return pick([None, True, False, self.random.randint(-3, 9), self.random.randint(-6, 20) + 0.25, pick(["open", "closed", "Ömer", "a", "", "10"])])

    def item(self):
        known = {"id": self.random.randint(1, 30), "name": self.scalar(), "state": self.scalar(), "created_at": f"2026-0{self.random.randint(1, 9)}-01",
                 "url": "https://api.example.com/1", "comments_url": "https://api.example.com/1/c", "n": self.scalar(), "big": 9007199254740993,
                 "tags": [{"name": self.scalar()} for _ in range(self.random.randint(0, 2))], "user": {"login": self.scalar(), "extra": None}}
        return {name: known[name] for name in self.random.sample(list(known), self.random.randint(3, len(known)))}

    def answer(self):
        """Returns the JSON of an answer: a list, alone or in an envelope, or one item."""
        items = [self.item() for _ in range(self.random.choice([0, 1, 5, 12, 40]))]
        total = self.random.choice([len(items), 99])
        data = self.random.choice([items, {"items": items, "total_count": total}, {"data": {"rows": items}, "ok": True}, {"issues": items, "next": None},
                                   self.item(), {"data": self.item()}, "text", None])
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def condition(self):
        pick = self.random.choice
        operator = pick(["gt", "gte", "lt", "lte", "contains", "starts_with", "in", "not", "exists", "startswith"])
        value = {"in": [self.scalar(), self.scalar()], "exists": pick([True, False]), "starts_with": pick(["o", "Ö", "20"])}.get(operator, self.scalar())
        return pick([self.scalar(), [self.scalar(), self.scalar()], {operator: value}, {operator: value}])

    def calls(self, names):
        """Yields the controls of one query, and of its next page. `$end` means the last cursor."""
        pick, paths = self.random.choice, [*names, "nothing", f"{names[0]}.x"] if names else PATHS
        controls = {}
        if self.random.random() < 0.6:
            controls["filter"] = {path: self.condition() for path in self.random.sample(paths, self.random.randint(1, 2))}
        if self.random.random() < 0.4:
            controls["sort"] = [{"field": pick(paths), "order": pick(["asc", "desc"])} for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.5:
            controls["fields"] = pick(["minimal", "standard", "full", self.random.sample(paths, 2), ",".join(self.random.sample(paths, 2)), 5])
        if self.random.random() < 0.2:
            controls["answer_budget"] = pick([400, 1000, 50])
        if self.random.random() < 0.1:
            controls["_nothing"] = 1
        if self.random.random() < 0.5:
            controls.update(pick([{"limit": 3, "offset": 2}, {"page": 2, "page_size": 4}, {"last": 3}, {"first": 2000}, {"first": 1, "last": 1}, {"page": 0}]))
            yield self.named(controls)
        else:
            yield self.named({**controls, "first": 4})
            yield self.named({**controls, "first": 4, "after": "$end"})

    def named(self, controls):
        """Returns the controls with an underscore where the operation has a parameter of the same name."""
        is_own = lambda name: name.replace("_", "") in self.own  # noqa: E731
        return {f"_{name}" if is_own(name) else name: value for name, value in controls.items()}

    def without_cursors(self, told, server, cursors):
        """Returns an answer without its cursors, and remembers the last one."""
        data = told.get("data")
        info = data.get("pageInfo") if isinstance(data, dict) and "items" in data else None
        if isinstance(info, dict) and "hasPreviousPage" in info:
            cursors[server, "$end"] = info.get("endCursor", "$end")
            info.update({name: "#" for name in ("startCursor", "endCursor") if name in info})
        return told
