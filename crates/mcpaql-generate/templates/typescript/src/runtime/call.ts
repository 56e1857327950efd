// Answers a tool call: checks the arguments, runs the handler, and wraps its result.

import type { Catalog } from "./catalog.js";
import { route, validate } from "./check.js";
import { Confirmations } from "./confirmations.js";
import { shape, takeControls } from "./controls.js";
import { type Job, OpError, type Reply, type Warn, failure, success, tooLarge } from "./errors.js";
import { introspect } from "./introspect.js";
import { type JsonObject, type RawJson, parse } from "./json.js";

/** The context of a handler. */
export interface Call {
  readonly operation: string; readonly warn: Warn;
  readonly signal: AbortSignal; // aborted when the client cancels the call
  /** Sends the request of an operation, or runs its program, and returns the data. */
  send(binding: { readonly target?: string }, params: object): Promise<unknown>;
}

/** An HTTP API or local programs. */
type Target = Readonly<{ call: (job: Job<never>) => Promise<unknown> }>;
/** Answers an operation: gets checked parameters with defaults, and returns the data or throws an `OpError`. */
export type Handler<Params, Result> = (params: Params, call: Call) => Promise<Result> | Result;
type Handlers = Readonly<Record<string, Handler<never, unknown>>>;

/** A tool of your own, beside those of the document. `inputSchema` is the JSON Schema of its arguments. */
export type OwnTool = Readonly<{
  name: string; title?: string; description: string;
  inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  annotations?: Readonly<Record<string, boolean>>;
  run: (args: JsonObject, call: Call) => unknown;
}>;

/** The generated and your own parts of a project: `handlers` are yours, `defaults` answer the other operations. */
export interface Project {
  readonly defaults: Handlers; readonly handlers: Handlers;
  readonly tools: readonly OwnTool[];
  readonly open: (target: never) => Target; // throws if the target is not usable
}

export class Adapter {
  readonly #targets = new Map<string, Target>();
  readonly #confirmations = new Confirmations();

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
      const warnings: JsonObject[] = [];
      const warn: Warn = (code, message, details) => { warnings.push({ code, message, details }); };
      const data = await this.#run(tool, args, signal, warn);
      const reply = success(data, warnings);
      const [actual, maximum] = [Buffer.byteLength(reply.text), limits.response_bytes];
      if (actual <= maximum) return reply;
      throw tooLarge("The answer is too large. Ask for less.", "response_size", maximum, actual);
    } catch (error) {
      if (error instanceof OpError) return failure(error, errors);
      process.stderr.write(`${tool} failed: ${error instanceof Error ? (error.stack ?? "") : String(error)}\n`);
      return failure(new OpError("INTERNAL_ERROR", "The server failed during this call; tell the user."), errors);
    }
  }

  async #run(tool: string, given: JsonObject, signal: AbortSignal, warn: Warn): Promise<unknown> {
    const own = this.project.tools.find((one) => one.name === tool);
    if (own !== undefined) return own.run(given, this.#call(tool, signal, warn));
    const { operation, operation: { name, signature }, beside, ...sent } = route(this.catalog, tool, given, warn);
    try {
      const { params, controls, token } = takeControls(operation, sent.params, beside, warn);
      const args = validate(this.catalog, operation, params);
      this.#confirmations.check(operation, args, token);
      return shape(await this.#answer(name, args, signal, warn), { operation, args, controls }, warn);
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
    if (Object.hasOwn(handlers, name)) return handlers[name]?.(args as never, this.#call(name, signal, warn));
    // Data that no handler reads stays as it was written.
    return defaults[name]?.(args as never, this.#call(name, signal, warn, (json) => json));
  }

  #call(operation: string, signal: AbortSignal, warn: Warn, read = ({ text }: RawJson) => parse(text)): Call {
    const send = async (binding: { readonly target?: string }, params: object): Promise<unknown> => {
      const { [binding.target ?? ""]: chosen = "", ...rest } = params as Record<string, string>;
      const target = this.#targets.get(chosen);
      if (target === undefined) throw new OpError("INTERNAL_ERROR", "The call chose no target; tell the user.");
      const args = { __proto__: null, ...rest };
      return await target.call({ operation, binding: binding as never, args, signal, warn, read });
    };
    return { operation, signal, warn, send };
  }
}
