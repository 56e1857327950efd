// Requests to an API, and how its answers are read.

import assert from "node:assert/strict";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Auth, Credentials, Tokens } from "../src/runtime/auth.js";
import type { Failures } from "../src/runtime/answer.js";
import { OpError, blocks } from "../src/runtime/errors.js";
import { HttpClient } from "../src/runtime/http.js";
import { type JsonObject, type RawJson, parse } from "../src/runtime/json.js";
import type { HttpRequest } from "../src/runtime/request.js";

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const seen: { readonly url: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[] = [];
let answer: Answer = () => undefined;

function listen(): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("latin1");
      seen.push({ url: `${request.method ?? ""} ${request.url ?? ""}`, headers: request.headers, body });
      answer(request, response, body);
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => { resolve(server); }));
}

const [api, other] = [await listen(), await listen()];
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
after(() => {
  for (const server of [api, other]) {
    server.closeAllConnections();
    server.close();
  }
});

const failures: Failures = {
  codes: { 404: "NOT_FOUND_RESOURCE", 409: "CONFLICT_ALREADY_EXISTS", 429: "RATE_LIMIT_EXCEEDED" },
  value_words: ["must be one of"],
  words: [["NOT_FOUND_RESOURCE", ["not found"]]],
  advice: {},
};

async function call(request: HttpRequest, args: JsonObject = {}, auth: Auth = null, more = {}): Promise<unknown> {
  const limits = { connect_timeout_ms: 1000, timeout_ms: 2000, retries: 1, max_response_bytes: 1000 };
  const base_url = `http://127.0.0.1:${portOf(api)}/v1`;
  const target = { protocol: "http", base_url, headers: {}, allow_http: false, auth, failures, ...limits, ...more } as const;
  seen.length = 0;
  const { signal } = new AbortController();
  const job = { operation: "do_it", binding: request, args: { __proto__: null, ...args }, signal, warn: () => undefined };
  return await new HttpClient(target).call({ ...job, read: ({ text }: RawJson) => parse(text) });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(() => undefined, (caught: unknown) => caught);
  assert(error instanceof OpError, String(error));
  return error.code;
}

const json = (value: unknown, status = 200): Answer => (_request, response) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

const get: HttpRequest = { method: "GET", path: "/things", params: {}, repeatable: true };

test("parameters are sent in the place that the document names", async () => {
  answer = json({ ok: true });
  const request: HttpRequest = {
    method: "POST",
    path: "/things/{id}",
    params: {
      id: { in: "path" },
      tags: { in: "query", explode: false },
      filter: { in: "query", style: "deepObject" },
      trace: { in: "header", as: "X-Trace" },
      title: { in: "body" },
    },
  };
  const args = { id: "a/b", tags: ["x", "y"], filter: { a: 1 }, trace: "t", title: "T" };
  assert.deepEqual(await call(request, args), { ok: true });
  assert.equal(seen[0]?.url, "POST /v1/things/a%2Fb?tags=x,y&filter%5Ba%5D=1");
  assert.equal(seen[0].headers["x-trace"], "t");
  assert.equal(seen[0].body, '{"title":"T"}');
  assert.equal(await codeOf(call(request, { ...args, id: ".." })), "VALIDATION_INVALID_VALUE");
});

test("files are parts of a multipart body", async () => {
  answer = json(null);
  const params = { photo: { in: "body", file: true }, note: { in: "body" } } as const;
  const request: HttpRequest = { method: "POST", path: "/photos", params, body: "multipart" };
  await call(request, { photo: { data: "aGVsbG8=", filename: "../x.png", content_type: "image/png" }, note: "n" });
  assert.match(seen[0]?.body ?? "", /name="photo"; filename="x\.png"\r\nContent-Type: image\/png\r\n\r\nhello\r\n/);
  assert.match(seen[0]?.body ?? "", /name="note"\r\n\r\nn\r\n/);
  assert.equal(await codeOf(call(request, { photo: "?" })), "VALIDATION_INVALID_ENCODING");
});

test("credentials are sent to their origin only, and masked in answers", async () => {
  process.env["TEST_TOKEN"] = "secret-token";
  const auth: Auth = { type: "bearer", token_env: "TEST_TOKEN", header: "Authorization", prefix: "Bearer " };
  answer = json({ echo: "Bearer secret-token" });
  assert.deepEqual(await call(get, {}, auth), { echo: "Bearer [redacted]" });
  assert.equal(seen[0]?.headers.authorization, "Bearer secret-token");
  answer = (request, response) => {
    if (request.headers.host?.endsWith(String(portOf(api))) !== true) json("there")(request, response, "");
    else response.writeHead(302, { location: `http://127.0.0.1:${portOf(other)}/` }).end();
  };
  assert.equal(await call(get, {}, auth), "there");
  assert.equal(seen[1]?.headers.authorization, undefined);
  delete process.env["TEST_TOKEN"];
  assert.equal(await codeOf(call(get, {}, auth)), "PERMISSION_DENIED");
});

