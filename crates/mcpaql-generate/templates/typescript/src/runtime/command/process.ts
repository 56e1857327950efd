// One process with its children: started in a group of its own, fed, read within bounds, and never left behind.
//
// A call that ends early (cancelled, too late, too much output) ends the whole group: a polite signal first, so that programs can
// remove their lock files, the final one as soon as the leader is gone or the grace is over.

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

/** How long a program may take to end after the polite signal, and its descendants to let go of the output after its end. */
export const GRACE_MS = 500;
/** How much of standard error is kept: its end. */
export const TAIL = 2048;

/** What to start, with these variables alone. */
export interface Program {
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** What to run to its end. */
export interface Job extends Program {
  /** Nothing means closed. */
  readonly stdin: Buffer | undefined;
  readonly maxOutput: number;
  readonly timeoutMs: number;
}

/** How a leader ended: with a status, or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What came of it: by itself, by itself while a descendant kept the output open and was stopped, or stopped. */
export interface Finished {
  readonly ending: { readonly exit: Exit; readonly held: boolean } | "too large" | "timed out";
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** The groups of processes that run, so that none is left behind when the server ends. */
const running = new Set<ChildProcess>();

/** Ends what still runs; for the end of the server itself. */
export function endAll(): void {
  for (const child of running) signalGroup(child, "SIGKILL");
}

/** A program that runs for as long as somebody wants it, spoken to over its streams. */
export class Process {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How the leader ended; never rejects. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, exited: Promise<Exit>, streams: readonly [Writable, Readable, Readable]) {
    this.#child = child;
    this.exited = exited;
    [this.stdin, this.stdout, this.stderr] = streams;
  }

  /** Starts it; throws what the system says where that cannot be. */
  static async start(program: Program): Promise<Process> {
    const { child, exited } = launch(program, "pipe");
    await Promise.race([once(child, "spawn"), exited]);
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error("no streams");
    // A signal that could not be sent is no news of the process.
    const ended = exited.catch(() => ({ code: null, signal: null }));
    return new Process(child, ended, [stdin, stdout, stderr]);
  }

  /** Lets the leader end by itself for so long, then ends it; its descendants go with it. */
  async end(patienceMs: number): Promise<Exit> {
    try {
      await within(patienceMs, this.exited);
    } catch {
      signalGroup(this.#child, "SIGTERM");
      await within(GRACE_MS, this.exited).catch(() => undefined);
    }
    signalGroup(this.#child, "SIGKILL");
    return await this.exited;
  }
}

function launch(program: Program, stdin: "ignore" | "pipe"): { child: ChildProcess; exited: Promise<Exit> } {
  const { env, cwd } = program;
  const child: ChildProcess = spawn(program.program, program.argv, { env, cwd, detached: true, stdio: [stdin, "pipe", "pipe"] });
  const exited = exitOf(child);
  if (running.size === 0) process.off("exit", endAll).once("exit", endAll);
  running.add(child);
  void exited.then(
    () => running.delete(child),
    () => running.delete(child),
  );
  return { child, exited };
}

/** Runs the job to its end; throws what the system says where it cannot be started. */
export async function run(job: Job, signal: AbortSignal): Promise<Finished> {
  const { child, exited } = launch(job, job.stdin === undefined ? "ignore" : "pipe");
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const finished = (ending: Finished["ending"]): Finished => ({
    ending,
    stdout: Buffer.concat(stdout),
    stderr: Buffer.concat(stderr),
  });
  feed(child, job.stdin);
  const { stdout: out, stderr: err } = child;
  const read = Promise.all([readCapped(out, job.maxOutput, stdout), readTail(err, stderr)]);
  read.catch(() => undefined);
  const early = new Early(signal, job.timeoutMs);
  try {
    // Too much output ends the call, whatever the leader does.
    const exit = await early.race(Promise.race([exited, read.then(() => exited)]));
    try {
      await within(GRACE_MS, early.race(read));
      return finished({ exit, held: false });
    } catch (error) {
      if (error !== HELD) throw error;
      // The group's number is still its own: a member that holds the output is alive, or has left the group.
      signalGroup(child, "SIGKILL");
      return finished({ exit, held: true });
    }
  } catch (error) {
    if (child.pid === undefined) throw error;
    void end(child, exited);
    if (error === TOO_LARGE) return finished("too large");
    if (error === TOO_LATE) return finished("timed out");
    throw error;
  } finally {
    early.stop();
    out?.destroy();
    err?.destroy();
  }
}

const TOO_LARGE = new Error("too much output");
const TOO_LATE = new Error("too late");
const CANCELLED = new Error("the call was cancelled");
const HELD = new Error("the output is held open");

/** What ends a call before its process. */
class Early {
  readonly #ended: Promise<never>;
  readonly #stop: () => void;

  constructor(signal: AbortSignal, timeoutMs: number) {
    let stop: () => void = () => undefined;
    this.#ended = new Promise((_, reject) => {
      const cancelled = (): void => {
        reject(CANCELLED);
      };
      const timer = setTimeout(() => {
        reject(TOO_LATE);
      }, Math.min(timeoutMs, 0x7fff_ffff));
      if (signal.aborted) cancelled();
      signal.addEventListener("abort", cancelled, { once: true });
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancelled);
      };
    });
    this.#ended.catch(() => undefined);
    this.#stop = stop;
  }

  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#ended]);
  }

  stop(): void {
    this.#stop();
  }
}

async function within<T>(millis: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const held = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(HELD);
    }, millis);
  });
  try {
    return await Promise.race([work, held]);
  } finally {
    clearTimeout(timer);
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      resolve({ code, signal });
    });
  });
}

/** Asks the group to end, and ends it when the leader is gone or the grace is over. */
async function end(child: ChildProcess, exited: Promise<Exit>): Promise<void> {
  signalGroup(child, "SIGTERM");
  await within(GRACE_MS, exited).catch(() => undefined);
  signalGroup(child, "SIGKILL");
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // A group that is already gone is what we want; a system without groups has the leader alone.
    child.kill(signal);
  }
}

/** Writes and closes. A program that does not read what it is given is within its rights. */
function feed(child: ChildProcess, input: Buffer | undefined): void {
  child.stdin?.on("error", () => undefined);
  if (input !== undefined) child.stdin?.end(input);
}

async function readCapped(pipe: Readable | null, max: number, into: Buffer[]): Promise<void> {
  let length = 0;
  for await (const chunk of (pipe ?? []) as AsyncIterable<Buffer>) {
    into.push(chunk);
    length += chunk.length;
    if (length > max) throw TOO_LARGE;
  }
}

async function readTail(pipe: Readable | null, into: Buffer[]): Promise<void> {
  for await (const chunk of (pipe ?? []) as AsyncIterable<Buffer>) {
    into.push(chunk);
    const all = Buffer.concat(into);
    // Cut now and then, not with every read.
    into.splice(0, into.length, all.length > 8 * TAIL ? all.subarray(-TAIL) : all);
  }
}
