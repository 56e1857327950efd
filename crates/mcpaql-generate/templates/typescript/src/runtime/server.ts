// The MCP server: what the catalog offers, over standard input and output, in every revision that the SDK speaks; a client's first
// request tells whether it is one with a handshake.
//
// What always holds: `tools/list` is the catalog's own; every `tools/call` is answered with the envelope's text or a JSON-RPC error,
// whatever a handler throws; a cancelled call aborts its work; what is not declared as a capability is not a method; standard
// output carries nothing but the protocol.

import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type JSONRPCRequest,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Catalog, ownCatalog } from "./catalog.js";
import { endAll } from "./command/process.js";
import { type Environment, dataFolder } from "./environment.js";
import { Executions } from "./executions.js";
import { StoreError } from "./journal.js";
import { log } from "./log.js";
import { NameProblem } from "./naming.js";
import { type AnyHandlers, type Caller, Served } from "./pipeline.js";
import { Announcer } from "./progress.js";
import type { Reply } from "./response.js";
import { Slots } from "./slots.js";
import { StdioTransport } from "./stdio.js";
import { SurfaceProblem } from "./surfaces.js";
import { OpenError, Targets } from "./targets.js";
import { CAPABILITY, answered, serveTasks } from "./tasks.js";
import { isObject } from "./values.js";

/** Calls that run together; further ones wait. */
const RUNNING_CALLS = 256;
/** How long running calls may go on after the server was told to stop. */
const GRACE_MS = 10_000;
/** How long a client may keep the list of tools, where its revision has a word for that. */
const LIST_CACHING = { ttlMs: 60_000, cacheScope: "private" };

/** What a project serves. */
export interface Project {
  /** What answers each operation. */
  readonly handlers: AnyHandlers;
  /** Sent with every HTTP request. */
  readonly userAgent: string;
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
  const executions = await executionsOf(catalog, data);
  const conversation = new Conversation(new Served(catalog, targets, project.handlers, executions));
  await conversation.run();
  endAll();
}

async function executionsOf(catalog: Catalog, data: string | undefined): Promise<Executions | undefined> {
  try {
    return await Executions.of(catalog, data);
  } catch (error) {
    throw error instanceof StoreError ? new OpenError(`adapter '${catalog.data.adapter.name}': ${error.message}`, error.cause) : error;
  }
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
    const transport = new StdioTransport(process.stdin, process.stdout);
    const stop = (): void => {
      transport.end();
      setTimeout(() => void transport.close(), GRACE_MS).unref();
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    serveStdio(({ era }) => this.#server(era), { transport, onerror });
    await transport.closed;
    this.#stopped.abort();
    // What was started for this client and does not outlive it is stopped, and says so, before the process may end.
    await Promise.race([this.#served.endSession(), sleep(GRACE_MS)]);
  }

  /** A server for a client with a handshake or without; the low-level one, because the catalog has every tool and every check already. */
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  #server(era: McpRequestContext["era"]): Server {
    const { adapter, instructions } = this.#served.catalog.data;
    const info = { name: adapter.name, title: adapter.display_name, version: adapter.version };
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const server = new Server(info, { capabilities: this.#capabilities(), ...(instructions === "" ? {} : { instructions }) });
    if (this.#served.hasExecutions) serveTasks(server, this.#served);
    const list = { tools: this.#served.catalog.data.tools, ...(era === "modern" ? LIST_CACHING : {}) };
    server.fallbackRequestHandler = async (request, context) => {
      switch (request.method) {
        case "tools/list":
          return list;
        case "tools/call":
          return await answered(server, this.#served, await this.#callTool(request, context), context);
        default:
          throw new ProtocolError(ProtocolErrorCode.MethodNotFound, request.method);
      }
    };
    server.onerror = onerror;
    return server;
  }

  #capabilities(): ServerCapabilities {
    return { tools: {}, ...(this.#served.hasExecutions ? CAPABILITY : {}) };
  }

  async #callTool({ params = {} }: JSONRPCRequest, { mcpReq }: ServerContext): Promise<Reply> {
    const { name } = params;
    const args = params["arguments"] ?? {};
    if (typeof name !== "string" || !isObject(args)) {
      throw invalid("The params of tools/call do not have the shape the protocol defines.");
    }
    // No call here ever waits for its client, so that there is none to come back to.
    if (typeof mcpReq.requestState() === "string") {
      throw invalid("The call that requestState belongs to has ended; call the tool again without it.");
    }
    if (this.#served.catalog.route(name) === undefined) {
      throw invalid(`Unknown tool '${name}'. List the tools with tools/list.`);
    }
    const signal = AbortSignal.any([mcpReq.signal, this.#stopped.signal]);
    const announcer = announcing(mcpReq);
    const caller: Caller = { signal, progress: (news) => announcer?.hear(news) };
    const release = await this.#slots.take();
    try {
      return await this.#served.call(name, args, caller);
    } finally {
      announcer?.stop();
      release();
    }
  }
}

function onerror(error: Error): void {
  log.debug("protocol", { error: error.message });
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Tells a client how a call goes, where it wants to hear that. */
function announcing({ _meta, notify }: ServerContext["mcpReq"]): Announcer | undefined {
  const token = _meta?.progressToken;
  if (token === undefined) return undefined;
  return new Announcer(({ done, message }) => {
    const params = { progressToken: token, progress: done, total: 100, message };
    // A client that cannot be told will not be answered either; the call itself goes on.
    notify({ method: "notifications/progress", params }).catch(() => undefined);
  });
}
