// Local programs: one process per call, from an argv template, never through a shell.
//
// What always holds: no value becomes an option; the environment is cleared but for named variables; time and output
// are bounded; a call that ends early takes its process and that process's children with it.

import { isUtf8 } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import { fill } from "./environment.js";
import { type Code, type Job, OpError, tooLarge } from "./errors.js";
import { type JsonObject, arrayOf, isJson, scalar, scalars, stringify } from "./json.js";

/** One argument with `{placeholders}`; several that stand or fall together; or some that a boolean parameter adds. */
export type Arg = string | readonly string[] | { readonly when: string; readonly args: readonly string[] };

/** The one process that an operation is. */
export type CommandLine = Readonly<{
  argv: readonly Arg[]; // an argument whose parameter is not given is left out
  params: Readonly<Record<string, { as?: string; sensitive?: boolean }>>; // where there is something to say
  target?: string; // the parameter that chooses among several targets
  stdin?: "params" | { readonly param: string }; // all parameters as one JSON object, or one of them
  output: "json" | "jsonlines" | "lines" | "text";
  timeout_ms?: number; // in place of the target's
  exit?: Readonly<Record<number, "success" | Code>>; // what an exit status means, where that is not the usual
}>;

type Numbers = Record<"timeout_ms" | "max_output_bytes", number>;
export type CommandTarget = Readonly<Numbers> &
  Readonly<{ protocol: "command"; cwd: string | null; env: readonly string[]; set_env: Record<string, string> }>;

const PASSED_ON = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
/** How long a program may take to end after the polite signal, and its children to let go of the output. */
const GRACE_MS = 500;
const TAIL = 2048; // how much of standard error is kept: its end

const running = new Set<ChildProcess>();
process.on("exit", () => { running.forEach((child) => { signalGroup(child, "SIGKILL"); }); });
for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, () => process.exit(1));

export class CommandRunner {
  readonly #cwd: string | undefined;
  readonly #env: Record<string, string> = {};

  constructor(readonly target: CommandTarget) {
    const unset = (name: string): Error => new Error(`the working directory needs the variable ${name}; set it`);
    this.#cwd = target.cwd === null ? undefined : fill(target.cwd, unset);
    if (this.#cwd !== undefined && !statSync(this.#cwd).isDirectory()) throw new Error(`${this.#cwd} is no directory`);
    const passed = [...PASSED_ON, ...target.env].map((name) => [name, process.env[name]]);
    Object.assign(this.#env, Object.fromEntries(passed.filter(([, value]) => value !== undefined)), target.set_env);
  }

  async call(job: Job<CommandLine>): Promise<unknown> {
    const { binding: line, args, signal, warn } = job;
    const argv = argvOf(line.argv, args);
    const name = argv[0]?.split(/[/\\]/).at(-1) ?? "";
    const timeoutMs = line.timeout_ms ?? this.target.timeout_ms;
    const finished = await this.#run(argv, stdinOf(line, args), timeoutMs, signal).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "E2BIG") throw tooLarge("The parameters are too long; send less.");
      const message = `The program '${name}' is not installed on the server, or may not be run; tell the user.`;
      throw new OpError("INTERNAL_ERROR", message, {}, error);
    });
    const { ending, code, stdout, stderr } = finished;
    const max = this.target.max_output_bytes;
    if (ending === "timed out") throw new OpError("TRANSPORT_TIMEOUT", `${name} took more than ${timeoutMs} ms.`);
    const details = { limit: "max_output_bytes", maximum: max };
    if (ending === "too large") throw tooLarge(`${name} wrote more than ${max} bytes; ask for less.`, details);
    if (ending === "held") warn({ code: "OUTPUT_HELD_OPEN", message: `${name} left a process, which was stopped.` });
    const meaning = line.exit?.[code ?? -1] ?? (code === 0 ? "success" : "INTERNAL_ERROR");
    if (meaning === "success") return outputOf(job, stdout);
    const hidden = this.#hidden(line, args);
    const said = clean(stderr, hidden);
    const [stream, words] = said === "" ? ["stdout", clean(stdout, hidden)] : ["stderr", said];
    const how = code === null ? "was ended by a signal" : `failed with exit status ${code}`;
    throw new OpError(meaning, `${name} ${how}${words === "" ? " and said nothing" : `; see details.${stream}`}.`, {
      ...(code === null ? {} : { exit_status: code }),
      ...(finished.signal === null ? {} : { signal: constants.signals[finished.signal] }),
      ...(words === "" ? {} : { [stream]: words }),
    });
  }

