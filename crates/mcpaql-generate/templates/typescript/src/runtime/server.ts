// The MCP server: what the catalog offers, over standard input and output, in every revision that the SDK speaks.
//
// What always holds: `tools/list` is the catalog's own; every `tools/call` is answered with the envelope's text or a JSON-RPC error,
// whatever a handler throws; a cancelled call aborts its work; what is not declared as a capability is not a method; standard
// output carries nothing but the protocol.

import { parseArgs } from "node:util";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { JSONRPCRequest, ServerNotification } from "@modelcontextprotocol/sdk/types.js";
import { ownCatalog } from "./catalog.js";
import { endAll } from "./command/process.js";
import { type Environment, dataFolder } from "./environment.js";
import { OpError } from "./errors.js";
import { log } from "./log.js";
import { NameProblem } from "./naming.js";
import { type AnyHandlers, type Caller, Served } from "./pipeline.js";
import { Announcer } from "./progress.js";
import { type Reply, envelope } from "./response.js";
import { StdioTransport } from "./stdio.js";
import { SurfaceProblem } from "./surfaces.js";
import { OpenError, Targets } from "./targets.js";
import { isObject } from "./values.js";

/** Calls that run together; further ones wait. */
const RUNNING_CALLS = 256;
/** How long running calls may go on after the server was told to stop. */
const GRACE_MS = 10_000;

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** What a project serves. */
export interface Project {
  /** What answers each operation. */
  readonly handlers: AnyHandlers;
  /** Sent with every HTTP request. */
  readonly userAgent: string;
}

/** Why a request is not answered with a result. */
class ProtocolError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** What a request brings along besides its own parameters. */
interface Extra {
  readonly signal: AbortSignal;
  sendNotification(notification: ServerNotification): Promise<void>;
}

/** Serves the client on standard input and output until its input ends; the process ends with it. */
export async function main(project: Project): Promise<void> {
  try {
    await serve(project, process.env);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    const theirs = [OpenError, UsageError, NameProblem, SurfaceProblem];
    process.exit(theirs.some((kind) => error instanceof kind) ? 2 : 1);
  }
}

class UsageError extends Error {}

async function serve(project: Project, env: Environment): Promise<void> {
  const data = dataArgument() ?? dataFolder(env);
  const catalog = ownCatalog(env);
  const targets = await Targets.open(catalog, { env, userAgent: project.userAgent, data });
  const conversation = new Conversation(new Served(catalog, targets, project.handlers));
  await conversation.run();
  endAll();
}

function dataArgument(): string | undefined {
  try {
    return parseArgs({ options: { data: { type: "string" } } }).values.data;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the arguments cannot be read");
  }
}

/** One client, from its first message to its end. */
class Conversation {
  readonly #served: Served;
  readonly #slots = new Slots(RUNNING_CALLS);
  readonly #stopped = new AbortController();

  constructor(served: Served) {
    this.#served = served;
  }

  async run(): Promise<void> {
    const { adapter, instructions } = this.#served.catalog.data;
    const info = { name: adapter.name, title: adapter.display_name, version: adapter.version };
    // The low-level server, because the catalog has every tool and every check already.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const server = new Server(info, { capabilities: { tools: {} }, ...(instructions === "" ? {} : { instructions }) });
    server.fallbackRequestHandler = (request, extra) => this.#answer(request, extra);
    server.onerror = (error) => {
      log.debug("protocol", { error: error.message });
    };
    const transport = new StdioTransport(process.stdin, process.stdout);
    const ended = new Promise<void>((resolve) => {
      server.onclose = resolve;
    });
    const stop = (): void => {
      transport.end();
      setTimeout(() => void transport.close(), GRACE_MS).unref();
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    await server.connect(transport);
    await ended;
    this.#stopped.abort();
  }

  async #answer(request: JSONRPCRequest, extra: Extra): Promise<Record<string, unknown>> {
    switch (request.method) {
      case "tools/list":
        return { tools: this.#served.catalog.data.tools };
      case "tools/call":
        return await this.#callTool(request.params ?? {}, extra);
      default:
        throw new ProtocolError(METHOD_NOT_FOUND, request.method);
    }
  }

  async #callTool(params: Readonly<Record<string, unknown>>, extra: Extra): Promise<Record<string, unknown>> {
    const { name } = params;
    const args = params["arguments"] ?? {};
    if (typeof name !== "string" || !isObject(args)) {
      throw new ProtocolError(INVALID_PARAMS, "The params of tools/call do not have the shape the protocol defines.");
    }
    if (this.#served.catalog.route(name) === undefined) {
      throw new ProtocolError(INVALID_PARAMS, `Unknown tool '${name}'. List the tools with tools/list.`);
    }
    const signal = AbortSignal.any([extra.signal, this.#stopped.signal]);
    const announcer = announcing(params["_meta"], extra);
    const caller: Caller = { signal, progress: (news) => announcer?.hear(news) };
    const release = await this.#slots.take();
    try {
      return resultOf(await this.#served.call(name, args, caller));
    } catch (error) {
      if (!signal.aborted) log.warn("a handler failed", { tool: name, error: error instanceof Error ? error.stack : String(error) });
      return resultOf(envelope(failed(), "unrecoverable"));
    } finally {
      announcer?.stop();
      release();
    }
  }
}

function failed(): OpError {
  return new OpError(
    "INTERNAL_ERROR",
    "The server failed during this call; tell the user, and for a write first read whether it took effect.",
  );
}

function resultOf({ text, blocks, isError }: Reply): Record<string, unknown> {
  return { content: [{ type: "text", text }, ...blocks], isError };
}

/** Tells a client how a call goes, where it wants to hear that. */
function announcing(meta: unknown, extra: Extra): Announcer | undefined {
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  if (typeof token !== "string" && typeof token !== "number") return undefined;
  return new Announcer(({ done, message }) => {
    const params = { progressToken: token, progress: done, total: 100, message };
    // A client that cannot be told will not be answered either; the call itself goes on.
    extra.sendNotification({ method: "notifications/progress", params }).catch(() => undefined);
  });
}

/** So many at a time; the others wait in order. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  /** Waits for a slot; whoever got one calls what came back when it is done. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
