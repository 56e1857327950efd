// Did-you-mean: the declared name that a misspelt one most likely meant.
//
// What always holds: results depend on the words alone (ties go to the earlier candidate), and a name that is merely of the
// same length is never offered. Words are compared as written, as bags of tokens (`issue_create` is `create_issue`) and
// without a plural's `s`; verbs that half of all operations start with count less than nouns.

import { byteLength, charCount, chars, isAlphanumeric } from "./text.js";

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
    const score = asked.similarity(new Word(candidate));
    if (score >= THRESHOLD) scored.push({ score, candidate });
  }
  scored.sort((a, b) => b.score - a.score);
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

/** Whether a word is a declared name but for a slip of the finger, its spelling or the order of its parts. */
export function isSlip(word: string, candidate: string): boolean {
  const long = Math.max(byteLength(word), byteLength(candidate)) > MAX_WORD;
  return !long && new Word(word).similarity(new Word(candidate)) >= SLIP;
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

/** A name, taken apart once for all comparisons. */
class Word {
  readonly #snake: string;
  readonly #glued: string;
  readonly #tokens: string[];
  readonly #sorted: string;

  constructor(text: string) {
    this.#snake = snakeCase(text);
    this.#tokens = this.#snake.split("_").filter((token) => token !== "").map(singular);
    this.#glued = this.#tokens.join("");
    this.#sorted = this.#tokens.toSorted().join("_");
  }

  similarity(other: Word): number {
    if (this.#tokens.length === 0 || other.#tokens.length === 0) return 0;
    if (this.#snake === other.#snake) return 1;
    if (this.#glued === other.#glued) return 0.98;
    if (this.#sorted === other.#sorted) return 0.96;
    const spelling = isClose(this.#glued, other.#glued) ? likeness(this.#glued, other.#glued) : 0;
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
        const score = alike(token, candidate) * Math.min(weight(token), weight(candidate));
        if (score > best) [best, at] = [score, index];
      }
      if (at < 0) continue;
      shared += best;
      const last = free.pop();
      if (last !== undefined && at < free.length) free[at] = last;
    }
    const total = [...this.#tokens, ...other.#tokens].reduce((sum, token) => sum + weight(token), 0);
    return total > 0 ? (2 * shared) / total : 0;
  }
}

function weight(token: string): number {
  return COMMON_VERBS.has(token) ? 0.5 : 1;
}

/** How alike two tokens are: equal, an abbreviation of one another, or a slip of the finger apart. */
function alike(a: string, b: string): number {
  if (a === b) return 1;
  if (Math.min(byteLength(a), byteLength(b)) < 3) return 0;
  if (a.startsWith(b) || b.startsWith(a)) return 0.85;
  return isClose(a, b) ? 0.8 : 0;
}

/** One slip in a short word, up to three in a long one. */
function isClose(a: string, b: string): boolean {
  const length = Math.max(charCount(a), charCount(b));
  const allowed = Math.min(Math.max(Math.floor(length / 4), 1), 3);
  return length > 2 && Math.abs(byteLength(a) - byteLength(b)) <= allowed * 4 && distance(a, b) <= allowed;
}

function singular(token: string): string {
  return byteLength(token) > 3 && !token.endsWith("ss") && token.endsWith("s") ? token.slice(0, -1) : token;
}

function likeness(a: string, b: string): number {
  return 1 - distance(a, b) / Math.max(charCount(a), charCount(b));
}

/** Damerau–Levenshtein: letters inserted, left out, replaced, or swapped with others in between. */
export function distance(from: string, to: string): number {
  const a = chars(from);
  const b = chars(to);
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
