// One request on the wire, and the answer to it.
//
// What always holds: nothing is followed and nothing is repeated here, but for a request that met a connection which the other side
// had just closed; names of headers are in lower case; an aborted signal ends the request and whatever of its answer is being read.

import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Environment } from "../environment.js";
import type { Headers } from "./headers.js";
import { isLoopback } from "./redirect.js";
import { proxyFor, tunnel } from "./proxy.js";

const MAX_HEADER_BYTES = 256 * 1024;

/** A connection that failed. */
export class ConnectionError extends Error {
  constructor(
    /** Nothing was sent. */
    readonly unreachable: boolean,
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.name = "ConnectionError";
  }
}

/** What is sent. */
export interface Message {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Buffer | undefined;
}

/** An answer whose body has not been read yet. */
export class Received {
  readonly status: number;
  /** Of the body as it is read; `undefined` where that is not known. */
  readonly contentLength: number | undefined;
  readonly #message: IncomingMessage;
  readonly #body: Readable;
  readonly #isUnpacked: boolean;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    const length = message.headers["content-length"];
    const packed = (message.headers["content-encoding"] ?? "").split(",").some((word) => word.trim() === "gzip");
    this.#isUnpacked = packed && length !== "0";
    // A failure of either shows where the body is read.
    this.#body = this.#isUnpacked ? pipeline(message, createGunzip(), () => undefined) : message;
    this.#body.on("error", () => undefined);
    this.contentLength = length === undefined || this.#isUnpacked ? undefined : Number(length);
  }

  /** The header's bytes. */
  bytes(name: string): Buffer | undefined {
    if (this.#isUnpacked && (name === "content-encoding" || name === "content-length")) return undefined;
    const raw = this.#message.rawHeaders;
    const at = raw.findIndex((header, index) => index % 2 === 0 && header.toLowerCase() === name);
    return at < 0 ? undefined : Buffer.from(raw[at + 1] ?? "", "latin1");
  }

  /** The header's text where it is nothing but visible characters. */
  text(name: string): string | undefined {
    const text = this.bytes(name)?.toString("latin1");
    return text !== undefined && /^[\t\x20-\x7e]*$/.test(text) ? text : undefined;
  }

  /** Reads up to `limit` bytes, counted after decompression. What came before an error stands in `into`. */
  async read(limit: number, into: Buffer[]): Promise<"whole" | "cut"> {
    let room = limit;
    for await (const chunk of this.chunks()) {
      if (chunk.length > room) {
        into.push(chunk.subarray(0, room));
        this.drop();
        return "cut";
      }
      room -= chunk.length;
      into.push(chunk);
    }
    return "whole";
  }

  /** The body as it comes, after decompression. */
  chunks(): AsyncIterable<Buffer> {
    return this.#body as AsyncIterable<Buffer>;
  }

  /** Nobody reads the rest. */
  drop(): void {
    this.#body.destroy();
    this.#message.destroy();
  }

  /** There is no rest worth reading; the connection may be used again. */
  finish(): void {
    this.#body.resume();
  }
}

/** Keeps connections to other machines. */
export class Connections {
  readonly #connectTimeoutMs: number;
  readonly #userAgent: string;
  readonly #env: Environment;
  readonly #plain = new HttpAgent({ keepAlive: true, noDelay: true });
  readonly #secure = new HttpsAgent({ keepAlive: true, noDelay: true });

  constructor(options: { connectTimeoutMs: number; userAgent: string; env: Environment }) {
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#userAgent = options.userAgent;
    this.#env = options.env;
  }

  /** Sends one request; the head of the answer is there, the body is to be read. */
  async send(message: Message, signal: AbortSignal): Promise<Received> {
    try {
      return await this.#once(message, signal);
    } catch (error) {
      if (error instanceof StaleError && !signal.aborted) return await this.send(message, signal);
      throw error;
    }
  }

  async #once(message: Message, signal: AbortSignal): Promise<Received> {
    const proxy = isLoopback(message.url) ? undefined : proxyFor(message.url, this.#env);
    const secure = message.url.protocol === "https:";
    const headers = Object.fromEntries(
      [...this.#standard(message), ...message.headers].map(([name, value]) => [name, Buffer.from(value, "utf8").toString("latin1")]),
    );
    const usual = { method: message.method, headers, signal, maxHeaderSize: MAX_HEADER_BYTES };
    let request: ClientRequest;
    if (proxy !== undefined && secure) {
      const socket = await this.#tunnelled(proxy, message.url, signal);
      request = httpsRequest(message.url, { ...usual, createConnection: () => socket, agent: false });
    } else if (proxy !== undefined) {
      const credentials = proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization };
      const { hostname: host, port } = proxy;
      const all = { ...headers, host: message.url.host, ...credentials };
      request = httpRequest({ ...usual, host, port, path: message.url.href, headers: all, agent: this.#plain });
    } else if (secure) {
      request = httpsRequest(message.url, { ...usual, agent: this.#secure });
    } else {
      request = httpRequest(message.url, { ...usual, agent: this.#plain });
    }
    return await this.#exchange(request, message, secure);
  }

  #standard(message: Message): [string, string][] {
    const standard: [string, string][] = [
      ["user-agent", this.#userAgent],
      ["accept-encoding", "gzip"],
    ];
    if (message.body !== undefined) standard.push(["content-length", String(message.body.length)]);
    return standard;
  }

  #exchange(request: ClientRequest, message: Message, secure: boolean): Promise<Received> {
    return new Promise((resolve, reject) => {
      let connected = false;
      const timer = setTimeout(() => {
        request.destroy(new Error("no connection in time"));
      }, Math.min(this.#connectTimeoutMs, 0x7fff_ffff));
      const established = (): void => {
        connected = true;
        clearTimeout(timer);
      };
      request.on("socket", (socket) => {
        if (request.reusedSocket || !socket.connecting) established();
        else socket.once(secure ? "secureConnect" : "connect", established);
      });
      request.on("response", (response) => {
        established();
        resolve(new Received(response));
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        const closed = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        const harmless = message.method === "GET" || message.method === "HEAD";
        reject(closed && harmless ? new StaleError() : new ConnectionError(!connected, error));
      });
      request.end(message.body);
    });
  }

  async #tunnelled(proxy: { hostname: string; port: number; authorization: string | undefined }, url: URL, signal: AbortSignal) {
    try {
      return await tunnel(proxy, url, AbortSignal.any([signal, AbortSignal.timeout(Math.min(this.#connectTimeoutMs, 0x7fff_ffff))]));
    } catch (error) {
      throw new ConnectionError(true, error);
    }
  }
}

/** The connection had been closed before the request came. */
class StaleError extends Error {}
