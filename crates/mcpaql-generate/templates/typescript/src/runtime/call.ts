// One call from a tool's arguments to the reply: check, run the handler, wrap what it gave.

import type { Catalog } from "./catalog.js";
import { type Prepared, prepare } from "./check.js";
import { type Job, OpError, type Reply, type Warning, failure, success } from "./errors.js";
import { introspect } from "./introspect.js";
import type { JsonObject } from "./json.js";

/** What a handler may do besides answering. */
export interface Call {
  readonly operation: string;
  readonly signal: AbortSignal; // aborted when the client cancels the call
  warn(warning: Warning): void; // tells the agent something beside the data
  /** Sends the request of an operation, or runs its program; the result is what came back. */
  send(binding: { readonly target?: string }, params: object): Promise<unknown>;
}

/** An HTTP API or local programs. */
type Target = Readonly<{ call: (job: Job<never>) => Promise<unknown> }>;

/** Answers an operation: gets parameters that are checked and complete, gives the data, or throws an `OpError`. */
export type Handler<Params, Result> = (params: Params, call: Call) => Promise<Result> | Result;

/** A tool of your own, beside those of the document; `inputSchema` is the JSON Schema of its arguments. */
export type OwnTool = Readonly<{
  name: string;
  title?: string;
  description: string;
  inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  annotations?: Readonly<Record<string, boolean>>;
  run: (args: JsonObject, call: Call) => unknown;
}>;

/** What a project serves. */
export interface Project {
  readonly handlers: Readonly<Record<string, Handler<never, unknown>>>;
  readonly tools: readonly OwnTool[];
  readonly open: (target: never) => Target; // throws where the target cannot be used
}

export class Adapter {
  readonly #targets = new Map<string, Target>();

  constructor(
    readonly catalog: Catalog,
    readonly project: Project,
  ) {
    const { alternatives, ...target } = catalog.data.target;
    for (const [name, one] of Object.entries(alternatives ?? { "": target })) {
      this.#targets.set(name, project.open(one as never));
    }
  }

  /** Answers a call through a tool; never throws. */
  async call(tool: string, args: JsonObject, signal: AbortSignal): Promise<Reply> {
    const { errors, limits } = this.catalog.data;
    try {
      const own = this.project.tools.find(({ name }) => name === tool);
      const warnings: Warning[] = [];
      const prepared = own === undefined ? prepare(this.catalog, tool, args) : undefined;
      const call = this.#call(own?.name ?? prepared?.operation.name ?? "", signal, warnings);
      const data = prepared === undefined ? await own?.run(args, call) : await this.#run(prepared, call);
      const reply = success(data, [...(prepared?.warnings ?? []), ...warnings]);
      const [actual, maximum] = [Buffer.byteLength(reply.text), limits.response_bytes];
      if (actual <= maximum) return reply;
      const message = `The answer has ${actual} bytes, more than the ${maximum} that may be returned. Ask for less.`;
      throw new OpError("VALIDATION_PAYLOAD_TOO_LARGE", message, { limit: "max_response_size", actual, maximum });
    } catch (error) {
      if (error instanceof OpError) return failure(error, errors);
      process.stderr.write(`${tool} failed: ${error instanceof Error ? (error.stack ?? "") : String(error)}\n`);
      const message = "The server failed during this call; tell the user, and after a write read what it did.";
      return failure(new OpError("INTERNAL_ERROR", message), errors);
    }
  }

  #run({ operation, args }: Prepared, call: Call): unknown {
    if (operation.name === "introspect") return introspect(this.catalog, args, (warning) => { call.warn(warning); });
    const handler = this.project.handlers[operation.name];
    if (handler === undefined) throw new OpError("INTERNAL_ERROR", `Nothing answers '${operation.name}'.`);
    return handler(args as never, call);
  }

  #call(operation: string, signal: AbortSignal, warnings: Warning[]): Call {
    const warn = (warning: Warning): void => { warnings.push(warning); };
    const send = async (binding: { readonly target?: string }, params: object): Promise<unknown> => {
      const { [binding.target ?? ""]: chosen = "", ...rest } = params as Record<string, string>;
      const target = this.#targets.get(chosen);
      if (target === undefined) throw new OpError("INTERNAL_ERROR", "The call chose no target; tell the user.");
      return await target.call({ binding: binding as never, args: { __proto__: null, ...rest }, signal, warn });
    };
    return { operation, signal, warn, send };
  }
}
