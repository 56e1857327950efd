// Query controls: what they answer is checked by the test vectors of `mcpaql`. This is about calls, and hostile input.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Adapter, type Project } from "../src/runtime/call.js";
import { Catalog, type CatalogData, type Operation } from "../src/runtime/catalog.js";
import { type JsonObject, RawJson, isObject, parse } from "../src/runtime/json.js";

/** Calls an operation that reads, with the parameters `filter` and `owner` of its own. Its target answers `written`. */
async function call(written: string, params: unknown, rest: Partial<Operation> = {}) {
  const own = Catalog.own().data;
  const introspect = own.operations.at(-1);
  assert(introspect !== undefined);
  const names = [{ name: "filter" }, { name: "owner" }];
  const schema = { type: "object", properties: { filter: {}, owner: {} } };
  const operation = { ...introspect, name: "list_it", params: names, spellings: {}, schema, aliases: [], controls: {}, ...rest };
  const data: CatalogData = { ...own, operations: [operation], routes: { tool: { whole: true } } };
  const defaults = { list_it: (_: unknown, { send }: { send: (binding: object, args: object) => unknown }) => send({}, {}) };
  const target = { call: ({ read }: { read: (json: RawJson) => unknown }) => Promise.resolve(read(new RawJson(written))) };
  const project = { defaults, handlers: {}, tools: [], open: () => target } as unknown as Project;
  const adapter = new Adapter(new Catalog(data), project);
  const reply = await adapter.call("tool", { operation: "list_it", params }, new AbortController().signal);
  const envelope = parse(reply.text) as { data?: unknown; error?: { code: string }; warnings?: { code: string }[] };
  assert.notEqual(envelope.error?.code, "INTERNAL_ERROR", reply.text.slice(0, 500));
  return { ...envelope, text: reply.text, code: envelope.error?.code, warned: (envelope.warnings ?? []).map((one) => one.code) };
}

const ITEMS = '[{"id":1,"s":"b","big":12345678901234567890},{"id":2,"s":"a","n":1.50}]';

test("an answer that no control changes stays as it was written", async () => {
  assert.match((await call(ITEMS, {})).text, /"n":1\.50/);
  assert.match((await call(ITEMS, { fields: "full" })).text, /"n":1\.50/);
});

test("controls select, and parameters of the operation keep their names", async () => {
  const { data } = await call(ITEMS, { filter: "mine", _filter: { s: ["a", "b"] }, sort: { field: "s" }, fields: ["id", "big"] });
  assert.deepEqual(data, [{ id: 2 }, { id: 1, big: 12345678901234567890n }]);
  const page = await call(ITEMS, { first: 1 });
  const { items, pageInfo } = page.data as { items: unknown[]; pageInfo: JsonObject };
  assert.equal(items.length, 1);
  const next = await call(ITEMS, { first: 1, after: pageInfo["endCursor"] });
  assert.equal((next.data as { items: JsonObject[] }).items[0]?.["id"], 2);
  assert.equal((await call(ITEMS, { first: 1, after: pageInfo["endCursor"], owner: "x" })).code, "VALIDATION_INVALID_VALUE");
});

test("a control that is not supported is an error, never ignored", async () => {
  for (const name of ["aggregate", "_aggregate", "include_items", "part", "_part", "_fitler", "fitler"]) {
    assert.equal((await call(ITEMS, { [name]: {} })).code, "VALIDATION_UNKNOWN_PARAM", name);
  }
  assert.equal((await call(ITEMS, { fields: ["id"] }, { controls: undefined } as object)).code, "VALIDATION_UNKNOWN_PARAM");
});

test("a long answer is reduced, and says how to get the rest", async () => {
  const items = Array.from({ length: 2000 }, (_, id) => ({ id, text: "some words of a text" }));
  const reply = await call(JSON.stringify(items), {});
  assert.deepEqual(reply.warned, ["ANSWER_REDUCED"]);
  assert(reply.text.length < 40_000);
  assert.equal((await call(JSON.stringify(items), { answer_budget: 1_000_000 })).warned.length, 0);
});

