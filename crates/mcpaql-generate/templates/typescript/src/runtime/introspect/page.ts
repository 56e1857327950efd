// Pages of a list: `first`, `after` and `pageInfo`.
//
// What always holds: a cursor holds a place and what was listed, so that one of another list is refused instead of leading anywhere.

import { fnv1a } from "../naming.js";
import { type Ask, invalid } from "./ask.js";

/** A list up to this length comes whole. */
export const WHOLE = 50;
/** A page of a longer one. */
export const SIZE = 20;
/** The longest page that somebody may ask for. */
export const LARGEST = 200;

/** One page of a list. */
export class Page {
  readonly start: number;
  readonly end: number;
  readonly #list: number;

  /** The page that is asked for, of a list so long; `size` where nobody says how long a page is, `most` at the most. */
  constructor(
    ask: Ask,
    readonly total: number,
    size: number,
    most: number,
  ) {
    this.#list = fingerprint(ask);
    this.start = ask.after === undefined ? 0 : this.#place(ask.after);
    this.end = Math.min(total, this.start + Math.min(Math.max(ask.first ?? size, 1), most));
  }

  #place(cursor: string): number {
    const [, place = "", list = ""] = /^\+?([0-9a-f]+)-\+?([0-9a-f]+)$/i.exec(cursor) ?? [];
    const start = parseInt(place, 16);
    if (parseInt(list, 16) === this.#list && start <= this.total) return start;
    const message =
      "Parameter 'after' is no cursor of this list. Take 'endCursor' of the page before, with the same parameters.";
    throw invalid("after", message);
  }

  /** Whether the page leaves anything out. */
  get isPart(): boolean {
    return this.end - this.start < this.total;
  }

  /** `pageInfo`. */
  get info(): object {
    const cursor = `${this.end.toString(16)}-${this.#list.toString(16).padStart(8, "0")}`;
    const endCursor = this.end > this.start ? cursor : null;
    return { hasNextPage: this.end < this.total, endCursor, total: this.total };
  }
}

/** What is listed, in a number; how much is said about each does not matter. */
function fingerprint({ types, search, category, endpoint, tag }: Ask): number {
  const parts = [types ? "types" : "", search, category, endpoint, tag];
  return fnv1a(Buffer.from(parts.map((part) => `${part ?? ""}\0`).join("")));
}
