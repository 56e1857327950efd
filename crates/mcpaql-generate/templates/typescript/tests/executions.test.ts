// What holds for work in the background, whatever does it: it ends once, everybody who shares the data folder sees how, and nobody
// sees more than that.

import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { OpError } from "../src/runtime/errors.js";
import { Executions, type Limits } from "../src/runtime/executions.js";
import { lives } from "../src/runtime/executions/instance.js";
import { percent } from "../src/runtime/executions/job.js";
import type { ExecutionAction, Lifecycle } from "../src/runtime/executions/status.js";
import { place } from "../src/runtime/executions/view.js";
import type { Caller } from "../src/runtime/pipeline.js";
import { type Answer, answer, envelope } from "../src/runtime/response.js";

const LIFECYCLE: Lifecycle = { survives: false, keep_seconds: 60, timeout_ms: null };
const NOBODY: Caller = { signal: new AbortController().signal, progress: () => undefined };

/** Files stay open until the process ends, as in a server. */
const open: Executions[] = [];

type Shown = Record<string, unknown> & { execution_id: string; status: string };

function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), "executions-"));
}

async function opened(folder?: string, limits?: Limits): Promise<Executions> {
  const executions = await Executions.open(folder, "work", limits);
  open.push(executions);
  return executions;
}

async function started(
  executions: Executions,
  run: (caller: Caller) => Promise<Answer>,
  { operation = "build", largest = 10_000, ...lifecycle }: Partial<Lifecycle> & { operation?: string; largest?: number } = {},
): Promise<string> {
  const { id, answer } = await executions.start({ operation, lifecycle: { ...LIFECYCLE, ...lifecycle }, largest, run });
  assert.deepEqual(Object.keys(dataOf(answer)), ["execution_id", "operation", "status", "started_at"]);
  return id;
}

function dataOf(given: Answer): Shown {
  return (JSON.parse(envelope(given, "all").text) as { data: Shown }).data;
}

async function asked(executions: Executions, action: ExecutionAction, args: Record<string, unknown>): Promise<Shown> {
  return dataOf(await executions.answer(action, args, NOBODY));
}

async function got(executions: Executions, execution_id: string, wait = 30): Promise<Shown> {
  return await asked(executions, "get", { execution_id, wait });
}

async function refused(asking: Promise<unknown>): Promise<OpError> {
  try {
    await asking;
  } catch (error) {
    if (error instanceof OpError) return error;
    throw error;
  }
  assert.fail("nothing was wrong with it");
}

/** Work that the test holds in its hands. */
class Held {
  readonly begun: Promise<Caller>;
  #begin: (caller: Caller) => void = () => undefined;
  #end: (outcome: Answer | Error) => void = () => undefined;
  readonly #ended: Promise<Answer | Error>;

  constructor() {
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  readonly run = async (caller: Caller): Promise<Answer> => {
    this.#begin(caller);
    const outcome = await this.#ended;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };

  end(outcome: Answer | Error): void {
    this.#end(outcome);
  }
}

test("a call is answered at once and the work goes on", async () => {
  const executions = await opened(freshFolder());
  const work = new Held();
  const id = await started(executions, work.run);
  const meanwhile = await got(executions, id, 0);
  assert.deepEqual([meanwhile.status, meanwhile["progress"], meanwhile["result"]], ["running", 10, undefined]);
  work.end({ ...answer(undefined), data: { raw: '{"n":1.0,"id":12345678901234567890}' } });
  const { text } = envelope(await executions.answer("get", { execution_id: id, wait: 30 }, NOBODY), "all");
  assert.match(text, /"status":"completed","progress":100,.*"expires_at":".*Z","result":\{"n":1\.0,"id":12345678901234567890\}\}\}$/);
});

test("what the work says of itself is seen and never goes back", async () => {
  const executions = await opened();
  const work = new Held();
  const id = await started(executions, work.run);
  const caller = await work.begun;
  for (const [done, progress] of [
    [2, 50],
    [1, 50],
    [3, 70],
  ] as const) {
    caller.progress({ done, total: 4, message: `step ${done}` });
    let seen = await got(executions, id, 0);
    while (seen["message"] !== `step ${done}`) seen = await got(executions, id, 0.1);
    assert.deepEqual([seen["progress"], seen.status], [progress, "running"]);
  }
  work.end(answer(["done"]));
  const end = await got(executions, id);
  assert.deepEqual([end["progress"], end["result"], end["message"]], [100, ["done"], undefined]);
});

test("progress stays within the part that running has", () => {
  for (const [done, total, expected] of [
    [0, 10, 10],
    [5, 10, 50],
    [10, 10, 90],
    [99, 10, 90],
    [-5, 10, 10],
    [7, undefined, 10],
    [7, 0, 10],
    [Number.NaN, 1, 10],
  ] as const) {
    assert.equal(percent({ done, ...(total === undefined ? {} : { total }) }), expected);
  }
});

