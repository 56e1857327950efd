// An estimate of what text costs in a model's context, without carrying a vocabulary of megabytes. It leans high.

import { isAlphanumeric } from "./text.js";

/**
 * Estimated tokens of a text: a word, underscores included, costs one for every seven letters, punctuation one for every three
 * marks in a row; other scripts and pictograms cost more.
 */
export function estimate(text: string): number {
  let tokens = 0;
  let word = 0;
  let marks = 0;
  for (const char of text) {
    const letters = letterWeight(char);
    if (letters > 0) {
      tokens += Math.ceil(marks / 3);
      marks = 0;
      word += letters;
    } else {
      tokens += Math.ceil(word / 7);
      word = 0;
      marks += markWeight(char);
    }
  }
  return tokens + Math.ceil(word / 7) + Math.ceil(marks / 3);
}

/** Letters of a token, 0 for marks: scripts without spaces have about one for each. */
function letterWeight(char: string): number {
  if (/^\w$/.test(char)) return 1;
  if (char <= "\x7f" || !isAlphanumeric(char)) return 0;
  return (char.codePointAt(0) ?? 0) >= 0x2e80 ? 7 : 3;
}

/** Marks of a token: a pictogram is several, a blank is none. */
function markWeight(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (/^\p{White_Space}$/u.test(char)) return 0;
  if (code < 0x80) return 1;
  if ((code >= 0x200b && code <= 0x200f) || (code >= 0xfe00 && code <= 0xfe0f)) return 6;
  return code >= 0x1f000 ? 12 : 3;
}
