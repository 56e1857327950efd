"""The embedded store: records of declared resources in one SQLite file, which `mcpaql serve` may share.

What always holds: a write that was answered is on disk (WAL with a sync per commit); an update merges within one
transaction, so that concurrent updates never lose one another; several adapters and several processes may share a file.

Newest first means by order of creation, which no update changes, so that a cursor stays valid.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from . import jsontext, text
from .datafile import Layout, open_file
from .errors import Code, OpError
from .response import Answer, Raw
from .stamp import fresh_id, now, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .bindings import Args, Resource, StoreAction, StoreTarget
    from .jsontext import Json

FILE = "mcpaql.sqlite"
"""One file for all stores of a data folder."""

RECORD_KEYS = ("id", "created_at", "updated_at", "_etag")
"""What a record has besides its fields."""

_LAYOUT = Layout(
    0x6D61716C,  # "maql"
    """
    CREATE TABLE records (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        adapter TEXT NOT NULL,
        resource TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        body TEXT NOT NULL,
        head TEXT NOT NULL,
        rest TEXT NOT NULL,
        UNIQUE (adapter, resource, id)
    ) STRICT;
    CREATE INDEX records_newest ON records (adapter, resource, seq);
    CREATE TABLE indexed (
        adapter TEXT NOT NULL,
        resource TEXT NOT NULL,
        search TEXT NOT NULL,
        PRIMARY KEY (adapter, resource)
    ) STRICT, WITHOUT ROWID;
    """,
)

_ID_ATTEMPTS = 8
"""An id is taken only if two records share a millisecond and 19 random bits."""

_MAX_RECORD_BYTES = 1 << 20
"""Largest record. What is larger could be written but hardly be read again."""
_PAGE, _PAGE_LIMIT = 25, 100
_MOST_WORDS = 32
"""More words than that are not a query."""

_COLUMNS = "seq, id, version, created_at, updated_at, body"
_CURSOR = re.compile(r"c([01])\.([1-9a-f][0-9a-f]{0,15})")
_LAST = (1 << 63) - 1

CheckFields: TypeAlias = Callable[[str, "dict[str, Json]"], None]
"""Raises `OpError` where the fields of a record of that resource are not as they must be."""


@dataclass(frozen=True, slots=True)
class _Record:
    """A stored record. The body is a JSON object as text, never parsed on the way out."""

    id: str
    version: int
    created_at: int
    updated_at: int
    body: str

    def text(self) -> str:
        """The record as clients see it."""
        fields = self.body.strip()[1:-1]
        times = f'"created_at":"{timestamp(self.created_at)}","updated_at":"{timestamp(self.updated_at)}"'
        # Ids are made of letters and digits alone, so they need no escaping.
        return f'{{"id":"{self.id}",{fields + "," if fields.strip() else ""}{times},"_etag":"{self.version}"}}'


class Store:
    """The embedded store of one adapter."""

    def __init__(self, path: Path, adapter: str, target: StoreTarget, check: CheckFields) -> None:
        """Opens the store in that file, making file and folder where there are none.

        Raises `StoreError` where the file cannot be made or read, is damaged, belongs to another program or a newer
        version.
        """
        self._adapter = adapter
        self._target = target
        self._check = check
        self._file = open_file(path, _LAYOUT)
        # Held by the threads that work, so that a cancelled call does not let go of it too early.
        self._one_at_a_time = threading.Lock()
        self._index_anew()

    async def call(self, action: StoreAction, args: Args) -> Answer:
        """Runs one call.

        Raises `OpError` for what the store has against it.
        """
        resource = self._target.resources.get(action.resource)
        if resource is None:
            raise _internal(f"the store has no resource {action.resource}")
        try:
            return await asyncio.to_thread(self._work, action, resource, args)
        except sqlite3.Error as error:
            raise _broken(error) from None

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def _work(self, action: StoreAction, resource: Resource, args: Args) -> Answer:
        work: Callable[[str, Resource, Args], Answer] = getattr(self, f"_{action.action}")
        with self._one_at_a_time:
            return work(action.resource, resource, args)

    def _create(self, name: str, resource: Resource, args: Args) -> Answer:
        fields: dict[str, Json] = {}
        _merge(fields, {field: args[field] for field in resource.fields if field in args})
        self._check(name, fields)
        head, rest = _search_text(resource, fields)
        body, created = _written(fields), now()
        for _ in range(_ID_ATTEMPTS):
            record = _Record(fresh_id(name), 1, created, created, body)
            try:
                self._file.execute(
                    "INSERT INTO records (adapter, resource, id, version, created_at, updated_at, body, head, rest) "
                    "VALUES (?1, ?2, ?3, 1, ?4, ?4, ?5, ?6, ?7)",
                    (self._adapter, name, record.id, created, body, head, rest),
                )
            except sqlite3.IntegrityError:
                continue
            return Answer(Raw(record.text()))
        raise _internal("no free id found")

    def _get(self, name: str, resource: Resource, args: Args) -> Answer:
        return Answer(Raw(self._stored(name, resource, _id_of(args)).text()))

    def _update(self, name: str, resource: Resource, args: Args) -> Answer:
        found = _id_of(args)
        changes = _changes(resource, args)
        with _Transaction(self._file):
            stored = self._stored(name, resource, found)
            _check_match(name, args, stored.version)
            before = jsontext.read(stored.body)
            fields = jsontext.read(stored.body)
            if not isinstance(fields, dict):
                raise _internal("a record is not as it was written")
            _merge(fields, changes)
            if fields == before:
                # A repeat changes nothing, not even the version.
                return Answer(Raw(stored.text()))
            self._check(name, fields)
            head, rest = _search_text(resource, fields)
            record = _Record(found, stored.version + 1, stored.created_at, now(), _written(fields))
            self._file.execute(
                "UPDATE records SET version = ?4, updated_at = ?5, body = ?6, head = ?7, rest = ?8 "
                "WHERE adapter = ?1 AND resource = ?2 AND id = ?3",
                (self._adapter, name, found, record.version, record.updated_at, record.body, head, rest),
            )
        return Answer(Raw(record.text()))

    def _delete(self, name: str, resource: Resource, args: Args) -> Answer:
        found = _id_of(args)
        with _Transaction(self._file):
            _check_match(name, args, self._stored(name, resource, found).version)
            self._file.execute(
                "DELETE FROM records WHERE adapter = ?1 AND resource = ?2 AND id = ?3",
                (self._adapter, name, found),
            )
        return Answer({"id": found, "deleted": True})

    def _list(self, name: str, resource: Resource, args: Args) -> Answer:
        first, (_, seq) = _page_of(args)
        filters = [field for field in resource.filters if field in args]
        values: list[str | int | float | None] = [self._adapter, name, first + 1, seq]
        narrowed = ""
        for field in filters:
            place = len(values) + 1
            narrowed += f" AND json_extract(body, ?{place}) IS ?{place + 1}"
            values += [f'$."{field}"', _comparable(args[field])]
        return self._page(
            f"SELECT 0, {_COLUMNS} FROM records WHERE adapter = ?1 AND resource = ?2 AND seq < ?4{narrowed} "  # noqa: S608
            "ORDER BY seq DESC LIMIT ?3",
            values,
            first,
        )

    def _search(self, name: str, _resource: Resource, args: Args) -> Answer:
        first, (rank, seq) = _page_of(args)
        words = _words_of(args)
        places = range(6, 6 + len(words))
        everywhere = "".join(f" AND (instr(head, ?{place}) > 0 OR instr(rest, ?{place}) > 0)" for place in places)
        in_head = "".join(f" AND instr(head, ?{place}) > 0" for place in places)
        return self._page(
            f"SELECT * FROM (SELECT CASE WHEN 1{in_head} THEN 0 ELSE 1 END AS rank, {_COLUMNS} FROM records "  # noqa: S608
            f"WHERE adapter = ?1 AND resource = ?2{everywhere}) "
            "WHERE rank > ?4 OR (rank = ?4 AND seq < ?5) ORDER BY rank, seq DESC LIMIT ?3",
            [self._adapter, name, first + 1, rank, seq, *words],
            first,
        )

    def _page(self, sql: str, values: list[str | int | float | None], first: int) -> Answer:
        rows = self._file.execute(sql, values).fetchall()
        more = len(rows) > first
        rows = rows[:first]
        items = ",".join(_Record(*row[2:]).text() for row in rows)
        end = f'"c{rows[-1][0]}.{rows[-1][1]:x}"' if more else "null"
        page = f'"pageInfo":{{"hasNextPage":{jsontext.write(more)},"endCursor":{end}}}'
        return Answer(Raw(f'{{"items":[{items}],{page}}}'))

    def _stored(self, name: str, resource: Resource, found: str) -> _Record:
        row = self._file.execute(
            "SELECT id, version, created_at, updated_at, body FROM records "
            "WHERE adapter = ?1 AND resource = ?2 AND id = ?3",
            (self._adapter, name, found),
        ).fetchone()
        if row is None:
            shown, plural = _clip(found), resource.plural
            message = f"No {name} has the id '{shown}'. Find it with list_{plural} or search_{plural}."
            raise OpError(Code.NOT_FOUND_RESOURCE, message, {"resource_type": name, "resource_id": shown})
        return _Record(*row)

    def _index_anew(self) -> None:
        """Brings the text that search reads up to date where the search fields have changed since."""
        for name, resource in self._target.resources.items():
            search = jsontext.write([*resource.search])
            key = (self._adapter, name)
            known = self._file.execute(
                "SELECT search FROM indexed WHERE adapter = ?1 AND resource = ?2", key
            ).fetchone()
            if known == (search,):
                continue
            with _Transaction(self._file):
                sql = "SELECT seq, body FROM records WHERE adapter = ?1 AND resource = ?2"
                for seq, body in self._file.execute(sql, key).fetchall():
                    fields = jsontext.read(body)
                    head, rest = _search_text(resource, fields if isinstance(fields, dict) else {})
                    self._file.execute("UPDATE records SET head = ?2, rest = ?3 WHERE seq = ?1", (seq, head, rest))
                sql = "INSERT OR REPLACE INTO indexed (adapter, resource, search) VALUES (?1, ?2, ?3)"
                self._file.execute(sql, (*key, search))


class _Transaction:
    """All of it, or nothing."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file

    def __enter__(self) -> None:
        self._file.execute("BEGIN IMMEDIATE")

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        self._file.execute("ROLLBACK" if failed else "COMMIT")


