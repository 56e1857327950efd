// A question as search understands it: what shall be done, and to what.

import { osaDistance } from "../suggest.js";
import { byteLength, chars } from "../text.js";
import { type Asked, type Quantity, type Role, understand } from "./grammar.js";
import { type Index, f } from "./index.js";
import { type Intent, includes } from "./intent.js";
import { doers, relatives } from "./stem.js";
import { type Vocabulary, vocabulary } from "./vocabulary.js";

/** How much a word counts for another of its family. */
const RELATIVE = f(0.6);
/** How much a deed counts for those who do it, where these are asked for. */
const DOER = 1.25;
/** How much a word counts for one that is spelt nearly alike. */
const MISSPELT = f(0.6);
/** How much each half of a word counts that is two words. */
const HALF = f(0.8);
/** How much each word counts of several that say something together. */
const PART = f(0.7);
/** A word of this weight may be what a verb is about. */
const NOUN = 0.5;

/** What was asked. */
export interface Query {
  /** The words that matter. */
  readonly concepts: readonly Concept[];
  readonly intent: Intent;
  readonly quantity: Quantity | undefined;
}

/** A word of the question. */
export class Concept {
  readonly weight: number;
  readonly role: Role;
  readonly quantity: Quantity | undefined;
  /** The stems that fit it, each with how well. */
  readonly stems = new Map<number, number>();
  /** How rare the word itself is: one that stands for it says no more. */
  rarity = Infinity;

  constructor({ weight, role, quantity }: Asked) {
    [this.weight, this.role, this.quantity] = [weight, role, quantity];
  }

  add(stem: number | undefined, weight: number): void {
    if (stem !== undefined) this.stems.set(stem, Math.max(this.stems.get(stem) ?? 0, weight));
  }

  /** Adds a word, or those of a turn of phrase, of which each says only a part. */
  #addAll(index: Index, stems: readonly string[], weight: number): void {
    for (const stem of stems) {
      const doer = this.role === "deed" && /[eo]r$/.test(stem);
      this.add(index.find(stem), doer ? DOER : f(weight * (stems.length > 1 ? PART : 1)));
    }
  }

  /** Everything in the index that a word may mean, next to the words around it. */
  fill(index: Index, words: Vocabulary, stem: string, before: string | undefined, after: string | undefined): void {
    const own = index.find(stem);
    if (own !== undefined) {
      this.add(own, 1);
      this.rarity = index.rarity(own);
    }
    const pairs = [before === undefined ? [] : [before, stem], after === undefined ? [] : [stem, after]];
    for (const pair of pairs.filter(({ length }) => length > 0)) {
      this.add(index.find(pair.join("")), 1);
      for (const [stems, weight] of words.alike(pair.join(" "))) this.#addAll(index, stems, weight);
    }
    for (const [stems, weight] of words.alike(stem)) this.#addAll(index, stems, weight);
    for (const relative of relatives(stem)) this.add(index.find(relative), RELATIVE);
    if (this.stems.size === 0) for (const [guess, weight] of guesses(index, stem)) this.add(guess, weight);
  }
}

/** Reads a question against the words that the index holds. */
export function read(index: Index, question: string): Query {
  const words = vocabulary();
  const { asked, intent, quantity } = understand(question, words);
  const concepts: Concept[] = [];
  const seen = new Set<string>();
  for (const [place, word] of asked.entries()) {
    const concept = new Concept(word);
    for (const hint of word.hints) concept.add(index.find(hint), 1);
    const { stem } = word;
    if (stem !== "" && !seen.has(stem) && !/^[0-9]*$/.test(stem)) {
      seen.add(stem);
      if (word.role === "deed") for (const doer of doers(stem)) concept.add(index.find(doer), DOER);
      concept.fill(index, words, stem, asked[place - 1]?.stem, asked[place + 1]?.stem);
      if (includes(intent, "DELETE")) concept.add(index.find(`un${stem}`), 1);
    }
    if (concept.stems.size > 0) concepts.push(concept);
  }
  calmVerbs(concepts);
  return { concepts, intent, quantity };
}

/** However rare a verb is, it says no more than what it is about: there may be no operation of that name. */
function calmVerbs(concepts: readonly Concept[]): void {
  const nouns = concepts.filter(({ role, weight, rarity }) => role !== "verb" && weight >= NOUN && Number.isFinite(rarity));
  const most = Math.max(0, ...nouns.map(({ rarity }) => rarity));
  if (most === 0) return;
  for (const concept of concepts) if (concept.role === "verb") concept.rarity = Math.min(concept.rarity, most);
}

/** What a word that the index does not hold may have meant: two words written as one, the start of a longer one, or a slip of the hand. */
function guesses(index: Index, stem: string): [stem: number, weight: number][] {
  const long = byteLength(stem);
  let at = 0;
  for (const char of chars(stem)) {
    const bytes = byteLength(stem.slice(0, at));
    const halves = [index.find(stem.slice(0, at)), index.find(stem.slice(at))].filter((half) => half !== undefined);
    if (bytes >= 3 && bytes < long - 2 && halves.length === 2) return halves.map((half) => [half, HALF]);
    at += char.length;
  }
  if (long < 4) return [];
  const start = index.position(stem);
  if (index.stems[start]?.startsWith(stem) === true) return [[start, MISSPELT]];
  const near = nearest(index, stem);
  return near === undefined ? [] : [[near, MISSPELT]];
}

/** The stem that is one slip away, or two in a long word, and starts with the same letter. */
function nearest(index: Index, stem: string): number | undefined {
  const long = byteLength(stem);
  const [first = ""] = chars(stem);
  if (long < 5) return undefined;
  const slips = long < 8 ? 1 : 2;
  let [best, least]: [number | undefined, number] = [undefined, slips + 1];
  for (let at = index.position(first); index.stems[at]?.startsWith(first) === true; at++) {
    const other = index.stems[at] ?? "";
    if (Math.abs(byteLength(other) - long) > slips) continue;
    const distance = osaDistance(stem, other);
    if (distance < least) [best, least] = [at, distance];
  }
  return best;
}
