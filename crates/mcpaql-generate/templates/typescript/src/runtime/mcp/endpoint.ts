// An MCP server over streamable HTTP: every message of ours is a POST, every answer JSON or a stream of events.
//
// What always holds: credentials go to the origin that the document names alone; no more than the limit of an answer is held; a
// request that was refused before it was read (401, an unknown session) may be repeated, nothing else is.

import { setTimeout as sleep } from "node:timers/promises";
import type { Auth } from "../auth.js";
import type { Environment } from "../environment.js";
import { OpError } from "../errors.js";
import { ConnectionError, type Received } from "../http/connection.js";
import { Door, type Opened, refusalOf } from "../http/door.js";
import { type Headers, isSendable } from "../http/headers.js";
import { log } from "../log.js";
import { Mask } from "../secrets.js";
import { isObject, own, parseValue } from "../values.js";
import type { AddressLink } from "./binding.js";
import type { Calls } from "./calls.js";
import { UpstreamError, unavailable } from "./error.js";
import { Events } from "./events.js";
import { STATELESS, errorOf } from "./message.js";
import type { Connector, Link } from "./session.js";

/** How long a notification, or the end of a session, may take to be delivered. */
const ASIDE_MS = 10_000;
/** How long a stream that ended is left alone, unless the server says. */
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
/** How often a stream is taken up again before its answer has come. */
const RESUMED = 1000;
/** What an answer's message has around its content, generously. */
const AROUND = 64 * 1024;

/** The address of a document. */
export class Endpoint implements Connector {
  readonly name: string;
  readonly #door: Door;

  /** Gets ready to reach it; throws a `SetupError`. A variable that is not set is an error of the calls. */
  constructor(link: AddressLink, auth: Auth, env: Environment, userAgent: string) {
    this.#door = new Door(link, auth, env, userAgent);
    this.name = hostOf(link.url) ?? "remote";
  }

