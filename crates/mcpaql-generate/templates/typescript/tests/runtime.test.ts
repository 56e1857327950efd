// The parts of the runtime that do not depend on the target.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Adapter, type Handler, type Project } from "../src/runtime/call.js";
import { Catalog, type CatalogData, type Operation, nearest, snakeCase } from "../src/runtime/catalog.js";
import { route, validate } from "../src/runtime/check.js";
import { type Job, OpError, failure } from "../src/runtime/errors.js";
import { type JsonObject, RawJson, parse, pick, stringify } from "../src/runtime/json.js";

/** A catalog with one operation with these parameters. */
function catalogOf(properties: JsonObject, rest: Partial<Operation> = {}, definitions: JsonObject = {}): Catalog {
  const params = Object.keys(properties).map((name) => ({ name }));
  const own = Catalog.own().data;
  const introspect = own.operations.at(-1);
  assert(introspect !== undefined);
  const schema = { type: "object", properties };
  const operation = { ...introspect, name: "do_it", endpoint: "do", params, schema, aliases: [], ...rest };
  const data: CatalogData = { ...own, operations: [operation], routes: { tool: { whole: true } }, $defs: definitions };
  return new Catalog(data);
}

function prepare(catalog: Catalog, given: JsonObject): JsonObject {
  const { operation, params } = route(catalog, "tool", { operation: "do_it", params: given }, () => undefined);
  return validate(catalog, operation, params);
}

function codeOf(catalog: Catalog, params: JsonObject): string {
  try {
    prepare(catalog, params);
    return "";
  } catch (error) {
    assert(error instanceof OpError, String(error));
    return error.code;
  }
}

test("integers of any size are read and written exactly", () => {
  const text = '{"id":9007199254740993,"small":[1,-2.5],"text":"12345678901234567890"}';
  assert.equal(stringify(parse(text)), text);
  assert.deepEqual(parse('{"id":9007199254740993}'), { id: 9007199254740993n });
});

test("a long text beside a large integer is read", () => {
  const text = JSON.stringify({ text: '\\"'.repeat(5_000_000) });
  assert.equal(stringify(parse(`[12345678901234567890,${text}]`)), `[12345678901234567890,${text}]`);
});

