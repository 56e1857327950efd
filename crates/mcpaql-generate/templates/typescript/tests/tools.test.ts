// What a tool of another MCP server answers, as data or as an error that an agent can act on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OpError } from "../src/runtime/errors.js";
import { refused, softened, toolError } from "../src/runtime/mcp/failed.js";
import { chosenOf, itemsOf, membersOf } from "../src/runtime/mcp/raw.js";
import { answerOf } from "../src/runtime/mcp/unwrapped.js";
import { type Answer, dataText } from "../src/runtime/response.js";
import { Mask } from "../src/runtime/secrets.js";

function mask(): Mask {
  const mask = new Mask();
  mask.add("s3cret-token");
  return mask;
}

function unwrapped(result: unknown): Answer {
  return answerOf(JSON.stringify(result), () => new Mask());
}

function dataOf({ data }: Answer): unknown {
  return JSON.parse(dataText(data));
}

function failureOf(run: () => unknown): OpError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof OpError, String(error));
    return error;
  }
  return assert.fail("it did not fail");
}

function texts(...said: string[]): unknown[] {
  return said.map((text) => ({ type: "text", text }));
}

test("JSON is taken apart as it is written", () => {
  const json = '{ "a,\\"}" : [1.10, {"b":"]"}] , "__proto__":{},"z":"" }';
  assert.deepEqual(membersOf(json), [
    ['a,"}', '[1.10, {"b":"]"}]'],
    ["__proto__", "{}"],
    ["z", '""'],
  ]);
  assert.deepEqual(itemsOf('[1.10, {"b":"]"}]'), ["1.10", '{"b":"]"}']);
  assert.deepEqual([membersOf("{}"), itemsOf("[ ]"), membersOf("[]"), itemsOf("{}")], [[], [], undefined, undefined]);
  assert.deepEqual(chosenOf('{"id":1,"x":2}', ["id"]), { id: "1" });
  assert.equal(chosenOf('{"id":1,"id":2}', ["id"]), undefined);
});

test("texts are what they say", () => {
  for (const [said, data] of [
    [["hello"], "hello"],
    [['{\n  "a": [1, 2]\n}\n'], { a: [1, 2] }],
    [["[1]", "plain", '{"a":1}'], [[1], "plain", { a: 1 }]],
    [['"quoted"'], "quoted"],
    [["true"], true],
    [["-1.5"], -1.5],
    [["4e12345"], "4e12345"],
    [["12345678901234567890"], "12345678901234567890"],
    [["007"], "007"],
    [["{broken"], "{broken"],
    [["[INFO] started"], "[INFO] started"],
    [[" indented\n"], " indented\n"],
    [[""], ""],
    [[], null],
  ] as const) {
    const answer = unwrapped({ content: texts(...said) });
    assert.deepEqual(dataOf(answer), data);
    assert.equal(answer.blocks.length, 0);
  }
});

test("JSON keeps its digits, its order and its depth", () => {
  const text = '{"z": 1.10, "a": 12345678901234567890.5, "\\ud800": "\\ud800"}';
  assert.equal(dataText(unwrapped({ content: texts(text) }).data), '{"z":1.10,"a":12345678901234567890.5,"\\ud800":"\\ud800"}');
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  assert.equal(dataText(unwrapped({ content: texts(deep) }).data), deep);
  const lone = answerOf('{"content":[{"type":"text","text":"\\ud800"}]}', () => new Mask());
  assert.equal(dataText(lone.data), '{"type":"text","text":"\\ud800"}');
});

test("structured content is said once", () => {
  const structured = { b: 1, a: { x: [1.5] } };
  for (const twin of [['{"b":1,"a":{"x":[1.5]}}'], ['{\n "a": {"x": [1.5]},\n "b": 1\n}'], []]) {
    const answer = unwrapped({ content: texts(...twin), structuredContent: structured });
    assert.deepEqual([dataOf(answer), answer.blocks], [structured, []]);
  }
  const { blocks } = unwrapped({ content: texts("Found one."), structuredContent: structured });
  assert.deepEqual(blocks, texts("Found one."));
  const other = answerOf('{"content":[{"type":"text","text":"1"}],"structuredContent":{"result":1.0}}', () => new Mask());
  assert.deepEqual([dataText(other.data), other.blocks.length], ['{"result":1.0}', 1]);
});

test("a wrapping that only the protocol wants is seen through", () => {
  for (const [twins, result] of [
    [["one", "two"], ["one", "two"]],
    [["5"], 5],
    [["words"], "words"],
    [['{"id":1}', '{"id":2}'], [{ id: 1 }, { id: 2 }]],
  ] as const) {
    const wrapped = { content: texts(...twins), structuredContent: { result } };
    assert.deepEqual([dataOf(unwrapped(wrapped)), unwrapped(wrapped).blocks], [{ result }, []]);
    const marked = { ...wrapped, _meta: { fastmcp: { wrap_result: true } } };
    assert.deepEqual([dataOf(unwrapped(marked)), unwrapped(marked).blocks], [result, []]);
  }
});

