// What holds on the way to another MCP server: one that is a program, one that is an address, and either of them misbehaving.

import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { Asked, Client, Level } from "../src/runtime/client.js";
import { OpError } from "../src/runtime/errors.js";
import type { McpTarget } from "../src/runtime/mcp/binding.js";
import { Events } from "../src/runtime/mcp/events.js";
import { delay } from "../src/runtime/mcp/life.js";
import { readMessages, request } from "../src/runtime/mcp/message.js";
import { nameOf } from "../src/runtime/mcp/program.js";
import { Upstream } from "../src/runtime/mcp/upstream.js";
import type { Caller, News } from "../src/runtime/pipeline.js";
import { dataText } from "../src/runtime/response.js";
import { IdScan, LineReader } from "../src/runtime/reader.js";

/** A server on standard streams; `tool` answers a call with what it returns, unless that is nothing. */
const SERVER = `
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const text = (text) => ({ content: [{ type: "text", text }] });
  const [heard, waiting] = [[], []];
  const hello = (id) => say({ id, result: { protocolVersion: "2025-11-25", capabilities: { logging: {} }, serverInfo: { name: "far" } } });
  const take = (message) => {
    heard.push(message);
    if (message.method === "initialize") return hello(message.id);
    if (message.method === "logging/setLevel") return say({ id: message.id, result: {} });
    if (message.method === "tools/call") return tool(message.params.arguments.case, message);
  };
  let rest = "";
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\\n");
    rest = lines.pop();
    for (const line of lines) take(JSON.parse(line));
  });
  process.stdin.on("end", () => process.exit(0));
  const answers = {
    words: ({ id }) => { say({ id, result: text("hello") }); waiting.splice(0).forEach((answer) => answer()); },
    late: ({ id }) => waiting.push(() => say({ id, result: text("late") })),
    news: ({ id, params }) => {
      let turn = 0;
      const timer = setInterval(() => {
        turn += 1;
        say({ method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: turn, total: 20 } });
        if (turn === 20) { clearInterval(timer); say({ id, result: text("done") }); }
      }, 50);
    },
    never: () => undefined,
    heard: ({ id }) => say({ id, result: text(JSON.stringify(heard.splice(0).map((one) => one.method ?? one.id))) }),
    surroundings: ({ id }) => say({ id, result: text(JSON.stringify(Object.keys(process.env).sort())) }),
    large: ({ id }) => say({ result: text("x".repeat(200000)), id }),
    broken: ({ id }) => process.stdout.write('{"id":' + id + ',"result":{broken\\n'),
    noise: ({ id }) => { process.stdout.write("[INFO] \\u0000 noise\\n{}\\n[]\\n"); say({ id: 999, result: 1 }); say({ id, result: text("through") }); },
    refuse: ({ id }) => say({ id, error: { code: -32602, message: "Unknown tool: x " + process.env.TOKEN } }),
    ask: ({ id }) => { asked = id; say({ id: "q", method: "elicitation/create", params: { message: "Well?" } }); },
    log: ({ id }) => { for (const level of ["debug", "error"]) say({ method: "notifications/message", params: { level, data: level } }); say({ id, result: text("logged") }); },
    confide: ({ id, params }) => {
      const token = process.env.TOKEN;
      say({ method: "notifications/message", params: { level: "info", logger: token, data: { inside: ["Bearer " + token] } } });
      say({ method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1, message: "with " + token } });
      say({ id, result: text('"confided"') });
    },
    end: () => { process.stderr.write("bad /etc/x\\nThe disk is full\\n"); process.exit(3); },
  };
  let asked;
  const tool = (name, message) => answers[name](message);
`;
const ANSWERING = `process.stdin.prependListener("data", (chunk) => {
  const answer = /\\{[^\\n]*"id":"q"[^\\n]*\\}/.exec(chunk);
  if (answer) say({ id: asked, result: text(JSON.stringify(JSON.parse(answer[0]).result)) });
});`;

const opened: Upstream[] = [];
after(() => Promise.all(opened.map((upstream) => upstream.close())));

function open(link: McpTarget["link"], more: Partial<McpTarget> = {}, env: Record<string, string> = {}): Upstream {
  const usual = { caller_headers: [], eager: false, start_timeout_ms: 10_000, timeout_ms: 10_000, max_response_bytes: 1000, auth: null };
  const path = { PATH: process.env["PATH"] ?? "" };
  const upstream = new Upstream({ protocol: "mcp", link, ...usual, ...more }, { ...path, ...env }, "mcpaql/1.0");
  opened.push(upstream);
  return upstream;
}

