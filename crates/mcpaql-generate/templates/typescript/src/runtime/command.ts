// Local programs: one process per call, from an argv template, never through a shell.
//
// What always holds: no value becomes an option; a program sees only the named environment variables; time and output
// are limited; a call that ends early stops its program and the children of that program.

import { isUtf8 } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fill } from "./catalog.js";
import { type Code, type Job, OpError, invalid, tooLarge } from "./errors.js";
import { type JsonObject, RawJson, arrayOf, isJson, scalar, scalars, stringify } from "./json.js";

/** One argument with `{placeholders}`; arguments that are sent only together; or arguments that a boolean adds. */
export type Arg = string | readonly string[] | { readonly when: string; readonly args: readonly string[] };

/** How an operation runs its program. */
export type CommandLine = Readonly<{
  argv: readonly Arg[]; // an argument without a value for its parameter is left out
  params: Readonly<Record<string, { as?: string; sensitive?: boolean }>>; // only parameters with one of these
  target?: string; // the parameter that selects one of several targets
  stdin?: "params" | { readonly param: string }; // all parameters as one JSON object, or one of them
  output: "json" | "jsonlines" | "lines" | "text";
  timeout_ms?: number; // overrides the timeout of the target
  exit?: Readonly<Record<number, "success" | Code>>; // meanings of exit statuses, other than 0 for success
}>;

export type CommandTarget = Readonly<Record<"timeout_ms" | "max_output_bytes", number>> &
  Readonly<{ protocol: "command"; cwd: string | null; env: readonly string[]; set_env: Record<string, string> }>;
type Ending = "exited" | "held" | "too large" | "timed out" | "cancelled";

const PASSED_ON = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
const GRACE_MS = 500; // from SIGTERM to SIGKILL, and from the end of a program to the end of its output
const TAIL = 2048; // bytes at the end of an output that an error shows
const PLACEHOLDER = /\{([a-z][a-z0-9_]*)\}/g;
const running = new Set<ChildProcess>();
process.on("exit", () => { running.forEach((child) => { signalGroup(child, "SIGKILL"); }); });
for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, () => process.exit(1));

export class CommandRunner {
  readonly #cwd: string | undefined;
  readonly #env: Record<string, string | undefined>;

  constructor(readonly target: CommandTarget) {
    const unset = (name: string): Error => new Error(`the working directory needs the variable ${name}; set it`);
    this.#cwd = target.cwd === null ? undefined : fill(target.cwd, unset);
    if (this.#cwd !== undefined && !statSync(this.#cwd).isDirectory()) throw new Error(`${this.#cwd} is no directory`);
    const passed = [...PASSED_ON, ...target.env].map((name) => [name, process.env[name]]);
    this.#env = { ...(Object.fromEntries(passed) as NodeJS.ProcessEnv), ...target.set_env };
  }

  async call(job: Job<CommandLine>): Promise<unknown> {
    const { binding: line, args, signal, warn } = job;
    const argv = argvOf(line.argv, args);
    const name = argv[0]?.split(/[/\\]/).at(-1) ?? "";
    const timeoutMs = line.timeout_ms ?? this.target.timeout_ms;
    const run = this.#run(argv, stdinOf(line, args), timeoutMs, signal);
    const { ending, code, by, stdout, stderr } = await run.catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "E2BIG") throw tooLarge("The parameters are too long; send less.");
      throw new OpError("INTERNAL_ERROR", `The program '${name}' cannot be run here; tell the user.`, {}, error);
    });
    const max = this.target.max_output_bytes;
    if (ending === "timed out") throw new OpError("TRANSPORT_TIMEOUT", `${name} took more than ${timeoutMs} ms.`);
    if (ending === "too large") throw tooLarge(`${name} wrote too much; ask for less.`, "response_size", max);
    if (ending === "held") warn("OUTPUT_HELD_OPEN", `${name} left a process, which was stopped.`);
    const meaning = line.exit?.[code ?? -1] ?? (code === 0 ? "success" : "INTERNAL_ERROR");
    if (meaning === "success") return outputOf(job, stdout);
    const hidden = this.#hidden(line, args);
    const said = clean(stderr, hidden);
    const [stream, words] = said === "" ? ["stdout", clean(stdout, hidden)] : ["stderr", said];
    const how = code === null ? "was ended by a signal" : `failed with exit status ${code}`;
    const message = `${name} ${how}${words === "" ? " without output" : `; see details.${stream}`}.`;
    const status = code === null ? { signal: by === null ? undefined : constants.signals[by] } : { exit_status: code };
    throw new OpError(meaning, message, words === "" ? status : { ...status, [stream]: words });
  }

  /** Texts that no error may show: sensitive parameters and each of their lines, the operator's values and paths. */
  #hidden({ params }: CommandLine, args: JsonObject): string[] {
    const named = Object.keys(params).filter((name) => params[name]?.sensitive === true);
    const texts = named.flatMap((name) => scalars(args[name])).flatMap((text) => [text, ...text.split(/\r?\n/)]);
    // A short value is a setting, not a secret, and `/` is not private.
    const own = this.target.env.map((name) => this.#env[name] ?? "").filter((value) => value.length > 5);
    const places = [this.#cwd ?? "", this.#env["HOME"] ?? ""].filter((path) => path.length > 1);
    // The longest first, so that the mask of a short value does not split a long one.
    return [...texts, ...own, ...places].filter((text) => text !== "").sort((a, b) => b.length - a.length);
  }

  async #run([program = "", ...argv]: string[], stdin: string, timeoutMs: number, signal: AbortSignal) {
    const child = spawn(program, argv, { env: this.#env, cwd: this.#cwd, detached: true, stdio: "pipe" });
    await once(child, "spawn");
    running.add(child);
    const stdout: Buffer[] = [];
    let [room, stderr] = [this.target.max_output_bytes, Buffer.alloc(0)];
    const overflow = new Promise<Ending>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        stdout.push(chunk);
        room -= chunk.length;
        if (room < 0) resolve("too large");
      });
    });
    child.stderr.on("data", (chunk: Buffer) => (stderr = Buffer.concat([stderr, chunk]).subarray(-8 * TAIL)));
    // A program may close its input without reading it.
    child.stdin.on("error", () => undefined).end(stdin);
    const late = sleep<Ending>(Math.min(timeoutMs, 0x7fff_ffff), "timed out", { signal, ref: false });
    const exited = once(child, "exit").then(() => running.delete(child));
    const held = exited.then(() => sleep<Ending>(GRACE_MS, "held", { ref: false }));
    const closed = once(child, "close").then((): Ending => "exited");
    const ending = await Promise.race([overflow, late.catch((): Ending => "cancelled"), held, closed]);
    // Children of a program that has ended keep its output open.
    if (ending === "held") signalGroup(child, "SIGKILL");
    else if (ending !== "exited") {
      signalGroup(child, "SIGTERM");
      setTimeout(signalGroup, GRACE_MS, child, "SIGKILL").unref();
    }
    for (const output of [child.stdout, child.stderr]) output.destroy();
    return { ending, code: child.exitCode, by: child.signalCode, stdout: Buffer.concat(stdout), stderr };
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try { if (child.pid !== undefined) process.kill(-child.pid, signal); } catch { /* The group has ended already. */ }
}

