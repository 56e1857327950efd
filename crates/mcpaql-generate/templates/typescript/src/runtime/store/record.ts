// A record: what the caller sees, the text that search reads, and cursors.

import { timestamp } from "../stamp.js";
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

/** A record after a change; without a body where it is gone. */
export interface Change {
  readonly resource: string;
  readonly id: string;
  /** The version that it leads to; the one that it removes. */
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly body?: JsonObject;
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
