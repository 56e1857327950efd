// The MCP server: what the catalog offers, over standard input and output, in every revision that the SDK speaks; a client's first
// request tells whether it is one with a handshake.
//
// What always holds: `tools/list` is the catalog's own; every `tools/call` is answered with the envelope's text or a JSON-RPC error,
// whatever a handler throws; a cancelled call aborts its work; what is not declared as a capability is not a method; standard
// output carries nothing but the protocol.

import { parseArgs } from "node:util";
import {
  type JSONRPCRequest,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
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
  const conversation = new Conversation(new Served(catalog, targets, project.handlers));
  await conversation.run();
  await targets.close();
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
    const transport = new StdioTransport(process.stdin, process.stdout);
    const stop = (): void => {
      transport.end();
      setTimeout(() => void transport.close(), GRACE_MS).unref();
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    serveStdio(({ era }) => this.#server(era), { transport, onerror });
    await transport.closed;
    this.#stopped.abort();
  }

  /** A server for a client with a handshake or without; the low-level one, because the catalog has every tool and every check already. */
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  #server(era: McpRequestContext["era"]): Server {
    const { adapter, instructions } = this.#served.catalog.data;
    const info = { name: adapter.name, title: adapter.display_name, version: adapter.version };
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const server = new Server(info, { capabilities: { tools: {} }, ...(instructions === "" ? {} : { instructions }) });
    const list = { tools: this.#served.catalog.data.tools, ...(era === "modern" ? LIST_CACHING : {}) };
    server.fallbackRequestHandler = async (request, context) => {
      switch (request.method) {
        case "tools/list":
          return list;
        case "tools/call":
          return await this.#callTool(request, context);
        default:
          throw new ProtocolError(ProtocolErrorCode.MethodNotFound, request.method);
      }
    };
    server.onerror = onerror;
    return server;
  }

  async #callTool({ params = {} }: JSONRPCRequest, { mcpReq }: ServerContext): Promise<Record<string, unknown>> {
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

function onerror(error: Error): void {
  log.debug("protocol", { error: error.message });
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
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
function announcing({ _meta, notify }: ServerContext["mcpReq"]): Announcer | undefined {
  const token = _meta?.progressToken;
  if (token === undefined) return undefined;
  return new Announcer(({ done, message }) => {
    const params = { progressToken: token, progress: done, total: 100, message };
    // A client that cannot be told will not be answered either; the call itself goes on.
    notify({ method: "notifications/progress", params }).catch(() => undefined);
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
