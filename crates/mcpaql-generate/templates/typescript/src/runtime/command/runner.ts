// Local programs: one process per call, from an argv template, never through a shell.
//
// What always holds: the environment is cleared but for named variables; the working directory is the adapter's; time and output are
// bounded; a call that ends early, for whatever reason, takes its process and that process's children with it.

import { statSync } from "node:fs";
import { constants } from "node:os";
import type { Environment } from "../environment.js";
import { fillTemplate, parseTemplate } from "../environment.js";
import type { Code } from "../errors.js";
import { OpError } from "../errors.js";
import type { JsonObject } from "../values.js";
import { isArray, isObject, jsonText, own } from "../values.js";
import type { Answer } from "../response.js";
import { lines } from "../lines.js";
import { byteLength } from "../text.js";
import { argvOf } from "./argv.js";
import type { CommandLine, CommandTarget } from "./binding.js";
import type { Hidden } from "./output.js";
import { clean, lastLine, outputOf } from "./output.js";
import type { Exit, Finished } from "./process.js";
import { TAIL, run } from "./process.js";

/** Passed on to every program; adapters add to them. */
export const PASSED_ON = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
/** A shorter value is a setting, not a secret, and would mask ordinary words. */
export const SECRET_LENGTH = 6;

/** Why an adapter's programs cannot be run. For the operator: the message may name paths, `told` does not. */
export class CommandSetupError extends Error {
  constructor(
    message: string,
    readonly told: string = message,
  ) {
    super(message);
    this.name = "CommandSetupError";
  }
}

/** Runs the programs of one adapter. */
export class Runner {
  readonly #target: CommandTarget;
  readonly #cwd: string | undefined;
  readonly #env: Record<string, string> = {};
  readonly #hidden: [string, string][] = [];

