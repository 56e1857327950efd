// Bytes → lines, of which no more than so many bytes are ever held.

import { trimEnd, trimStart } from "./text.js";
import { parseValue } from "./values.js";

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
/** The longest id that is looked for in what cannot be read, as written. */
const ID_BYTES = 256;

const BLANK = /[ \t\n\f\r]/;
const IN_STRINGS = marked(QUOTE, BACKSLASH);
const OUTSIDE = marked(QUOTE, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET, COMMA, COLON);

function marked(...bytes: number[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of bytes) table[byte] = 1;
  return table;
}

/** A line that was too long; what was found in it. */
export interface TooLong {
  readonly tooLong: IdScan;
}

/** Reads lines. */
export class LineReader {
  readonly #max: number;
  #pieces: Buffer[] = [];
  #length = 0;
  /** Set while the rest of a line that is too long is skipped. */
  #skipped: IdScan | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes in a piece of the stream; each line that ends in it comes back, without its end. */
  *feed(chunk: Buffer): Generator<Buffer | TooLong> {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, from);
      if (end < 0) break;
      this.#push(chunk.subarray(from, end));
      yield this.end();
      from = end + 1;
    }
    this.#push(chunk.subarray(from));
  }

  /** The line as far as it has come, for the end of the stream. */
  end(): Buffer | TooLong {
    const line = this.#skipped === undefined ? Buffer.concat(this.#pieces) : { tooLong: this.#skipped };
    this.#pieces = [];
    this.#length = 0;
    this.#skipped = undefined;
    return line;
  }

  #push(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#max && this.#skipped === undefined) {
      this.#skipped = new IdScan();
      for (const held of this.#pieces) this.#skipped.feed(held);
      this.#pieces = [];
    }
    if (this.#skipped !== undefined) this.#skipped.feed(piece);
    else if (piece.length > 0) this.#pieces.push(piece);
  }
}

/** A line as text, without a byte order mark and white space around it. */
export function lineText(line: Buffer): string {
  return trimEnd(trimStart(line.toString("utf8").replace(/^\ufeff/, ""), BLANK), BLANK);
}

/** Finds the `id` among the outermost members of a message that is broken elsewhere, piece by piece and in little memory. */
export class IdScan {
  #found: unknown;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The outermost key or value being read, as written. */
  #token = "";
  #isId = false;

  /** The id, where it is a text or a whole number. */
  get found(): string | number | undefined {
    return typeof this.#found === "string" || Number.isSafeInteger(this.#found) ? (this.#found as string | number) : undefined;
  }

  feed(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 1) {
      // Most of a long message is nothing that could be kept.
      if (!this.#keeps) at = this.#skip(bytes, at);
      const byte = bytes[at];
      if (byte === undefined) return;
      if (this.#inString) {
        this.#keep(byte);
        this.#inString = this.#escaped || byte !== QUOTE;
        this.#escaped = !this.#escaped && byte === BACKSLASH;
      } else {
        this.#take(byte);
      }
    }
  }

  get #keeps(): boolean {
    return this.#depth === 1 && this.#token.length <= ID_BYTES;
  }

  /** The place of the next byte that means something. */
  #skip(bytes: Buffer, from: number): number {
    const { length } = bytes;
    const meaning = this.#inString ? IN_STRINGS : OUTSIDE;
    let at = this.#escaped ? from + 1 : from;
    if (at > from) this.#escaped = false;
    while (at < length && meaning[bytes[at] ?? 0] === 0) at += 1;
    return at;
  }

  #take(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#keep(byte);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#keep(byte);
        this.#depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#endMember();
        this.#depth = Math.max(0, this.#depth - 1);
        break;
      case COMMA:
        this.#endMember();
        break;
      case COLON:
        if (this.#depth === 1) {
          this.#isId = this.#token === '"id"';
          this.#token = "";
        }
        break;
      default:
        if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d || byte === 0x0b)) this.#keep(byte);
    }
  }

  /** A token that is too long to be an id keeps one byte too many, and so is none. */
  #keep(byte: number): void {
    if (this.#keeps) this.#token += String.fromCharCode(byte);
  }

  #endMember(): void {
    if (this.#depth !== 1) return;
    if (this.#isId && this.#found === undefined && this.#token.length <= ID_BYTES) {
      this.#found = parseValue(Buffer.from(this.#token, "latin1").toString("utf8"));
    }
    this.#isId = false;
    this.#token = "";
  }
}