test("what is no text stands beside the data as it came", () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  const link = { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain" };
  const odd = { type: "hologram" };
  const answer = unwrapped({ content: [image, link, odd] });
  assert.deepEqual(dataOf(answer), { blocks: ["image/png", "file:///a", "hologram"] });
  assert.deepEqual(answer.blocks, [image, link, odd]);
});

test("an envelope is not put into another", () => {
  const inner = { success: true, data: { a: 1 }, warnings: [{ code: "W", message: "old" }] };
  for (const result of [{ content: texts(JSON.stringify(inner)) }, { content: [], structuredContent: inner }]) {
    const answer = unwrapped(result);
    assert.deepEqual([dataOf(answer), answer.warnings], [{ a: 1 }, [{ code: "UPSTREAM_WARNING", message: "old" }]]);
  }
  const failed = { success: false, error: { code: "NOT_FOUND_RESOURCE", message: "None." } };
  for (const isError of [false, true]) {
    const error = failureOf(() => unwrapped({ content: texts(JSON.stringify(failed)), isError }));
    assert.deepEqual([error.code, error.message], ["NOT_FOUND_RESOURCE", "None."]);
  }
  for (const other of [
    { success: true, data: 1, total: 2 },
    { success: false, error: "text" },
    { success: "yes", data: 1 },
    { success: true },
  ]) {
    assert.deepEqual(dataOf(unwrapped({ content: texts(JSON.stringify(other)) })), other);
  }
});

test("odd results are neither lost nor fatal", () => {
  assert.deepEqual(dataOf(unwrapped({ toolResult: { a: 1 } })), { toolResult: { a: 1 } });
  assert.equal(dataOf(unwrapped({ content: "text" })), null);
  assert.equal(unwrapped({ content: [{ type: "text" }, 5] }).blocks.length, 2);
  assert.equal(dataOf(unwrapped({ content: [], structuredContent: null })), null);
  assert.equal(failureOf(() => unwrapped(5)).code, "INTERNAL_ERROR");
});

test("the code is guessed from the words and the words are kept", () => {
  for (const [text, code] of [
    ["Invalid arguments for tool x: expected string", "VALIDATION_INVALID_VALUE"],
    ["Error: Issue 7 not found", "NOT_FOUND_RESOURCE"],
    ["API rate limit exceeded for user", "RATE_LIMIT_EXCEEDED"],
    ["Access denied - outside allowed directories", "PERMISSION_DENIED"],
    ["Entity already exists", "CONFLICT_ALREADY_EXISTS"],
    ["Navigation timed out", "TRANSPORT_TIMEOUT"],
    ["Unknown tool: nope", "NOT_FOUND_OPERATION"],
    ["boom", "INTERNAL_ERROR"],
  ] as const) {
    const error = toolError(text, new Mask());
    assert.equal(error.code, code, text);
    assert.ok(error.message.startsWith(`The tool failed: ${text}; `), error.message);
    assert.equal(error.details["upstream"], text);
  }
  const error = failureOf(() => unwrapped({ content: texts("Nothing", "matches"), isError: true }));
  assert.ok(error.message.startsWith("The tool failed: Nothing; "), error.message);
  assert.equal(error.details["upstream"], "Nothing\nmatches");
});

test("where a value is wrong is part of the message", () => {
  assert.equal(softened("MCP error -32602: expected number at a.b[0]; too long at c"), "expected number for a.b[0]; too long for c");
  assert.equal(softened("MCP error is odd: x"), "MCP error is odd: x");
  assert.equal(softened("a at run (x.js:1) at  at"), "a at run (x.js:1) at  at");
});

test("insides and secrets of a server stay out of the message", () => {
  const error = toolError("ENOENT: open '/var/lib/x' with s3cret-token", mask());
  assert.equal(error.code, "NOT_FOUND_RESOURCE");
  assert.ok(error.message.startsWith("The tool failed, see details.upstream; "), error.message);
  assert.equal(error.details["upstream"], "ENOENT: open '/var/lib/x' with [redacted]");
  const long = toolError("x".repeat(100_000), mask());
  assert.ok(Buffer.byteLength(String(long.details["upstream"])) <= 4096);
  assert.deepEqual(toolError("", mask()).details, {});
});

test("errors of the protocol have codes of their own", () => {
  for (const [number, message, code] of [
    [-32602, "Tool x not found", "NOT_FOUND_OPERATION"],
    [-32602, "a must be a number", "VALIDATION_INVALID_VALUE"],
    [-32601, "Method not found", "NOT_FOUND_OPERATION"],
    [-32002, "Resource not found", "NOT_FOUND_RESOURCE"],
    [-32042, "Open the address", "CONFIRMATION_REQUIRED"],
    [-32603, "broken", "INTERNAL_ERROR"],
  ] as const) {
    const error = refused(number, message, { why: "s3cret-token" }, mask());
    assert.equal(error.code, code, message);
    assert.deepEqual(error.details["upstream"], { code: number, message, data: { why: "[redacted]" } });
  }
});
