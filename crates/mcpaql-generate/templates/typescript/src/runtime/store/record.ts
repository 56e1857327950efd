// A record: what the caller sees, the text that search reads, ids, times and cursors.

import { randomInt } from "node:crypto";
import { chars } from "../text.js";
import type { JsonObject } from "../values.js";
import { isArray, isObject, own } from "../values.js";

/** A stored record. */
export interface Stored {
  /** By order of creation. */
  readonly seq: number;
  readonly id: string;
  readonly version: number;
  /** Seconds since 1970. */
  readonly created: number;
  readonly updated: number;
  readonly body: JsonObject;
  /** The text of the first search field, and of all others. */
  readonly head: string;
  readonly rest: string;
}

/** The record as clients see it. */
export function shown(record: Stored): JsonObject {
  return {
    id: record.id,
    ...record.body,
    created_at: timestamp(record.created),
    updated_at: timestamp(record.updated),
    _etag: String(record.version),
  };
}

/** RFC 3339 in UTC, to the second. */
function timestamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Seconds since 1970. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Digits that no eye confuses, in ascending order. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
/** 2020-01-01, in milliseconds. */
const EPOCH_MS = 1_577_836_800_000;
const RANDOM_BITS = 19n;

/**
 * A fresh id for something of that kind: the first letter of the resource, then 60 bits as 12 characters of Crockford's base 32
 * (41 bits of milliseconds since 2020, 19 random bits). Short because agents read and repeat it, sorted by age, not counted up,
 * so that a guessed one hits nothing.
 */
export function freshId(resource: string): string {
  const letter = /[a-z]/.exec(resource)?.[0] ?? "r";
  const millis = BigInt(Math.max(0, Date.now() - EPOCH_MS));
  const bits = (millis << RANDOM_BITS) | BigInt(randomInt(2 ** Number(RANDOM_BITS)));
  const digits = Array.from({ length: 12 }, (_, place) => DIGITS.charAt(Number((bits >> BigInt(5 * (11 - place))) & 31n)));
  return letter + digits.join("");
}

/** Text without case. Upper then lower case per character folds what lower case alone leaves apart (ß and SS, σ and ς). */
export function fold(text: string): string {
  const lower = (char: string): string => char.toLowerCase();
  return chars(text).map((char) => chars(char.toUpperCase()).map(lower).join("")).join("");
}

/** What search reads of a record: the first search field, and all others. */
export function searchText(search: readonly string[], body: JsonObject): { head: string; rest: string } {
  const [first = "", ...others] = search;
  const text = (name: string): string => collected(own(body, name));
  return { head: text(first), rest: others.map(text).join("") };
}

function collected(value: unknown): string {
  if (typeof value === "string") return `${fold(value)}\n`;
  if (isArray(value)) return value.map(collected).join("");
  return isObject(value) ? Object.values(value).map(collected).join("") : "";
}

/** Where a page ended. Opaque to callers; short, because agents repeat it. */
export interface Cursor {
  readonly rank: number;
  readonly seq: number;
}

/** Before the newest record. */
export const START: Cursor = { rank: -1, seq: Number.POSITIVE_INFINITY };

export function encodeCursor({ rank, seq }: Cursor): string {
  return `c${rank}.${seq.toString(16)}`;
}

/** One spelling only: signs and leading zeros are not ours. */
export function decodeCursor(text: string): Cursor | undefined {
  const match = /^c([01])\.([1-9a-f][0-9a-f]{0,12})$/.exec(text);
  return match === null ? undefined : { rank: Number(match[1]), seq: Number.parseInt(match[2] ?? "", 16) };
}
