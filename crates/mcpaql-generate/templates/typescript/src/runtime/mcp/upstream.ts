// An MCP server that calls are passed on to: a client of our own, because what a server says must arrive as it was said.
//
// What always holds:
// - one conversation carries all calls; answers are never mixed up, late ones are ignored;
// - answers stay the JSON text they came as until somebody needs a part of them;
// - nothing a server sends, however much or malformed, ends this program or makes it hold more than a limit;
// - a call ends: with an answer, an error, its timeout, or its caller's patience; then the server is told to stop;
// - no process is left behind.

import type { Environment } from "../environment.js";
import { OpError } from "../errors.js";
import { SetupError } from "../http/address.js";
import { headerName } from "../http/headers.js";
import type { Caller } from "../pipeline.js";
import type { Answer } from "../response.js";
import { Mask } from "../secrets.js";
import { type JsonObject, isArray, isObject, own, parseValue } from "../values.js";
import type { McpTarget, ToolCall } from "./binding.js";
import { Endpoint } from "./endpoint.js";
import { UpstreamError } from "./error.js";
import { refused } from "./failed.js";
import { Life } from "./life.js";
import { METHOD_NOT_FOUND } from "./message.js";
import { Program } from "./program.js";
import type { Raw } from "./raw.js";
import { unlessAborted } from "./session.js";
import { answerOf } from "./unwrapped.js";

/** The most pages of a list that are asked for. */
const PAGES = 1000;
/** The most entries of a list that are taken. */
const ENTRIES = 100_000;
/** How long one that shall always run is left alone after it ended, at first and at most. */
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1000, 60_000];

/** One MCP server. */
export class Upstream {
  readonly #life: Life;
  readonly #timeoutMs: number;
  readonly #callerHeaders: readonly string[];

  /** Gets ready to reach a server; nothing is started. Throws a `SetupError`. */
  constructor(target: McpTarget, env: Environment, userAgent: string) {
    const { link, max_response_bytes: limit, start_timeout_ms: startTimeoutMs } = target;
    const connector = "url" in link ? new Endpoint(link, target.auth, env, userAgent) : new Program(link, env);
    this.#callerHeaders = checkedHeaders(target);
    this.#timeoutMs = target.timeout_ms;
    const version = userAgent.split("/")[1] ?? "";
    this.#life = new Life({ connector, limit, startTimeoutMs, version });
    if (target.eager) this.#keepRunning();
  }

  /** The server's last answer to the handshake, as far as one is known. */
  get greeting(): JsonObject | undefined {
    return this.#life.greeting;
  }

  /** Calls a tool; its result is taken out of its wrapping once. */
  async call({ tool, names = {}, fixed = {}, sensitive = [] }: ToolCall, args: JsonObject, caller: Caller): Promise<Answer> {
    const wired = Object.entries(args).map(([name, value]) => [Object.hasOwn(names, name) ? names[name] : name, value]);
    const params = { name: tool, arguments: { ...Object.fromEntries(wired), ...fixed } as JsonObject };
    const mask = (): Mask => {
      const mask = this.#life.running?.mask().copy() ?? new Mask();
      mask.addValues(sensitive.map((name) => own(args, name)));
      return mask;
    };
    try {
      return answerOf(await this.ask("tools/call", params, caller), mask);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const { fault } = error;
      throw fault.kind === "refused" ? refused(fault.code, fault.message, fault.data, mask()) : error.told();
    }
  }

  /** The result of any method as a value. */
  async request(method: string, params: JsonObject, caller: Caller): Promise<JsonObject> {
    return this.#read(method, await this.ask(method, params, caller));
  }

  /** All pages of a list, in order; empty where the server has no such list. */
  async list(method: string, key: string, caller: Caller): Promise<unknown[]> {
    const entries: unknown[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < PAGES && entries.length <= ENTRIES; page += 1) {
      const said = await this.#page(method, cursor, caller);
      if (said === undefined) return entries;
      const more = own(said, key);
      // What cannot be read is not nothing: an empty list would hide what the server shows to others.
      if (!isArray(more)) throw this.#unreadable(`to ${method} cannot be read: it has no list '${key}'`);
      for (const entry of more) entries.push(entry);
      const next = own(said, "nextCursor");
      // A server that names a page again would never come to an end.
      if (typeof next !== "string" || next === "" || seen.has(next)) return entries;
      seen.add(next);
      cursor = next;
    }
    throw this.#unreadable("is a list without an end");
  }

  async #page(method: string, cursor: string | undefined, caller: Caller): Promise<JsonObject | undefined> {
    try {
      return await this.request(method, cursor === undefined ? {} : { cursor }, caller);
    } catch (error) {
      const fault = error instanceof UpstreamError ? error.fault : undefined;
      if (fault?.kind === "refused" && fault.code === METHOD_NOT_FOUND && cursor === undefined) return undefined;
      throw error;
    }
  }

  #read(method: string, said: Raw): JsonObject {
    const value = parseValue(said);
    if (value === undefined) throw this.#unreadable(`to ${method} cannot be read: it is nested too deeply`);
    return isObject(value) ? value : {};
  }

  #unreadable(reason: string): UpstreamError {
    return new UpstreamError({ kind: "unreadable", server: this.#life.name, reason });
  }

  /** The result of any method, as the text it came as, without what was sent along to be let in. */
  async ask(method: string, params: JsonObject, caller: Caller): Promise<Raw> {
    const [header] = this.#callerHeaders;
    if (header !== undefined) throw new UpstreamError({ kind: "refusal", error: notOverHttp(header) });
    for (let isSecond = false; ; isSecond = true) {
      const session = await unlessAborted(this.#life.session(), caller.signal);
      try {
        return session.withoutCredentials(await session.ask(method, params, caller, this.#timeoutMs));
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        // The server had gone, or forgotten us: nothing can have happened yet.
        if (!error.unseen || isSecond) throw error.masked(session.mask());
      }
    }
  }

  /** Ends the conversation, and the program behind it with all its descendants. */
  async close(): Promise<void> {
    this.#life.onended = () => undefined;
    await this.#life.close();
  }

  /** Starts the server now, and again whenever it ended. */
  #keepRunning(): void {
    let wait = FIRST_WAIT_MS;
    const start = (): void => {
      this.#life.session().then(
        () => {
          wait = FIRST_WAIT_MS;
        },
        () => {
          setTimeout(start, wait).unref();
          wait = Math.min(wait * 2, LONGEST_WAIT_MS);
        },
      );
    };
    this.#life.onended = start;
    start();
  }
}

/** The names of headers that callers send; a program takes none. */
function checkedHeaders({ link, caller_headers: headers }: McpTarget): readonly string[] {
  const wrong = headers.find((name) => headerName(name) === undefined);
  if (wrong !== undefined) throw new SetupError(`the header '${wrong}' is not a header name; correct it in caller_headers`);
  if (headers.length > 0 && !("url" in link)) {
    throw new SetupError("headers of callers cannot be passed on to a program; remove caller_headers or use url");
  }
  return headers;
}

/** A caller's own credentials come in headers, and standard streams have none. */
function notOverHttp(header: string): OpError {
  return new OpError(
    "PERMISSION_DENIED",
    `This operation is called with what its caller sends in the HTTP header ${header}, and this call did not come over HTTP; tell the user to serve the adapter over HTTP.`,
  ).with("header", header);
}