test("a token is fetched once, and again when the API rejects it", async () => {
  Object.assign(process.env, { TEST_ID: "id", TEST_SECRET: "s3cret" });
  const token_url = `http://127.0.0.1:${portOf(other)}/token`;
  const names = { client_id_env: "TEST_ID", client_secret_env: "TEST_SECRET", refresh_token_env: null };
  const auth: Auth = { type: "oauth2", token_url, ...names, scopes: ["a"] };
  let issued = 0;
  answer = (request, response, body) => {
    if (request.url !== "/token") {
      json({}, request.headers.authorization === "Bearer t2" ? 200 : 401)(request, response, body);
      return;
    }
    issued += 1;
    json({ access_token: `t${issued}` })(request, response, body);
  };
  assert.deepEqual(await call(get, {}, auth), {});
  assert.equal(issued, 2);
  // The timeout of the call also limits the token service.
  answer = () => undefined;
  assert.equal(await codeOf(call(get, {}, auth, { timeout_ms: 200 })), "TRANSPORT_TIMEOUT");
  // The token service knows the client, so the credentials are not sent again in the body.
  answer = json({ error: "invalid_scope" }, 400);
  assert.equal(await codeOf(call(get, {}, auth)), "PERMISSION_DENIED");
  assert.equal(seen.length, 1);
});

test("calls that need the same token share one request for it", async () => {
  Object.assign(process.env, { TEST_ID: "id", TEST_SECRET: "s3cret" });
  const names = { client_id_env: "TEST_ID", client_secret_env: "TEST_SECRET", refresh_token_env: null };
  const oauth: Auth = { type: "oauth2", token_url: `http://127.0.0.1:${portOf(other)}/token`, ...names, scopes: [] };
  let asked = 0;
  const tokens = new Tokens(async () => {
    asked += 1;
    await Promise.resolve();
    return asked === 1 ? { status: 503, body: {} } : { status: 200, body: { access_token: `t${asked}` } };
  });
  const read = (): Promise<Credentials> => Credentials.read(oauth, new Map(), tokens);
  const failed = await Promise.allSettled([read(), read()]);
  assert.deepEqual([failed.map(({ status }) => status), asked], [["rejected", "rejected"], 1]);
  const [first, second] = await Promise.all([read(), read()]);
  assert.deepEqual([first.headers.get("authorization"), asked], ["Bearer t2", 2]);
  assert(first.giveUp());
  assert.equal((await read()).headers.get("authorization"), "Bearer t3");
  // The second call has the old token, which is replaced already.
  assert(second.giveUp());
  assert.equal((await read()).headers.get("authorization"), "Bearer t3");
});

test("short secrets are masked only as whole words", async () => {
  const request: HttpRequest = { ...get, params: { pin: { in: "header", sensitive: true } } };
  answer = json({ message: "pin 123 of order 41235" }, 404);
  const error: unknown = await call(request, { pin: 123 }).catch((caught: unknown) => caught);
  assert(error instanceof OpError);
  const body = { message: "pin [redacted] of order 41235" };
  assert.deepEqual(error.details["upstream"], { status: 404, body });
});

test("only repeatable requests are retried, as often as the target allows", async () => {
  answer = json({}, 503);
  assert.equal(await codeOf(call(get)), "INTERNAL_ERROR");
  assert.equal(seen.length, 2);
  assert.equal(await codeOf(call({ method: "POST", path: "/things", params: {} })), "INTERNAL_ERROR");
  assert.equal(seen.length, 1);
});

test("errors of the API have codes and details", async () => {
  const codes = { 404: "NOT_FOUND_RESOURCE", 422: "VALIDATION_INVALID_TYPE", 409: "CONFLICT_ALREADY_EXISTS" };
  for (const [status, code] of Object.entries(codes)) {
    answer = json({ message: "no" }, Number(status));
    assert.equal(await codeOf(call(get)), code);
  }
  const headers = { "retry-after": "100", "x-ratelimit-limit": "60, 60;w=1", "x-ratelimit-reset": "1893456000" };
  answer = (_request, response) => void response.writeHead(429, headers).end();
  const error: unknown = await call(get).catch((caught: unknown) => caught);
  assert(error instanceof OpError);
  const { limit, remaining, resets_at, retry_after_seconds, http_status } = error.details;
  assert.deepEqual([error.code, limit, remaining, http_status], ["RATE_LIMIT_EXCEEDED", 60, undefined, 429]);
  assert.deepEqual([resets_at, retry_after_seconds], ["2030-01-01T00:00:00Z", 100]);
});

test("a template is the body, and fixed values are sent with every request", async () => {
  answer = json({ result: { items: [1, 1e3] } });
  const body_template = { method: "get", params: { id: "{id}", tags: ["{tag}", "{ tag }", "{tag}"] }, ["__proto__"]: 1 };
  const fixed = { query: { v: 2 }, header: { "X-Mode": "fast" } };
  const params = { id: { in: "body" }, tag: { in: "body" } } as const;
  const request: HttpRequest = { method: "POST", path: "/rpc", params, body_template, fixed, result: ["result", "items", "1"] };
  assert.equal(await call(request, { id: 7 }), 1000);
  assert.deepEqual([seen[0]?.url, seen[0]?.headers["x-mode"]], ["POST /v1/rpc?v=2", "fast"]);
  assert.equal(seen[0]?.body, '{"method":"get","params":{"id":7,"tags":[null,"{ tag }"]},"__proto__":1}');
});

