// JSON text taken apart without being read: what a server says is passed on as it was written, with every digit, in its order and
// however deep.
//
// What always holds: whoever asks knows that the text is valid JSON; pieces are slices of it, without white space around them.

import { parse } from "../json.js";
import { isJson, parseValue } from "../values.js";

/** One valid JSON value, as text. */
export type Raw = string;

/** The text where it is one JSON value, without white space around it. */
export function rawOf(text: string): Raw | undefined {
  return isJson(text) ? trimmed(text, 0, text.length) : undefined;
}

/** The members of an object in their order; `undefined` where it is none. */
export function membersOf(json: Raw): [string, Raw][] | undefined {
  const pieces = piecesOf(json, "{");
  return pieces?.map(([key, value]) => [key.includes("\\") ? (JSON.parse(key) as string) : key.slice(1, -1), value]);
}

/** The items of an array; `undefined` where it is none. */
export function itemsOf(json: Raw): Raw[] | undefined {
  return piecesOf(json, "[")?.map(([, value]) => value);
}

/** The members of these names; `undefined` where it is no object or has one of them twice. */
export function chosenOf<K extends string>(json: Raw, names: readonly K[]): Partial<Record<K, Raw>> | undefined {
  const members = membersOf(json);
  if (members === undefined) return undefined;
  const chosen: Partial<Record<K, Raw>> = {};
  for (const [key, value] of members) {
    const name = names.find((known) => known === key);
    if (name === undefined) continue;
    if (name in chosen) return undefined;
    chosen[name] = value;
  }
  return chosen;
}

/** The text of a JSON string; `undefined` where it is none, or holds half a character. */
export function textOf(json: Raw | undefined): string | undefined {
  const value = json?.startsWith('"') === true ? parseValue(json) : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Keys and values at the first level; keys are empty in an array. */
function piecesOf(json: Raw, open: "{" | "["): [Raw, Raw][] | undefined {
  if (!json.startsWith(open)) return undefined;
  const pieces: [Raw, Raw][] = [];
  let depth = 0;
  let from = 1;
  let key = "";
  const end = (at: number): void => {
    const value = trimmed(json, from, at);
    if (value !== "") pieces.push([key, value]);
    key = "";
    from = at + 1;
  };
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(json, at + 1);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) end(at);
    } else if (depth === 1 && code === COMMA) {
      end(at);
    } else if (depth === 1 && code === COLON) {
      key = trimmed(json, from, at);
      from = at + 1;
    }
  }
  return pieces;
}

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Where the string ends whose text begins there. */
function stringEnd(json: string, start: number): number {
  let at = start;
  for (;;) {
    const quote = json.indexOf('"', at);
    if (quote < 0) return json.length;
    let slashes = 0;
    while (json.charCodeAt(quote - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function trimmed(json: string, start: number, end: number): string {
  let [from, to] = [start, end];
  while (from < to && isBlank(json.charCodeAt(from))) from += 1;
  while (to > from && isBlank(json.charCodeAt(to - 1))) to -= 1;
  return json.slice(from, to);
}

const NUMBER_OR_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A value in which 1 and 1.0 are two; `undefined` where it cannot be held. */
export function exactly(json: string): unknown {
  if (!isJson(json) || parseValue(json) === undefined) return undefined;
  return parse(json.replace(NUMBER_OR_STRING, (token) => (isFraction(token) ? `["\\u0000",${token}]` : token)));
}

function isFraction(token: string): boolean {
  if (token.startsWith('"')) return false;
  return token === "-0" || /[.eE]/.test(token) || !isWord(BigInt(token));
}

function isWord(value: bigint): boolean {
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}
