// The parts of the runtime that every adapter shares.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Adapter, type Handler, type Project } from "../src/runtime/call.js";
import { Catalog, type CatalogData, type Operation } from "../src/runtime/catalog.js";
import { prepare } from "../src/runtime/check.js";
import { OpError, failure } from "../src/runtime/errors.js";
import { type JsonObject, parse, pick, stringify } from "../src/runtime/json.js";
import { nearest, snakeCase } from "../src/runtime/suggest.js";

/** A catalog with one operation that takes these parameters. */
function catalogOf(properties: JsonObject, rest: Partial<Operation> = {}, definitions: JsonObject = {}): Catalog {
  const params = Object.keys(properties).map((name) => ({ name }));
  const own = Catalog.own().data;
  const [first] = own.operations;
  assert(first !== undefined);
  const schema = { type: "object", properties };
  const operation = { ...first, name: "do_it", endpoint: "do", params, schema, aliases: [], ...rest };
  const data: CatalogData = { ...own, operations: [operation], routes: { tool: { whole: true } }, $defs: definitions };
  return new Catalog(data);
}

function codeOf(catalog: Catalog, params: JsonObject): string {
  try {
    prepare(catalog, "tool", { operation: "do_it", params }, () => undefined);
    return "";
  } catch (error) {
    assert(error instanceof OpError, String(error));
    return error.code;
  }
}

test("integers of any size are read and written as they are", () => {
  const text = '{"id":9007199254740993,"small":[1,-2.5],"text":"12345678901234567890"}';
  assert.equal(stringify(parse(text)), text);
  assert.deepEqual(parse('{"id":9007199254740993}'), { id: 9007199254740993n });
});

test("a long text beside a large integer is read", () => {
  const text = JSON.stringify({ text: '\\"'.repeat(5_000_000) });
  assert.equal(stringify(parse(`[12345678901234567890,${text}]`)), `[12345678901234567890,${text}]`);
});

test("numbers pass through as they are written, and a handler gets what its types say", async () => {
  const written = '{ "id": 9007199254740993, "count": 9007199254740993, "ratio": 1.0, "2": 1e400, "1": [ 5 ] }';
  const target = { call: ({ read }: { read: (json: string) => unknown }): unknown => Promise.resolve(read(written)) };
  const send: Handler<object, unknown> = (params, call) => call.send({}, params);
  const ask = async (own: Handler<never, unknown> | undefined, params = {}): Promise<string> => {
    const handlers = own === undefined ? {} : { do_it: own };
    const project = { defaults: { do_it: send }, handlers, tools: [], open: () => target, wide: ["id"] };
    const adapter = new Adapter(catalogOf({ id: {}, count: {} }), project as unknown as Project);
    return (await adapter.call("tool", { operation: "do_it", params }, new AbortController().signal)).text;
  };
  assert.equal(await ask(undefined), `{"success":true,"data":${written.replaceAll(" ", "")}}`);
  const seen: unknown[] = [];
  const own: Handler<never, unknown> = async (params, call) => {
    const { id, count } = (await send(params, call)) as JsonObject;
    seen.push(id, count);
    return { id, count };
  };
  const told = parse(await ask(own)) as { data: unknown; warnings: { code: string }[] };
  assert.deepEqual(seen, [9007199254740993n, 9007199254740992]);
  assert.deepEqual([told.data, told.warnings[0]?.code], [{ id: seen[0], count: 9007199254740992n }, "NUMBERS_ROUNDED"]);
  assert.match(await ask(own, { id: 9007199254740993n }), /"success":true/);
  assert.match(await ask(own, { count: 9007199254740993n }), /VALIDATION_INVALID_VALUE/);
});