function program(script = SERVER + ANSWERING, more: Partial<McpTarget> = {}, env: Record<string, string> = {}): Upstream {
  return open({ command: [process.execPath, "-e", script], cwd: null, env: ["TOKEN"], set_env: { FIXED: "1" } }, more, env);
}

function caller(client?: Client, signal = new AbortController().signal): Caller & { readonly news: News[] } {
  const news: News[] = [];
  return { signal, client, news, progress: (told) => news.push(told) };
}

async function said(upstream: Upstream, name: string, by: Caller = caller()): Promise<unknown> {
  const { data } = await upstream.call({ tool: "t" }, { case: name }, by);
  return JSON.parse(dataText(data));
}

async function failure(work: Promise<unknown>): Promise<OpError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof OpError, String(error));
    return error;
  }
  return assert.fail("it did not fail");
}

test("answers reach the calls that they answer, in whatever order they come", async () => {
  const upstream = program();
  assert.deepEqual(await Promise.all(["late", "words"].map((name) => said(upstream, name))), ["late", "hello"]);
  assert.equal(await said(upstream, "noise"), "through");
});

test("a program gets the usual variables and those that the document names", async () => {
  const upstream = program(undefined, {}, { TOKEN: "s3cret-token", OTHER: "x", HOME: "/home/me" });
  assert.deepEqual(await said(upstream, "surroundings"), ["FIXED", "HOME", "PATH", "TOKEN"]);
  const error = await failure(said(upstream, "refuse"));
  assert.equal(error.code, "NOT_FOUND_OPERATION");
  assert.ok(error.message.includes("[redacted]") && !error.message.includes("s3cret"), error.message);
});

test("news keep a call alive, and who waits too long has told the server to stop", async () => {
  const upstream = program(undefined, { timeout_ms: 700 });
  const by = caller();
  assert.equal(await said(upstream, "news", by), "done");
  assert.deepEqual(by.news.at(-1), { done: 20, total: 20 });
  const error = await failure(said(upstream, "never"));
  assert.equal(error.code, "TRANSPORT_TIMEOUT");
  assert.ok(error.message.startsWith("The MCP server 'far' did not answer within 700 ms; "), error.message);
  const impatient = new AbortController();
  const waiting = assert.rejects(said(upstream, "never", caller(undefined, impatient.signal)));
  await said(upstream, "words");
  impatient.abort();
  await waiting;
  const heard = (await said(upstream, "heard")) as string[];
  assert.equal(heard.filter((method) => method === "notifications/cancelled").length, 2);
});

test("what is too large or cannot be read costs its own call alone", async () => {
  const upstream = program();
  const large = await failure(said(upstream, "large"));
  assert.deepEqual([large.code, large.details["max_bytes"]], ["VALIDATION_PAYLOAD_TOO_LARGE", 1000]);
  const broken = await failure(said(upstream, "broken"));
  assert.equal(broken.message, "The answer of the MCP server 'far' cannot be read; tell the user.");
  assert.equal(await said(upstream, "words"), "hello");
});

test("a server that ended is started again, and left alone when it keeps ending", async () => {
  const upstream = program();
  const first = await failure(said(upstream, "end"));
  const words = "The MCP server 'far' ended with exit status 3: The disk is full";
  assert.equal(first.message, `${words}; try again, and after a write first read whether it took effect.`);
  await failure(said(upstream, "end"));
  const third = await failure(said(upstream, "words"));
  assert.deepEqual([third.message, third.details["retry_after_seconds"]], [`${words}; it is tried again later.`, 1]);
  assert.deepEqual([1, 2, 3, 8, 9].map(delay), [0, 500, 1000, 30_000, 30_000]);
});

test("what keeps a program from starting is said", async () => {
  const link = { command: ["/nowhere/to-be-found", "x"], cwd: null, env: [], set_env: {} };
  const absent = await failure(said(open(link), "words"));
  assert.ok(absent.message.includes("'to-be-found' cannot be started: the program 'to-be-found' is not installed"), absent.message);
  const unset = await failure(said(open({ ...link, command: ["${env:MISSING}"] }), "words"));
  assert.ok(unset.message.includes("needs the environment variable MISSING, which is not set"), unset.message);
  assert.throws(() => open({ ...link, command: ["${HOME}"] }), /has a '\$\{' that is not/);
  assert.throws(() => open(link, { caller_headers: ["X-Key"] }), /cannot be passed on to a program/);
  assert.equal(nameOf(["npx", "-y", "@scope/server"]), "@scope/server");
  assert.equal(nameOf(["/opt/bin/server", "--token", "x"]), "server");
});

/** A client that answers every question so, and keeps what it is told. */
class Listener implements Client {
  readonly told: unknown[] = [];
  readonly said: unknown[] = [];

  constructor(
    readonly reply?: Asked | undefined,
    readonly level?: Level,
  ) {}

