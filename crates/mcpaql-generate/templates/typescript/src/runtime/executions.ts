// Executions: calls that go on in the background, each with an id to ask after it.
//
// What always holds: pending → running → completed, failed or cancelled, and what has ended stays as it is; no more than
// `RUNNING` run together; cancelling one aborts its signal, which is how the target's work stops; no parameter of a call is kept.
// What a process left behind when it ended is failed, with that reason, by whoever looks next.

import type { Catalog } from "./catalog.js";
import { OpError } from "./errors.js";
import { enter, lives } from "./executions/instance.js";
import { ASKED, Job, LOOK_MS, SESSION_ENDED, STARTED, unkept } from "./executions/job.js";
import { type ExecutionAction, type Lifecycle, type Status, isFinal, limitMs } from "./executions/status.js";
import { type Kept, type New, type Outcome, type Row, Table } from "./executions/table.js";
import * as view from "./executions/view.js";
import { log } from "./log.js";
import type { Caller } from "./pipeline.js";
import type { Answer, Reply } from "./response.js";
import { Slots } from "./slots.js";
import { freshId } from "./stamp.js";
import { type JsonObject, own } from "./values.js";

/** So many run together; further ones wait. */
const RUNNING = 16;
/** So many wait; further ones are refused. */
const WAITING = 256;
/** The longest that one call waits for an execution. */
const LONGEST_WAIT_MS = 30_000;
/** How long a cancellation waits for its effect before it answers with the present state. */
const STOPPING_MS = 5000;
/** Room in an answer for what stands around a result. */
const AROUND = 4096;
/** A page where nobody says how long it is. */
const PAGE = 20;
/** An id is taken only if two share a millisecond and 19 random bits. */
const ID_ATTEMPTS = 8;

/** What executions of one adapter may use. */
export interface Limits {
  readonly running: number;
  readonly waiting: number;
}

/** Work to be done in the background. */
export interface Work {
  readonly operation: string;
  readonly lifecycle: Lifecycle;
  /** The largest answer, in bytes. */
  readonly largest: number;
  readonly run: (caller: Caller) => Promise<Answer>;
}

/** Somebody who waits hears how far it has come, and may go away. */
type Waiting = Pick<Caller, "signal" | "progress">;

/** The executions of one adapter. */
export class Executions {
  readonly #table: Table;
  readonly #limits: Limits;
  readonly #turns: Slots;
  readonly #changes = new Changes();
  /** What this process works on, by id. */
  readonly #jobs = new Map<string, Job>();
  /** What ends with the session, and what of it is left. */
  readonly #bound = new Map<Job, Promise<void>>();
  /** Who this process is for the others; entered when first needed. */
  #instance: Promise<string> | undefined;
  /** Looks for what other processes ask, while there is work. */
  #looking: NodeJS.Timeout | undefined;

  private constructor(table: Table, limits: Limits) {
    this.#table = table;
    this.#limits = limits;
    this.#turns = new Slots(limits.running);
  }

  /** Where the adapter has any, they are kept in that data folder; without one they end with the process. Throws a `StoreError`. */
  static async of(catalog: Catalog, folder: string | undefined): Promise<Executions | undefined> {
    if (!catalog.operations.some(({ lifecycle }) => lifecycle !== undefined)) return undefined;
    const adapter = catalog.data.adapter.name;
    if (folder === undefined) {
      log.warn("neither --data nor HOME says where to keep executions; they are lost when the server ends", { adapter });
    }
    return await Executions.open(folder, adapter);
  }

  /** The executions of an adapter in that folder. What a process that has ended left running is failed. */
  static async open(
    folder: string | undefined,
    adapter: string,
    limits: Limits = { running: RUNNING, waiting: WAITING },
  ): Promise<Executions> {
    const executions = new Executions(await Table.open(folder, adapter), limits);
    await executions.#settleAll();
    return executions;
  }

