// A question word by word: what shall be done, with what, and how much each word counts.
//
// What always holds: every word is looked at once, from the left, and no more of them than `MOST_WORDS`.

import { chars, splitBlanks, takeBytes } from "../text.js";
import { f } from "./index.js";
import { ACT, type Intent, UNKNOWN, intentOf } from "./intent.js";
import { singular, stem } from "./stem.js";
import type { Phrase, Vocabulary } from "./vocabulary.js";
import { isUppercase, words } from "./words.js";

/** Longer questions are read up to here. */
const MOST_BYTES = 4096;
/** Further words are not read. */
const MOST_WORDS = 48;
/** How much a verb counts that half of all operations start with. */
const COMMON_VERB = f(0.3);
/** How much a word counts that looks like part of somebody's name or a title. */
const PROPER_NAME = f(0.2);
/** How much a noun counts that only introduces another: `the title of an issue`. */
const LIGHT = f(0.3);
/** How much the verb counts that a command starts with, where it is a rare one. */
const COMMAND = 1.5;
/** How much a word counts for what it hints at. */
const HINT = f(0.22);
/** How much a question that yes or no answers asks for an operation that checks something. */
const CHECK = f(0.6);
/** Once a word of this weight was said, others may be said in addition. */
const ASIDE = f(0.9);
/** What is said in addition counts so much less, with each clause. */
const CLAUSE = f(0.8);
/** What is said in addition counts no less than this. */
const LEAST_ASIDE = 0.5;
/** How far a verb's second word may stand from its first. */
const REACH = 5;

/** Whether one thing is meant, or several: `commit abc123`, `the secrets`. */
export type Quantity = "one" | "several";

/** What a word does: says what shall be done, names what with, says what the people do who are asked for (`who watches`), or else. */
export type Role = "verb" | "object" | "deed" | "other";

/** A word as it was written. */
interface Word {
  readonly text: string;
  readonly stem: string;
  readonly proper: boolean;
}

/** A stem that was asked for. */
export interface Asked {
  readonly stem: string;
  readonly weight: number;
  /** Only hints at these, and means nothing itself. */
  readonly hints: readonly string[];
  role: Role;
  quantity: Quantity | undefined;
}

/** What was understood of a question. */
export interface Understood {
  readonly asked: readonly Asked[];
  readonly intent: Intent;
  readonly quantity: Quantity | undefined;
}

/** Takes the words of a question in turn. */
export function understand(question: string, vocabulary: Vocabulary): Understood {
  const reading = new Reading(split(question), vocabulary);
  reading.read();
  return reading;
}

class Reading implements Understood {
  readonly asked: Asked[] = [];
  intent: Intent = UNKNOWN;
  quantity: Quantity | undefined;
  /** Of the words that stand together with the present one (`the stale feature branch`) the last so far that says something. */
  #last: Asked | undefined;
  /** Whether an article before them says that one is meant. */
  #one = false;
  /** Whether the word before them says that it is known which. */
  #known = false;
  /** Whether earlier words said already what shall be dealt with. */
  #done = false;
  /** Whether a verb may come next. */
  #verbNext = true;
  /** Whether somebody's words or the name of something follow. */
  #content = false;
  /** Whether people were asked for whose deed comes next. */
  #who = false;
  /** How much what follows counts. */
  #aside = 1;

  constructor(
    readonly words: readonly Word[],
    readonly vocabulary: Vocabulary,
  ) {}

  read(): void {
    if (this.#decides()) this.#ask("check", CHECK, "other");
    for (let at = 0; at < this.words.length; ) at += this.#take(at);
    this.#closeGroup();
  }

  #ask(stem: string, weight: number, role: Role, quantity?: Quantity): Asked {
    const asked: Asked = { stem, weight, hints: [], role, quantity };
    this.asked.push(asked);
    return asked;
  }