test("a failure is kept as the call would have failed, and of an exception nothing is told", async () => {
  const executions = await opened(freshFolder());
  const work = new Held();
  const id = await started(executions, work.run);
  work.end(new OpError("NOT_FOUND_RESOURCE", "No such branch.").with("branch", "main"));
  const { status, error } = await got(executions, id);
  assert.deepEqual([status, error], ["failed", { code: "NOT_FOUND_RESOURCE", message: "No such branch.", details: { branch: "main" } }]);
  const broken = await started(executions, () => Promise.reject(new Error("secret detail")));
  const end = await got(executions, broken);
  assert.match(JSON.stringify(end["error"]), /^\{"code":"INTERNAL_ERROR","message":"The server failed during this execution; /);
  const flood = await started(executions, () => Promise.resolve(answer("x".repeat(6000))));
  assert.deepEqual((await got(executions, flood))["error"], {
    code: "VALIDATION_PAYLOAD_TOO_LARGE",
    message: "The result has 6002 bytes, more than the 5904 that are kept; ask for less.",
    details: { limit: "max_response_size", actual: 6002, maximum: 5904 },
  });
});

test("work that takes longer than it may is stopped", async () => {
  const executions = await opened();
  const work = new Held();
  const id = await started(executions, work.run, { timeout_ms: 1 });
  const { error } = await got(executions, id);
  assert.equal((error as { code: string }).code, "TRANSPORT_TIMEOUT");
  assert.equal((await work.begun).signal.aborted, true);
});

test("what stands beside an answer is kept with it", async () => {
  const executions = await opened(freshFolder());
  const block = { type: "image", data: "aGk=", mimeType: "image/png" };
  const warnings = [{ code: "NOTE", message: "Look closely." }];
  const id = await started(executions, () => Promise.resolve({ ...answer(1, warnings), blocks: [block] }));
  const kept = await executions.answer("get", { execution_id: id, wait: 30 }, NOBODY);
  assert.deepEqual(kept.blocks, [block]);
  assert.deepEqual(dataOf(kept)["warnings"], warnings);
});

test("cancelling stops the work, and what has ended stays as it is", async () => {
  const executions = await opened(freshFolder());
  const work = new Held();
  const id = await started(executions, work.run);
  const { signal } = await work.begun;
  assert.equal((await asked(executions, "cancel", { execution_id: id })).status, "cancelled");
  assert.equal(signal.aborted, true);
  work.end(answer("too late"));
  assert.equal((await asked(executions, "cancel", { execution_id: id })).status, "cancelled");
  assert.equal((await got(executions, id))["message"], "Cancelled on request.");
  const done = await started(executions, () => Promise.resolve(answer(1)));
  await got(executions, done);
  const { warnings } = await executions.answer("cancel", { execution_id: done }, NOBODY);
  assert.deepEqual(warnings, [{ code: "ALREADY_ENDED", message: "Nothing to cancel: it is completed already." }]);
  const unknown = await refused(asked(executions, "cancel", { execution_id: "no/pe" }));
  assert.deepEqual([unknown.code, unknown.details], ["NOT_FOUND_RESOURCE", { resource_type: "execution", resource_id: "nope" }]);
});

test("so many run, so many wait, and the rest is refused", async () => {
  const executions = await opened(undefined, { running: 1, waiting: 2 });
  const [first, second, third] = [new Held(), new Held(), new Held()];
  const running = await started(executions, first.run);
  const cancelled = await started(executions, second.run);
  const waiting = await started(executions, third.run);
  assert.deepEqual([(await got(executions, waiting, 0)).status, (await got(executions, waiting, 0))["progress"]], ["pending", 0]);
  const error = await refused(started(executions, third.run));
  assert.deepEqual([error.code, error.details], ["RATE_LIMIT_EXCEEDED", { maximum: 3 }]);
  await asked(executions, "cancel", { execution_id: cancelled });
  third.end(answer("third"));
  first.end(answer("first"));
  assert.equal((await got(executions, running))["result"], "first");
  assert.equal((await got(executions, waiting))["result"], "third");
  assert.equal((await got(executions, cancelled)).status, "cancelled");
  const begun = await Promise.race([second.begun.then(() => true), Promise.resolve(false)]);
  assert.equal(begun, false, "what was cancelled while it waited has run");
});

test("no two take the last place", async () => {
  const executions = await opened(freshFolder(), { running: 2, waiting: 1 });
  const starting = Array.from({ length: 9 }, () => started(executions, new Held().run));
  const outcomes = await Promise.allSettled(starting);
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 3);
  await executions.endSession();
});

test("lists are the newest first, in pages and by state", async () => {
  const executions = await opened(freshFolder());
  const ids: string[] = [];
  for (const operation of ["one", "two", "three"]) {
    ids.unshift(await started(executions, () => Promise.resolve(answer("result")), { operation }));
    await got(executions, ids[0] ?? "");
  }
  const work = new Held();
  ids.unshift(await started(executions, work.run));
  const list = async (args: Record<string, unknown>): Promise<{ ids: string[]; page: Record<string, unknown> }> => {
    const data = await asked(executions, "list", args);
    assert.ok(!JSON.stringify(data).includes('"result"'), "a list has no outcomes");
    const rows = data["executions"] as Shown[];
    return { ids: rows.map(({ execution_id }) => execution_id), page: data["pageInfo"] as Record<string, unknown> };
  };
  const first = await list({ first: 2 });
  assert.deepEqual(first, { ids: ids.slice(0, 2), page: { hasNextPage: true, endCursor: "x3" } });
  const second = await list({ first: 2, after: "x3" });
  assert.deepEqual(second, { ids: ids.slice(2), page: { hasNextPage: false, endCursor: "x1" } });
  assert.deepEqual((await list({ status: "running" })).ids, ids.slice(0, 1));
  assert.deepEqual((await list({ status: "failed" })), { ids: [], page: { hasNextPage: false, endCursor: null } });
  assert.equal((await refused(list({ after: "nowhere" }))).code, "VALIDATION_INVALID_VALUE");
  await executions.endSession();
});

test("a cursor has one spelling", () => {
  assert.equal(place("x2f"), 0x2f);
  for (const text of ["", "x", "x0", "x-1", "x+1", "x02f", "x2F", "2f", "x2f ", "xffffffffffffffffff"]) {
    assert.equal(place(text), undefined, text);
  }
});

test("the end of a session ends what it started unless that survives", async () => {
  const executions = await opened(freshFolder());
  const [bound, free] = [new Held(), new Held()];
  const ended = await started(executions, bound.run);
  const left = await started(executions, free.run, { survives: true });
  await executions.endSession();
  const { status, message } = await got(executions, ended, 0);
  assert.deepEqual([status, message], ["cancelled", "Cancelled because the session that started it ended."]);
  assert.equal((await got(executions, left, 0)).status, "running");
  free.end(answer(1));
  await got(executions, left);
});

test("one process sees, waits for and cancels what another does", async () => {
  const folder = freshFolder();
  const [one, other] = [await opened(folder), await opened(folder)];
  const [first, second] = [new Held(), new Held()];
  const [waited, cancelled] = [await started(one, first.run), await started(one, second.run)];
  assert.equal((await got(other, waited, 0)).status, "running");
  first.end(answer("built"));
  assert.equal((await got(other, waited))["result"], "built");
  assert.equal((await asked(other, "cancel", { execution_id: cancelled })).status, "cancelled");
  assert.equal((await second.begun).signal.aborted, true);
});

test("what a process left when it ended is failed by whoever looks next", async () => {
  const folder = freshFolder();
  const living = await opened(folder);
  const work = new Held();
  const running = await started(living, work.run);
  const dead = `f${"0".repeat(32)}`;
  const row = { id: "left1", operation: "build", status: "running", progress: 40, started_at: 0, keep: 2e9, instance: dead };
  appendFileSync(join(folder, "work.executions.jsonl"), `\n${JSON.stringify({ event: "entered", row })}\n`);
  const second = await opened(folder);
  const { status, error } = await got(second, "left1", 0);
  const message =
    "The server was restarted while this execution ran; start it again, and for a write first read whether it took effect.";
  assert.deepEqual([status, error], ["failed", { code: "INTERNAL_ERROR", message, details: { reason: "server_restarted" } }]);
  assert.equal((await got(second, running, 0)).status, "running");
  work.end(answer(1));
  await got(living, running);
});

test("a process lives until it ends, however it ends", async () => {
  const folder = freshFolder();
  // A path longer than the system takes for a socket.
  const long = join(folder, "x".repeat(120));
  const script = `
    const { mkdirSync } = await import("node:fs");
    const { enter } = await import(${JSON.stringify(new URL("../src/runtime/executions/instance.js", import.meta.url).href)});
    mkdirSync(${JSON.stringify(long)});
    console.log(await enter(${JSON.stringify(folder)}), await enter(${JSON.stringify(long)}));
    setInterval(() => {}, 1000);
  `;
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, ["--input-type=module", "--eval", script]);
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const [near = "", far = ""] = said.toString("utf8").trim().split(" ");
  assert.deepEqual([await lives(folder, near), await lives(long, far)], [true, true]);
  assert.equal(await lives(folder, `f${"0".repeat(32)}`), false);
  assert.equal(await lives(folder, "../elsewhere"), false);
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.deepEqual([await lives(folder, near), await lives(long, far)], [false, false]);
});

test("work that does not stop when it is told to holds up nobody", async () => {
  const executions = await opened(undefined, { running: 1, waiting: 1 });
  const stubborn = await started(executions, new Held().run);
  const next = await started(executions, () => Promise.resolve(answer("next")));
  await asked(executions, "cancel", { execution_id: stubborn });
  assert.equal((await got(executions, next))["result"], "next");
});

test("what has been kept long enough is gone", async () => {
  const folder = freshFolder();
  const executions = await opened(folder);
  const id = await started(executions, () => Promise.resolve(answer("done")), { keep_seconds: 0 });
  await executions.endSession();
  assert.equal((await refused(got(executions, id))).code, "NOT_FOUND_RESOURCE");
  assert.deepEqual((await asked(executions, "list", {}))["executions"], []);
  assert.deepEqual(readdirSync(join(folder, "work.executions")).filter((name) => name.endsWith(".json")), []);
});