  connect(calls: Calls, limit: number): Promise<Link> {
    return Promise.resolve(new Conversation(this.#door, this.name, calls, limit));
  }
}

function hostOf(url: string): string | undefined {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "" ? undefined : host;
}

/** One conversation with what answers there. */
class Conversation implements Link {
  readonly #door: Door;
  readonly #name: string;
  readonly #calls: Calls;
  readonly #limit: number;
  readonly #closing = new AbortController();
  readonly #posting: Promise<void>;
  #session: string | undefined;
  #version: string | undefined;
  /** What the last request was made with. */
  #mask = new Mask();

  constructor(door: Door, name: string, calls: Calls, limit: number) {
    this.#door = door;
    this.#name = name;
    this.#calls = calls;
    this.#limit = limit + AROUND;
    this.#posting = this.#postAside();
  }

  mask(): Mask {
    return this.#mask;
  }

  echoMask(): Mask {
    return this.#mask;
  }

  speak(version: string): void {
    if (isSendable(version)) this.#version ??= version;
  }

  greeted(): void {
    if (!this.#isStateless) void this.#listen();
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#calls.outbox.close();
    await this.#posting;
    this.#calls.end(this.#gone("was closed"));
    if (this.#session === undefined) return;
    const bye = this.#door.send("DELETE", this.#headers("application/json"), undefined, AbortSignal.timeout(ASIDE_MS));
    await bye.then(
      ({ response }) => {
        response.drop();
      },
      () => undefined,
    );
  }

  get #isStateless(): boolean {
    return this.#version !== undefined && this.#version >= STATELESS;
  }

  #headers(accept: string): Headers {
    const headers: Headers = new Map([["accept", accept]]);
    if (this.#session !== undefined) headers.set("mcp-session-id", this.#session);
    if (this.#version !== undefined) headers.set("mcp-protocol-version", this.#version);
    return headers;
  }

  async #send(line: string, said: readonly (readonly [string, string | undefined])[], signal: AbortSignal): Promise<Opened> {
    const headers = this.#headers("application/json, text/event-stream");
    headers.set("content-type", "application/json");
    for (const [name, text] of this.#isStateless ? said : []) {
      if (text !== undefined && isSendable(text)) headers.set(name, text);
    }
    const opened = await this.#door.send("POST", headers, Buffer.from(line, "utf8"), signal);
    this.#mask = opened.mask;
    return opened;
  }

  /** Sends a request and reads until its answer has come. */
  async post(line: string, id: number, method: string, name: string | undefined, signal: AbortSignal): Promise<void> {
    const known = this.#session;
    const over = AbortSignal.any([signal, this.#closing.signal]);
    try {
      const opened = await this.#send(line, [["mcp-method", method], ["mcp-name", name]], over);
      const { response } = opened;
      if (response.status < 200 || response.status >= 300) throw await this.#refused(opened, known !== undefined);
      if (method === "initialize") this.#session = response.bytes("mcp-session-id")?.toString("utf8");
      if (isStream(response)) await this.#follow(response, id, over);
      else await this.#read(response, id);
    } catch (error) {
      throw this.#shut(error);
    }
    if (this.#calls.isWaiting(id)) throw this.#gone("ended its answer before it was complete");
  }

  /** Reads a JSON answer. */
  async #read(response: Received, id: number): Promise<void> {
    const body: Buffer[] = [];
    if ((await response.read(this.#limit, body)) === "cut") this.#calls.tooLong(undefined, id);
    else this.#calls.incoming(Buffer.concat(body).toString("utf8"), id);
  }

  /** Reads a stream of events, and goes on where it breaks off, until the answer has come. */
  async #follow(first: Received, id: number, signal: AbortSignal): Promise<void> {
    const events = new Events(this.#limit);
    let response = first;
    for (let times = 0; times < RESUMED; times += 1) {
      const broken = await this.#drain(response, events, id);
      if (!this.#calls.isWaiting(id)) return;
      if (events.lastId === undefined) {
        if (broken !== undefined) throw broken;
        return;
      }
      await sleep(events.retryMs ?? RETRY_MS, undefined, { signal });
      ({ response } = await this.#listenFrom(events.lastId, signal));
      if (response.status < 200 || response.status >= 300 || !isStream(response)) {
        response.drop();
        return;
      }
    }
  }

  /** Reads a stream to its end; how it broke, where it did. */
  async #drain(response: Received, events: Events, related: number | undefined): Promise<ConnectionError | undefined> {
    try {
      for await (const chunk of response.chunks()) {
        for (const data of events.feed(chunk)) {
          if (Buffer.isBuffer(data)) this.#calls.incoming(data.toString("utf8"), related);
          else this.#calls.tooLong(data.tooLong);
        }
      }
      return undefined;
    } catch (error) {
      return new ConnectionError(false, error);
    }
  }

  async #listenFrom(last: string | undefined, signal: AbortSignal): Promise<Opened> {
    const headers = this.#headers("text/event-stream");
    if (last !== undefined && isSendable(last)) headers.set("last-event-id", last);
    return await this.#door.send("GET", headers, undefined, signal);
  }

  /** Sends what is sent aside, until the conversation is closed. */
  async #postAside(): Promise<void> {
    for (;;) {
      const line = await this.#calls.outbox.take();
      if (line === undefined) return;
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ASIDE_MS)]);
      // Nobody waits for it; a server that cannot be reached shows that with the next call.
      await this.#send(line, [], signal).then(
        ({ response }) => {
          if (response.contentLength === 0) response.finish();
          else response.drop();
        },
        () => undefined,
      );
    }
  }

  /** The server's own stream, where it has one, until the conversation ends. */
  async #listen(): Promise<void> {
    const ended = new AbortController();
    void this.#calls.ended.then(() => {
      ended.abort();
    });
    const signal = AbortSignal.any([ended.signal, this.#closing.signal]);
    const events = new Events(this.#limit);
    let wait = RETRY_MS;
    while (!signal.aborted) {
      try {
        const { response } = await this.#listenFrom(events.lastId, signal);
        const isSuccess = response.status >= 200 && response.status < 300;
        const isOver = (response.status >= 400 && response.status < 500) || (isSuccess && !isStream(response));
        if (isOver || !isSuccess) response.drop();
        if (isOver) return;
        if (isSuccess) {
          wait = RETRY_MS;
          await this.#drain(response, events, undefined);
        }
      } catch {
        // It is tried again below.
      }
      await sleep(events.retryMs ?? wait, undefined, { signal }).catch(() => undefined);
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    }
  }

  /** An answer that is no success may still be a message of the protocol, or say that the session is not known any more. */
  async #refused(opened: Opened, hadSession: boolean): Promise<UpstreamError> {
    const { body, error } = await refusalOf(opened);
    const text = body.toString("utf8");
    if (hadSession && isForgotten(opened.response.status, text)) {
      const expired = unavailable(this.#calls.server, "does not know the session any more", true);
      this.#calls.retire(expired);
      return expired;
    }
    const message = parseValue(text);
    const rpc = isObject(message) ? errorOf(own(message, "error")) : undefined;
    if (rpc === undefined || rpc.code === 0) return new UpstreamError({ kind: "refusal", error });
    return new UpstreamError({ kind: "refused", server: this.#calls.server, ...rpc });
  }

  #shut(error: unknown): unknown {
    if (error instanceof OpError) return new UpstreamError({ kind: "refusal", error });
    if (error instanceof UpstreamError || this.#closing.signal.aborted) return error;
    const { unreachable, message } = error instanceof ConnectionError ? error : new ConnectionError(false, error);
    log.debug("the connection failed", { server: this.#name, reason: this.#mask.apply(message) });
    if (!unreachable) return this.#gone("broke the connection before its answer was complete");
    const gone = this.#gone("cannot be reached");
    this.#calls.retire(gone);
    return gone;
  }

  #gone(reason: string): UpstreamError {
    return unavailable(this.#calls.server, reason);
  }
}

/** Whether the server refuses the session: with 404 as the protocol says, or with 400 as many do. */
function isForgotten(status: number, body: string): boolean {
  return status === 404 || (status === 400 && body.toLowerCase().includes("session"));
}

function isStream(response: Received): boolean {
  return response.bytes("content-type")?.toString("latin1").startsWith("text/event-stream") === true;
}
