// Confirmations: which calls run, and what a token is good for.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Adapter } from "../src/runtime/call.js";
import { Catalog, type CatalogData, type Operation } from "../src/runtime/catalog.js";
import type { Gate } from "../src/runtime/confirmations.js";
import { type JsonObject, isObject, parse } from "../src/runtime/json.js";

const details = { danger_level: "destructive", reasons: ["remove is destructive"], confirmation_message: "Ask." };
const CONFIRM: Gate = { code: "CONFIRMATION_REQUIRED", message: "Ask.", details, seconds: 300 };
const DENY: Gate = { code: "PERMISSION_DANGER_LEVEL_DENIED", message: "No.", details: { danger_level: "dangerous" } };

/** A server whose operations return their parameters; `runs` has every run. */
function serve(rest: Partial<Operation> = {}) {
  const own = Catalog.own().data;
  const introspect = own.operations.at(-1);
  assert(introspect !== undefined);
  const properties: JsonObject = { id: { type: "integer" }, note: { type: "object" }, dry: { type: "boolean" } };
  const params = [{ name: "id", required: true }, { name: "note" }, { name: "dry", default: false }];
  const schema = { type: "object", properties };
  const shared: Operation = { ...introspect, endpoint: "do", params, spellings: {}, schema, aliases: [] };
  const operations = [
    { ...shared, name: "remove", gate: CONFIRM, ...rest },
    { ...shared, name: "replace", gate: { ...CONFIRM, seconds: 120 } },
    { ...shared, name: "wipe", gate: DENY },
    { ...shared, name: "look", controls: {} },
  ];
  const routes = { tool: { whole: true }, remove: { operation: "remove" } };
  const data: CatalogData = { ...own, operations, routes, errors: "unrecoverable" };
  const runs: unknown[] = [];
  const run = async (args: JsonObject): Promise<unknown> => {
    runs.push(args);
    await Promise.resolve();
    return args;
  };
  const defaults = Object.fromEntries(operations.map(({ name }) => [name, run]));
  const project = { defaults, handlers: {}, tools: [], open: () => ({ call: () => Promise.resolve(0) }) };
  const adapter = new Adapter(new Catalog(data), project);
  const send = async (tool: string, args: JsonObject): Promise<JsonObject> => {
    const { text, isError } = await adapter.call(tool, args, new AbortController().signal);
    assert.equal(isError, false, text);
    return (parse(text) as { error?: JsonObject }).error ?? { code: "" };
  };
  const call = (operation: string, given: JsonObject) => send("tool", { operation, params: given });
  const codeOf = async (operation: string, given: JsonObject) => (await call(operation, given))["code"];
  const tokenFor = async (operation: string, given: JsonObject) => tokenOf(await call(operation, given));
  return { runs, send, call, codeOf, tokenFor };
}

function tokenOf({ details: told }: JsonObject): string {
  assert(isObject(told) && typeof told["confirmation_token"] === "string");
  return told["confirmation_token"];
}

test("a call that needs a confirmation runs when it comes again with the token, and only once", async () => {
  const { runs, call, codeOf } = serve();
  const { code, message, details: told } = await call("remove", { id: 1 });
  const { confirmation_token: token, expires_at, ...others } = told as JsonObject;
  assert.deepEqual([code, message, others, runs], ["CONFIRMATION_REQUIRED", "Ask.", details, []]);
  assert.match(String(token), /^conf_[\w-]{43}$/);
  assert.match(String(expires_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const left = Date.parse(String(expires_at)) - Date.now();
  assert(left > 295_000 && left <= 300_000, String(left));
  assert.equal(await codeOf("remove", { confirmation_token: token, id: 1 }), "");
  assert.deepEqual({ ...(runs[0] as JsonObject) }, { id: 1, dry: false });
  assert.equal(await codeOf("remove", { id: 1, confirmation_token: token }), "TOKEN_ALREADY_USED");
  assert.equal(runs.length, 1);
});

test("every call gets another token, in any spelling of the parameter and in every form of a call", async () => {
  const { runs, call, codeOf, send, tokenFor } = serve();
  const [one, other] = [await tokenFor("remove", { id: 1 }), await tokenFor("remove", { id: 1, _confirmation: null })];
  assert.notEqual(one, other);
  assert.equal(await codeOf("remove", { id: 1, _confirmation: other }), "");
  assert.equal((await send("tool", { operation: "remove", id: 1, confirmationToken: one }))["code"], "");
  const flat = tokenOf(await send("remove", { id: 2 }));
  assert.equal((await send("remove", { id: 2, _confirmation: flat }))["code"], "");
  assert.equal((await call("look", { id: 3, _confirmation: "x", confirmation_token: "y" }))["code"], "");
  assert.equal(runs.length, 4);
});

test("of several calls with one token at the same time, one runs", async () => {
  const { runs, codeOf, tokenFor } = serve();
  const token = await tokenFor("remove", { id: 1 });
  const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf("remove", { id: 1, _confirmation: token })));
  assert.deepEqual(codes.filter((code) => code !== "TOKEN_ALREADY_USED"), [""]);
  assert.equal(runs.length, 1);
});

