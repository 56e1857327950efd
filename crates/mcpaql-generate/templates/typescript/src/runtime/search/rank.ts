// Which operations answer a question best.

import { type Card, type Index, f } from "./index.js";
import { agreement } from "./intent.js";
import { type Concept, type Query, read } from "./query.js";

/** How many of the best are looked at more closely. */
const SHORTLIST = 64;
/** How many hits are chosen from these with an eye on each other; who reads further wants the plain order. */
const CHOSEN = 20;
/** How much of an operation's score does not depend on what its head says beyond the question. */
const ANY_HEAD = f(0.45);
/** How much of it does not depend on how much of the question it has something to say about. */
const ANY_PART = f(0.35);
/** How much of it does not depend on what it says about what shall be dealt with. */
const ANY_OBJECT = f(0.85);
/** Where it says enough about that. */
const OBJECT = 0.5;
/** How much less an operation is worth for each word of its head that nobody asked for, be it as common as it may. */
const UNASKED = f(0.02);
/** How much less an operation is worth for each placeholder of its path: of two that fit, the simpler one is meant. */
const EFFORT = f(0.01);
/** What an operation is worth that its author discourages. */
const DEPRECATED = f(0.7);
/** What a read of one thing is worth where several are meant. */
const SINGLE = f(0.85);
/** What a list is worth where one thing is meant. */
const LIST = f(0.72);
/** What a read of all is worth where one is meant, though nothing calls it a list. */
const ALL_READ = f(0.8);
/** What a change to all is worth where one is meant. */
const ALL_CHANGED = f(0.9);
/** What a deletion of one is worth where several are meant: often there is no other. */
const ONE_DELETED = f(0.95);
/** How much less an operation is worth for each further thing of which one is meant where it is about all. */
const MISMATCH = f(0.1);
/** What a read is worth that is about something of what shall be dealt with. */
const OFF_TOPIC = f(0.9);
/** A stem that fits so well may say what an operation is about. */
const FITS = f(0.7);
/** What a word is still worth to the next hit after a hit has answered it. */
const ANSWERED = f(0.7);

/** An operation that was found. */
export interface Hit {
  readonly position: number;
  /** How well it fits; only to be compared with other hits of the same question. */
  readonly score: number;
}

/** The question that was asked last, which is often asked again for its chain. */
const last = new WeakMap<Index, { readonly question: string; readonly ranking: Ranking }>();

/** What a question is worth to every operation. */
export function ranked(index: Index, question: string): Ranking {
  const known = last.get(index);
  if (known?.question === question) return known.ranking;
  const ranking = new Ranking(index, read(index, question));
  last.set(index, { question, ranking });
  return ranking;
}

/** What one or all words of a question found of an operation. */
class Tally {
  /** How much the words are worth. */
  worth = 0;
  /** How much of its head was asked for. */
  head = 0;
  /** How much of the question it has something to say about. */
  covered = 0;
  /** How many words of its head were asked for. */
  heads = 0;
  /** How much it says about what shall be dealt with. */
  object = 0;
  /** Whether it is about all of what the word names. */
  many = false;
  /** How many words name one thing where it is about all of them. */
  mismatches = 0;
  /** The same for what shall be dealt with. */
  all = false;
  /** Whether it is about what shall be dealt with, and not only about something of it. */
  topic = false;

  add(one: Tally, concept: Concept): void {
    this.worth = f(this.worth + one.worth);
    this.head = f(this.head + one.head);
    this.covered = f(this.covered + one.covered);
    this.heads = f(this.heads + one.heads);
    this.object = f(this.object + one.object);
    this.topic ||= one.topic;
    if (concept.quantity !== "one" || !one.many) return;
    if (concept.role === "object") this.all = true;
    else this.mismatches += 1;
  }
}

export class Ranking {
  /** For each concept what it found of the operations that hold it. */
  readonly #concepts: ReadonlyMap<number, Tally>[] = [];
  /** By operation: what all of them found. */
  readonly #tallies: (Tally | undefined)[];
  /** How much the question asks for. */
  readonly #asked: number;
  /** Whether it says what shall be dealt with. */
  readonly #object: boolean;