test("no data and no control makes a call fail without a code or hang", async () => {
  const deep = `${"[".repeat(20_000)}1${"]".repeat(20_000)}`;
  const nested = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const wide = JSON.stringify(Array.from({ length: 30_000 }, (_, id) => ({ id, text: `x${String(id)}` })));
  const hostile = '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"items":[{"__proto__":null,"toString":1}]}';
  const numbers = '[{"n":1e400},{"n":-1e400},{"n":-0.0},{"n":123456789012345678901234567890}]';
  const answers = [deep, nested, wide, hostile, numbers, '"text"', "null", "[]", '{"\\ud800":"\\udfff"}', `"${"x".repeat(1e6)}"`];
  const many = Array.from({ length: 50_000 }, (_, index) => `v${String(index)}`);
  const path = Array.from({ length: 32 }, () => "a").join(".");
  const filters: unknown[] = [
    { "__proto__.x": 1 }, { id: many }, { a: { not: { in: many } } }, { [path]: { exists: false } }, { text: { contains: "x" } },
    parse(`{"a":[${deep}]}`), parse(nested), JSON.parse('{"__proto__":{"gt":1}}'),
    Object.fromEntries(many.slice(0, 100).map((name) => [name, { contains: name }])),
  ];
  const queries: JsonObject[] = [
    ...filters.map((filter) => ({ _filter: filter })), { sort: Array.from({ length: 16 }, () => ({ field: path })) },
    { fields: many.slice(0, 200) }, { fields: Array.from({ length: 200 }, () => path) }, { fields: "minimal" },
    { fields: "standard", answer_budget: 100 }, { sort: { field: "n" }, first: 2 }, { first: 1e308 }, { page: 2 ** 53, page_size: 1000 },
    { answer_budget: 2n ** 70n }, { limit: "999999999999999999999" }, { _filter: deep }, { fields: deep }, { after: "0".repeat(1e6), first: 1 },
  ];
  const started = Date.now();
  for (const answer of answers) {
    for (const query of queries) {
      const { data, code } = await call(answer, query);
      assert(data !== undefined || code !== undefined);
    }
  }
  assert.equal(({} as JsonObject)["x"], undefined);
  assert(Date.now() - started < 60_000, String(Date.now() - started));
});

test("the result of random queries is part of the answer, in its order", async () => {
  let seed = 18;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (seed >> 8) % below;
  };
  const pick = <T>(first: T, ...others: T[]): T => [first, ...others][random(others.length + 1)] ?? first;
  const scalar = (): unknown => pick<unknown>(null, true, 1, 2.5, "a", "B", "");
  const item = (): JsonObject => ({ [pick("a", "b")]: scalar(), [pick("b", "c", "__proto_")]: [scalar()], d: { e: scalar() } });
  const isPart = (part: unknown, whole: unknown): boolean => {
    if (Array.isArray(part) && Array.isArray(whole)) {
      let from = 0;
      return part.every((one) => {
        while (from < whole.length && !isPart(one, whole[from])) from += 1;
        return from++ < whole.length;
      });
    }
    if (!isObject(part) || !isObject(whole)) return part === whole;
    return Object.entries(part).every(([name, one]) => isPart(one, whole[name]));
  };
  for (let round = 0; round < 300; round += 1) {
    const items = Array.from({ length: random(6) }, item);
    const fields = pick<unknown>("minimal", "standard", ["a"], ["d.e", "b"]);
    const _filter = { [pick("a", "b", "d.e")]: pick<unknown>(scalar(), { not: scalar() }, { contains: "a" }, { exists: true }) };
    const { data } = await call(JSON.stringify(items), { fields, _filter });
    assert(isPart(data, items), JSON.stringify([data, items, fields, _filter]));
  }
});
