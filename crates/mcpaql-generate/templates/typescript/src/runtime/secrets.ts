// Secrets: values that travel to a target and nowhere else.
//
// What always holds: text that passes through a mask holds none of the values the mask knows, neither as they are nor in the
// spellings they take on the wire (percent-encoded, base64, inside a JSON string).

import { type Environment, parseTemplate, variablesOf } from "./environment.js";
import { isArray, isObject, jsonText } from "./values.js";
import { byteLength, chars } from "./text.js";

/** What stands in place of a secret. */
export const REDACTED = "[redacted]";

/** Values shorter than this occur by chance inside other words, so they are masked only where they stand alone. */
const ALONE_BELOW = 4;

/** More values than this inside sensitive parameters cost more to look for than an echo of them is worth. */
const MOST_SCALARS = 100;

const LETTER_OR_DIGIT = /^[\p{Alphabetic}\p{N}]$/u;

/** What looks like a credential, whoever it belongs to. */
const TOKEN = new RegExp(
  [
    "\\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}",
    "sk-[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{16,}|rk_live_[A-Za-z0-9]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}",
    "AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]+)",
    "(?:[Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc])\\s+[A-Za-z0-9+/_.=-]{16,}",
    "://[^/\\s:@]+:[^/\\s@]+@",
    "-----BEGIN [A-Z ]*PRIVATE KEY-----",
  ].join("|"),
  "gu",
);

/** The text without what looks like a credential. */
export function withoutTokens(text: string): string {
  return text.includes("${env:") ? text : text.replace(TOKEN, "•••");
}

/** Takes known secrets out of text that is passed on. */
export class Mask {
  /** Longest first, so that a secret inside another spelling never leaves the rest of it behind. */
  #needles: string[] = [];
  /** More values than can be looked for: nothing passes. */
  #opaque = false;

  /** Adds a secret in all its spellings; an empty one is nothing to hide. */
  add(secret: string): void {
    if (secret === "") return;
    this.#keep(byteLength(secret) >= ALONE_BELOW ? [secret, ...spellings(secret)] : [secret]);
  }

  /** Adds the text of every scalar inside the values, booleans excepted; where there are too many, nothing passes any more. */
  addValues(values: readonly unknown[]): void {
    const left = [...values];
    let scalars = 0;
    while (left.length > 0) {
      const value = left.pop();
      if (isArray(value)) left.push(...value);
      else if (isObject(value)) left.push(...Object.values(value));
      else if (["string", "number", "bigint"].includes(typeof value)) {
        scalars += 1;
        if (scalars > MOST_SCALARS) {
          this.#opaque = true;
          return;
        }
        this.add(typeof value === "string" ? value : jsonText(value));
      }
    }
  }

  /** Adds everything that another mask knows. */
  join(other: Mask): void {
    this.#opaque ||= other.#opaque;
    this.#keep(other.#needles);
  }

  copy(): Mask {
    const copy = new Mask();
    copy.join(this);
    return copy;
  }

  /** Whether the text holds a secret. */
  finds(text: string): boolean {
    return this.#opaque || this.#needles.some((needle) => nextHit(text, needle, 0) >= 0);
  }

  /** The text without secrets. */
  apply(text: string): string {
    if (this.#opaque && text !== "") return REDACTED;
    return this.#needles.reduce(replaced, text);
  }

  /** The value with every string, key and number in it masked. */
  applyValue(value: unknown): unknown {
    if (typeof value === "number" || typeof value === "bigint") {
      const text = jsonText(value);
      return this.finds(text) ? this.apply(text) : value;
    }
    if (typeof value === "string") return this.apply(value);
    if (isArray(value)) return value.map((item) => this.applyValue(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.apply(key), this.applyValue(item)]));
  }

  /** Length in bytes of the longest spelling: how much of a cut text's end may be half a secret. */
  longest(): number {
    return byteLength(this.#needles[0] ?? "");
  }

  #keep(more: readonly string[]): void {
    if (more.length === 0) return;
    const all = [...new Set([...this.#needles, ...more])].map((text) => Buffer.from(text, "utf8"));
    all.sort((a, b) => b.length - a.length || Buffer.compare(a, b));
    this.#needles = all.map((bytes) => bytes.toString("utf8"));
  }
}

/** Adds the values of the variables that a target or a binding names: those of its credentials, its headers, its programs. */
export function addNamed(mask: Mask, value: unknown, env: Environment): void {
  for (const name of namedIn(value)) mask.add((env[name] ?? "").trim());
}

function namedIn(value: unknown): string[] {
  if (typeof value === "string") return variablesOf(parseTemplate(value) ?? []);
  if (isArray(value)) return value.flatMap(namedIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const names = key === "env" ? item : key.endsWith("_env") && key !== "set_env" ? [item] : undefined;
    return isArray(names) ? names.filter((name) => typeof name === "string") : namedIn(item);
  });
}

function spellings(secret: string): string[] {
  const loose = encodeURIComponent(secret);
  const strict = loose.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const quoted = JSON.stringify(secret).slice(1, -1);
  const base64 = Buffer.from(secret, "utf8").toString("base64").replace(/=+$/, "");
  return [
    strict.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
    strict.replaceAll("%20", "+"),
    strict,
    loose,
    base64,
    base64.replaceAll("+", "-").replaceAll("/", "_"),
    quoted.replaceAll("/", "\\/"),
    quoted,
  ];
}

function nextHit(text: string, needle: string, start: number): number {
  let from = start;
  for (;;) {
    const hit = text.indexOf(needle, from);
    if (hit < 0) return -1;
    const end = hit + needle.length;
    if (byteLength(needle) >= ALONE_BELOW || standsAlone(text, hit, end)) return hit;
    from = end;
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  const before = chars(text.slice(Math.max(0, start - 2), start)).at(-1) ?? "";
  const after = chars(text.slice(end, end + 2))[0] ?? "";
  return !LETTER_OR_DIGIT.test(before) && !LETTER_OR_DIGIT.test(after);
}

function replaced(text: string, needle: string): string {
  let hit = nextHit(text, needle, 0);
  if (hit < 0) return text;
  let out = "";
  let done = 0;
  while (hit >= 0) {
    out += text.slice(done, hit) + REDACTED;
    done = hit + needle.length;
    hit = nextHit(text, needle, done);
  }
  return out + text.slice(done);
}
