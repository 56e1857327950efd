// Server-sent events, piece by piece, of which no more than a limit is ever held.

import { IdScan, type TooLong } from "../reader.js";

/** The longest wait that a server may ask for before it is asked again. */
const LONGEST_RETRY_MS = 60_000;
/** The longest line that is no data. */
const FIELD = 4096;

const [LINE_FEED, RETURN, SPACE] = [0x0a, 0x0d, 0x20];
const DATA = Buffer.from("data:");

/** Takes a stream apart. */
export class Events {
  /** Of the last event that had one, to go on from there. */
  lastId: string | undefined;
  /** How long the server wants to be left alone before it is asked again. */
  retryMs: number | undefined;
  readonly #limit: number;
  /** The line being read, as far as it is not data. */
  #line = Buffer.alloc(0);
  #inData = false;
  /** The first byte of data may be a space that belongs to the form. */
  #dataBegins = false;
  #afterReturn = false;
  #data: Buffer[] = [];
  #length = 0;
  #hasData = false;
  #tooLong: IdScan | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes in a piece of the stream; the data of each event that ends in it comes back. */
  *feed(bytes: Buffer): Generator<Buffer | TooLong> {
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte !== LINE_FEED && byte !== RETURN) continue;
      const part = bytes.subarray(from, at);
      from = at + 1;
      this.#part(part);
      // The second half of a line end that is two characters.
      const isSecond = byte === LINE_FEED && part.length === 0 && this.#afterReturn;
      this.#afterReturn = byte === RETURN;
      const ended = isSecond ? undefined : this.#endLine();
      if (ended !== undefined) yield ended;
    }
    if (from < bytes.length) {
      this.#afterReturn = false;
      this.#part(bytes.subarray(from));
    }
  }

  #part(part: Buffer): void {
    if (this.#inData) {
      this.#value(part);
      return;
    }
    const room = Math.max(0, FIELD - this.#line.length);
    this.#line = Buffer.concat([this.#line, part.subarray(0, room)]);
    if (!this.#line.subarray(0, DATA.length).equals(DATA)) return;
    this.#inData = true;
    this.#dataBegins = true;
    if (this.#hasData) this.#keep(Buffer.of(LINE_FEED));
    this.#hasData = true;
    // What of the value came along with the name.
    this.#value(this.#line.subarray(DATA.length));
    this.#value(part.subarray(room));
  }

  #value(part: Buffer): void {
    const isForm = this.#dataBegins && part[0] === SPACE;
    if (part.length > 0) this.#dataBegins = false;
    this.#keep(isForm ? part.subarray(1) : part);
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#tooLong === undefined && this.#length > this.#limit) {
      this.#tooLong = new IdScan();
      for (const held of this.#data) this.#tooLong.feed(held);
      this.#data = [];
    }
    if (this.#tooLong !== undefined) this.#tooLong.feed(part);
    else if (part.length > 0) this.#data.push(part);
  }

  #endLine(): Buffer | TooLong | undefined {
    const line = this.#line;
    this.#line = Buffer.alloc(0);
    if (this.#inData) {
      this.#inData = false;
      return undefined;
    }
    if (line.length === 0) return this.#endEvent();
    const [, field = "", value = ""] = /^\ufeff*([^:]*):? ?(.*)$/s.exec(line.toString("utf8")) ?? [];
    if (field === "id" && !value.includes("\0")) this.lastId = value === "" ? undefined : value;
    if (field === "retry" && /^\+?\d+$/.test(value)) this.retryMs = Math.min(Number(value), LONGEST_RETRY_MS);
    return undefined;
  }

  #endEvent(): Buffer | TooLong | undefined {
    const [data, tooLong] = [Buffer.concat(this.#data), this.#tooLong];
    this.#data = [];
    this.#length = 0;
    this.#hasData = false;
    this.#tooLong = undefined;
    if (tooLong !== undefined) return { tooLong };
    return data.length === 0 ? undefined : data;
  }
}