def _changes(resource: Resource, args: Args) -> dict[str, Json]:
    """What an update asks for: `input`, and flat fields over it."""
    given = args.get("input")
    if given is not None and not isinstance(given, dict):
        raise OpError(Code.INVALID_TYPE, "Parameter 'input' must be an object with the fields to change.")
    changes = {} if given is None else dict(given)
    if unknown := next((name for name in changes if name not in resource.fields), None):
        raise _unknown_field(resource, unknown)
    changes |= {name: args[name] for name in resource.flat if name in args}
    if not changes:
        message = "Nothing to change: give 'input' with the fields to set, or null to remove one."
        raise OpError(Code.MISSING_PARAM, message).detail("valid_fields", [*resource.fields])
    return changes


def _unknown_field(resource: Resource, name: str) -> OpError:
    if name == "id":
        message = "Field 'id' does not belong in 'input'; give it as a parameter of its own."
    elif name == "_etag":
        message = "Field '_etag' does not belong in 'input'; give it as 'if_match'."
    elif name in RECORD_KEYS:
        message = f"Field '{name}' is written by the store and cannot be changed."
    else:
        message = f"Unknown field '{_clip(name)}' in 'input'. Use one of: {', '.join(resource.fields)}."
    return OpError(Code.UNKNOWN_FIELD, message).detail("valid_fields", [*resource.fields])


