// What holds whatever the adapter is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OpError, signed } from "../src/runtime/errors.js";
import { parse, stringify } from "../src/runtime/json.js";
import { answer, envelope } from "../src/runtime/response.js";
import { check } from "../src/runtime/schema/check.js";
import { said } from "../src/runtime/schema/violation.js";
import { Schemas } from "../src/runtime/schema/types.js";
import { stem } from "../src/runtime/search/stem.js";
import { words } from "../src/runtime/search/words.js";
import { nearest, snakeCase } from "../src/runtime/suggest.js";
import { SurfaceProblem, surface } from "../src/runtime/surfaces.js";
import { shorten } from "../src/runtime/text.js";

test("whole numbers beyond what a float holds stay what they are", () => {
  const text = '{"id":9007199254740993,"text":"9007199254740993, \\"1","list":[-9223372036854775808,1.5,3]}';
  assert.deepEqual((parse(text) as { id: unknown }).id, 9007199254740993n);
  assert.equal(stringify(parse(text)), text);
});

test("a failure that an agent can mend is no error of the protocol's", () => {
  const error = new OpError("VALIDATION_MISSING_PARAM", "Missing.").with("param_name", "a").because("a secret");
  assert.deepEqual(envelope(error, "unrecoverable"), {
    text: '{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"Missing.","details":{"param_name":"a"}}}',
    blocks: [],
    isError: false,
  });
  assert.equal(envelope(error, "all").isError, true);
  assert.equal(envelope(new OpError("INTERNAL_ERROR", "Failed."), "unrecoverable").isError, true);
});

test("text of an upstream passes through as it came", () => {
  const passed = { ...answer(null), data: { raw: '{"n":1.0}' } };
  assert.equal(envelope(passed, "unrecoverable").text, '{"success":true,"data":{"n":1.0}}');
});

test("an error about parameters shows the signature, and another one does not", () => {
  const operation = { name: "get_note", signature: "get_note(id: string)" };
  const error = signed(new OpError("VALIDATION_INVALID_VALUE", "Wrong.").with("param_name", "id"), operation);
  assert.deepEqual(Object.keys(error.details), ["operation", "param_name", "signature"]);
  assert.deepEqual(signed(new OpError("NOT_FOUND_RESOURCE", "Gone."), operation).details, {});
});

test("names are suggested by spelling, order and abbreviation", () => {
  const names = ["create_issue", "list_issues", "delete_branch"];
  for (const [asked, expected] of [
    ["createIssue", "create_issue"],
    ["issue_create", "create_issue"],
    ["list_isues", "list_issues"],
    ["frobnicate", undefined],
  ] as const) {
    assert.equal(nearest(asked, names), expected);
  }
  assert.equal(snakeCase("HTTPServer userIDs"), "http_server_user_ids");
});

test("words and their stems are the same in every spelling", () => {
  assert.deepEqual(words("pullRequest, don’t HTTPServer userIDs"), ["pull", "request", "don", "http", "server", "user", "ids"]);
  for (const form of ["merge", "merged", "merges", "merging"]) assert.equal(stem(form), "merg");
});

test("a text is shortened between characters", () => {
  assert.equal(shorten("😀😀😀", 2), "😀😀…");
  assert.equal(shorten("abc", 3), "abc");
});

test("a pattern takes no longer than its text is long", () => {
  const schemas = new Schemas([{ types: 16, string: { pattern: 0 } }], [["^(a+)+$", "^(?:a+)+(?![\\s\\S])"]]);
  const [violation] = check(schemas, 0, `${"a".repeat(50_000)}b`);
  assert.ok(violation !== undefined);
  assert.equal(said(violation.kind), "must match the pattern ^(a+)+$");
});

test("keys that mean something to JavaScript are keys like any other", () => {
  const schemas = new Schemas([{ types: 64, object: { properties: [["name", 1]], additional: false } }, 16], []);
  const found = check(schemas, 0, JSON.parse('{"__proto__":1,"constructor":2,"toString":3}'));
  assert.deepEqual(found.map(({ kind }) => said(kind)), [
    "has unknown field '__proto__'",
    "has unknown field 'constructor'",
    "has unknown field 'toString'",
  ]);
});

const OWN = {
  adapter: { name: "desk" },
  mode: "semantic" as const,
  profile: "crude",
  tools: [{ name: "desk_mcpaql_read" }],
  operations: [{ name: "get_ticket", tool: "desk_mcpaql_read", repeats: true }, { name: "introspect", tool: "desk_mcpaql_read" }],
};
const single = { mode: "single", tools: [{ name: "desk_mcpaql" }], operations: { "0": { tool: "desk_mcpaql", repeats: null } } };
const SURFACES = JSON.stringify({ crude: { semantic: {}, single, discrete: "Too many." } });

test("another mode takes the place of what it says otherwise", () => {
  assert.deepEqual(surface(OWN, { MCP_AQL_ENDPOINT_MODE: "single" }, () => SURFACES), {
    ...OWN,
    mode: "single",
    tools: [{ name: "desk_mcpaql" }],
    operations: [{ name: "get_ticket", tool: "desk_mcpaql" }, { name: "introspect", tool: "desk_mcpaql_read" }],
  });
});

test("other surfaces are only read where one is asked for", () => {
  for (const mode of ["", "semantic"]) {
    assert.equal(surface(OWN, { MCP_AQL_ENDPOINT_MODE: mode, MCP_AQL_ENDPOINT_PROFILE: "crude" }, () => assert.fail("read")), OWN);
  }
});

test("a surface that there is not is refused in a sentence", () => {
  for (const [env, said] of [
    [{ MCP_AQL_ENDPOINT_MODE: "odd" }, "MCP_AQL_ENDPOINT_MODE is 'odd', but must be one of semantic, single, all, discrete"],
    [{ MCP_AQL_ENDPOINT_PROFILE: "toString" }, "The adapter 'desk' has no endpoint profile 'toString' (it has crude)"],
    [{ MCP_AQL_ENDPOINT_MODE: "discrete" }, "Too many."],
  ] as const) {
    assert.throws(() => surface(OWN, env, () => SURFACES), new SurfaceProblem(said));
  }
});
