// A program that is an MCP server: started without a shell in a process group of its own, spoken to over its standard streams.
//
// What always holds: it gets the usual variables and those the document names, nothing else; a line of its output that is no message,
// or too long, is skipped and never held whole; when it ends, or is no longer wanted, its group goes with it.

import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type Exit, GRACE_MS, Process } from "../command/process.js";
import { PASSED_ON, SECRET_LENGTH, isFolder, short } from "../command/runner.js";
import { type Environment, type Template, fillTemplate, parseTemplate } from "../environment.js";
import { SetupError } from "../http/address.js";
import { quotable } from "../http/failure.js";
import { log } from "../log.js";
import { LineReader, type TooLong, lineText } from "../reader.js";
import { Mask, withoutTokens } from "../secrets.js";
import { byteLength } from "../text.js";
import type { ProgramLink } from "./binding.js";
import type { Calls } from "./calls.js";
import { type UpstreamError, unavailable } from "./error.js";
import type { Outbox } from "./outbox.js";
import { type Connector, type Link, within } from "./session.js";

/** What an answer's message has around its content, generously. */
const AROUND = 64 * 1024;
/** The longest line of standard error that is read. */
const STDERR_LINE = 16 * 1024;
/** How many lines of standard error are kept. */
const TAIL_LINES = 8;
/** Programs that run a package they are given. */
const LAUNCHERS = ["npx", "uvx", "bunx", "pnpx"];

/** A program with its variables filled in. */
interface Filled {
  readonly argv: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Record<string, string>;
  /** What it was given in confidence. */
  readonly mask: Mask;
}

/** The program of a document. */
export class Program implements Connector {
  readonly name: string;
  readonly #command: readonly Template[];
  readonly #cwd: Template | undefined;
  readonly #passed: readonly string[];
  readonly #set: readonly (readonly [string, Template])[];
  readonly #env: Environment;

  /** Gets ready to start it; throws a `SetupError`. A variable that is not set is an error of the calls. */
  constructor(link: ProgramLink, env: Environment) {
    this.name = nameOf(link.command);
    this.#set = Object.entries(link.set_env).map(([name, value]) => {
      if (name === "" || /[=\0]/.test(name)) {
        throw new SetupError(`the environment variable '${name}' cannot be set: '=' and NUL are not allowed in names`);
      }
      return [name, template(value)];
    });
    this.#command = link.command.map(template);
    this.#cwd = link.cwd === null ? undefined : template(link.cwd);
    this.#passed = [...new Set([...PASSED_ON, ...link.env])];
    this.#env = env;
  }

  /** Starts it; what it says goes to `calls`, what is put into their outbox to the program. */
  async connect(calls: Calls, limit: number): Promise<Link> {
    const { argv, cwd, env, mask } = this.#fill();
    const [program, ...rest] = argv;
    if (program === undefined) throw unavailable(this.name, "has no program");
    try {
      const process = await Process.start({ program, argv: rest, env, cwd });
      return new Keeper(process, calls, mask, limit);
    } catch (error) {
      throw unavailable(this.name, cannotStart(program, error, cwd));
    }
  }

  #fill(): Filled {
    const mask = new Mask();
    const look = (name: string): string | undefined => {
      const value = this.#env[name];
      if (value !== undefined && isSecret(name, value)) mask.add(value);
      return value;
    };
    const fill = (text: Template): string => {
      const filled = fillTemplate(text, look);
      if ("text" in filled) return filled.text;
      throw unavailable(this.name, `needs the environment variable ${filled.unset}, which is not set`);
    };
    const argv = this.#command.map(fill);
    const cwd = this.#cwd === undefined ? undefined : fill(this.#cwd);
    const set = Object.fromEntries(this.#set.map(([name, text]) => [name, fill(text)]));
    const passed = this.#passed.flatMap((name): [string, string][] => {
      const value = Object.hasOwn(set, name) ? undefined : look(name);
      return value === undefined ? [] : [[name, value]];
    });
    const env = Object.entries({ ...Object.fromEntries(passed), ...set }).sort(([one], [other]) => (one < other ? -1 : 1));
    return { argv, cwd, env: Object.fromEntries(env), mask };
  }
}

function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (parsed === undefined) throw new SetupError(`'${text}' has a '\${' that is not '\${env:NAME}'`);
  return parsed;
}

/** Whether a variable's value must not be shown. */
function isSecret(name: string, value: string): boolean {
  return !PASSED_ON.includes(name) && byteLength(value) >= SECRET_LENGTH;
}

/** What people call it: the package that a launcher runs, else the program. */
export function nameOf([first = "", ...others]: readonly string[]): string {
  const program = short(first);
  const named = others.find((argument) => !argument.startsWith("-"));
  return named !== undefined && LAUNCHERS.includes(program) && !named.includes("$") ? named : program;
}