  /** Prepares to run the programs of that target; throws a `CommandSetupError`. */
  constructor(target: CommandTarget, env: Environment) {
    this.#target = target;
    this.#cwd = target.cwd === null ? undefined : expand(target.cwd, env);
    if (this.#cwd !== undefined && !isFolder(this.#cwd)) {
      throw unusableFolder(`the working directory ${this.#cwd} does not exist or is not a directory`);
    }
    for (const name of [...PASSED_ON, ...target.env]) {
      const value = env[name];
      if (value === undefined || Object.hasOwn(this.#env, name) || Object.hasOwn(target.set_env, name)) continue;
      if (!PASSED_ON.includes(name) && byteLength(value) >= SECRET_LENGTH) this.#hidden.push([value, "***"]);
      this.#env[name] = value;
    }
    for (const [name, value] of Object.entries(target.set_env)) {
      if (name === "" || /[=\0]/.test(name) || value.includes("\0")) {
        throw new CommandSetupError(
          `the environment variable '${name}' cannot be set: '=' and NUL are not allowed in names, NUL not in values`,
        );
      }
      this.#env[name] = value;
    }
    for (const [path, mask] of [
      [this.#cwd, "."],
      [env["HOME"], "~"],
    ] as const) {
      if (path !== undefined && byteLength(path) > 1) this.#hidden.push([path, mask]);
    }
  }

  /** Runs one call; `background` is how long it may take where nobody waits for it. */
  async call(line: CommandLine, args: JsonObject, signal: AbortSignal, background?: number): Promise<Answer> {
    const { program, argv } = argvOf(line.argv, args);
    const timeoutMs = line.timeoutMs ?? background ?? this.#target.timeout_ms;
    const maxOutput = this.#target.max_output_bytes;
    const job = { program, argv, env: this.#env, cwd: this.#cwd, stdin: stdinOf(line, args), maxOutput, timeoutMs };
    let finished: Finished;
    try {
      finished = await run(job, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      throw this.#cannotRun(program, error);
    }
    return this.#judge(short(program), line, args, finished, timeoutMs);
  }

  #judge(name: string, line: CommandLine, args: JsonObject, finished: Finished, timeoutMs: number): Answer {
    const { ending, stdout, stderr } = finished;
    if (ending === "too large") {
      const max = this.#target.max_output_bytes;
      throw new OpError(
        "VALIDATION_PAYLOAD_TOO_LARGE",
        `${name} wrote more than ${max} bytes and was stopped; ask for less.`,
      )
        .with("limit", "max_output_bytes")
        .with("max", max);
    }
    if (ending === "timed out") {
      throw new OpError(
        "TRANSPORT_TIMEOUT",
        `${name} did not finish within ${timeoutMs} ms and was stopped; ask for less or try later.`,
      );
    }
    const code = codeOf(line, ending.exit);
    if (code !== undefined) {
      const hidden = this.#hiddenIn(line, args);
      const said = clean(stderr, TAIL, hidden);
      if (said !== "") throw failed(code, name, ending.exit, "stderr", said);
      // Some programs say on standard output why they refuse.
      throw failed(code, name, ending.exit, "stdout", clean(stdout, TAIL, hidden));
    }
    const answer = outputOf(line.output, stdout);
    if (ending.held) {
      const message = `${name} left a process behind that kept its output open; it was stopped.`;
      answer.warnings.push({ code: "OUTPUT_HELD_OPEN", message });
    }
    return answer;
  }

  /** What no error of this call may show: sensitive arguments and the operator's own values and places. */
  #hiddenIn(line: CommandLine, args: JsonObject): Hidden {
    const sensitive = Object.entries(line.params).filter(([, param]) => param.sensitive === true);
    const values = sensitive.flatMap(([name]) => textsOf(own(args, name)));
    const hidden = [...values.map((value): [string, string] => [value, "***"]), ...this.#hidden];
    // The longest first: a value inside another must not break its mask.
    return hidden.sort(([one], [other]) => byteLength(other) - byteLength(one));
  }

  #cannotRun(program: string, error: unknown): OpError {
    const name = short(program);
    const code = (error as NodeJS.ErrnoException).code;
    const internal = (message: string): OpError => new OpError("INTERNAL_ERROR", message).because(error);
    if (this.#cwd !== undefined && !isFolder(this.#cwd)) {
      return internal("The adapter's working directory is gone; tell the user.");
    }
    switch (code) {
      case "ENOENT":
        return internal(`The program '${name}' is not installed on the server; tell the user to install it.`);
      case "EACCES":
      case "EPERM":
        return internal(`The program '${name}' may not be run by the server; tell the user.`);
      case "E2BIG":
        return new OpError(
          "VALIDATION_PAYLOAD_TOO_LARGE",
          `The parameters are too long for the arguments of '${name}'; send less.`,
        )
          .with("limit", "argument list")
          .because(error);
      default:
        return internal(`The program '${name}' could not be run; tell the user.`);
    }
  }
}

function codeOf(line: CommandLine, exit: Exit): Code | undefined {
  if (exit.code === null) return "INTERNAL_ERROR";
  const meaning = line.exit?.[exit.code];
  if (meaning === "success" || (meaning === undefined && exit.code === 0)) return undefined;
  return meaning ?? "INTERNAL_ERROR";
}

function failed(code: Code, name: string, exit: Exit, stream: "stderr" | "stdout", said: string): OpError {
  const how = exit.code === null ? "was ended by a signal" : `failed with exit status ${exit.code}`;
  const line = lastLine(said);
  let message = `${name} ${how}; details.${stream} says why.`;
  if (line !== undefined) message = `${name} ${how}: ${line}`;
  else if (said === "") message = `${name} ${how} and said nothing; tell the user.`;
  const error = new OpError(code, message);
  if (exit.code !== null) error.with("exit_status", exit.code);
  if (exit.signal !== null) error.with("signal", constants.signals[exit.signal]);
  return said === "" ? error : error.with(stream, said);
}

/** The program without its folder. */
export function short(program: string): string {
  return program.split(/[/\\]/).at(-1) ?? program;
}

function stdinOf(line: CommandLine, args: JsonObject): Buffer | undefined {
  if (line.stdin === undefined) return undefined;
  if (line.stdin === "params") {
    const wired = Object.entries(args).map(([name, value]) => [line.params[name]?.as ?? name, value]);
    return Buffer.from(jsonText(Object.fromEntries(wired)), "utf8");
  }
  const value = own(args, line.stdin.param);
  if (value === undefined || value === null) return undefined;
  return Buffer.from(typeof value === "string" ? value : jsonText(value), "utf8");
}

/** The texts inside a value; programs often repeat one line by line. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value === "" ? [] : [...lines(value).filter((line) => line !== ""), value];
  if (typeof value === "number") return [jsonText(value)];
  if (isArray(value)) return value.flatMap(textsOf);
  return isObject(value) ? Object.values(value).flatMap(textsOf) : [];
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unusableFolder(message: string): CommandSetupError {
  return new CommandSetupError(message, "its working directory cannot be used; the log says why");
}

/** The working directory with its variables filled in. */
function expand(text: string, env: Environment): string {
  const template = parseTemplate(text);
  if (template === undefined) throw unusableFolder(`the working directory '${text}' has a '\${' that is not '\${env:NAME}'`);
  const filled = fillTemplate(template, (name) => env[name]);
  if ("text" in filled) return filled.text;
  throw new CommandSetupError(`the working directory needs the environment variable ${filled.unset}; set it`);
}