  constructor(
    readonly index: Index,
    readonly query: Query,
  ) {
    this.#asked = query.concepts.reduce((sum, { weight }) => f(sum + weight), 0);
    this.#object = query.concepts.some(({ role }) => role === "object");
    this.#tallies = index.cards.map(() => undefined);
    for (const concept of query.concepts) {
      const found = weigh(index, concept);
      for (const [doc, one] of found) (this.#tallies[doc] ??= new Tally()).add(one, concept);
      this.#concepts.push(found);
    }
  }

  /** How well the operation at that position fits. */
  score(doc: number): number {
    const tally = this.#tallies[doc];
    const card = this.index.cards[doc];
    if (tally === undefined || card === undefined) return 0;
    const head = card.head > 0 ? Math.min(f(tally.head / card.head), 1) : 1;
    const covered = this.#asked > 0 ? Math.min(f(tally.covered / this.#asked), 1) : 0;
    const object = this.#object ? Math.min(f(tally.object / OBJECT), 1) : 1;
    const unasked = Math.min(Math.max(f(card.words - tally.heads), 0), 8);
    let score = f(tally.worth * part(ANY_HEAD, head));
    score = f(score * part(ANY_PART, covered));
    score = f(score * part(ANY_OBJECT, object));
    score = f(score * agreement(this.query.intent, card.category));
    score = f(score * this.#fitsQuantity(tally, card));
    score = f(score * (card.deprecated ? DEPRECATED : 1));
    score = f(score * less(EFFORT, Math.min(card.needs, 8)));
    return f(score * less(UNASKED, unasked));
  }

  /** At most `limit` operations that fit, the best first. */
  hits(limit: number): Hit[] {
    const rank = (position: number) => this.index.cards[position]?.rank ?? 0;
    const list: Hit[] = [];
    for (const [position, tally] of this.#tallies.entries()) {
      if (tally !== undefined) list.push({ position, score: this.score(position) });
    }
    list.sort((a, b) => b.score - a.score || rank(a.position) - rank(b.position));
    const far = list.splice(SHORTLIST);
    const hits = this.#spread(list, Math.min(limit, CHOSEN));
    // Further hits are never better than the last one that was chosen, as a score says how far down it stands.
    let least = hits.at(-1)?.score ?? 0;
    for (const { position, score } of [...list, ...far].slice(0, Math.max(limit - hits.length, 0))) {
      least = Math.min(least, score);
      hits.push({ position, score: least });
    }
    return hits;
  }

  /** Takes the best, then the best for what the ones before have not answered yet: a question often asks for several things. */
  #spread(list: Hit[], limit: number): Hit[] {
    const left = this.#concepts.map(() => 1);
    const hits: Hit[] = [];
    while (hits.length < limit && list.length > 0) {
      let [best, most] = [-1, -1];
      for (const [place, { position, score }] of list.entries()) {
        // Scores only fall, so nothing behind this one can be better.
        if (best >= 0 && score <= most) break;
        const total = this.#tallies[position]?.worth ?? 0;
        const still = this.#concepts.reduce((sum, found, at) => f(sum + f((found.get(position)?.worth ?? 0) * (left[at] ?? 0))), 0);
        const now = total > 0 ? f(f(score * still) / total) : 0;
        if (now > most) [best, most] = [place, now];
      }
      const [chosen] = list.splice(best, 1);
      if (chosen === undefined) break;
      for (const [at, found] of this.#concepts.entries()) {
        if ((found.get(chosen.position)?.worth ?? 0) > 0) left[at] = f((left[at] ?? 0) * ANSWERED);
      }
      hits.push({ position: chosen.position, score: most });
    }
    return hits;
  }

  /** Whether it is about one thing where one is meant, and about several where several are. */
  #fitsQuantity(tally: Tally, card: Card): number {
    return f(less(MISMATCH, Math.min(tally.mismatches, 4)) * this.#fitsObject(tally, card));
  }

  #fitsObject(tally: Tally, card: Card): number {
    const { quantity } = this.query;
    switch (card.category) {
      case "UPDATE":
      case "DELETE":
        if (tally.all) return ALL_CHANGED;
        return card.category === "DELETE" && card.single && quantity === "several" ? ONE_DELETED : 1;
      case "READ": {
        let read = 1;
        if (quantity === "several" && card.single) read = SINGLE;
        else if (quantity === "one" && card.list) read = LIST;
        else if (tally.all && !card.list) read = ALL_READ;
        return this.#object && !tally.topic ? f(read * OFF_TOPIC) : read;
      }
      default:
        return 1;
    }
  }
}

/** One word of the question against every operation that holds it or what it may stand for: the best of these counts. */
function weigh(index: Index, concept: Concept): Map<number, Tally> {
  const found = new Map<number, Tally>();
  for (const [stem, fit] of concept.stems) {
    const rarity = index.rarity(stem);
    const said = Math.min(rarity, concept.rarity);
    const fitting = f(concept.weight * fit);
    for (const posting of index.postings(stem)) {
      let tally = found.get(posting.doc);
      if (tally === undefined) found.set(posting.doc, (tally = new Tally()));
      tally.worth = Math.max(tally.worth, f(f(fitting * said) * posting.weight));
      tally.covered = Math.max(tally.covered, f(fitting * f(Math.sqrt(posting.weight))));
      tally.many ||= posting.isMany;
      if (concept.role === "object") {
        tally.topic ||= posting.isTopic && fit >= FITS;
        tally.object = Math.max(tally.object, f(fit * posting.weight));
      }
      if (posting.isHead) {
        tally.heads = Math.max(tally.heads, fit);
        tally.head = Math.max(tally.head, f(f(f(Math.sqrt(fit)) * Math.min(concept.weight, 1)) * rarity));
      }
    }
  }
  return found;
}

/** A score of which `least` is given in any case. */
function part(least: number, share: number): number {
  return f(least + f(f(1 - least) * share));
}

/** What is left of 1 after so much for each. */
function less(each: number, count: number): number {
  return f(1 - f(each * count));
}
