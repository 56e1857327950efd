// The one way a call goes: prepare, run, envelope.

import { type Catalog, INTROSPECT, type Operation } from "./catalog.js";
import type { Client } from "./client.js";
import type { CommandLine } from "./command/binding.js";
import { OpError, remedy, signed } from "./errors.js";
import type { Executions } from "./executions.js";
import { limitMs } from "./executions/status.js";
import type { Outcome } from "./executions/table.js";
import type { Task } from "./executions/view.js";
import type { HttpRequest } from "./http/binding.js";
import { introspect } from "./introspect.js";
import { log } from "./log.js";
import type { ToolCall } from "./mcp/binding.js";
import { prepare } from "./request.js";
import { type Answer, type Reply, envelope } from "./response.js";
import { Mask, addNamed } from "./secrets.js";
import type { StoreAction } from "./store/binding.js";
import type { Targets } from "./targets.js";
import { byteLength } from "./text.js";
import { type JsonObject, own } from "./values.js";

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
export type Handler<P> = (params: P, call: Call) => Answer | Promise<Answer>;

/** Handlers by the names of their operations. Whoever calls one has checked its parameters by the catalog. */
export type AnyHandlers = Readonly<Record<string, Handler<never> | undefined>>;

/** The adapter that is being served: what it can do and where its calls go. */
export class Served {
  readonly catalog: Catalog;
  readonly #targets: Targets;
  readonly #handlers: AnyHandlers;
  readonly #executions: Executions | undefined;

  /** Without somewhere to keep executions nothing runs in the background. */
  constructor(catalog: Catalog, targets: Targets, handlers: AnyHandlers, executions?: Executions) {
    this.catalog = catalog;
    this.#targets = targets;
    this.#handlers = handlers;
    this.#executions = executions;
  }

  /** A call through one of the adapter's tools. One that runs in the background is answered at once. */
  async call(tool: string, args: Record<string, unknown>, caller: Caller): Promise<Reply> {
    try {
      const { operation, args: params, warnings } = prepare(this.catalog, tool, args);
      const [answer, execution] = await this.#begin(operation, params, caller);
      const reply = this.#reply({ ...answer, warnings: [...warnings, ...answer.warnings] });
      return execution === undefined ? reply : { ...reply, execution };
    } catch (error) {
      return error instanceof OpError ? this.#reply(error) : envelope(failed(), "unrecoverable");
    }
  }

  /** Whether calls may go on in the background. */
  get hasExecutions(): boolean {
    return this.#executions !== undefined;
  }

  /** What came of a call in the background; `undefined` where it was not one of this adapter. */
  async task(id: string): Promise<Task | undefined> {
    return await this.#executions?.task(id, (outcome) => this.#concluded(outcome));
  }

  /** Stops one; `undefined` where it was not one of this adapter. */
  async cancelTask(id: string): Promise<Task | undefined> {
    return await this.#executions?.cancelTask(id, (outcome) => this.#concluded(outcome));
  }

  /** The client is gone: what it started and does not outlive it is stopped, and says so. */
  async endSession(): Promise<void> {
    await this.#executions?.endSession();
  }

  /** The answer, and the execution that the call goes on as. */
  async #begin(operation: Operation, args: Record<string, unknown>, caller: Caller): Promise<[Answer, execution?: string]> {
    const { name, lifecycle } = operation;
    if (lifecycle === undefined || this.#executions === undefined) return [await this.#run(operation, args, caller)];
    const { id, answer } = await this.#executions.start({
      operation: name,
      lifecycle,
      largest: this.catalog.limits.response_bytes,
      run: (listener) => this.#run(operation, args, listener, limitMs(lifecycle)),
    });
    return [answer, id];
  }

  async #run(operation: Operation, args: Record<string, unknown>, caller: Caller, background?: number): Promise<Answer> {
    const call = new OwnCall(operation.name, this.#targets, caller, background);
    try {
      if (operation.name === INTROSPECT) return introspect(this.catalog, args);
      if (operation.execution === undefined) return await this.#handler(operation.name)(args as never, call);
      if (this.#executions !== undefined) return await this.#executions.answer(operation.execution, args, caller);
      throw new OpError("INTERNAL_ERROR", "Nothing runs in the background here; tell the user.");
    } catch (error) {
      // Nobody waits for what came of a call that was cancelled.
      if (!caller.signal.aborted) this.#report(operation, args, call, error);
      throw error instanceof OpError ? signed(error, operation) : error;
    }
  }

  /** Tells the operator of what nobody in the conversation can mend. */
  #report(operation: Operation, args: Record<string, unknown>, call: OwnCall, error: unknown): void {
    if (error instanceof OpError && remedy(error.code) !== "operator") return;
    const mask = new Mask();
    for (const named of [this.catalog.data.target, ...call.used]) addNamed(mask, named, process.env);
    mask.addValues(operation.params.filter(({ sensitive }) => sensitive === true).map(({ name }) => own(args, name)));
    const whose = { adapter: this.catalog.data.adapter.name, operation: operation.name };
    if (error instanceof OpError) {
      const cause = causeOf(error);
      log.warn("call failed", { ...whose, code: error.code, cause: cause === undefined ? undefined : mask.apply(cause) });
    } else {
      const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
      log.warn("a handler failed", { ...whose, error: mask.apply(said) });
    }
  }

  #handler(operation: string): Handler<never> {
    const handler = Object.hasOwn(this.#handlers, operation) ? this.#handlers[operation] : undefined;
    if (handler !== undefined) return handler;
    throw new OpError("INTERNAL_ERROR", `Nothing answers '${operation}' in this program; tell the user.`);
  }

  /** What a call would have been answered with. */
  #concluded(outcome: Outcome): Reply {
    if (outcome instanceof OpError) return this.#reply(outcome);
    return this.#reply({ data: { raw: outcome.data }, warnings: [], blocks: [...outcome.blocks] });
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
  /** What the handler has asked for so far. */
  readonly used: object[] = [];
  readonly #targets: Targets;
  readonly #caller: Caller;
  /** How long the target may take where nobody waits for it. */
  readonly #background: number | undefined;

  constructor(operation: string, targets: Targets, caller: Caller, background: number | undefined) {
    this.operation = operation;
    this.signal = caller.signal;
    this.client = caller.client;
    this.#targets = targets;
    this.#caller = caller;
    this.#background = background;
  }

  progress(news: News): void {
    this.#caller.progress(news);
  }

  http(request: HttpRequest, params: object): Promise<Answer> {
    this.used.push(request);
    return this.#targets.http(request, params as JsonObject, this.signal, this.#background);
  }

  store(action: StoreAction, params: object): Promise<Answer> {
    return this.#targets.store(action, params as JsonObject);
  }

  command(line: CommandLine, params: object): Promise<Answer> {
    return this.#targets.command(line, params as JsonObject, this.signal, this.#background);
  }

  tool(call: ToolCall, params: object): Promise<Answer> {
    return this.#targets.tool(call, params as JsonObject, this.#caller);
  }
}

function failed(): OpError {
  return new OpError(
    "INTERNAL_ERROR",
    "The server failed during this call; tell the user, and for a write first read whether it took effect.",
  );
}

function causeOf(error: OpError): string | undefined {
  if (error.cause instanceof Error) return error.cause.message;
  return typeof error.cause === "string" ? error.cause : undefined;
}
