// Where calls go: the target of the document, or several of one kind of which each call chooses one.

import { type Catalog } from "./catalog.js";
import type { CommandLine, CommandTarget } from "./command/binding.js";
import { CommandSetupError, Runner } from "./command/runner.js";
import type { Environment } from "./environment.js";
import { OpError } from "./errors.js";
import { SetupError } from "./http/address.js";
import type { HttpRequest, HttpTarget } from "./http/binding.js";
import { HttpClient } from "./http/client.js";
import { StoreError } from "./journal.js";
import type { McpTarget, ToolCall } from "./mcp/binding.js";
import { Upstream } from "./mcp/upstream.js";
import type { Caller } from "./pipeline.js";
import type { Answer } from "./response.js";
import type { StoreAction, StoreTarget } from "./store/binding.js";
import { Store } from "./store/store.js";
import { type JsonObject, own } from "./values.js";

type Target = HttpTarget | StoreTarget | CommandTarget | McpTarget;

/** The target as `catalog.json` describes it, with what calls may choose instead. */
type TargetData = Target & { readonly alternatives?: Readonly<Record<string, Target>> };

/** One target, opened. */
type Opened = HttpClient | Store | Runner | Upstream;

/** Why an adapter cannot be served. For the operator: it may name paths. */
export class OpenError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "OpenError";
  }
}

/** What opening a target takes. */
export interface Opening {
  readonly env: Environment;
  readonly userAgent: string;
  /** The folder of the store. */
  readonly data: string | undefined;
}

/** The targets of an adapter. */
export class Targets {
  readonly #only: Opened | undefined;
  readonly #several: ReadonlyMap<string, Opened>;

  private constructor(only: Opened | undefined, several: ReadonlyMap<string, Opened>) {
    this.#only = only;
    this.#several = several;
  }

  /** Opens what the document names; throws an `OpenError`. */
  static async open(catalog: Catalog, opening: Opening): Promise<Targets> {
    const data = catalog.data.target as unknown as TargetData;
    const { alternatives } = data;
    if (alternatives === undefined) return new Targets(await reach(catalog, data, opening), new Map());
    const several = new Map<string, Opened>();
    for (const [name, target] of Object.entries(alternatives)) several.set(name, await reach(catalog, target, opening));
    return new Targets(undefined, several);
  }

  /** One HTTP request. Work in the background has a time of its own, here and below. */
  async http(request: HttpRequest, args: JsonObject, signal: AbortSignal, background?: number): Promise<Answer> {
    const client = this.#chosen(request.target, args);
    if (!(client instanceof HttpClient)) throw unfit("This operation has no HTTP request; tell the operator.");
    return await client.call(request, without(args, request.target), signal, background);
  }

  /** One action on the store. */
  async store(action: StoreAction, args: JsonObject): Promise<Answer> {
    const store = this.#chosen(action.target, args);
    if (!(store instanceof Store)) throw unfit("The store could not answer; tell the user.");
    return await store.call(action, without(args, action.target));
  }

  /** One process. */
  async command(line: CommandLine, args: JsonObject, signal: AbortSignal, background?: number): Promise<Answer> {
    const runner = this.#chosen(line.target, args);
    if (!(runner instanceof Runner)) throw unfit("The operation is not usable; tell the user.");
    return await runner.call(line, without(args, line.target), signal, background);
  }

  /** One call of a tool. */
  async tool(call: ToolCall, args: JsonObject, caller: Caller): Promise<Answer> {
    const upstream = this.#chosen(call.target, args);
    if (!(upstream instanceof Upstream)) throw unfit("The operation is not usable; tell the user.");
    return await upstream.call(call, without(args, call.target), caller);
  }

  /** The MCP servers behind the adapter. */
  get upstreams(): readonly Upstream[] {
    return [this.#only, ...this.#several.values()].filter((target) => target instanceof Upstream);
  }

  /** Ends what the targets keep running. */
  async close(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.close()));
  }

  #chosen(param: string | undefined, args: JsonObject): Opened {
    if (this.#only !== undefined) return this.#only;
    const name = param === undefined ? undefined : own(args, param);
    const chosen = typeof name === "string" ? this.#several.get(name) : undefined;
    if (chosen === undefined) throw unfit("The call chose no upstream; tell the user.");
    return chosen;
  }
}

function unfit(message: string): OpError {
  return new OpError("INTERNAL_ERROR", message);
}

/** What chooses the upstream is not sent. */
function without(args: JsonObject, param: string | undefined): JsonObject {
  return param === undefined ? args : Object.fromEntries(Object.entries(args).filter(([name]) => name !== param));
}

async function reach(catalog: Catalog, target: Target, { env, userAgent, data }: Opening): Promise<Opened> {
  const { name } = catalog.data.adapter;
  try {
    switch (target.protocol) {
      case "http":
        return new HttpClient(target, env, userAgent);
      case "command":
        return new Runner(target, env);
      case "mcp":
        return new Upstream(target, env, userAgent);
      case "store":
        if (data === undefined) throw new OpenError(`adapter '${name}' keeps data, and neither --data nor HOME says where`);
        return await Store.open(data, catalog, target);
    }
  } catch (error) {
    const isSetup = error instanceof SetupError || error instanceof CommandSetupError || error instanceof StoreError;
    throw isSetup ? new OpenError(`adapter '${name}': ${error.message}`, error.cause) : error;
  }
}