  /** Starts work in the background and answers at once, with its id. */
  async start(work: Work): Promise<{ readonly id: string; readonly answer: Answer }> {
    return await keeping(async () => {
      await this.#table.sweep();
      const instance = await this.#entered();
      // Nothing waits between here and the entry, so that no two take the last place.
      const { running, waiting } = this.#limits;
      if (this.#jobs.size >= running + waiting) throw tooMany(running + waiting);
      const turn = this.#turns.takeNow();
      const { operation, lifecycle } = work;
      const [status, progress] = turn === undefined ? (["pending", 0] as const) : (["running", STARTED] as const);
      try {
        const [job, row] = await this.#enter(work, { operation, status, progress, keep: lifecycle.keep_seconds, instance });
        this.#follow(row.id, job, job.run(turn), lifecycle);
        return { id: row.id, answer: view.started(row) };
      } catch (error) {
        turn?.();
        throw error;
      }
    });
  }

  /** Answers what is asked about executions. */
  async answer(action: ExecutionAction, args: JsonObject, caller: Waiting): Promise<Answer> {
    return await keeping(async () => {
      const given = own(args, "execution_id");
      const id = typeof given === "string" ? given : "";
      switch (action) {
        case "list":
          return await this.#list(args);
        case "get": {
          const wait = own(args, "wait");
          const kept = await this.#get(id, typeof wait === "number" ? wait * 1000 : 0, caller);
          return view.whole(kept ?? notFound(id));
        }
        case "cancel": {
          const { row } = (await this.#get(id, 0)) ?? notFound(id);
          if (isFinal(row.status)) return view.brief(row, row.status === "cancelled" ? [] : [alreadyEnded(row.status)]);
          const after = await this.#cancel(id);
          return view.brief((after ?? notFound(id)).row, []);
        }
      }
    });
  }

  /** One execution as a task; `undefined` where there is none of that id here. */
  async task(id: string, reply: (outcome: Outcome) => Reply): Promise<view.Task | undefined> {
    const kept = await this.#get(id, 0).catch(() => undefined);
    return kept === undefined ? undefined : view.task(kept, reply);
  }

  /** Stops one and shows it as a task; `undefined` where there is none of that id here. */
  async cancelTask(id: string, reply: (outcome: Outcome) => Reply): Promise<view.Task | undefined> {
    const kept = await this.#cancel(id).catch(() => undefined);
    return kept === undefined ? undefined : view.task(kept, reply);
  }

  /** Stops what does not outlive the session, and waits until that is written down. */
  async endSession(): Promise<void> {
    for (const job of this.#bound.keys()) job.stop(SESSION_ENDED);
    await Promise.all(this.#bound.values());
  }

  async #list(args: JsonObject): Promise<Answer> {
    const after = own(args, "after");
    const before = typeof after === "string" ? view.place(after) : undefined;
    if (typeof after === "string" && before === undefined) {
      const message = "Parameter 'after' is no cursor of this list. Take 'endCursor' of the page before.";
      throw new OpError("VALIDATION_INVALID_VALUE", message).with("param_name", "after");
    }
    const given = own(args, "first");
    const first = typeof given === "number" ? given : PAGE;
    // States are set right before they are asked for.
    await this.#settleAll();
    const rows = await this.#table.list(own(args, "status") as Status | undefined, before, first + 1);
    return view.list(rows, first);
  }

  /** Enters an execution under an id of its own, here before in the table: whoever finds it there finds it worked on. */
  async #enter(work: Work, row: Omit<New, "id">): Promise<[Job, Row]> {
    for (let attempt = 0; attempt < ID_ATTEMPTS; attempt += 1) {
      const id = freshId("execution");
      if (this.#jobs.has(id)) continue;
      const job = this.#job(id, work);
      this.#jobs.set(id, job);
      const entered = await this.#table.enter({ ...row, id }).catch((error: unknown) => {
        this.#jobs.delete(id);
        throw error;
      });
      if (entered !== undefined) return [job, entered];
      this.#jobs.delete(id);
    }
    throw new Error("no free id found");
  }

  #job(id: string, { lifecycle, largest, run }: Work): Job {
    return new Job({
      id,
      table: this.#table,
      turns: this.#turns,
      limitMs: limitMs(lifecycle),
      largest: Math.max(0, largest - AROUND),
      changed: () => {
        this.#changes.tell();
      },
      work: run,
    });
  }

