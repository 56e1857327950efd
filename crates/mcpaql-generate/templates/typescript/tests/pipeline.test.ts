// What holds on the way of every call: what runs in the background, what an operator hears, and what nobody does.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Catalog, type CatalogData, type Operation } from "../src/runtime/catalog.js";
import { OpError } from "../src/runtime/errors.js";
import { Executions } from "../src/runtime/executions.js";
import { type Call, type Caller, type Handler, Served } from "../src/runtime/pipeline.js";
import { INTEGER, STRING } from "../src/runtime/schema/types.js";
import { Targets } from "../src/runtime/targets.js";

const LIFECYCLE = { survives: false, keep_seconds: 60, timeout_ms: null };

/** An adapter whose operations are tools of their own. */
function catalogOf(operations: readonly Partial<Operation>[]): Catalog {
  const token = { name: "token", check: 0, expected: "string", sensitive: true, view: {} };
  const asking = [
    { name: "execution_id", check: 0, expected: "string", view: {} },
    { name: "wait", check: 1, expected: "number", view: {} },
  ];
  const whole = operations.map((operation) => ({
    ...{ category: "EXECUTE", endpoint: "execute", tool: operation.name, signature: "", details: {} },
    ...{ params: operation.execution === undefined ? [token] : asking, ...operation },
  }));
  const data = {
    adapter: { name: "desk", display_name: "Desk", version: "1", description: "" },
    errors: "unrecoverable",
    limits: { request_bytes: 1e6, response_bytes: 1e6, string_bytes: 1e6, array_items: 100, depth: 8 },
    target: { protocol: "command", cwd: null, env: ["DESK_KEY"], set_env: {}, timeout_ms: 100, max_output_bytes: 1000 },
    routes: Object.fromEntries(whole.map(({ name = "" }, operation) => [name, { operation }])),
    operations: whole,
    schemas: [STRING, INTEGER],
    patterns: [],
  };
  return new Catalog(data as unknown as CatalogData);
}

const CATALOG = catalogOf([
  { name: "run" },
  { name: "build", lifecycle: LIFECYCLE },
  { name: "get_execution", execution: "get" },
  { name: "cancel_execution", execution: "cancel" },
]);

async function served(handler: Handler<never>, data?: string): Promise<Served> {
  const env = { PATH: process.env["PATH"] };
  const targets = await Targets.open(CATALOG, { env, userAgent: "test", data });
  const server = new Served(CATALOG, targets, { run: handler, build: handler }, await Executions.open(data, "desk"));
  open.push(server);
  return server;
}

/** Files stay open until the process ends, as in a server. */
const open: Served[] = [];
const CALLER: Caller = { signal: new AbortController().signal, progress: () => undefined };

/** The envelope of a call, and what was logged meanwhile. */
async function called(server: Served, tool: string, args: Record<string, unknown>, caller = CALLER): Promise<[Envelope, string]> {
  const write = process.stderr.write.bind(process.stderr);
  let logged = "";
  process.stderr.write = (text) => {
    logged += String(text);
    return true;
  };
  try {
    const { text } = await server.call(tool, args, caller);
    return [JSON.parse(text) as Envelope, logged];
  } finally {
    process.stderr.write = write;
  }
}

interface Envelope {
  readonly data: Record<string, unknown> & { readonly execution_id: string };
  readonly error?: { readonly code: string };
}

test("what a handler throws is answered in a sentence, and the log has no secret of it", async () => {
  process.env["DESK_KEY"] = "key-of-the-desk";
  const server = await served((params: { token: string }) => {
    throw new TypeError(`no ${params.token} and ${String(process.env["DESK_KEY"])}`);
  });
  for (const tool of ["run", "build"]) {
    const [envelope, logged] = await called(server, tool, { token: "hush-hush" });
    const end = tool === "run" ? [envelope, logged] : await called(server, "get_execution", { execution_id: envelope.data.execution_id, wait: 9 });
    const said = JSON.stringify(end) + logged;
    assert.match(said, /INTERNAL_ERROR/);
    assert.match(said, /a handler failed adapter=.*TypeError: no \[redacted\] and \[redacted\]/, tool);
    assert.doesNotMatch(said, /hush-hush|key-of-the-desk/);
  }
  const [, logged] = await called(
    await served(() => {
      throw new OpError("INTERNAL_ERROR", "Tell the user.").because(new Error("hush-hush was refused"));
    }),
    "run",
    { token: "hush-hush" },
  );
  assert.match(logged, /call failed .*cause="\[redacted\] was refused"/);
});

test("of a call that was cancelled the operator hears nothing", async () => {
  for (const error of [new OpError("TRANSPORT_CONNECTION_FAILED", "The connection broke."), new Error("aborted")]) {
    const cancelling = new AbortController();
    const server = await served(() => {
      cancelling.abort();
      throw error;
    });
    const [, logged] = await called(server, "run", {}, { ...CALLER, signal: cancelling.signal });
    assert.equal(logged, "");
  }
});

test("a call with a lifecycle is answered at once, has its time, and keeps no parameter", async () => {
  const data = mkdtempSync(join(tmpdir(), "pipeline-"));
  const script = "setTimeout(() => console.log('built'), 300)";
  const line = { argv: [process.execPath, "--eval", script], output: "text", params: {} } as const;
  const server = await served((_: unknown, call: Call) => call.command(line, {}), data);
  const [{ error }] = await called(server, "run", { token: "hush-hush" });
  assert.equal(error?.code, "TRANSPORT_TIMEOUT");
  const [{ data: started }] = await called(server, "build", { token: "hush-hush" });
  assert.equal(started["status"], "running");
  const reply = await server.call("build", { token: "hush-hush" }, CALLER);
  assert.equal((await server.task(reply.execution ?? ""))?.seed["status"], "working");
  assert.equal((await server.cancelTask(reply.execution ?? ""))?.seed["status"], "cancelled");
  const [{ data: end }] = await called(server, "get_execution", { execution_id: started.execution_id, wait: 9 });
  assert.deepEqual([end["status"], end["result"]], ["completed", "built"]);
  const task = await server.task(started.execution_id);
  assert.deepEqual([task?.seed["status"], task?.reply?.text], ["completed", '{"success":true,"data":"built"}']);
  for (const name of readdirSync(data, { recursive: true, encoding: "utf8" }).filter((name) => /\.jsonl?$/.test(name))) {
    assert.doesNotMatch(readFileSync(join(data, name), "utf8"), /hush-hush/);
  }
});
