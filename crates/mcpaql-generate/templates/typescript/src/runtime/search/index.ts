// The index: every stem with the operations that hold it, and how much it counts there.
//
// What always holds: search reckons in single precision, so that the same question has the same answer everywhere; `f` rounds.

import { type Category, CATEGORIES } from "../catalog.js";

/** Rounds to single precision. */
export const f = Math.fround;

/** The index as `catalog.json` holds it. */
export interface IndexData {
  /** In order of their bytes. */
  readonly stems: readonly string[];
  /** For each stem: operation, weight, marks, operation, weight, marks, … */
  readonly postings: readonly (readonly number[])[];
  /** How much a stem says, by how many operations hold it. */
  readonly rarity: Readonly<Record<string, number>>;
  readonly cards: readonly (readonly [category: number, flags: number, needs: number, head: number, words: number, rank: number])[];
}

/** One operation that holds a stem. */
export interface Posting {
  readonly doc: number;
  /** How much the stem counts there, up to 1. */
  readonly weight: number;
  /** The stem is part of what names the operation. */
  readonly isHead: boolean;
  /** It stands last in the path, which says what the operation is about. */
  readonly isTopic: boolean;
  /** The operation is about all such things. */
  readonly isMany: boolean;
}

/** What ranking needs to know about an operation. */
export interface Card {
  readonly category: Category;
  readonly deprecated: boolean;
  /** It is about one thing. */
  readonly single: boolean;
  /** It gives several things. */
  readonly list: boolean;
  /** How many placeholders its path has. */
  readonly needs: number;
  /** How much all words of its head weigh. */
  readonly head: number;
  /** How many these are. */
  readonly words: number;
  /** Its place in the order of names. */
  readonly rank: number;
}

const [HEAD, ONE, MANY, TOPIC] = [1, 2, 4, 8];
const [DEPRECATED, SINGLE, LIST] = [1, 2, 4];

export class Index {
  readonly stems: readonly string[];
  readonly cards: readonly Card[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #data: IndexData;
  readonly #postings = new Map<number, readonly Posting[]>();

  constructor(data: IndexData) {
    this.#data = data;
    this.stems = data.stems;
    this.#places = new Map(data.stems.map((stem, place) => [stem, place]));
    this.cards = data.cards.map(([category, flags, needs, head, words, rank]) => ({
      category: CATEGORIES[category] ?? "READ",
      deprecated: (flags & DEPRECATED) !== 0,
      single: (flags & SINGLE) !== 0,
      list: (flags & LIST) !== 0,
      needs,
      head: f(head),
      words,
      rank,
    }));
  }

  /** The number of that stem. */
  find(stem: string): number | undefined {
    return this.#places.get(stem);
  }

  /** The first stem that is not before `text` in the alphabet. */
  position(text: string): number {
    const bytes = Buffer.from(text);
    let [low, high] = [0, this.stems.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Buffer.compare(Buffer.from(this.stems[middle] ?? ""), bytes) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  postings(stem: number): readonly Posting[] {
    let known = this.#postings.get(stem);
    if (known === undefined) this.#postings.set(stem, (known = this.#read(stem)));
    return known;
  }

  #read(stem: number): Posting[] {
    const numbers = this.#data.postings[stem] ?? [];
    const found: Posting[] = [];
    for (let at = 0; at < numbers.length; at += 3) {
      const [doc = 0, weight = 0, marks = 0] = numbers.slice(at, at + 3);
      const has = (mark: number) => (marks & mark) !== 0;
      found.push({ doc, weight: f(weight / 65535), isHead: has(HEAD), isTopic: has(TOPIC), isMany: has(MANY) && !has(ONE) });
    }
    return found;
  }

  /** How much a stem says: the rarer, the more. */
  rarity(stem: number): number {
    const holders = (this.#data.postings[stem] ?? []).length / 3;
    return f(this.#data.rarity[holders] ?? 0);
  }
}