test("a token belongs to an operation and its parameters, in any order and spelling", async () => {
  const { runs, codeOf, tokenFor } = serve();
  const token = await tokenFor("remove", { id: 1, note: { a: 1, b: [2] } });
  for (const given of [{ id: 2, note: { a: 1, b: [2] } }, { id: 1 }, { id: 1, note: { a: 1, b: [3] } }]) {
    assert.equal(await codeOf("remove", { ...given, _confirmation: token }), "TOKEN_SCOPE_MISMATCH");
  }
  const same = { note: { b: [2], a: 1 }, Id: 1, dry: false };
  assert.equal(await codeOf("replace", { ...same, _confirmation: token }), "TOKEN_SCOPE_MISMATCH");
  assert.deepEqual(runs, []);
  // A wrong call does not use the token up.
  assert.equal(await codeOf("remove", { ...same, _confirmation: token }), "");
});

test("an unknown token is invalid", async () => {
  const { runs, codeOf, tokenFor } = serve();
  const token = await tokenFor("remove", { id: 1 });
  for (const wrong of ["", "x", `${token}x`, token.slice(0, -1), "\ud800"]) {
    assert.equal(await codeOf("remove", { id: 1, _confirmation: wrong }), "TOKEN_INVALID", JSON.stringify(wrong));
  }
  for (const wrong of [5, false, [token], { token }]) {
    assert.equal(await codeOf("remove", { id: 1, confirmation_token: wrong }), "VALIDATION_INVALID_TYPE");
  }
  assert.deepEqual(runs, []);
});

test("a token expires, and a clock that goes back does not help", async () => {
  mock.timers.enable({ apis: ["Date"], now: 1_900_000_000_000 });
  try {
    const { runs, codeOf, tokenFor } = serve();
    const [token, short] = [await tokenFor("remove", { id: 1 }), await tokenFor("replace", { id: 1 })];
    mock.timers.setTime(1_900_000_000_000 + 120_000);
    assert.equal(await codeOf("replace", { id: 1, _confirmation: short }), "TOKEN_EXPIRED");
    mock.timers.setTime(1_900_000_000_000 - 1000);
    assert.equal(await codeOf("remove", { id: 1, _confirmation: token }), "TOKEN_EXPIRED");
    mock.timers.setTime(1_900_000_000_000 + 300_000);
    assert.equal(await codeOf("remove", { id: 1, _confirmation: token }), "TOKEN_EXPIRED");
    assert.deepEqual(runs, []);
    mock.timers.setTime(1_900_000_000_000 + 299_999);
    assert.equal(await codeOf("remove", { id: 1, _confirmation: token }), "");
  } finally {
    mock.timers.reset();
  }
});

test("of too many tokens, the oldest are dropped", async () => {
  const { codeOf, tokenFor } = serve();
  const tokens: string[] = [];
  for (let id = 0; id < 1001; id += 1) tokens.push(await tokenFor("remove", { id }));
  assert.equal(await codeOf("remove", { id: 0, _confirmation: tokens[0] }), "TOKEN_INVALID");
  assert.equal(await codeOf("remove", { id: 1, _confirmation: tokens[1] }), "");
  assert.equal(await codeOf("remove", { id: 1000, _confirmation: tokens[1000] }), "");
  for (let id = 0; id < 1000; id += 1) await tokenFor("remove", { id });
  assert.equal(await codeOf("remove", { id: 1, _confirmation: tokens[1] }), "TOKEN_ALREADY_USED");
});

test("an operation that is not allowed never runs", async () => {
  const { runs, call, codeOf, tokenFor } = serve();
  const { code, message, details: told } = await call("wipe", { id: 1 });
  assert.deepEqual([code, message, told], [DENY.code, "No.", DENY.details]);
  const token = await tokenFor("remove", { id: 1 });
  assert.equal(await codeOf("wipe", { id: 1, _confirmation: token }), DENY.code);
  assert.deepEqual(runs, []);
});

test("parameters are checked before anything else", async () => {
  const { codeOf } = serve();
  for (const operation of ["remove", "wipe"]) {
    assert.equal(await codeOf(operation, { id: "one" }), "VALIDATION_INVALID_TYPE");
    assert.equal(await codeOf(operation, {}), "VALIDATION_MISSING_PARAM");
    assert.equal(await codeOf(operation, { id: 1, other: 1 }), "VALIDATION_UNKNOWN_PARAM");
  }
});

test("an operation may have a parameter `confirmation_token`, and one that reads may need a confirmation", async () => {
  const properties = { confirmation_token: { type: "string" } };
  const params = [{ name: "confirmation_token" }];
  const { runs, codeOf, tokenFor } = serve({ params, schema: { type: "object", properties }, controls: {} });
  const token = await tokenFor("remove", { confirmation_token: "mine" });
  assert.equal(await codeOf("remove", { confirmation_token: token }), "CONFIRMATION_REQUIRED");
  assert.equal(await codeOf("remove", { confirmation_token: "mine", _confirmation: token }), "");
  assert.deepEqual(runs.map((one) => ({ ...(one as JsonObject) })), [{ confirmation_token: "mine" }]);
});
