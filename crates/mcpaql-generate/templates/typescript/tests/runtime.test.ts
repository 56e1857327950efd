// The parts of the runtime that every adapter shares.

import assert from "node:assert/strict";
import { test } from "node:test";
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
    prepare(catalog, "tool", { operation: "do_it", params });
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
  const { args } = prepare(catalogOf({ per_page: {} }), "tool", { operation: "do_it", params: { perPage: 5 } });
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
