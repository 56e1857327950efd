// Did-you-mean: the declared name that a misspelt one most likely meant.
//
// What always holds: results depend on the words alone (ties go to the earlier candidate), and a name that is merely of the
// same length is never offered. Words are compared as written, as bags of tokens (`issue_create` is `create_issue`) and
// without a plural's `s`; verbs that half of all operations start with count less than nouns.

import { byteLength, chars, isAlphanumeric } from "./text.js";

/** Below this a suggestion would mislead more often than help. */
const THRESHOLD = 0.6;
/** From here on two words are the same, misspelt. */
const SLIP = 0.85;
/** Longer words are not misspelt names. */
const MAX_WORD = 96;
/** Verbs that carry little information about which operation was meant. */
const COMMON_VERBS = new Set(
  "add create delete destroy edit fetch find get list make modify new read remove retrieve search set show update view".split(" "),
);

/** The candidate nearest to `word`, if any is near enough to be offered. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return nearestMany(word, candidates, 1)[0];
}

/** Up to `count` candidates near `word`, the nearest first. */
export function nearestMany(word: string, candidates: Iterable<string>, count: number): string[] {
  if (word === "" || byteLength(word) > MAX_WORD) return [];
  const asked = new Word(word);
  const scored: { score: number; candidate: string }[] = [];
  for (const candidate of candidates) {
    if (byteLength(candidate) > MAX_WORD) continue;
    const score = asked.similarity(declaredWord(candidate));
    if (score >= THRESHOLD) scored.push({ score, candidate });
  }
  scored.sort((a, b) => b.score - a.score);
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

/** Whether a word is a declared name but for a slip of the finger, its spelling or the order of its parts. */
export function isSlip(word: string, candidate: string): boolean {
  const long = Math.max(byteLength(word), byteLength(candidate)) > MAX_WORD;
  return !long && new Word(word).similarity(declaredWord(candidate)) >= SLIP;
}

/** `userID`, `user-id` and `User ID` as `user_id`; `HTTPServer` as `http_server`. Applying it twice changes nothing. */
export function snakeCase(text: string): string {
  if (/^[a-z0-9]+(_[a-z0-9]+)*$/.test(text)) return text;
  const letters = chars(text);
  let out = "";
  let gap = false;
  for (const [index, char] of letters.entries()) {
    if (!isAlphanumeric(char)) {
      gap = true;
      continue;
    }
    if (isCapital(char) && startsWord(letters[index - 1], letters[index + 1], letters[index + 2])) gap = true;
    if (gap && out !== "") out += "_";
    gap = false;
    out += lowered(char);
  }
  return out;
}

/** A letter or digit in lower case, without the marks that some scripts add to it. */
export function lowered(char: string): string {
  return chars(char.toLowerCase()).filter(isAlphanumeric).join("");
}

/**
 * Whether an upper-case letter between these neighbours begins a word: after anything but an upper-case letter, or as the last
 * of a run that goes on in lower case (`HTTPServer`), unless what goes on is a plural's `s` (`userIDs`).
 */
function startsWord(previous: string | undefined, next: string | undefined, after: string | undefined): boolean {
  if (previous === undefined) return false;
  if (!isCapital(previous)) return isAlphanumeric(previous);
  const plural = next === "s" && !isLowercase(after);
  return isLowercase(next) && !plural;
}

/** Some symbols are upper case by name but have no lower case; they are ordinary characters of a word. */
function isCapital(char: string): boolean {
  return /^\p{Uppercase}$/u.test(char) && chars(char.toLowerCase())[0] !== char;
}

function isLowercase(char: string | undefined): boolean {
  return char !== undefined && /^\p{Lowercase}$/u.test(char);
}

/** Letters that are compared with others. */
class Token {
  readonly chars: readonly string[];
  readonly bytes: number;
  readonly weight: number;
  /** A bit for each letter, or for several that share one. */
  readonly #letters: number;

  constructor(readonly text: string) {
    this.chars = chars(text);
    this.bytes = byteLength(text);
    this.weight = COMMON_VERBS.has(text) ? 0.5 : 1;
    this.#letters = this.chars.reduce((bits, char) => bits | (1 << (char.codePointAt(0) ?? 0)), 0);
  }

  /** How alike two are: equal, an abbreviation of one another, or a slip of the finger apart. */
  alike(other: Token): number {
    if (this.text === other.text) return 1;
    if (Math.min(this.bytes, other.bytes) < 3) return 0;
    if (this.text.startsWith(other.text) || other.text.startsWith(this.text)) return 0.85;
    return this.isClose(other) ? 0.8 : 0;
  }

  /** One slip in a short word, up to three in a long one. */
  isClose(other: Token): boolean {
    const length = Math.max(this.chars.length, other.chars.length);
    const allowed = Math.min(Math.max(Math.floor(length / 4), 1), 3);
    if (length <= 2 || Math.abs(this.bytes - other.bytes) > allowed * 4) return false;
    // A slip adds or takes no more than one letter, which settles most cases without reckoning.
    const apart = Math.max(count(this.#letters & ~other.#letters), count(other.#letters & ~this.#letters));
    const longer = Math.abs(this.chars.length - other.chars.length);
    return apart <= allowed && longer <= allowed && distance(this.chars, other.chars) <= allowed;
  }

  /** 1 for equal ones, less with each slip. */
  likeness(other: Token): number {
    return 1 - distance(this.chars, other.chars) / Math.max(this.chars.length, other.chars.length);
  }
}

/** How many bits are set. */
function count(bits: number): number {
  let set = 0;
  for (let left = bits; left !== 0; left &= left - 1) set += 1;
  return set;
}

/** A name, taken apart once for all comparisons. */
class Word {
  readonly #snake: string;
  readonly #glued: Token;
  readonly #tokens: readonly Token[];
  readonly #sorted: string;

  constructor(text: string) {
    this.#snake = snakeCase(text);
    const tokens = this.#snake.split("_").filter((token) => token !== "").map(singular);
    this.#tokens = tokens.map((token) => new Token(token));
    this.#glued = new Token(tokens.join(""));
    this.#sorted = tokens.toSorted().join("_");
  }

  similarity(other: Word): number {
    if (this.#tokens.length === 0 || other.#tokens.length === 0) return 0;
    if (this.#snake === other.#snake) return 1;
    if (this.#glued.text === other.#glued.text) return 0.98;
    if (this.#sorted === other.#sorted) return 0.96;
    const spelling = this.#glued.isClose(other.#glued) ? this.#glued.likeness(other.#glued) : 0;
    return Math.max(spelling, 0.95 * this.#overlap(other));
  }

  /** How much of both words' tokens pair up, from 0 to 1. */
  #overlap(other: Word): number {
    const free = [...other.#tokens];
    let shared = 0;
    for (const token of this.#tokens) {
      let best = 0;
      let at = -1;
      for (const [index, candidate] of free.entries()) {
        const score = token.alike(candidate) * Math.min(token.weight, candidate.weight);
        if (score > best) [best, at] = [score, index];
      }
      if (at < 0) continue;
      shared += best;
      const last = free.pop();
      if (last !== undefined && at < free.length) free[at] = last;
    }
    const total = [...this.#tokens, ...other.#tokens].reduce((sum, { weight }) => sum + weight, 0);
    return total > 0 ? (2 * shared) / total : 0;
  }
}

/** The names that were declared, of which there are no more than the adapter has. */
const declared = new Map<string, Word>();

function declaredWord(name: string): Word {
  let word = declared.get(name);
  if (word === undefined) declared.set(name, (word = new Word(name)));
  return word;
}

function singular(token: string): string {
  return byteLength(token) > 3 && !token.endsWith("ss") && token.endsWith("s") ? token.slice(0, -1) : token;
}

/** Damerau–Levenshtein: letters inserted, left out, replaced, or swapped with others in between. */
function distance(a: readonly string[], b: readonly string[]): number {
  const most = a.length + b.length;
  const width = b.length + 2;
  const cells = new Uint32Array((a.length + 2) * width);
  const cell = (i: number, j: number) => cells[i * width + j] ?? 0;
  cells[0] = most;
  for (let i = 0; i <= a.length; i++) [cells[(i + 1) * width], cells[(i + 1) * width + 1]] = [most, i];
  for (let j = 0; j <= b.length; j++) [cells[j + 1], cells[width + j + 1]] = [most, j];
  const rows = new Map<string, number>();
  for (let i = 1; i <= a.length; i++) {
    let column = 0;
    for (let j = 1; j <= b.length; j++) {
      const row = rows.get(b[j - 1] ?? "") ?? 0;
      const same = a[i - 1] === b[j - 1];
      const swapped = cell(row, column) + (i - row - 1) + 1 + (j - column - 1);
      const replaced = cell(i, j) + (same ? 0 : 1);
      cells[(i + 1) * width + j + 1] = Math.min(replaced, cell(i + 1, j) + 1, cell(i, j + 1) + 1, swapped);
      if (same) column = j;
    }
    rows.set(a[i - 1] ?? "", i);
  }
  return cell(a.length + 1, b.length + 1);
}

/** The same where no letter is touched twice: a swap has nothing in between. */
export function osaDistance(from: string, to: string): number {
  const a = chars(from);
  const b = chars(to);
  let twoBack: number[] = [];
  let back = b.map((_, j) => j);
  back.push(b.length);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((row[j - 1] ?? 0) + 1, (back[j] ?? 0) + 1, (back[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && !same && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (twoBack[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [twoBack, back] = [back, row];
  }
  return back[b.length] ?? 0;
}