  /** Until the job has ended, this process works on it. */
  #follow(id: string, job: Job, running: Promise<void>, { survives }: Lifecycle): void {
    const over = running.finally(() => {
      this.#jobs.delete(id);
      this.#bound.delete(job);
      if (this.#jobs.size === 0) clearInterval(this.#looking);
      this.#changes.tell();
    });
    if (!survives) this.#bound.set(job, over);
    if (this.#table.folder === undefined || this.#jobs.size > 1) return;
    clearInterval(this.#looking);
    this.#looking = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  /** Stops what another process was asked to cancel. */
  async #look(): Promise<void> {
    const rows = await this.#table.openOnes().catch(() => []);
    for (const { id, cancel } of rows) if (cancel === true) this.#jobs.get(id)?.stop(ASKED);
  }

  #entered(): Promise<string> {
    this.#instance ??= enter(this.#table.folder).catch((error: unknown) => {
      this.#instance = undefined;
      throw error;
    });
    return this.#instance;
  }

  async #settleAll(): Promise<void> {
    for (const row of await this.#table.openOnes()) await this.#settle(row);
    await this.#table.sweep();
  }

  /** Fails an execution that nobody works on any more; says whether it did. */
  async #settle({ id, instance }: Row): Promise<boolean> {
    const isOwn = this.#instance !== undefined && (await this.#instance) === instance;
    if (isOwn ? this.#jobs.has(id) : await lives(this.#table.folder, instance)) return false;
    // It may have ended since the row was read; then this changes nothing.
    const reason = isOwn
      ? "The server could not keep what came of this execution; for a write first read whether it took effect."
      : "The server was restarted while this execution ran; start it again, and for a write first read whether it took effect.";
    await this.#table.finish(id, "failed", undefined, new OpError("INTERNAL_ERROR", reason).with("reason", "server_restarted"));
    return true;
  }

  /** One execution, perhaps after waiting for its end; whoever waits hears how far it has come. */
  async #get(id: string, waitMs: number, caller?: Waiting): Promise<Kept | undefined> {
    const deadline = Date.now() + Math.min(waitMs, LONGEST_WAIT_MS);
    for (;;) {
      const change = this.#changes.next();
      const kept = await this.#table.get(id);
      if (kept === undefined || isFinal(kept.row.status)) return kept;
      if (await this.#settle(kept.row)) continue;
      const { progress: done, message } = kept.row;
      caller?.progress({ done, total: 100, ...(message === undefined ? {} : { message }) });
      const left = deadline - Date.now();
      if (left <= 0 || caller?.signal.aborted === true) return kept;
      await within(Math.min(left, LOOK_MS), change, caller?.signal);
    }
  }

  /** Stops one and waits a moment until it has stopped. */
  async #cancel(id: string): Promise<Kept | undefined> {
    const job = this.#jobs.get(id);
    if (job === undefined) await this.#table.askToCancel(id);
    else job.stop(ASKED);
    return await this.#get(id, STOPPING_MS);
  }
}

/** That something has changed, for those who wait. */
class Changes {
  #tell: () => void = () => undefined;
  #next = this.#fresh();

  /** Fulfilled when something has changed after this. */
  next(): Promise<void> {
    return this.#next;
  }

  tell(): void {
    this.#tell();
    this.#next = this.#fresh();
  }

  #fresh(): Promise<void> {
    return new Promise((resolve) => {
      this.#tell = resolve;
    });
  }
}

async function within(millis: number, change: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  let wake: () => void = () => undefined;
  const early = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const timer = setTimeout(wake, millis);
  signal?.addEventListener("abort", wake, { once: true });
  await Promise.race([change, early]);
  clearTimeout(timer);
  signal?.removeEventListener("abort", wake);
}

/** What the table has against being read or written reaches a caller as one sentence. */
async function keeping<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw error instanceof OpError ? error : unkept(error);
  }
}

function alreadyEnded(status: Status): { code: string; message: string } {
  return { code: "ALREADY_ENDED", message: `Nothing to cancel: it is ${status} already.` };
}

function tooMany(maximum: number): OpError {
  const message = "Too many executions wait already; wait for one of list_executions to end, or cancel one.";
  return new OpError("RATE_LIMIT_EXCEEDED", message).with("maximum", maximum);
}

function notFound(given: string): never {
  const id = given.replace(/[^A-Za-z0-9]/g, "").slice(0, 64);
  const message = "No execution has this id; it may have expired. Find it with list_executions.";
  throw new OpError("NOT_FOUND_RESOURCE", message).with("resource_type", "execution").with("resource_id", id);
}
