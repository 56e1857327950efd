// Programs: their arguments, their output, and how they are stopped.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { test } from "node:test";
import { type CommandLine, CommandRunner } from "../src/runtime/command.js";
import { OpError } from "../src/runtime/errors.js";
import { type JsonObject, parse } from "../src/runtime/json.js";

const LIMITS = { env: [], set_env: { OWN: "set" }, timeout_ms: 5000, max_output_bytes: 1000 };
const runner = new CommandRunner({ protocol: "command", cwd: null, ...LIMITS });

const never = new AbortController().signal;

function run(line: Partial<CommandLine>, args: JsonObject = {}, signal = never): Promise<unknown> {
  const binding: CommandLine = { argv: [], params: {}, output: "text", ...line };
  const job = { operation: "do_it", binding, args: { __proto__: null, ...args }, signal, warn: () => undefined };
  return runner.call({ ...job, read: ({ text }) => parse(text) });
}

async function errorOf(work: Promise<unknown>): Promise<OpError> {
  const error: unknown = await work.then(() => undefined, (caught: unknown) => caught);
  assert(error instanceof OpError, String(error));
  return error;
}

test("arguments are filled in, left out, and never become options", async () => {
  const argv = ["echo", "{a}", ["--b", "{b}"], { when: "c", args: ["-c"] }, "--", "{rest}"];
  assert.equal(await run({ argv }, { a: "x y", c: true, rest: ["-1", "2"] }), "x y -c -- -1 2");
  assert.equal((await errorOf(run({ argv }, { a: "-x" }))).code, "VALIDATION_INVALID_VALUE");
});

test("output is read in the form of the document", async () => {
  assert.deepEqual(await run({ argv: ["printf", "a\\nb\\n"], output: "lines" }), ["a", "b"]);
  assert.deepEqual(await run({ argv: ["cat"], stdin: "params", output: "json" }, { n: 1 }), { n: 1 });
  assert.equal(await run({ argv: ["sh", "-c", "echo $OWN"] }), "set");
  assert.equal((await errorOf(run({ argv: ["echo", "{"], output: "json" }))).code, "INTERNAL_ERROR");
  const lines = (text: string): Promise<unknown> => run({ argv: ["printf", text], output: "jsonlines" });
  assert.deepEqual(await lines("1\\n \\n[2]\\r\\n"), [1, [2]]);
  // Joined with commas these lines would be JSON, but of other values.
  for (const text of ["1,2\\n3", "[1\\n2]", "1]\\n[2"]) {
    assert.equal((await errorOf(lines(text))).code, "INTERNAL_ERROR");
  }
});

test("failures have codes", async () => {
  const failed = await errorOf(run({ argv: ["sh", "-c", "echo no >&2; exit 3"], exit: { 3: "NOT_FOUND_RESOURCE" } }));
  assert.deepEqual([failed.code, failed.details], ["NOT_FOUND_RESOURCE", { exit_status: 3, stderr: "no" }]);
  assert.equal((await errorOf(run({ argv: ["no-such-program-here"] }))).code, "INTERNAL_ERROR");
  assert.equal((await errorOf(run({ argv: ["yes"] }))).code, "VALIDATION_PAYLOAD_TOO_LARGE");
  assert.equal((await errorOf(run({ argv: ["sleep", "9"], timeout_ms: 100 }))).code, "TRANSPORT_TIMEOUT");
});

/** A listening server, and code of a program that connects to it: the connection closes when the program ends. */
async function listen(after = "") {
  const server = createServer().listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const script = `require("node:net").connect(${port}, "127.0.0.1", () => { ${after} }).resume()`;
  const connected = once(server, "connection").then(([socket]) => (socket as Socket).resume());
  return { connected, script };
}

const closed = async (socket: Promise<Socket>): Promise<unknown> =>
  once(await socket, "close", { signal: AbortSignal.timeout(5000) });

test("a cancelled call ends its program", async () => {
  const { connected, script } = await listen();
  const cancel = new AbortController();
  const failed = errorOf(run({ argv: [process.execPath, "-e", script], timeout_ms: 60_000 }, {}, cancel.signal));
  await connected;
  cancel.abort();
  assert.equal((await failed).code, "INTERNAL_ERROR");
  await closed(connected);
});

test("a process that a program leaves behind is stopped", async () => {
  const { connected, script } = await listen("process.send(0)");
  // The program ends when its child is connected.
  const program = `
    const stdio = ["ignore", "inherit", "inherit", "ipc"];
    const child = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(script)}], { stdio });
    child.on("message", () => { console.log("done"); process.exit(); });`;
  assert.equal(await run({ argv: [process.execPath, "-e", program] }), "done");
  await closed(connected);
});

test("sensitive values are masked in the output of a program, even short ones", async () => {
  const params = { pin: { sensitive: true }, codes: { sensitive: true } };
  const line = { argv: ["sh", "-c", "echo pin 7 of 42, then first and second >&2; exit 1"], params };
  const failed = await errorOf(run(line, { pin: 7, codes: { a: "42", b: "first\nsecond" } }));
  assert.equal(failed.details["stderr"], "pin *** of ***, then *** and ***");
});

test("a server that gets SIGTERM ends its programs", async () => {
  const { connected, script } = await listen();
  const runtime = new URL("../src/runtime/command.js", import.meta.url).href;
  const target = { protocol: "command", cwd: null, ...LIMITS, timeout_ms: 60_000 };
  const job = { binding: { argv: [process.execPath, "-e", script], params: {}, output: "text" }, args: {} };
  const code = `
    import { CommandRunner } from ${JSON.stringify(runtime)};
    const runner = new CommandRunner(${JSON.stringify(target)});
    const { signal } = new AbortController();
    await runner.call({ ...${JSON.stringify(job)}, signal, warn() {}, read: String });`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
  await connected;
  owner.kill("SIGTERM");
  await closed(connected);
});