test("numbers pass through unchanged, and a handler gets large integers as bigints", async () => {
  const written = '{ "id": 9007199254740993, "count": 9007199254740993, "ratio": 1.0, "2": 1e400, "1": [ 5 ] }';
  const target = { call: ({ read }: Job<never>): unknown => Promise.resolve(read(new RawJson(written))) };
  const send: Handler<object, unknown> = (params, call) => call.send({}, params);
  const ask = async (own: Handler<never, unknown> | undefined, params = {}): Promise<string> => {
    const handlers = own === undefined ? {} : { do_it: own };
    const project = { defaults: { do_it: send }, handlers, tools: [], open: () => target };
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
  assert.match(await ask(own, { id: 9007199254740993n }), /"data":\{"id":9007199254740993,"count":9007199254740993\}/);
  assert.deepEqual(seen, [9007199254740993n, 9007199254740993n]);
});

test("large integers are compared exactly, and must be written as integers", () => {
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

/** A list of lists with so many equal items. */
const listed = (item: unknown, count: number): unknown[] =>
  Array.from({ length: count / 1000 }, () => Array.from({ length: 1000 }, () => item));

test("no argument makes checking slow", () => {
  const wide = (schema: JsonObject): JsonObject => ({ type: "array", items: { type: "array", items: schema } });
  const choice = (_none: unknown, at: number): JsonObject => ({
    ...{ type: "object", properties: { [`f${at}`]: { type: "string" } }, required: [`f${at}`] },
  });
  const inner = (name: string): JsonObject => ({
    ...{ properties: { a: { $ref: "#/$defs/N" }, [name]: { type: "string" } }, required: [name] },
  });
  const definitions = { N: { type: "object", anyOf: [inner("x"), inner("y")] } };
  const properties = {
    s: { type: "string", pattern: "^(a+)+$" },
    n: { $ref: "#/$defs/N" },
    choices: wide({ anyOf: Array.from({ length: 30 }, choice) }),
    literals: wide({ enum: Array.from({ length: 500 }, (_none, at) => `v${at}`) }),
    set: wide({ type: "array", uniqueItems: true }),
  };
  const catalog = catalogOf(properties, {}, definitions);
  assert.equal(codeOf(catalog, { s: `${"a".repeat(50_000)}!` }), "VALIDATION_INVALID_VALUE");
  let [deep, fitting]: JsonObject[] = [{}, { y: "" }];
  for (let level = 0; level < 28; level += 1) [deep, fitting] = [{ a: deep, y: "" }, { a: fitting, y: "" }];
  assert.equal(codeOf(catalog, { n: deep }), "VALIDATION_INVALID_VALUE");
  assert.equal(codeOf(catalog, { n: fitting }), "");
  assert.equal(codeOf(catalog, { choices: listed({}, 200_000) }), "VALIDATION_INVALID_VALUE");
  assert.equal(codeOf(catalog, { choices: listed({ f29: "" }, 20_000) }), "");
  assert.equal(codeOf(catalog, { choices: listed({ f29: "" }, 90_000) }), "VALIDATION_PAYLOAD_TOO_LARGE");
  assert.equal(codeOf(catalog, { literals: listed("v499", 140_000) }), "");
  assert.equal(codeOf(catalog, { literals: listed("zz", 190_000) }), "VALIDATION_INVALID_VALUE");
  const set = Array.from({ length: 10_000 }, (_none, at) => ({ at }));
  assert.equal(codeOf(catalog, { set: [[set]] }), "");
  assert.equal(codeOf(catalog, { set: [[[...set.slice(1), { at: 5 }]]] }), "VALIDATION_INVALID_VALUE");
});

test("the most important error is reported", () => {
  const properties = { id: { type: "integer" }, "a b": { type: "string" } };
  const label = { type: "object", properties, required: ["id"], additionalProperties: false };
  const catalog = catalogOf({ labels: { type: "array", items: label } });
  const failed = (...labels: JsonObject[]): unknown[] => {
    try {
      return [prepare(catalog, { labels })];
    } catch (error) {
      const { code, details } = error as OpError;
      return [code, details["param_name"]];
    }
  };
  const [wrong, missing, unknown] = [{ id: "1" }, {}, { id: 1, zz: 1 }];
  assert.deepEqual(failed(wrong), ["VALIDATION_INVALID_TYPE", "labels[0].id"]);
  assert.deepEqual(failed(wrong, missing), ["VALIDATION_MISSING_PARAM", "labels[1].id"]);
  assert.deepEqual(failed(wrong, missing, unknown), ["VALIDATION_UNKNOWN_FIELD", "labels[2]"]);
  assert.deepEqual(failed({ id: 1, "a b": 1 }), ["VALIDATION_INVALID_TYPE", 'labels[0]["a b"]']);
});

test("a request for a dry run is never ignored", () => {
  assert.equal(codeOf(catalogOf({ id: {} }), { id: 1, _meta: {} }), "");
  for (const name of ["dry_run", "_dry_run", "_dryRun", "_Dry-Run"]) {
    assert.equal(codeOf(catalogOf({ id: {} }), { id: 1, [name]: true }), "VALIDATION_UNKNOWN_PARAM", name);
  }
});

test("a choice between schemas", () => {
  const variant = (kind: string): JsonObject => ({ properties: { kind: { enum: [kind] } }, required: ["kind"] });
  const catalog = catalogOf({
    one: { if: variant("a"), then: { required: ["x"] }, else: { anyOf: [variant("b"), variant("c")] } },
    other: { type: ["string", "array"], not: { enum: ["no"] }, prefixItems: [{ type: "integer" }], items: false },
    map: { type: "object", patternProperties: { "^x": { type: "integer" } }, additionalProperties: { type: "string" } },
  });
  const right = [{ one: { kind: "a", x: 1 } }, { one: { kind: "c" } }, { other: [1] }, { map: { x1: 1, y: "" } }];
  for (const params of right) assert.equal(codeOf(catalog, params), "", stringify(params));
  assert.equal(codeOf(catalog, { one: { kind: "a" } }), "VALIDATION_MISSING_PARAM");
  assert.equal(codeOf(catalog, { one: { kind: "d" } }), "VALIDATION_INVALID_VALUE");
  assert.equal(codeOf(catalog, { other: "no" }), "VALIDATION_INVALID_VALUE");
  for (const params of [{ other: [1, 2] }, { other: ["1"] }, { map: { x1: "" } }, { map: { y: 1 } }]) {
    assert.equal(codeOf(catalog, params), "VALIDATION_INVALID_TYPE", stringify(params));
  }
});

test("names are accepted in other spellings", () => {
  assert.equal(snakeCase("perPage"), "per_page");
  assert.equal(snakeCase("HTTPServer"), "http_server");
  assert.deepEqual({ ...prepare(catalogOf({ per_page: {} }), { perPage: 5 }) }, { per_page: 5 });
  assert.deepEqual(nearest("isue", ["issue", "label"]), ["issue"]);
});

test("isError is set only if the agent cannot fix the call", () => {
  assert.equal(failure(new OpError("NOT_FOUND_RESOURCE", "Gone."), "unrecoverable").isError, false);
  assert.equal(failure(new OpError("TRANSPORT_TIMEOUT", "Late."), "unrecoverable").isError, true);
  assert.equal(failure(new OpError("NOT_FOUND_RESOURCE", "Gone."), "all").isError, true);
});

test("an answer is trimmed to some of its members", () => {
  assert.deepEqual(pick({ id: 1, title: "x", body: "y" }, "id", "title"), { id: 1, title: "x" });
});

test("long text that is no JSON is rejected", () => {
  assert.throws(() => parse(`{"a":1234567890123456789 "${'\\"'.repeat(150_000)}`), SyntaxError);
});

test("a parameter may be called `constructor`", () => {
  const catalog = catalogOf({ constructor: { type: "string" }, valueOf: { type: "string" } });
  assert.equal(codeOf(catalog, {}), "");
  assert.equal(codeOf(catalog, { constructor: 1 }), "VALIDATION_INVALID_TYPE");
});

test("a field may be called `__proto__`", () => {
  const properties = parse('{ "q": { "type": "string" }, "__proto__": { "type": "string" } }') as JsonObject;
  const catalog = catalogOf({ ob: { type: "object", properties, required: ["q"], additionalProperties: false } });
  const codes = ['{"q":"","__proto__":""}', '{"q":"","__proto__":1}', '{"__proto__":""}', '{"q":"","valueOf":1}'];
  const found = codes.map((text) => codeOf(catalog, { ob: parse(text) }));
  const wrong = ["INVALID_TYPE", "MISSING_PARAM", "UNKNOWN_FIELD"].map((code) => `VALIDATION_${code}`);
  assert.deepEqual(found, ["", ...wrong]);
});

test("the fields of an update may be in `input`, which is an object", () => {
  const catalog = catalogOf({ id: {}, n: {} }, { takes_input: true });
  assert.deepEqual({ ...prepare(catalog, { id: 1, input: { n: 2 } }) }, { id: 1, n: 2 });
  assert.deepEqual({ ...prepare(catalog, { id: 1, n: 2 }) }, { id: 1, n: 2 });
  for (const input of [null, "n", []]) assert.equal(codeOf(catalog, { id: 1, input }), "VALIDATION_INVALID_TYPE");
  assert.equal(codeOf(catalog, { id: 1, input: { m: 1 } }), "VALIDATION_UNKNOWN_FIELD");
});

test("an error that the caller can correct has the operation and its signature", async () => {
  const fail = (code: "VALIDATION_INVALID_TYPE" | "NOT_FOUND_RESOURCE"): Promise<string> => {
    const doIt = (): never => { throw new OpError(code, "No."); };
    const project = { defaults: { do_it: doIt }, handlers: {}, tools: [] };
    const catalog = catalogOf({ id: {} }, { signature: "do_it(id: string)" });
    const adapter = new Adapter(catalog, { ...project, open: () => ({ call: () => Promise.resolve(0) }) });
    return adapter.call("tool", { operation: "do_it" }, new AbortController().signal).then(({ text }) => text);
  };
  const details = { operation: "do_it", signature: "do_it(id: string)" };
  const error = { code: "VALIDATION_INVALID_TYPE", message: "No.", details };
  assert.deepEqual(parse(await fail("VALIDATION_INVALID_TYPE")), { success: false, error });
  assert.doesNotMatch(await fail("NOT_FOUND_RESOURCE"), /signature/);
});
