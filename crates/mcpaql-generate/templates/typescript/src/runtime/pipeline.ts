// The one way a call goes: prepare, run, envelope.

import { type Catalog, INTROSPECT } from "./catalog.js";
import type { Client } from "./client.js";
import type { CommandLine } from "./command/binding.js";
import { OpError, remedy, signed } from "./errors.js";
import type { HttpRequest } from "./http/binding.js";
import { introspect } from "./introspect.js";
import { log } from "./log.js";
import type { ToolCall } from "./mcp/binding.js";
import { prepare } from "./request.js";
import { type Answer, type Reply, envelope } from "./response.js";
import type { StoreAction } from "./store/binding.js";
import type { Targets } from "./targets.js";
import { byteLength } from "./text.js";
import { type JsonObject } from "./values.js";

/** How far the work has come: `done` rises with it, up to `total` where that is known. */
export interface News {
  readonly done: number;
  readonly total?: number;
  /** For people. */
  readonly message?: string;
}

/** Who called. */
export interface Caller {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Who can be told and asked; nobody where the call has no client left. */
  readonly client?: Client | undefined;
  progress(news: News): void;
}

/** A call on its way, as handlers see it. */
export interface Call extends Caller {
  /** The name of the operation. */
  readonly operation: string;
  /** Sends one HTTP request, with the adapter's credentials. */
  http(request: HttpRequest, params: object): Promise<Answer>;
  /** Does one thing with the store. */
  store(action: StoreAction, params: object): Promise<Answer>;
  /** Runs one program. */
  command(line: CommandLine, params: object): Promise<Answer>;
  /** Calls one tool of the server behind the adapter. */
  tool(call: ToolCall, params: object): Promise<Answer>;
}

/** Answers one operation; parameters are validated and completed with defaults. What it throws should be an `OpError`. */
export type Handler<P> = (params: P, call: Call) => Promise<Answer>;

/** Handlers by the names of their operations. Whoever calls one has checked its parameters by the catalog. */
export type AnyHandlers = Readonly<Record<string, Handler<never> | undefined>>;

/** The adapter that is being served: what it can do and where its calls go. */
export class Served {
  readonly catalog: Catalog;
  readonly #targets: Targets;
  readonly #handlers: AnyHandlers;

  constructor(catalog: Catalog, targets: Targets, handlers: AnyHandlers) {
    this.catalog = catalog;
    this.#targets = targets;
    this.#handlers = handlers;
  }

  /** A call through one of the adapter's tools. */
  async call(tool: string, args: Record<string, unknown>, caller: Caller): Promise<Reply> {
    try {
      return this.#reply(await this.#run(tool, args, caller));
    } catch (error) {
      if (error instanceof OpError) return this.#reply(error);
      throw error;
    }
  }

  async #run(tool: string, given: Record<string, unknown>, caller: Caller): Promise<Answer> {
    const { operation, args, warnings } = prepare(this.catalog, tool, given);
    try {
      const answer =
        operation.name === INTROSPECT
          ? introspect(this.catalog, args)
          : await this.#handler(operation.name)(args as never, new OwnCall(operation.name, this.#targets, caller));
      return { ...answer, warnings: [...warnings, ...answer.warnings] };
    } catch (error) {
      if (!(error instanceof OpError)) throw error;
      if (remedy(error.code) === "operator") {
        const { name: adapter } = this.catalog.data.adapter;
        log.warn("call failed", { adapter, operation: operation.name, code: error.code, cause: causeOf(error) });
      }
      throw signed(error, operation);
    }
  }

  #handler(operation: string): Handler<never> {
    const handler = Object.hasOwn(this.#handlers, operation) ? this.#handlers[operation] : undefined;
    if (handler !== undefined) return handler;
    throw new OpError("INTERNAL_ERROR", `Nothing answers '${operation}' in this program; tell the user.`);
  }

  #reply(outcome: Answer | OpError): Reply {
    const { errors, limits } = this.catalog.data;
    const reply = envelope(outcome, errors);
    const [length, limit] = [byteLength(reply.text), limits.response_bytes];
    if (length <= limit) return reply;
    const error = new OpError(
      "VALIDATION_PAYLOAD_TOO_LARGE",
      `The answer has ${length} bytes, more than the ${limit} that may be returned. Ask for less.`,
    )
      .with("limit", "max_response_size")
      .with("actual", length)
      .with("maximum", limit);
    return envelope(error, errors);
  }
}

class OwnCall implements Call {
  readonly operation: string;
  readonly signal: AbortSignal;
  readonly client: Client | undefined;
  readonly #targets: Targets;
  readonly #caller: Caller;

  constructor(operation: string, targets: Targets, caller: Caller) {
    this.operation = operation;
    this.signal = caller.signal;
    this.client = caller.client;
    this.#targets = targets;
    this.#caller = caller;
  }

  progress(news: News): void {
    this.#caller.progress(news);
  }

  http(request: HttpRequest, params: object): Promise<Answer> {
    return this.#targets.http(request, params as JsonObject, this.signal);
  }

  store(action: StoreAction, params: object): Promise<Answer> {
    return this.#targets.store(action, params as JsonObject);
  }

  command(line: CommandLine, params: object): Promise<Answer> {
    return this.#targets.command(line, params as JsonObject, this.signal);
  }

  tool(call: ToolCall, params: object): Promise<Answer> {
    return this.#targets.tool(call, params as JsonObject, this.#caller);
  }
}

function causeOf(error: OpError): string | undefined {
  if (error.cause instanceof Error) return error.cause.message;
  return typeof error.cause === "string" ? error.cause : undefined;
}
