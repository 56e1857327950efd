// Text by lines, marks and bytes from its end.

/** The last bytes of the text, never half a character. */
export function lastBytes(text: string, bytes: number): string {
  const whole = Buffer.from(text, "utf8");
  let start = Math.max(0, whole.length - bytes);
  while (start < whole.length && ((whole[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return whole.toString("utf8", start);
}

/** The lines without their ends. */
export function lines(text: string): string[] {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Whether the text has a control character, those in `except` left out. */
export function hasControl(text: string, except = ""): boolean {
  return (text.match(/\p{Cc}/gu) ?? []).some((char) => !except.includes(char));
}

/** The text before the mark and the text behind it. */
export function splitOnce(text: string, mark: string): [string, string] | undefined {
  const at = text.indexOf(mark);
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at + mark.length)];
}
