// What holds for every server: it starts, says what it serves, refuses what is no tool, and ends with its client.

import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY } from "@modelcontextprotocol/server";
import { INTROSPECT, ownCatalog } from "../src/runtime/catalog.js";
import { isFields } from "../src/runtime/json.js";

const catalog = ownCatalog({});

/** A server and its client's end of the conversation. */
class Session {
  readonly #server: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<number | null>;

  constructor() {
    const entry = fileURLToPath(new URL("../src/index.js", import.meta.url));
    const env = { ...process.env, XDG_DATA_HOME: mkdtempSync(join(tmpdir(), "adapter-")) };
    this.#server = spawn(process.execPath, [entry], { env });
    this.#lines = createInterface({ input: this.#server.stdout })[Symbol.asyncIterator]();
    this.#ended = new Promise((resolve) => this.#server.once("exit", resolve));
  }

  send(line: string): void {
    this.#server.stdin.write(`${line}\n`);
  }

  async heard(): Promise<Record<string, unknown>> {
    const line = await this.#lines.next();
    assert.ok(line.done !== true, "the server said nothing more");
    const message: unknown = JSON.parse(line.value);
    assert.ok(isFields(message));
    return message;
  }

  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    this.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    return await this.heard();
  }

  /** The exit code after the end of input. */
  async end(): Promise<number | null> {
    this.#server.stdin.end();
    return await this.#ended;
  }

  /** The exit code after a signal. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    this.#server.kill(signal);
    return await this.#ended;
  }
}

const session = new Session();
const greeting = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } };
/** What every request carries where there is no handshake. */
const envelope = { [PROTOCOL_VERSION_META_KEY]: "2026-07-28", [CLIENT_CAPABILITIES_META_KEY]: {} };
await session.ask("initialize", greeting);
session.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
after(() => session.end());

test("the tools of the catalog are listed", async () => {
  const { result } = await session.ask("tools/list", {});
  assert.deepEqual(result, JSON.parse(JSON.stringify({ tools: catalog.data.tools })));
});

test("what is no tool is an error of the protocol", async () => {
  const { error } = await session.ask("tools/call", { name: "no_such_tool", arguments: {} });
  assert.deepEqual(error, { code: -32602, message: "Unknown tool 'no_such_tool'. List the tools with tools/list." });
});

test("what cannot be read is answered, and the conversation goes on", async () => {
  session.send("{");
  assert.ok(isFields((await session.heard())["error"]));
  assert.deepEqual((await session.ask("ping", {}))["result"], {});
});

test("introspection answers where a tool carries it", async () => {
  const tool = catalog.get(INTROSPECT)?.tool ?? "";
  if (tool === "") return;
  const isAlone = catalog.route(tool)?.operation !== undefined;
  const args = isAlone ? {} : { operation: INTROSPECT, params: {} };
  const { result } = await session.ask("tools/call", { name: tool, arguments: args });
  assert.ok(isFields(result));
  assert.equal(result["isError"], false);
});

test("a client without a handshake is told the same, and for how long", async () => {
  const other = new Session();
  const ask = async (method: string, params: object): Promise<Record<string, unknown>> =>
    await other.ask(method, { ...params, _meta: envelope });
  const { result: discovered } = await ask("server/discover", {});
  assert.ok(isFields(discovered));
  assert.deepEqual(discovered["supportedVersions"], ["2026-07-28"]);
  const { result: listed } = await ask("tools/list", {});
  assert.ok(isFields(listed));
  const { tools, ttlMs, cacheScope, resultType } = listed;
  assert.deepEqual(tools, JSON.parse(JSON.stringify(catalog.data.tools)));
  assert.deepEqual({ ttlMs, cacheScope, resultType }, { ttlMs: 60_000, cacheScope: "private", resultType: "complete" });
  const { error } = await ask("tools/call", { name: "no_such_tool", arguments: {} });
  assert.deepEqual(error, { code: -32602, message: "Unknown tool 'no_such_tool'. List the tools with tools/list." });
  assert.equal(await other.end(), 0);
});

test("each request without a handshake says its revision, and one that is not known is refused", async () => {
  const other = new Session();
  for (const method of ["tools/list", "ping"]) {
    assert.ok("result" in (await other.ask("tools/list", { _meta: envelope })));
    const { error } = await other.ask(method, { _meta: { ...envelope, [PROTOCOL_VERSION_META_KEY]: "2099-01-01" } });
    const data = { requested: "2099-01-01", supported: ["2026-07-28"] };
    assert.deepEqual(error, { code: -32022, message: "Unsupported protocol version", data });
  }
  assert.equal(await other.end(), 0);
});

test("members that the protocol does not know are no reason for silence", async () => {
  session.send('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":{}}},"extra":1}');
  assert.deepEqual((await session.heard())["result"], {});
});

test("a standing subscription does not keep the server from ending", async () => {
  const other = new Session();
  const { method } = await other.ask("subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: envelope });
  assert.equal(method, "notifications/subscriptions/acknowledged");
  assert.equal(await other.end(), 0);
});

test("the server ends when its client does", async () => {
  const other = new Session();
  await other.ask("initialize", greeting);
  assert.equal(await other.end(), 0);
});

test("the server ends in order, whoever tells it to stop", { skip: process.platform === "win32" }, async () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const other = new Session();
    await other.ask("initialize", greeting);
    assert.equal(await other.stop(signal), 0, signal);
  }
});
