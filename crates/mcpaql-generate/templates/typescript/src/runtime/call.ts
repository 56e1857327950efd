// Answers a tool call: checks the arguments, runs the handler, and wraps its result.

import type { Catalog } from "./catalog.js";
import { route, validate } from "./check.js";
import { type Job, OpError, type Reply, type Warn, type Warning, failure, success, tooLarge } from "./errors.js";
import { introspect } from "./introspect.js";
import { type JsonObject, RawJson, parse, stringify } from "./json.js";

/** The context of a handler. */
export interface Call {
  readonly operation: string;
  readonly signal: AbortSignal; // aborted when the client cancels the call
  warn(warning: Warning): void; // adds a warning to the reply
  /** Sends the request of an operation, or runs its program, and returns the data. */
  send(binding: { readonly target?: string }, params: object): Promise<unknown>;
}

/** An HTTP API or local programs. */
type Target = Readonly<{ call: (job: Job<never>) => Promise<unknown> }>;

/** Answers an operation: gets checked parameters with defaults, and returns the data or throws an `OpError`. */
export type Handler<Params, Result> = (params: Params, call: Call) => Promise<Result> | Result;

/** A tool of your own, beside those of the document. `inputSchema` is the JSON Schema of its arguments. */
export type OwnTool = Readonly<{
  name: string;
  title?: string;
  description: string;
  inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  annotations?: Readonly<Record<string, boolean>>;
  run: (args: JsonObject, call: Call) => unknown;
}>;

type Handlers = Readonly<Record<string, Handler<never, unknown>>>;

/** The generated and your own parts of a project: `handlers` are yours, `defaults` answer the other operations. */
export interface Project {
  readonly defaults: Handlers;
  readonly handlers: Handlers;
  readonly tools: readonly OwnTool[];
  readonly open: (target: never) => Target; // throws if the target is not usable
  readonly wide: readonly string[]; // names of members whose integers may be bigints
}

export class Adapter {
  readonly #targets = new Map<string, Target>();

  constructor(readonly catalog: Catalog, readonly project: Project) {
    const { alternatives, ...target } = catalog.data.target;
    for (const [name, one] of Object.entries(alternatives ?? { "": target })) {
      this.#targets.set(name, project.open(one as never));
    }
  }

  /** Answers a call through a tool; never throws. */
  async call(tool: string, args: JsonObject, signal: AbortSignal): Promise<Reply> {
    const { errors, limits } = this.catalog.data;
    try {
      const warnings: Warning[] = [];
      const data = await this.#run(tool, args, signal, (warning) => { warnings.push(warning); });
      const reply = success(data, warnings);
      const [actual, maximum] = [Buffer.byteLength(reply.text), limits.response_bytes];
      if (actual <= maximum) return reply;
      const message = `The answer has ${actual} bytes, and the maximum is ${maximum}. Ask for less.`;
      throw tooLarge(message, "response_size", maximum, actual);
    } catch (error) {
      if (error instanceof OpError) return failure(error, errors);
      process.stderr.write(`${tool} failed: ${error instanceof Error ? (error.stack ?? "") : String(error)}\n`);
      const advice = "Tell the user; if it was a write, first check whether it took effect.";
      return failure(new OpError("INTERNAL_ERROR", `The server failed during this call. ${advice}`), errors);
    }
  }

  async #run(tool: string, given: JsonObject, signal: AbortSignal, warn: Warn): Promise<unknown> {
    const own = this.project.tools.find((one) => one.name === tool);
    if (own !== undefined) return own.run(given, this.#call(tool, signal, warn));
    const { operation, operation: { name, signature }, params } = route(this.catalog, tool, given, warn);
    try {
      return await this.#answer(name, validate(this.catalog, operation, params), signal, warn);
    } catch (error) {
      // The caller needs the signature to correct the parameters.
      const isValidation = error instanceof OpError && error.code.startsWith("VALIDATION_");
      if (isValidation) Object.assign(error.details, { operation: name, signature });
      throw error;
    }
  }

  #answer(name: string, args: JsonObject, signal: AbortSignal, warn: Warn): unknown {
    if (name === "introspect") return introspect(this.catalog, args, warn);
    const { defaults, handlers } = this.project;
    if (!Object.hasOwn(handlers, name)) {
      // Data that no handler reads stays as it was written.
      return defaults[name]?.(args as never, this.#call(name, signal, warn, (json) => new RawJson(json)));
    }
    const message = `'${name}' accepts integers beyond 2^53 only for parameters of type int64.`;
    const typed = this.#typed(stringify(args), () => { throw new OpError("VALIDATION_INVALID_VALUE", message); });
    return handlers[name]?.({ __proto__: null, ...(typed as object) } as never, this.#call(name, signal, warn));
  }

  /** Reads JSON as the generated types describe it; `rounded` is called if that changed a number. */
  #typed(json: string, rounded: () => void): unknown {
    const value = parse(json, this.project.wide);
    if (stringify(value) !== stringify(parse(json))) rounded();
    return value;
  }

  #call(operation: string, signal: AbortSignal, warn: Warn, read?: (json: string) => unknown): Call {
    const message = "Integers beyond 2^53 were rounded, except those of type int64.";
    const typed = (json: string): unknown => this.#typed(json, () => { warn({ code: "NUMBERS_ROUNDED", message }); });
    const send = async (binding: { readonly target?: string }, params: object): Promise<unknown> => {
      const { [binding.target ?? ""]: chosen = "", ...rest } = params as Record<string, string>;
      const target = this.#targets.get(chosen);
      if (target === undefined) throw new OpError("INTERNAL_ERROR", "The call chose no target; tell the user.");
      const args = { __proto__: null, ...rest };
      return await target.call({ binding: binding as never, args, signal, warn, read: read ?? typed });
    };
    return { operation, signal, warn, send };
  }
}