test("large integers are compared exactly, and must have been written as such", () => {
  const [low, high] = [9007199254740993n, 9223372036854775807n];
  const catalog = catalogOf({
    n: { type: "integer", minimum: low, maximum: high },
    m: { type: "integer", exclusiveMinimum: low },
    one: { type: "integer", enum: [low, 5] },
    any: { type: "integer" },
    x: { type: "number" },
    set: { type: "array", uniqueItems: true },
  });
  const right = [{ n: low }, { n: high }, { m: low + 1n }, { one: low }, { any: -(2n ** 63n) }, { x: 1e300 }];
  for (const params of right) assert.equal(codeOf(catalog, params), "", stringify(params));
  assert.equal(codeOf(catalog, { set: [low, low - 1n, { a: 1e300 }, { a: 2e300 }] }), "");
  const wrong = [{ n: low - 1n }, { n: high + 1n }, { m: low }, { one: low - 1n }, { any: 2n ** 64n }, { any: 1e17 }];
  for (const params of [...wrong, { set: [low, low] }]) {
    assert.equal(codeOf(catalog, params), "VALIDATION_INVALID_VALUE", stringify(params));
  }
  assert.notEqual(codeOf(catalog, { x: Number.POSITIVE_INFINITY }), "");
});

test("parameters are checked against their schema", () => {
  const catalog = catalogOf({ n: { type: "integer", maximum: 3 }, tags: { type: "array", uniqueItems: true } });
  assert.equal(codeOf(catalog, { n: 3, tags: [{ a: 1, b: 2 }] }), "");
  assert.equal(codeOf(catalog, { n: 4 }), "VALIDATION_INVALID_VALUE");
  assert.equal(codeOf(catalog, { n: "3" }), "VALIDATION_INVALID_TYPE");
  assert.equal(codeOf(catalog, { tags: [{ a: 1, b: 2 }, { b: 2, a: 1 }] }), "VALIDATION_INVALID_VALUE");
  assert.equal(codeOf(catalog, { m: 3 }), "VALIDATION_UNKNOWN_PARAM");
});

test("no pattern and no recursive type makes checking slow", () => {
  const node = { anyOf: [{ properties: { a: { $ref: "#/$defs/N" }, x: { type: "string" } }, required: ["x"] }] };
  const other = { properties: { a: { $ref: "#/$defs/N" }, y: { type: "string" } }, required: ["y"] };
  const definitions = { N: { type: "object", anyOf: [...node.anyOf, other], "x-recursive": true } };
  const catalog = catalogOf({ s: { type: "string", pattern: "^(a+)+$" }, n: { $ref: "#/$defs/N" } }, {}, definitions);
  const started = Date.now();
  assert.equal(codeOf(catalog, { s: `${"a".repeat(50_000)}!` }), "VALIDATION_INVALID_VALUE");
  let deep: JsonObject = {};
  for (let level = 0; level < 28; level += 1) deep = { a: deep };
  assert.match(codeOf(catalog, { n: deep }), /^VALIDATION_(?:PAYLOAD_TOO_LARGE|INVALID_VALUE)$/);
  assert(Date.now() - started < 5000);
});

test("names are accepted in other spellings", () => {
  assert.equal(snakeCase("perPage"), "per_page");
  assert.equal(snakeCase("HTTPServer"), "http_server");
  const given = { operation: "do_it", params: { perPage: 5 } };
  const { args } = prepare(catalogOf({ per_page: {} }), "tool", given, () => undefined);
  assert.deepEqual({ ...args }, { per_page: 5 });
  assert.deepEqual(nearest("isue", ["issue", "label"]), ["issue"]);
});

test("only what the agent cannot repair is an error of the tool", () => {
  assert.equal(failure(new OpError("NOT_FOUND_RESOURCE", "Gone."), "unrecoverable").isError, false);
  assert.equal(failure(new OpError("TRANSPORT_TIMEOUT", "Late."), "unrecoverable").isError, true);
  assert.equal(failure(new OpError("NOT_FOUND_RESOURCE", "Gone."), "all").isError, true);
});

test("an answer is trimmed to some of its members", () => {
  assert.deepEqual(pick({ id: 1, title: "x", body: "y" }, "id", "title"), { id: 1, title: "x" });
});

test("text that is no JSON is refused at once", () => {
  const text = `{"a":1234567890123456789 "${'\\"'.repeat(150_000)}`;
  const started = performance.now();
  assert.throws(() => parse(text), SyntaxError);
  assert(performance.now() - started < 1000);
});

test("a parameter may have the name of a member of every object", () => {
  const catalog = catalogOf({ constructor: { type: "string" }, valueOf: { type: "string" } });
  assert.equal(codeOf(catalog, {}), "");
  assert.equal(codeOf(catalog, { constructor: 1 }), "VALIDATION_INVALID_TYPE");
});
