// Text as the protocol measures it: sizes are bytes of UTF-8, lengths are code points, and what a letter or a space is says
// Unicode.

const WORD = /^[\p{Alphabetic}\p{N}]$/u;
const BLANK = /^\p{White_Space}$/u;

/** Whether one code point is a letter or a digit of any script. */
export function isAlphanumeric(char: string): boolean {
  return WORD.test(char);
}

/** The code points of the text. */
export function chars(text: string): string[] {
  return Array.from(text);
}

/** Bytes of the text as UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Code points of the text. */
export function charCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** The text without blanks around it. */
export function trim(text: string): string {
  return trimEnd(trimStart(text, BLANK), BLANK);
}

/** The text without such characters before it, of which each is matched by itself: an expression for all of them could take for ever. */
export function trimStart(text: string, char: RegExp): string {
  let start = 0;
  while (start < text.length && char.test(text.charAt(start))) start += 1;
  return text.slice(start);
}

/** The text without such characters behind it. */
export function trimEnd(text: string, char: RegExp): string {
  let end = text.length;
  while (end > 0 && char.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The words between blanks. */
export function splitBlanks(text: string): string[] {
  return text.split(/\p{White_Space}+/u).filter((word) => word !== "");
}

/** The first line. */
export function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.replace(/\r$/, "") ?? "";
}

/** What stands before the first `mark`; everything where there is none. */
export function before(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(0, at);
}

/** The first `max` code points. */
export function take(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = 0;
  for (let count = 0; count < max && end < text.length; count++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** The first code points that are no more than `max` bytes of UTF-8. */
export function takeBytes(text: string, max: number): string {
  let bytes = 0;
  let end = 0;
  for (const char of text) {
    bytes += byteLength(char);
    if (bytes > max) break;
    end += char.length;
  }
  return text.slice(0, end);
}

/** At most `max` code points of a text, with `…` where some are left out. */
export function shorten(text: string, max: number): string {
  const start = take(text, max);
  return start.length === text.length ? text : `${start}…`;
}

/**
 * A caller's word as a sentence may repeat it: what is no name is not repeated, so that no text of a caller's choosing stands
 * in a message.
 */
export function quoted(name: string): string {
  const isName = charCount(name) <= 64 && /^[\p{Alphabetic}\p{N}_\-./:]+$/u.test(name);
  return isName ? ` '${name}'` : "";
}

/** A caller's key inside quotation marks, with whatever cannot be seen spelled out. */
export function escaped(text: string): string {
  const short: Record<string, string> = { "\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
  return text.replace(/['"\\]|(?! )[\p{C}\p{Z}]/gu, (char) => {
    if (/['"\\]/.test(char)) return `\\${char}`;
    return short[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** The text with the letters A to Z in lower case. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