  /** What no error may show: sensitive parameters, line by line too, and the operator's own values and places. */
  #hidden({ params }: CommandLine, args: JsonObject): string[] {
    const named = Object.keys(params).filter((name) => params[name]?.sensitive === true);
    const texts = named.flatMap((name) => scalars(args[name])).flatMap((text) => [text, ...text.split(/\r?\n/)]);
    // A short value of a variable is a setting, and `/` is no place of the operator's.
    const own = this.target.env.map((name) => this.#env[name] ?? "").filter((value) => value.length > 5);
    const places = [this.#cwd ?? "", this.#env["HOME"] ?? ""].filter((path) => path.length > 1);
    // The longest first: a value inside another must not break its mask.
    return [...texts, ...own, ...places].filter((text) => text !== "").sort((a, b) => b.length - a.length);
  }

  #run([program = "", ...argv]: string[], stdin: string, timeoutMs: number, signal: AbortSignal): Promise<Finished> {
    return new Promise((resolve, reject) => {
      const child = spawn(program, argv, { env: this.#env, cwd: this.#cwd, detached: true, stdio: "pipe" });
      running.add(child);
      const stdout: Buffer[] = [];
      let [size, stderr] = [0, Buffer.alloc(0)];
      let exit: Exit = { code: null, signal: null };
      const done = (ending: Ending): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        for (const output of [child.stdout, child.stderr]) output.destroy();
        resolve({ ending, ...exit, stdout: Buffer.concat(stdout), stderr });
      };
      const stop = (ending: Ending): void => {
        signalGroup(child, "SIGTERM");
        setTimeout(signalGroup, GRACE_MS, child, "SIGKILL").unref();
        done(ending);
      };
      const cancel = (): void => { stop("cancelled"); };
      const timer = setTimeout(stop, Math.min(timeoutMs, 0x7fff_ffff), "timed out");
      child.once("error", (error) => { clearTimeout(timer); running.delete(child); reject(error); });
      child.stdout.on("data", (chunk: Buffer) => {
        stdout.push(chunk);
        size += chunk.length;
        if (size > this.target.max_output_bytes) stop("too large");
      });
      child.stderr.on("data", (chunk: Buffer) => (stderr = Buffer.concat([stderr, chunk]).subarray(-8 * TAIL)));
      child.once("exit", (code, by) => {
        exit = { code, signal: by };
        running.delete(child);
        // Children of the program may keep the output open; they are stopped.
        const held = setTimeout(() => { signalGroup(child, "SIGKILL"); done("held"); }, GRACE_MS);
        child.once("close", () => { clearTimeout(held); done("exited"); });
      });
      // A program that does not read what it is given is within its rights.
      child.stdin.on("error", () => undefined).end(stdin);
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
    });
  }
}

type Exit = Readonly<{ code: number | null; signal: NodeJS.Signals | null }>;
type Ending = "exited" | "held" | "too large" | "timed out" | "cancelled";
type Finished = Exit & Readonly<{ ending: Ending; stdout: Buffer; stderr: Buffer }>;

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // A group that is gone is what we want.
  }
}

/** The program and its arguments. */
function argvOf(template: readonly Arg[], args: JsonObject): string[] {
  const argv: string[] = [];
  // A literal `--` has been written: what follows cannot be an option.
  let pastOptions = false;
  const paramsOf = (text: string): string[] => [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
  const isGiven = (name: string): boolean => [args[name] ?? []].flat().length > 0;
  const push = (text: string): void => {
    const params = paramsOf(text);
    if (!params.every(isGiven)) return;
    const [only] = params;
    const several = params.length === 1 ? args[only ?? ""] : undefined;
    const items: unknown[] = Array.isArray(several) ? several : [undefined];
    for (const item of items.filter((one) => one !== null)) {
      const argument = text.replace(PLACEHOLDER, (_match, name: string) => scalar(item ?? args[name]) ?? "");
      const message = `Parameter '${only ?? ""}' must not start with '-': the program would read it as an option.`;
      const isOption = argument.startsWith("-") && text.startsWith("{") && !pastOptions;
      if (isOption) throw new OpError("VALIDATION_INVALID_VALUE", message, { param_name: only });
      argv.push(argument);
    }
    pastOptions ||= text === "--";
  };
  for (const entry of template) {
    if (typeof entry === "string") push(entry);
    else if (!("when" in entry)) {
      if (entry.flatMap(paramsOf).every(isGiven)) entry.forEach(push);
    } else if (args[entry.when] === true) entry.args.forEach(push);
  }
  return argv;
}

const PLACEHOLDER = /\{([a-z][a-z0-9_]*)\}/g;

function stdinOf({ stdin, params }: CommandLine, args: JsonObject): string {
  if (stdin === undefined) return "";
  if (stdin !== "params") return scalar(args[stdin.param]) ?? "";
  return stringify(Object.fromEntries(Object.entries(args).map(([name, value]) => [params[name]?.as ?? name, value])));
}

/** Standard output, read the way the operation says. Nothing at all is null where JSON is expected. */
function outputOf({ binding: { output: form }, read, warn }: Job<CommandLine>, stdout: Buffer): unknown {
  const text = stdout.toString("utf8");
  if (form === "text" || form === "lines") {
    const message = "The program's output is not UTF-8; what could not be read is shown as \ufffd.";
    if (!isUtf8(stdout)) warn({ code: "OUTPUT_NOT_UTF8", message });
    if (form === "text") return text.replace(/\r?\n$/, "");
    return text === "" ? [] : text.replace(/\n$/, "").split("\n").map((line) => line.replace(/\r$/, ""));
  }
  if (form === "json" && text.trim() === "") return null;
  const json = form === "json" ? text : arrayOf(text);
  if (isUtf8(stdout) && isJson(json)) return read(json);
  throw new OpError("INTERNAL_ERROR", "The program's output is not the JSON that was expected; tell the user.");
}

/** The end of an output for people: no escape sequences, no control characters, nothing of what is hidden. */
function clean(output: Buffer, hidden: readonly string[]): string {
  const plain = output.toString("utf8").replace(/\x1b(?:\[[^@-~]*[@-~]?|[^[])/g, "").replace(/(?![\n\t])\p{Cc}/gu, "");
  // Masked before it is cut, so that no half of a secret stays behind.
  const masked = hidden.reduce((text, secret) => text.replaceAll(secret, "***"), plain);
  const end = Buffer.from(masked.trim(), "utf8").subarray(-TAIL);
  return end.toString("utf8").replace(/^\ufffd+/, "").trim();
}