function argvOf(template: readonly Arg[], args: JsonObject): string[] {
  const argv: string[] = [];
  let pastOptions = false; // after a literal `--`
  const paramsOf = (text: string): string[] => [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
  const isGiven = (name: string): boolean => [args[name] ?? []].flat().length > 0;
  const push = (text: string): void => {
    const params = paramsOf(text);
    if (!params.every(isGiven)) return;
    const [only = ""] = params;
    const items = params.length === 1 ? [args[only]].flat() : [undefined];
    for (const item of items.filter((one) => one !== null)) {
      const argument = text.replace(PLACEHOLDER, (_match, name: string) => scalar(item ?? args[name]) ?? "");
      const isOption = argument.startsWith("-") && text.startsWith("{") && !pastOptions;
      if (isOption) throw invalid(only, "must not start with '-': the program would read it as an option.");
      argv.push(argument);
    }
    pastOptions ||= text === "--";
  };
  for (const entry of template) {
    if (typeof entry === "string") push(entry);
    else if ("when" in entry) (args[entry.when] === true ? entry.args : []).forEach(push);
    else if (entry.flatMap(paramsOf).every(isGiven)) entry.forEach(push);
  }
  return argv;
}

function stdinOf({ stdin, params }: CommandLine, args: JsonObject): string {
  if (stdin === undefined) return "";
  if (stdin !== "params") return scalar(args[stdin.param]) ?? "";
  return stringify(Object.fromEntries(Object.entries(args).map(([name, value]) => [params[name]?.as ?? name, value])));
}

/** The data in standard output. Empty output is null where JSON is expected. */
function outputOf({ binding: { output: form }, read, warn }: Job<CommandLine>, stdout: Buffer): unknown {
  const text = stdout.toString("utf8");
  if (form === "text" || form === "lines") {
    if (!isUtf8(stdout)) warn("OUTPUT_NOT_UTF8", "The output is not UTF-8; U+FFFD replaces unreadable characters.");
    if (form === "text") return text.replace(/\r?\n$/, "");
    return text === "" ? [] : text.replace(/\n$/, "").split("\n").map((line) => line.replace(/\r$/, ""));
  }
  if (form === "json" && text.trim() === "") return null;
  const json = form === "json" ? text : arrayOf(text);
  if (isUtf8(stdout) && isJson(json)) return read(new RawJson(json));
  throw new OpError("INTERNAL_ERROR", "The output of the program is not JSON as expected; tell the user.");
}

/** The end of an output, without escape sequences, control characters and hidden texts. */
function clean(output: Buffer, hidden: readonly string[]): string {
  const plain = output.toString("utf8").replace(/\x1b(?:\[[^@-~]*[@-~]?|[^[])/g, "").replace(/(?![\n\t])\p{Cc}/gu, "");
  // Masked before it is cut, so that no part of a secret remains.
  const masked = hidden.reduce((text, secret) => text.replaceAll(secret, "***"), plain);
  const end = Buffer.from(masked.trim(), "utf8").subarray(-TAIL);
  return end.toString("utf8").replace(/^\ufffd+/, "").trim();
}