def _merge(target: dict[str, Json], changes: Mapping[str, Json]) -> None:
    """Deep merge: objects merge, everything else replaces, null removes."""
    for name, change in changes.items():
        if change is None:
            target.pop(name, None)
        elif isinstance(change, dict):
            present = target.get(name)
            if not isinstance(present, dict):
                present = target[name] = {}
            _merge(present, change)
        else:
            target[name] = change


def _written(fields: dict[str, Json]) -> str:
    """The text of a record's fields."""
    written = jsontext.write(fields)
    size = text.size(written)
    if size <= _MAX_RECORD_BYTES:
        return written
    message = (
        f"The record would have {size} bytes, more than the {_MAX_RECORD_BYTES} a record may have. Store less in it or "
        "split it."
    )
    details: dict[str, Json] = {"limit": "max_record_size", "actual": size, "maximum": _MAX_RECORD_BYTES}
    raise OpError(Code.PAYLOAD_TOO_LARGE, message, details)


def _search_text(resource: Resource, fields: Mapping[str, Json]) -> tuple[str, str]:
    """What search reads of a record: the first search field, and all others."""
    texts = ["".join(_folded_texts(fields.get(name))) for name in resource.search]
    return "".join(texts[:1]), "".join(texts[1:])


def _folded_texts(value: Json) -> list[str]:
    if isinstance(value, str):
        return [_fold(value), "\n"]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for item in inner for found in _folded_texts(item)]


