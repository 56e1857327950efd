// What words mean to somebody who looks for an operation: which say nothing, which say what shall be done, and which say the same.
// Some are looked up by stem, some as they were written.

import { readFileSync } from "node:fs";
import { f } from "./index.js";
import { type Intent, UNKNOWN } from "./intent.js";

/** A turn of phrase. */
export interface Phrase {
  /** Its words after the first. */
  readonly rest: readonly string[];
  /** What it means to do. */
  readonly intent: Intent;
  /** The stem that stands for it; empty where none does. */
  readonly standsFor: string;
}

/** Stems of one or more words, with how much they weigh. */
export type Alike = readonly [stems: readonly string[], weight: number];

const SETS = [
  "empty",
  "common",
  "light",
  "caller",
  "determiners",
  "deciding",
  "people",
  "questions",
  "quotes",
  "clauses",
  "particles",
] as const;
type Sets = Record<(typeof SETS)[number], readonly string[]>;

/** `lexicon.json`. */
interface Lexicon extends Sets {
  readonly verbs: Readonly<Record<string, Intent>>;
  readonly hints: Readonly<Record<string, readonly string[]>>;
  readonly phrases: Readonly<Record<string, readonly [rest: readonly string[], intent: Intent, standsFor: string][]>>;
  readonly alike: Readonly<Record<string, readonly Alike[]>>;
}

export class Vocabulary {
  readonly #sets: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #verbs: ReadonlyMap<string, Intent>;
  readonly #hints: ReadonlyMap<string, readonly string[]>;
  readonly #phrases: ReadonlyMap<string, readonly Phrase[]>;
  readonly #alike: ReadonlyMap<string, readonly Alike[]>;

  constructor(lexicon: Lexicon) {
    this.#sets = new Map(SETS.map((name) => [name, new Set(lexicon[name])]));
    this.#verbs = new Map(Object.entries(lexicon.verbs));
    this.#hints = new Map(Object.entries(lexicon.hints));
    this.#phrases = new Map(
      Object.entries(lexicon.phrases).map(([first, phrases]) => [
        first,
        phrases.map(([rest, intent, standsFor]) => ({ rest, intent, standsFor })),
      ]),
    );
    this.#alike = new Map(
      Object.entries(lexicon.alike).map(([stem, others]) => [stem, others.map(([stems, weight]): Alike => [stems, f(weight)])]),
    );
  }

  /** Whether a word, or a stem where the set holds stems, is one of those. */
  is(set: (typeof SETS)[number], word: string): boolean {
    return this.#sets.get(set)?.has(word) === true;
  }

  /** What the verb of that stem does to the world. */
  verb(stem: string): Intent {
    return this.#verbs.get(stem) ?? UNKNOWN;
  }

  /** Stems that a word hints at. */
  hints(word: string): readonly string[] {
    return this.#hints.get(word) ?? [];
  }

  /** Turns of phrase that start with a word, the longest first. */
  phrases(first: string): readonly Phrase[] {
    return this.#phrases.get(first) ?? [];
  }

  /** What else the word of that stem may stand for. */
  alike(stem: string): readonly Alike[] {
    return this.#alike.get(stem) ?? [];
  }
}

let only: Vocabulary | undefined;

/** The one there is, read when somebody first asks. */
export function vocabulary(): Vocabulary {
  only ??= new Vocabulary(JSON.parse(readFileSync(new URL(import.meta.resolve("#lexicon")), "utf8")) as Lexicon);
  return only;
}
