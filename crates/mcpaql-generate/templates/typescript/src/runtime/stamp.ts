// Ids and times of what is kept.

import { randomInt } from "node:crypto";

/** RFC 3339 in UTC, to the second. */
export function timestamp(seconds: number): string {
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