  isAble(): boolean {
    return this.reply !== undefined;
  }

  isSame(other: Client): boolean {
    return other === this;
  }

  ask(): Promise<Asked | undefined> {
    return Promise.resolve(this.reply);
  }

  notify(_: string, params: Readonly<Record<string, unknown>>): void {
    this.told.push(params["level"]);
    this.said.push(params);
  }

  logWish(): "everything" | { from: Level } {
    return this.level === undefined ? "everything" : { from: this.level };
  }
}

test("questions go to the caller, and what is logged as far as it wants to hear it", async () => {
  const upstream = program();
  assert.deepEqual(await said(upstream, "ask", caller(new Listener({ result: { action: "accept" } }))), { action: "accept" });
  assert.deepEqual(await said(upstream, "ask"), { action: "cancel" });
  for (const [level, told] of [
    [undefined, ["debug", "error"]],
    ["warning", ["error"]],
  ] as const) {
    const client = new Listener(undefined, level);
    await said(upstream, "log", caller(client));
    assert.deepEqual(client.told, told);
  }
  assert.ok(((await said(upstream, "heard")) as string[]).includes("logging/setLevel"));
});

test("what a server was told in confidence is in no log and no news", async () => {
  const client = new Listener();
  const by = caller(client);
  await said(program(undefined, {}, { TOKEN: "secret-token" }), "confide", by);
  assert.deepEqual(client.said, [{ level: "info", logger: "[redacted]", data: { inside: ["Bearer [redacted]"] } }]);
  assert.deepEqual(by.news, [{ done: 1, message: "with [redacted]" }]);
});

test("a server without a handshake is found out, and asks by its answers", async () => {
  const stateless = `const take0 = (message) => {
    const { id, method, params } = message;
    if (method === "initialize") return say({ id, error: { code: -32601, message: "no" } });
    if (method === "server/discover") return say({ id, result: { serverInfo: { name: "modern" }, capabilities: {} } });
    if (params.inputResponses === undefined) {
      return say({ id, result: { resultType: "input_required", requestState: "s", inputRequests: { q: { method: "elicitation/create", params: {} } } } });
    }
    say({ id, result: text(JSON.stringify([params.inputResponses, params.requestState, Object.keys(params._meta).length])) });
  };`;
  const upstream = program(SERVER.replace("take(JSON.parse(line))", "take0(JSON.parse(line))") + stateless);
  const result = { action: "accept" };
  assert.deepEqual(await said(upstream, "any", caller(new Listener({ result }))), [{ q: result }, "s", 4]);
});

