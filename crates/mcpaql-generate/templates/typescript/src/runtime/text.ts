// Text by code points and bytes: what a limit counts, what white space is, where a line ends.
//
// What always holds: lengths are UTF-8 bytes where they are called bytes, and no cut ever leaves half a character behind.

/** Unicode's white space; JavaScript's own has a byte order mark in it and lacks U+0085. */
const SPACE = /^\p{White_Space}$/u;
const SPACES = /\p{White_Space}+/u;

/** Bytes in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** No more than so many bytes of the text, never half a character. */
export function cutBytes(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  const whole = Buffer.from(text, "utf8");
  if (whole.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return whole.toString("utf8", 0, end);
}

/** The last bytes of the text, never half a character. */
export function lastBytes(text: string, bytes: number): string {
  const whole = Buffer.from(text, "utf8");
  let start = Math.max(0, whole.length - bytes);
  while (start < whole.length && ((whole[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return whole.toString("utf8", start);
}

/** No more than so many characters. */
export function cutChars(text: string, chars: number): string {
  return text.length <= chars ? text : [...text].slice(0, chars).join("");
}

/** Without the white space around it. */
export function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text.charAt(start))) start += 1;
  while (end > start && SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** The words between white space. */
export function words(text: string): string[] {
  return text.split(SPACES).filter((word) => word !== "");
}

/** The lines without their ends. */
export function lines(text: string): string[] {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Whether the text has a control character, those in `except` left out. */
export function hasControl(text: string, except = ""): boolean {
  for (const char of text) {
    if (/^\p{Cc}$/u.test(char) && !except.includes(char)) return true;
  }
  return false;
}

/** The text before the mark and the text behind it. */
export function splitOnce(text: string, mark: string): [string, string] | undefined {
  const at = text.indexOf(mark);
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at + mark.length)];
}