  #text(at: number): string {
    return this.words[at]?.text ?? "";
  }

  /** Reads what stands there; says how many words that were. */
  #take(at: number): number {
    const word = this.words[at];
    if (word === undefined) return 1;
    const { vocabulary } = this;
    const phrase = this.#phraseAt(at);
    if (phrase !== undefined) {
      this.#takePhrase(phrase[1]);
      return phrase[0];
    }
    if (at === 0 && vocabulary.is("questions", word.text)) this.intent = intentOf("READ");
    const hints = vocabulary.hints(this.#meansCaller(at) ? "my" : word.text);
    if (hints.length > 0) this.asked.push({ stem: "", weight: HINT, hints, role: "other", quantity: undefined });
    if (word.text === "who" || word.text === "whom") {
      this.quantity ??= "several";
      this.#who = true;
    }
    if (vocabulary.is("clauses", word.text) && this.asked.some(({ weight }) => weight >= ASIDE)) {
      this.#aside = f(this.#aside * CLAUSE);
    }
    const next = this.words[at + 1];
    const introduced = vocabulary.is("light", this.words[at - 1]?.stem ?? "");
    const quotes = vocabulary.is("quotes", word.text) && this.asked.length > 0 && !introduced;
    this.#content ||= quotes;
    const ofWhom = next?.text === "who" && vocabulary.is("people", word.stem);
    if (quotes || ofWhom || vocabulary.is("empty", word.text)) {
      this.#pass(word.text);
    } else if (this.#verbNext && this.intent === UNKNOWN && endsDoing(word.text, next?.text ?? "")) {
      this.intent = intentOf("DELETE");
      this.#verbNext = false;
    } else {
      this.#takeWord(word, at === 0, next);
    }
    return 1;
  }

  #takePhrase(phrase: Phrase): void {
    this.#closeGroup();
    this.intent ||= phrase.intent;
    if (phrase.standsFor !== "") {
      this.#ask(phrase.standsFor, this.#verbWeight(phrase.standsFor), phrase.intent === UNKNOWN ? "other" : "verb");
    }
    this.#verbNext = false;
  }

  /** A word that says nothing itself, but something about what follows. */
  #pass(text: string): void {
    this.#closeGroup();
    this.#one = ["a", "an", "this", "that"].includes(text);
    this.#known = this.vocabulary.is("determiners", text) && !["all", "every", "these", "those"].includes(text);
    this.#verbNext ||= ["to", "and", "please", "then", "by", "you"].includes(text);
  }

  /** A word that says something. */
  #takeWord(word: Word, first: boolean, next: Word | undefined): void {
    let weight = this.#verbWeight(word.stem);
    const verb = this.#verbNext ? this.#verb(word, first, next) : UNKNOWN;
    const light =
      !word.proper &&
      !this.#content &&
      this.vocabulary.is("light", word.stem) &&
      ["of", "for", "about", "on"].includes(next?.text ?? "");
    let role: Role = "other";
    if (verb !== UNKNOWN && this.intent === UNKNOWN) {
      role = "verb";
      if (weight >= 1) weight = COMMAND;
    } else if (weight >= 1 && !light) {
      this.quantity ??= quantityOf(word);
    }
    this.intent ||= verb;
    this.#verbNext = false;
    if (weight >= 1 && this.#who) {
      this.#who = false;
      role = "deed";
    }
    if (word.proper || this.#content) weight = f(weight * PROPER_NAME);
    else if (light) weight = f(weight * LIGHT);
    // `users located in Berlin`: what was done to them is not what they are.
    const done = Buffer.byteLength(word.text) > 4 && word.text.endsWith("ed") && this.#last !== undefined;
    const names = !done && role === "other" && weight >= ASIDE;
    if (done) this.#closeGroup();
    const asked = this.#ask(word.stem, f(weight * Math.max(this.#aside, LEAST_ASIDE)), role, quantityOf(word));
    if (names) this.#last = asked;
  }

  /** What a word tells to do where it is a verb; a plural is none, and a word before an article is one, whichever it is. */
  #verb(word: Word, first: boolean, next: Word | undefined): Intent {
    if (quantityOf(word) === "several") return UNKNOWN;
    const known = this.vocabulary.verb(word.stem);
    const told = first && next !== undefined && this.vocabulary.is("determiners", next.text);
    return told ? known || ACT : known;
  }

  /** The words that stood together are all there: the last one may be what shall be dealt with. */
  #closeGroup(): void {
    const [word, one, known] = [this.#last, this.#one, this.#known];
    [this.#last, this.#one, this.#known] = [undefined, false, false];
    if (word === undefined) return;
    if (known) word.quantity ??= "one";
    if (this.#done) return;
    this.#done = true;
    word.role = "object";
    if (one) this.quantity ??= "one";
  }

  /** How much a word counts that may be a verb; `find` asks for an operation that searches. */
  #verbWeight(stem: string): number {
    return this.vocabulary.is("common", stem) && stem !== "find" ? COMMON_VERB : 1;
  }

  /** Whether the answer is yes or no: `is she a member`, but not `can you show me`. */
  #decides(): boolean {
    const [first, second] = [this.#text(0), this.#text(1)];
    const asksUs = (second === "i" || second === "we") && (first === "can" || first === "could");
    const polite = second === "you" || second === "there" || asksUs;
    return (this.vocabulary.is("deciding", first) && !polite) || this.words.slice(0, 3).some(({ text }) => text === "whether");
  }

  /** Whether `I` and `me` are those whose things are meant, and not those who ask. */
  #meansCaller(at: number): boolean {
    const [text, before, after] = [this.#text(at), this.#text(at - 1), this.#text(at + 1)];
    if (text === "i") {
      const wishes = ["can", "like", "must", "need", "should", "want", "wish", "wonder", "would"].includes(after);
      const asks = ["can", "could", "may", "shall", "should"].includes(before) || (before === "do" && this.#text(at - 2) === "how");
      return !wishes && !asks;
    }
    return text === "me" && ["about", "by", "for", "mention", "mentions", "of", "to", "with"].includes(before);
  }

  /** The turn of phrase that stands there, and how many words of it do. */
  #phraseAt(at: number): [length: number, phrase: Phrase] | undefined {
    const following = this.words.slice(at + 1);
    for (const phrase of this.vocabulary.phrases(this.#text(at))) {
      const { rest } = phrase;
      if (rest.every((part, place) => following[place]?.text === part)) return [1 + rest.length, phrase];
      // A particle at a distance says nothing by itself and is passed over in its turn.
      const [particle] = rest;
      const encloses = rest.length === 1 && particle !== undefined && this.vocabulary.is("particles", particle);
      if (encloses && following.slice(0, REACH).some(({ text }) => text === particle)) return [1, phrase];
    }
    return undefined;
  }
}

/** `stop following`: the opposite of following. */
function endsDoing(text: string, next: string): boolean {
  return ["cease", "quit", "stop"].includes(text) && next.endsWith("ing") && Buffer.byteLength(next) > 5;
}

/** Whether a word is a plural, or the number or hash of one thing. */
function quantityOf({ text, proper }: Word): Quantity | undefined {
  if (/[0-9]/.test(text)) return "one";
  return !proper && singular(text) !== text ? "several" : undefined;
}

/** The words of a question. */
function split(whole: string): Word[] {
  const question = takeBytes(whole, MOST_BYTES);
  const shouted = !/\p{Lowercase}/u.test(question);
  const found: Word[] = [];
  let quoted = false;
  let starts = true;
  for (const chunk of splitBlanks(question)) {
    const opens = /^["“«]/.test(chunk);
    quoted ||= opens;
    const proper = !shouted && (quoted || (!starts && isProper(chunk)));
    for (const text of words(chunk)) if (found.length < MOST_WORDS) found.push({ text, stem: stem(text), proper });
    const closes = /["”»][.,?!;:]*$/.test(chunk);
    quoted &&= !(closes && (!opens || chars(chunk).length > 1));
    starts = /[.?!:]$/.test(chunk);
  }
  return found;
}

/** `Nolan` and `The`, but not `TV`, `pullRequest` or `I`. */
function isProper(chunk: string): boolean {
  const [first, ...rest] = chunk.match(/\p{Alphabetic}/gu) ?? [];
  return isUppercase(first) && rest.length > 0 && !rest.some(isUppercase);
}