/** A server over HTTP that answers with what `answer` says. */
async function listening(answer: (message: Record<string, unknown>, request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString("utf8");
    });
    request.on("end", () => {
      if (request.method === "POST") answer(JSON.parse(body) as Record<string, unknown>, request, response);
      else response.writeHead(405).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

function json(response: ServerResponse, id: unknown, result: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

test("an address keeps a session, and begins another one when that is forgotten", async () => {
  let sessions = 0;
  let forgotten = "";
  const url = await listening(({ id, method }, { headers }, response) => {
    const session = String(headers["mcp-session-id"]);
    if (method === "initialize") {
      sessions += 1;
      json(response, id, { protocolVersion: "2025-06-18", serverInfo: { name: "far" } }, { "mcp-session-id": `s${sessions}` });
    } else if (id === undefined) response.writeHead(202).end();
    else if (session === forgotten) response.writeHead(404).end();
    else json(response, id, { content: [{ type: "text", text: `${session} ${String(headers["mcp-protocol-version"])}` }] });
  });
  const upstream = open({ url, headers: {}, allow_http: false });
  assert.equal(await said(upstream, "x"), "s1 2025-06-18");
  forgotten = "s1";
  assert.equal(await said(upstream, "x"), "s2 2025-06-18");
});

test("a stream of events brings the answer, and what was sent to be let in does not come back", async () => {
  const url = await listening(({ id, method }, { headers }, response) => {
    if (method === "initialize") {
      json(response, id, { protocolVersion: "2025-06-18" });
      return;
    }
    const content = [{ type: "text", text: `you sent ${String(headers.authorization)}` }];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hello\n\ndata: noise\n\n");
    response.end(`id: 1\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content } })}\n\n`);
  });
  const auth = { type: "bearer", token_env: "TOKEN", header: "Authorization", prefix: "Bearer " } as const;
  const upstream = open({ url, headers: {}, allow_http: false }, { auth }, { TOKEN: "s3cret-token" });
  assert.equal(await said(upstream, "x"), "you sent Bearer [redacted]");
  const missing = await failure(said(open({ url, headers: {}, allow_http: false }, { auth }), "x"));
  assert.deepEqual([missing.code, missing.details["variable"]], ["PERMISSION_DENIED", "TOKEN"]);
});

test("a redirect to elsewhere is not followed, and nobody there is an answer", async () => {
  const away = await listening((_, __, response) => response.writeHead(307, { location: "http://127.0.0.2:9/" }).end());
  const refused = await failure(said(open({ url: away, headers: {}, allow_http: false }), "x"));
  assert.ok(refused.message.includes("a redirect that is not safe to follow"), refused.message);
  const nobody = await failure(said(open({ url: "http://127.0.0.1:1/mcp", headers: {}, allow_http: false }), "x"));
  assert.ok(nobody.message.startsWith("The MCP server '127.0.0.1' cannot be reached; "), nobody.message);
  assert.throws(() => open({ url: "http://far.example/mcp", headers: {}, allow_http: false }), /plain http to another machine/);
  const own = await failure(said(open({ url: away, headers: {}, allow_http: false }, { caller_headers: ["X-Key"] }), "x"));
  assert.deepEqual([own.code, own.details["header"]], ["PERMISSION_DENIED", "X-Key"]);
});

test("messages are told apart without being read", () => {
  const kinds = (text: string): unknown =>
    readMessages(text)?.map((one) => {
      if (one.kind === "answer") return `${one.id}=${one.result}`;
      return one.kind === "refusal" ? `${one.id}!${one.error}` : one.method;
    });
  for (const [text, expected] of [
    ['{"jsonrpc":"2.0","id":1,"result":{"a": 1.10}}', ['1={"a": 1.10}']],
    ['{"id":"7","result":null}', ["7=null"]],
    ['{"id":2,"error":{"code":-1}}', ['2!{"code":-1}']],
    ['{"id":2,"result":5,"error":null}', ["2=5"]],
    ['{"method":"n\\u006ftify","params":[]}', ["notify"]],
    ['[{"id":1,"result":1},5,{"id":2,"result":2}]', ["1=1", "2=2"]],
    ['{"level":"info","id":3}', []],
    ['{"id":"abc","result":1}', []],
    ['{"id":null,"error":{}}', []],
    ["hello", undefined],
    ['{"id":1,"id":1,"result":1}', undefined],
  ] as const) {
    assert.deepEqual(kinds(text), expected, text);
  }
  const line = '{"jsonrpc":"2.0","id":7,"method":"m","params":{"name":"x\\ny","_meta":{"a":1,"b":2}}}\n';
  assert.equal(request(7, "m", { _meta: { a: 1 }, name: "x\ny" }, { b: 2 }), line);
});

test("events are read however they are cut", () => {
  const stream = Buffer.from(
    ': hello\r\nid: 7\r\nretry: 15\r\ndata: {"a":\r\ndata:1}\r\n\r\nevent: message\ndata: 2\n\ndata:\n\nid\rdata:  3\r\rdata: cut',
  );
  for (const size of [1, 2, 5, 1000]) {
    const events = new Events(32);
    const seen: string[] = [];
    for (let at = 0; at < stream.length; at += size) {
      for (const data of events.feed(stream.subarray(at, at + size))) seen.push(Buffer.isBuffer(data) ? data.toString("utf8") : "too long");
    }
    assert.deepEqual(seen, ['{"a":\n1}', "2", " 3"]);
    assert.deepEqual([events.retryMs, events.lastId], [15, undefined]);
  }
  const events = new Events(32);
  const long = Buffer.from(`id: a\ndata: {"result":"${"x".repeat(10_000)}","id":42}\n\ndata: next\n\n`);
  const seen = [...events.feed(long)].map((data) => (Buffer.isBuffer(data) ? data.toString("utf8") : data.tooLong.found));
  assert.deepEqual([seen, events.lastId], [[42, "next"], "a"]);
});

test("a line that is too long is not held, and its id is found wherever it stands", () => {
  const reader = new LineReader(20);
  const lines = [...reader.feed(Buffer.from(`{"result":{"id":1,"a":"${'\\\\\\"'.repeat(50)}"},"id":42}\nnext\n`))];
  assert.deepEqual(
    lines.map((line) => (Buffer.isBuffer(line) ? line.toString("utf8") : line.tooLong.found)),
    [42, "next"],
  );
  for (const [text, id] of [
    ['{"params":{"id":8}, "id" : "a\\"b,}" }', 'a"b,}'],
    ['{"id":1,"id":2,"method":', 1],
    ['{"id":{"id":4},"a":1}', undefined],
    ['[{"id":4}]', undefined],
  ] as const) {
    const scan = new IdScan();
    for (const byte of Buffer.from(text)) scan.feed(Buffer.of(byte));
    assert.equal(scan.found, id, text);
  }
});
