// Messages on standard input and output, one on each line. Every line that asks for an answer gets one: what cannot be read is
// answered here, and the conversation goes on with the next line.
//
// What always holds: no more than `MAX_LINE_BYTES` of a line are ever held; nothing of what was sent is quoted but the request's id;
// the end of input reaches the protocol only after every request that was read has been answered.

import { isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, type RequestId, SUBSCRIPTION_ID_META_KEY, type Transport } from "@modelcontextprotocol/server";
import { stringify } from "./json.js";
import { type JsonObject, isObject, parseValue } from "./values.js";

/** The longest line that is read. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** The longest id that is looked for in what cannot be read, as written. */
const ID_BYTES = 256;

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
  readonly #line = new Line();
  /** Requests that were read and are not yet answered. */
  readonly #pending = new Set<RequestId>();
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
      this.#take(this.#line.end());
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

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return;
    await this.#write(message);
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

  #read(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, from);
      if (end < 0 || this.#ended) break;
      this.#line.push(chunk.subarray(from, end));
      this.#take(this.#line.end());
      from = end + 1;
    }
    if (!this.#ended) this.#line.push(chunk.subarray(from));
  }

  #take(line: Buffer | "too long"): void {
    if (line === "too long") {
      this.#refuse(INVALID_REQUEST, TOO_LONG, this.#line.lastId);
      return;
    }
    const text = line.toString("utf8").replace(/^\ufeff/, "").replace(/^[ \t\n\f\r]+|[ \t\n\f\r]+$/g, "");
    if (text === "") return;
    const value = isUtf8(line) ? parseValue(text) : undefined;
    if (value === undefined) {
      this.#refuse(PARSE_ERROR, UNREADABLE, idIn(text));
    } else if (isMessage(value)) {
      const message = understood(value);
      this.#note(message);
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } else if (asksForAnswer(value)) {
      this.#refuse(INVALID_REQUEST, NO_REQUEST, isObject(value) && isId(value["id"]) ? value["id"] : undefined);
    }
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

  #refuse(code: number, message: string, id: RequestId | undefined): void {
    void this.#write({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error: { code, message } });
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve) => {
      if (this.#output.write(`${stringify(message)}\n`)) resolve();
      else this.#output.once("drain", resolve);
    });
  }
}

/** The line that is being read. */
class Line {
  #pieces: Buffer[] = [];
  #length = 0;
  #isTooLong = false;
  /** The id in the last line that was too long, as far as it stood in its beginning. */
  lastId: RequestId | undefined;

  push(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > MAX_LINE_BYTES && !this.#isTooLong) {
      this.#isTooLong = true;
      this.lastId = idIn(Buffer.concat(this.#pieces).toString("utf8"));
      this.#pieces = [];
    }
    if (!this.#isTooLong) this.#pieces.push(piece);
  }

  end(): Buffer | "too long" {
    const line = this.#isTooLong ? "too long" : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    this.#isTooLong = false;
    return line;
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

/** The `id` among the outermost members of a message that is broken elsewhere. */
function idIn(text: string): RequestId | undefined {
  let depth = 0;
  let token = "";
  let key: string | undefined;
  const end = (): RequestId | undefined => {
    const value = depth === 1 && key === '"id"' && token.length <= ID_BYTES ? parseValue(token) : undefined;
    token = "";
    key = undefined;
    return isId(value) ? value : undefined;
  };
  for (const [piece] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[^"]/gs)) {
    if (piece === "{" || piece === "[") {
      if (depth === 1) token += piece;
      depth += 1;
    } else if (piece === "}" || piece === "]" || piece === ",") {
      const found = end();
      if (found !== undefined) return found;
      if (piece !== ",") depth -= 1;
    } else if (piece === ":" && depth === 1) {
      key = token;
      token = "";
    } else if (depth === 1 && !/\s/.test(piece) && token.length <= ID_BYTES) {
      token += piece;
    }
  }
  return undefined;
}
