// Messages on standard input and output, one on each line. Every line that asks for an answer gets one: what cannot be read is
// answered here, and the conversation goes on with the next line.
//
// What always holds: no more than `MAX_LINE_BYTES` of a line are ever held; nothing of what was sent is quoted but the request's id;
// the end of input reaches the protocol only after every request that was read has been answered.

import { isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from "@modelcontextprotocol/server";
import { stringify } from "./json.js";
import { STATELESS } from "./mcp/message.js";
import { IdScan, LineReader, type TooLong, lineText } from "./reader.js";
import { type JsonObject, isObject, parseValue } from "./values.js";

/** The longest line that is read. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const UNREADABLE =
  "The message cannot be read as JSON: send one JSON-RPC 2.0 object in UTF-8, without lone surrogates, with numbers in range and nested no deeper than 127 levels.";
const NO_REQUEST =
  "The message is no JSON-RPC 2.0 request: send an object with jsonrpc, id, method and, if any, params.";
const TOO_LONG = `The message has more than ${MAX_LINE_BYTES} bytes, the most that are read; send less.`;

/** The standard streams as a transport of the protocol. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Nothing is read or written any more. */
  readonly closed: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines = new LineReader(MAX_LINE_BYTES);
  /** Requests that were read and are not yet answered. */
  readonly #pending = new Set<RequestId>();
  readonly #codes = new Map<RequestId, number>();
  /** Whether the client began with a handshake, which settles the revision for good. */
  #hasShakenHands = false;
  #ended = false;
  #isClosed = false;
  #toldClosed: () => void = () => undefined;

  constructor(input: Readable, output: Writable) {
    this.closed = new Promise((resolve) => {
      this.#toldClosed = resolve;
    });
    this.#input = input;
    this.#output = output;
  }

  start(): Promise<void> {
    this.#input.on("data", (chunk: Buffer) => {
      this.#read(chunk);
    });
    this.#input.on("end", () => {
      this.#take(this.#lines.end());
      this.end();
    });
    this.#input.on("error", () => {
      this.end();
    });
    // Nobody hears the answers any more.
    this.#output.on("error", () => {
      void this.close();
    });
    return Promise.resolve();
  }

  /** The error that answers this request keeps its code, which the SDK would write as that of a later revision. */
  keepCode(id: RequestId, code: number): void {
    this.#codes.set(id, code);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return;
    await this.#write(this.#coded(message));
    const id = answeredBy(message);
    if (id !== undefined) this.#settle(id);
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#input.pause();
      this.onclose?.();
      this.#toldClosed();
    }
    return Promise.resolve();
  }

  /** Reads no more; closes when what was read is answered. */
  end(): void {
    this.#ended = true;
    this.#input.pause();
    if (this.#pending.size === 0) void this.close();
  }

  #coded(message: JSONRPCMessage): JSONRPCMessage {
    if (!("error" in message) || message.id === undefined) return message;
    const code = this.#codes.get(message.id) ?? message.error.code;
    this.#codes.delete(message.id);
    return { ...message, error: { ...message.error, code } };
  }

  #read(chunk: Buffer): void {
    for (const line of this.#lines.feed(chunk)) {
      if (this.#ended) return;
      this.#take(line);
    }
  }

  #take(line: Buffer | TooLong): void {
    if ("tooLong" in line) {
      this.#refuse(INVALID_REQUEST, TOO_LONG, line.tooLong.found);
      return;
    }
    const text = lineText(line);
    if (text === "") return;
    const value = isUtf8(line) ? parseValue(text) : undefined;
    if (value === undefined) {
      const scan = new IdScan();
      scan.feed(line);
      this.#refuse(PARSE_ERROR, UNREADABLE, scan.found);
    } else if (isMessage(value)) {
      const message = understood(value);
      if (this.#refusesRevision(message)) return;
      this.#note(message);
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } else if (asksForAnswer(value)) {
      this.#refuse(INVALID_REQUEST, NO_REQUEST, isObject(value) && isId(value["id"]) ? value["id"] : undefined);
    }
  }

  /** The SDK looks at the revision of the first request alone, and each says its own. */
  #refusesRevision({ id, method, params }: JsonObject): boolean {
    this.#hasShakenHands ||= method === "initialize";
    const meta = isObject(params) ? params["_meta"] : undefined;
    const requested = isObject(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
    if (this.#hasShakenHands || !isId(id) || typeof requested !== "string" || requested === STATELESS) return false;
    const data = { requested, supported: [STATELESS] };
    this.#refuse(ProtocolErrorCode.UnsupportedProtocolVersion, "Unsupported protocol version", id, data);
    return true;
  }

  #note(message: JsonObject): void {
    if (message["method"] === "notifications/cancelled") {
      const cancelled = isObject(message["params"]) ? message["params"]["requestId"] : undefined;
      // A cancelled request is never answered.
      if (isId(cancelled)) this.#settle(cancelled);
    } else if (typeof message["method"] === "string" && isId(message["id"])) {
      this.#pending.add(message["id"]);
    }
  }

  #settle(id: RequestId): void {
    this.#pending.delete(id);
    if (this.#ended && this.#pending.size === 0) void this.close();
  }

  #refuse(code: number, message: string, id: RequestId | undefined, data?: object): void {
    const error = { code, message, ...(data === undefined ? {} : { data }) };
    void this.#write({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error });
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve) => {
      if (this.#output.write(`${stringify(message)}\n`)) resolve();
      else this.#output.once("drain", resolve);
    });
  }
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

/** A request, a notification or an answer. */
function isMessage(value: unknown): value is JsonObject {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method, params } = value;
  if (typeof method !== "string") return isId(id) && (isObject(value["result"]) || isObject(value["error"]));
  if (id !== undefined && !isId(id)) return false;
  return isObjectOrNothing(params) && isObjectOrNothing(params?.["_meta"]);
}

function isObjectOrNothing(value: unknown): value is JsonObject | null | undefined {
  return value === undefined || value === null || isObject(value);
}

/** The message without what the protocol does not define in these places: what has more, the SDK passes over in silence. */
function understood(message: JsonObject): JsonObject {
  const { jsonrpc, id, method, params } = message;
  if (typeof method !== "string") return message;
  const known = { jsonrpc, ...(id === undefined ? {} : { id }), method };
  if (!isObject(params)) return known;
  const { _meta: meta } = params;
  const token = isObject(meta) && isId(meta["progressToken"]) ? meta["progressToken"] : undefined;
  return { ...known, params: { ...params, _meta: isObject(meta) ? { ...meta, progressToken: token } : undefined } };
}

/** The request that a message answers; one that subscribes is answered when that is acknowledged. */
function answeredBy(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message)) return message.id;
  if (message.method !== "notifications/subscriptions/acknowledged") return undefined;
  const id = message.params?._meta?.[SUBSCRIPTION_ID_META_KEY];
  return isId(id) ? id : undefined;
}

function asksForAnswer(value: unknown): boolean {
  if (!isObject(value)) return true;
  const { id, method } = value;
  const isAnswer = method === undefined && ("result" in value || "error" in value);
  return !isAnswer && !(id === undefined && typeof method === "string");
}
