// Whether a failed attempt is repeated, and after how long.
//
// What always holds: only operations whose repetition does no harm are repeated; a wait never reaches past the deadline of the
// call; a wait the upstream asked for is not shortened.

import type { Received } from "./connection.js";

const BASE_MS = 200;
const MAX_MS = 5_000;

/**
 * Milliseconds before repetition `n` (from 0): between half of the exponential delay and all of it, so that clients that
 * failed together do not return together.
 */
export function backoff(n: number): number {
  const full = Math.min(BASE_MS * 2 ** n, MAX_MS);
  return full / 2 + (Math.random() * full) / 2;
}

/** Milliseconds before the next attempt after this answer, or `undefined` where it is final. */
export function waitAfter(response: Received, atLeast: number, left: number): number | undefined {
  const asked = retryAfter(response, Date.now());
  let wait: number;
  // An upstream that asks for no wait at all still gets the backoff.
  if (response.status === 429) {
    if (asked === undefined) return undefined;
    wait = Math.max(asked, atLeast);
  } else if ([502, 503, 504].includes(response.status)) {
    wait = Math.max(asked ?? 0, atLeast);
  } else {
    return undefined;
  }
  return wait < left ? wait : undefined;
}

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const CLOCK = "\\d{2}:\\d{2}:\\d{2}";
const DATES = [
  new RegExp(`^[A-Z][a-z]{2}, \\d{2} ${MONTH} \\d{4} ${CLOCK} GMT$`),
  new RegExp(`^[A-Z][a-z]+day, \\d{2}-${MONTH}-\\d{2} ${CLOCK} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} ${MONTH} [ \\d]\\d ${CLOCK} \\d{4}$`),
];

/** `Retry-After`, in seconds or as a date, in milliseconds from `now`. */
export function retryAfter(response: Received, now: number): number | undefined {
  const text = response.text("retry-after")?.trim();
  if (text === undefined) return undefined;
  if (/^\+?\d+$/.test(text)) {
    const seconds = BigInt(text.replace("+", ""));
    return seconds <= 0xffff_ffff_ffff_ffffn ? Number(seconds) * 1000 : undefined;
  }
  if (!DATES.some((date) => date.test(text))) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