test("a failure with the status of a success is a failure", async () => {
  const rule = (error: NonNullable<HttpRequest["error"]>, value: unknown): Promise<unknown> => {
    answer = json(value);
    return call({ ...get, error });
  };
  assert.equal(await codeOf(rule({ path: ["error"] }, { error: { code: 404 } })), "NOT_FOUND_RESOURCE");
  assert.equal(await codeOf(rule({ path: ["errors"] }, { errors: [{ message: "User not found" }] })), "NOT_FOUND_RESOURCE");
  assert.equal(await codeOf(rule({ path: ["ok"], equals: false, message: ["why"] }, { ok: false, why: "x" })), "INTERNAL_ERROR");
  assert.equal(await codeOf(rule({ path: ["status"], not: "ok" }, {})), "INTERNAL_ERROR");
  for (const error of [null, false, 0, "", [], {}]) assert.deepEqual(await rule({ path: ["error"] }, { error }), { error });
});

test("a page in place of data is an error, and a file is a block", async () => {
  const send = (type: string, body: string): Promise<unknown> => {
    answer = (_request, response) => void response.writeHead(200, { "content-type": type }).end(body);
    return call(get);
  };
  const page = "<!-- cached --> <!DOCTYPE html><html>Down</html>";
  for (const type of ["text/html", "application/json"]) assert.equal(await codeOf(send(type, page)), "INTERNAL_ERROR");
  assert.equal(await send("text/html", "<p>part</p>"), "<p>part</p>");
  const image = await send("image/png", "abc");
  assert.deepEqual(image, { media_type: "image/png", bytes: 3 });
  assert.deepEqual(blocks.get(image as object), { type: "image", data: "YWJj", mimeType: "image/png" });
});

test("answers are decompressed, and limited in size and time", async () => {
  answer = (_request, response) => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    response.writeHead(200, headers).end(gzipSync('{"id":9007199254740993}'));
  };
  assert.deepEqual(await call(get), { id: 9007199254740993n });
  answer = json("x".repeat(2000));
  assert.equal(await codeOf(call(get)), "VALIDATION_PAYLOAD_TOO_LARGE");
  answer = () => undefined;
  assert.equal(await codeOf(call(get, {}, null, { timeout_ms: 200 })), "TRANSPORT_TIMEOUT");
  answer = (request) => void request.socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n");
  assert.equal(await codeOf(call(get)), "VALIDATION_PAYLOAD_TOO_LARGE");
});

test("an answer that switches protocols is an error of the API, and is not retried", async () => {
  for (const headers of ["", "upgrade: websocket\r\nconnection: upgrade\r\n"]) {
    answer = (request) => void request.socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`);
    assert.equal(await codeOf(call(get)), "INTERNAL_ERROR");
    assert.equal(seen.length, 1);
  }
});

test("the headers of an answer are limited", async () => {
  const withHeaders = (count: number, value: string): Answer => (request) => {
    const headers = Array.from({ length: count }, (_none, at) => `x-${at}: ${value}\r\n`).join("");
    request.socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n${headers}\r\n1`);
  };
  for (const [count, length] of [[99, 1], [1, 300_000]] as const) {
    answer = withHeaders(count, "v".repeat(length));
    assert.equal(await call(get), 1);
  }
  for (const [count, length] of [[100, 1], [1, 600_000]] as const) {
    answer = withHeaders(count, "v".repeat(length));
    assert.equal(await codeOf(call(get)), "TRANSPORT_CONNECTION_FAILED");
    assert.equal(seen.length, 2);
  }
});

test("lines of JSON are an array, or text if one of them is no JSON", async () => {
  const lines = (text: string): Promise<unknown> => {
    answer = (_request, response) => void response.writeHead(200, { "content-type": "application/x-ndjson" }).end(text);
    return call(get);
  };
  assert.deepEqual(await lines('{"a":1}\r\n\n[2]\n'), [{ a: 1 }, [2]]);
  for (const text of ["1\nx", "1,2\n3", "[1\n2]", '"a\nb"']) assert.equal(await lines(text), text);
});

test("an answer that stalls or breaks off ends the call, whether compressed or not", async () => {
  const begin = (headers: Record<string, string>, after: (response: ServerResponse) => void): Answer =>
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", ...headers });
      response.write(gzipSync(JSON.stringify({ a: 1 })).subarray(0, 12), () => { after(response); });
    };
  for (const headers of [{ "content-encoding": "gzip" }, {} as Record<string, string>]) {
    answer = begin(headers, () => undefined);
    assert.equal(await codeOf(call(get, {}, null, { timeout_ms: 300 })), "TRANSPORT_TIMEOUT");
    answer = begin(headers, (response) => response.destroy());
    assert.equal(await codeOf(call(get)), "TRANSPORT_CONNECTION_FAILED");
  }
});
