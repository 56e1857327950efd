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
import { type Client, LEVELS, type Level, levelOf } from "./client.js";
import { ConnectedClient, RequestClient } from "./clients.js";
import { endAll } from "./command/process.js";
import { type Environment, dataFolder } from "./environment.js";
import { Executions } from "./executions.js";
import { StoreError } from "./journal.js";
import { log } from "./log.js";
import { Passing } from "./mcp/passing.js";
import { NameProblem } from "./naming.js";
import { type InputRequired, Ongoing, Parked } from "./parked.js";
import { type AnyHandlers, type Caller, Served } from "./pipeline.js";
import { Announcer } from "./progress.js";
import type { Reply } from "./response.js";
import { Slots } from "./slots.js";
import { StdioTransport } from "./stdio.js";
import { SurfaceProblem } from "./surfaces.js";
import { OpenError, Targets } from "./targets.js";
import { CAPABILITY, answered, serveTasks } from "./tasks.js";
import { type JsonObject, isObject } from "./values.js";

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
  const passing = targets.upstreams.length === 0 ? undefined : new Passing(catalog.data.adapter.name, targets.upstreams);
  const conversation = new Conversation(new Served(catalog, targets, project.handlers, executions), passing);
  await conversation.run();
  await targets.close();
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
  readonly #transport = new StdioTransport(process.stdin, process.stdout);
  readonly #served: Served;
  readonly #slots = new Slots(RUNNING_CALLS);
  readonly #stopped = new AbortController();
  readonly #parked = new Parked();
  /** What an MCP server behind the adapter offers besides tools. */
  readonly #passing: Passing | undefined;
  /** From which level on the client wants to hear what that server logs. */
  #level: Level | undefined;

  constructor(served: Served, passing: Passing | undefined) {
    this.#served = served;
    this.#passing = passing;
  }

  async run(): Promise<void> {
    const transport = this.#transport;
    const stop = (): void => {
      transport.end();
      setTimeout(() => void transport.close(), GRACE_MS).unref();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stop);
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
    // What is wrong with its params is said here.
    server.removeRequestHandler("logging/setLevel");
    const list = { tools: this.#served.catalog.data.tools, ...(era === "modern" ? LIST_CACHING : {}) };
    server.fallbackRequestHandler = async (request, context) => {
      const { method, params = {} } = request;
      if (method === "tools/list") return list;
      if (method === "tools/call") {
        const outcome = await this.#callTool(server, era, request, context);
        return "resultType" in outcome ? outcome : await answered(server, this.#served, outcome, context);
      }
      if (method === "logging/setLevel" && this.#passing !== undefined) return this.#setLevel(params["level"]);
      if (this.#passing?.offers(method) === true) return await this.#pass(this.#passing, server, era, request, context);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, method);
    };
    server.onerror = onerror;
    return server;
  }

  #capabilities(): ServerCapabilities {
    const passed = this.#passing?.capabilities ?? {};
    return { tools: {}, ...passed, ...(this.#served.hasExecutions ? CAPABILITY : {}) };
  }

  #setLevel(name: unknown): Record<string, never> {
    const level = levelOf(name);
    if (level === undefined) {
      const levels = `${LEVELS.slice(0, -1).join(", ")} or ${LEVELS.at(-1) ?? ""}`;
      throw invalid(`The params of logging/setLevel need a level: ${levels}.`);
    }
    this.#level = level;
    return {};
  }

  /** Something that the server behind the adapter offers besides tools. */
  async #pass(
    passing: Passing,
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    server: Server,
    era: McpRequestContext["era"],
    { method, params = {} }: JSONRPCRequest,
    { mcpReq }: ServerContext,
  ): Promise<JsonObject> {
    const signal = AbortSignal.any([mcpReq.signal, this.#stopped.signal]);
    const client = era === "modern" ? new RequestClient(server, mcpReq) : new ConnectedClient(server, mcpReq, () => this.#level);
    try {
      const result = await passing.answer(method, params, { signal, client, progress: () => undefined });
      if (era !== "modern" || method === "prompts/get") return result;
      return { ...result, ...LIST_CACHING, ...(method === "resources/read" ? { ttlMs: 0 } : {}) };
    } catch (error) {
      if (era !== "modern" && error instanceof ProtocolError) this.#transport.keepCode(mcpReq.id, error.code);
      throw error;
    }
  }

  /** A call's reply, or the question that its client has to answer first. */
  async #callTool(
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    server: Server,
    era: McpRequestContext["era"],
    { params = {} }: JSONRPCRequest,
    { mcpReq }: ServerContext,
  ): Promise<Reply | InputRequired> {
    const { name } = params;
    const args = params["arguments"] ?? {};
    if (typeof name !== "string" || !isObject(args)) {
      throw invalid("The params of tools/call do not have the shape the protocol defines.");
    }
    const state: unknown = mcpReq.requestState();
    let call: Ongoing | undefined;
    if (typeof state === "string") {
      call = this.#parked.resume(state, name, mcpReq.inputResponses);
      if (call === undefined) throw invalid("The call that requestState belongs to has ended; call the tool again without it.");
    } else if (this.#served.catalog.route(name) === undefined) {
      throw invalid(`Unknown tool '${name}'. List the tools with tools/list.`);
    }
    const release = await this.#slots.take();
    call ??= this.#begin(name, args, (ongoing) =>
      era === "modern"
        ? new RequestClient(server, mcpReq, (question) => {
            ongoing.ask(question);
          })
        : new ConnectedClient(server, mcpReq, () => this.#level),
    );
    try {
      return await this.#goOn(call, mcpReq);
    } finally {
      release();
    }
  }

  #begin(tool: string, args: JsonObject, clientOf: (call: Ongoing) => Client): Ongoing {
    const call = new Ongoing(tool, this.#stopped.signal);
    const caller: Caller = {
      signal: call.signal,
      client: clientOf(call),
      progress: (news) => {
        call.progress(news);
      },
    };
    call.begin(this.#served.call(tool, args, caller));
    return call;
  }

  /** Runs a call to its end, or to a question that only its client can answer. */
  async #goOn(call: Ongoing, mcpReq: ServerContext["mcpReq"]): Promise<Reply | InputRequired> {
    const abort = (): void => {
      call.abort();
    };
    if (mcpReq.signal.aborted) abort();
    mcpReq.signal.addEventListener("abort", abort, { once: true });
    call.announcer = announcing(mcpReq);
    try {
      for (;;) {
        const next = await call.step();
        if ("text" in next) return next;
        const asked = this.#parked.ask(call, next);
        if (asked !== undefined) return asked;
      }
    } finally {
      call.announcer?.stop();
      mcpReq.signal.removeEventListener("abort", abort);
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