function cannotStart(program: string, error: unknown, cwd: string | undefined): string {
  const name = short(program);
  if (cwd !== undefined && !isFolder(cwd)) return "cannot be started: its working directory is not there";
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return `cannot be started: the program '${name}' is not installed`;
    case "EACCES":
    case "EPERM":
      return `cannot be started: the program '${name}' may not be run by this user`;
    case "E2BIG":
      return "cannot be started: argument list too long";
    case "ENOTDIR":
      return "cannot be started: not a directory";
    case "ERR_INVALID_ARG_VALUE":
      return "cannot be started: invalid input parameter";
    default:
      return "cannot be started: uncategorized error";
  }
}

/** Holds on to the process as long as it is wanted. */
class Keeper implements Link {
  readonly #process: Process;
  readonly #calls: Calls;
  readonly #mask: Mask;
  readonly #gone: Promise<void>;
  /** The last lines of standard error, without secrets. */
  readonly #tail: string[] = [];
  #close: () => void = () => undefined;

  constructor(process: Process, calls: Calls, mask: Mask, limit: number) {
    this.#process = process;
    this.#calls = calls;
    this.#mask = mask;
    this.#gone = this.#keep(limit + AROUND);
  }

  mask(): Mask {
    return this.#mask;
  }

  echoMask(): Mask {
    return new Mask();
  }

  /** Where nobody takes it, the end of the conversation is near and will say why. */
  async post(line: string): Promise<void> {
    await this.#calls.outbox.put(line);
  }

  speak(): void {
    // Messages on standard streams say nothing of their revision.
  }

  greeted(): void {
    // Nothing waits for it.
  }

  async close(): Promise<void> {
    this.#close();
    await this.#gone;
  }

  async #keep(longest: number): Promise<void> {
    const { stdin, stdout, stderr, exited } = this.#process;
    const reading = eachLine(stdout, longest, (line) => {
      this.#hear(line);
    });
    const listening = eachLine(stderr, STDERR_LINE, (line) => {
      this.#note(line);
    });
    const writing = write(stdin, this.#calls.outbox);
    const closing = new Promise<"closed">((resolve) => {
      this.#close = () => {
        resolve("closed");
      };
    });
    // A descendant may hold the output open, or the program have closed its input; what was said last is still to be read.
    const ended = Promise.race([exited, writing]).then(() => inTime(reading));
    const outcome = await Promise.race([reading, ended, closing]);
    // Closing its input is how a server is asked to end.
    this.#calls.outbox.close();
    stdin.destroy();
    const isClosed = outcome === "closed";
    if (isClosed) this.#calls.end(this.#unavailable("was closed"));
    const exit = await this.#process.end(GRACE_MS);
    if (!isClosed) await inTime(listening);
    stdout.destroy();
    stderr.destroy();
    const line = this.#tail.map(quotable).findLast((said) => said !== undefined);
    const reason = `${ending(exit)}${line === undefined ? "" : `: ${line}`}`;
    log.debug("the server ended", { server: this.#calls.server, reason });
    this.#calls.end(this.#unavailable(reason));
  }

  #unavailable(reason: string): UpstreamError {
    return unavailable(this.#calls.server, reason);
  }

  #hear(line: Buffer | TooLong): void {
    if (!Buffer.isBuffer(line)) {
      this.#calls.tooLong(line.tooLong);
      return;
    }
    const text = lineText(line);
    if (text !== "") this.#calls.incoming(text);
  }

  /** Keeps a line of standard error. */
  #note(line: Buffer | TooLong): void {
    // What looks like a credential is one, also where nobody told us of it.
    const text = Buffer.isBuffer(line) ? withoutTokens(this.#mask.apply(lineText(line))) : "";
    if (text === "") return;
    log.debug("standard error", { server: this.#calls.server, line: text });
    this.#tail.push(text);
    if (this.#tail.length > TAIL_LINES) this.#tail.shift();
  }
}

/** Reads lines up to the end of the stream; one that fails has ended. */
async function eachLine(stream: Readable, longest: number, take: (line: Buffer | TooLong) => void): Promise<void> {
  const reader = new LineReader(longest);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (const line of reader.feed(chunk)) take(line);
    }
  } catch {
    // What came is all there is.
  }
  take(reader.end());
}

/** Writes until there is nothing more to write, or nobody reads it. */
async function write(stdin: Writable, outbox: Outbox): Promise<void> {
  const broken = new Promise<undefined>((resolve) => {
    for (const event of ["close", "error"]) {
      stdin.on(event, () => {
        resolve(undefined);
      });
    }
  });
  for (;;) {
    const line = await Promise.race([outbox.take(), broken]);
    if (line === undefined) return;
    if (!stdin.write(line)) await Promise.race([new Promise<void>((resolve) => stdin.once("drain", resolve)), broken]);
  }
}

async function inTime(work: Promise<void>): Promise<void> {
  await within(GRACE_MS, work, () => new Error("late")).catch(() => undefined);
}

function ending({ code, signal }: Exit): string {
  if (code !== null) return `ended with exit status ${code}`;
  return signal === null ? "ended" : `was ended by signal ${constants.signals[signal]}`;
}