def _fold(words: str) -> str:
    """Text without case. Upper then lower case per character folds what lower case alone leaves apart (ß and SS)."""
    if words.isascii():
        return words.lower()
    return "".join(lower.lower() for char in words for lower in char.upper())


def _page_of(args: Args) -> tuple[int, tuple[int, int]]:
    """How many records, and behind which rank and number."""
    first, after = args.get("first"), args.get("after")
    if first is None:
        first = _PAGE
    if not isinstance(first, int) or isinstance(first, bool) or not 1 <= first <= _PAGE_LIMIT:
        message = f"Parameter 'first' must be an integer from 1 to {_PAGE_LIMIT}."
        raise OpError(Code.INVALID_VALUE, message).detail("param_name", "first")
    if after is None:
        return first, (-1, _LAST)
    cursor = _CURSOR.fullmatch(after) if isinstance(after, str) else None
    if cursor is None or int(cursor[2], 16) > _LAST:
        message = "Parameter 'after' must be the endCursor of an earlier page; leave it out to start anew."
        raise OpError(Code.INVALID_VALUE, message).detail("param_name", "after")
    return first, (int(cursor[1]), int(cursor[2], 16))


def _words_of(args: Args) -> list[str]:
    query = args.get("query")
    words = [*dict.fromkeys(text.split(_fold(query if isinstance(query, str) else "")))]
    if not words:
        message = "Parameter 'query' needs one word or more; list instead to see everything."
    elif len(words) > _MOST_WORDS:
        message = f"Parameter 'query' may have {_MOST_WORDS} different words; use fewer."
    else:
        return words
    raise OpError(Code.INVALID_VALUE, message).detail("param_name", "query")


def _comparable(value: Json) -> str | int | float | None:
    """A value as SQLite compares it; null finds records without the field."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else float(value)
    return value if isinstance(value, (str, float)) else None


def _id_of(args: Args) -> str:
    found = args.get("id")
    if not isinstance(found, str):
        raise OpError(Code.MISSING_PARAM, "Missing required parameter 'id'. Expected: string.")
    return found


def _check_match(name: str, args: Args, version: int) -> None:
    expected = args["if_match"] if "if_match" in args else args.get("_etag")
    if expected is None or expected == str(version) or jsontext.write(expected) == str(version):
        return
    message = f"This {name} has changed since you read it; get it again and repeat the call with its new _etag."
    raise OpError(Code.CONFLICT_VERSION, message).detail("current_etag", str(version))


def _clip(words: str) -> str:
    """What a caller sent, short enough to be repeated to it."""
    return "".join(char for char in words if not (char < " " or "\x7f" <= char < "\xa0"))[:64]


def _internal(cause: str) -> OpError:
    return OpError(Code.INTERNAL, "The store could not answer; tell the user.").because(cause)


def _broken(error: sqlite3.Error) -> OpError:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            failed = OpError(Code.TRANSPORT_TIMEOUT, "The store is busy with other writes; try again in a moment.")
        case sqlite3.SQLITE_FULL:
            failed = OpError(Code.INTERNAL, "The store's disk is full; tell the user.")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            failed = OpError(Code.INTERNAL, "The store's file is damaged; tell the user.")
        case _:
            failed = OpError(Code.INTERNAL, "The store could not answer; tell the user.")
    return failed.because(error)
