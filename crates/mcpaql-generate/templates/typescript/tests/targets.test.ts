// What holds on the way to every target: how values are spelled, what is hidden, and what no value can do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Reserved } from "../src/runtime/auth.js";
import { argvOf } from "../src/runtime/command/argv.js";
import { lineOfFault } from "../src/runtime/command/fault.js";
import { OpError } from "../src/runtime/errors.js";
import { bytesOf } from "../src/runtime/http/base64.js";
import type { HttpRequest } from "../src/runtime/http/binding.js";
import { build } from "../src/runtime/http/request.js";
import { Mask } from "../src/runtime/secrets.js";
import { minified } from "../src/runtime/values.js";

function built(request: HttpRequest, args: Record<string, unknown>): { url: string; body: string | undefined } {
  const reserved = new Reserved();
  reserved.headers.add("x-key");
  const frame = { base: new URL("https://api.example/v1"), headers: new Map<string, string>(), reserved, boundary: () => "B" };
  const { url, body } = build(frame, request, args);
  return { url: url.href, body: body?.toString("utf8") };
}

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof OpError, String(error));
    return error.code;
  }
}

test("a value never leaves its place in the address", () => {
  const request: HttpRequest = { method: "GET", path: "/a/{id}", params: { id: { in: "path" }, q: { in: "query" } } };
  assert.equal(built(request, { id: "x/../y?z", q: "a&b=c" }).url, "https://api.example/v1/a/x%2F..%2Fy%3Fz?q=a%26b%3Dc");
  for (const id of ["", ".", ".."]) assert.equal(codeOf(() => built(request, { id })), "VALIDATION_INVALID_VALUE");
  assert.equal(codeOf(() => built(request, {})), "VALIDATION_MISSING_PARAM");
});

test("lists and objects are spelled as their style says", () => {
  const request: HttpRequest = {
    method: "GET",
    path: "/a",
    params: {
      many: { in: "query" },
      few: { in: "query", explode: false },
      deep: { in: "query", style: "deepObject" },
    },
  };
  const { url } = built(request, { many: [1, null, "b"], few: ["x,y", "z"], deep: { a: { b: [1] } } });
  assert.equal(url, "https://api.example/v1/a?many=1&many=b&few=x%2Cy,z&deep%5Ba%5D%5Bb%5D%5B%5D=1");
});

test("no parameter sets what belongs to the server", () => {
  const request: HttpRequest = { method: "GET", path: "/a", params: { key: { in: "header", as: "X-Key" } } };
  assert.equal(codeOf(() => built(request, { key: "mine" })), "VALIDATION_INVALID_VALUE");
});

test("no value ends its part of a multipart body", () => {
  const request: HttpRequest = { method: "POST", path: "/a", body: "multipart", params: { f: { in: "body", file: true } } };
  const { body } = built(request, { f: { data: "aGk=", filename: 'x/"\r\n.txt' } });
  assert.equal(
    body,
    '--B\r\nContent-Disposition: form-data; name="f"; filename="%22%0D%0A.txt"\r\nContent-Type: application/octet-stream\r\n\r\nhi\r\n--B--\r\n',
  );
});

test("base64 is read in every form that stands for whole bytes", () => {
  for (const text of ["aGk=", "aGk", "a G\nk"]) assert.equal(bytesOf(text)?.toString("utf8"), "hi");
  for (const text of ["a", "aGl", "aGk==", "aG=k", "!!!!"]) assert.equal(bytesOf(text), undefined, text);
});

test("a secret is hidden in every spelling", () => {
  const mask = new Mask();
  mask.add("s3cr/t ü");
  for (const text of ["s3cr/t ü", "s3cr%2Ft%20%C3%BC", "s3cr%2ft+%c3%bc", "czNjci90IMO8", "s3cr\\/t ü"]) {
    assert.equal(mask.finds(text.replace("+%c3%bc", "%20%c3%bc")), true, text);
  }
  assert.equal(mask.apply("<s3cr/t ü>"), "<[redacted]>");
});

test("no value becomes an option of a program", () => {
  const template = ["git", "log", "{revision}", "--", "{paths}"];
  assert.deepEqual(argvOf(template, { paths: ["-a", "b"] }).argv, ["log", "--", "-a", "b"]);
  assert.equal(codeOf(() => argvOf(template, { revision: "--output=x" })), "VALIDATION_INVALID_VALUE");
});

test("JSON loses nothing but white space", () => {
  assert.equal(minified('{ "a b" : [ 1.0 ,\n"c \\" d" ] }'), '{"a b":[1.0,"c \\" d"]}');
  assert.equal(lineOfFault('{\n"a": 1,\n}'), 3);
});
