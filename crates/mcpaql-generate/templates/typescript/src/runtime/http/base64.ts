// Files arrive as base64 and leave as bytes.

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** The bytes that a text stands for: either alphabet, with or without padding and line breaks; `undefined` where it is none. */
export function bytesOf(text: string): Buffer | undefined {
  const urlSafe = /[-_]/.test(text);
  const match = (urlSafe ? /^([A-Za-z0-9_-]*)(=*)$/ : /^([A-Za-z0-9+/]*)(=*)$/).exec(text.replace(/[ \t\n\f\r]/g, ""));
  const [, symbols = "", padding = ""] = match ?? [];
  const rest = symbols.length % 4;
  if (match === null || rest === 1) return undefined;
  if (padding.length > (rest === 0 ? 0 : 4 - rest)) return undefined;
  // Bits that belong to no byte would be lost.
  const unused = rest === 2 ? 0x0f : rest === 3 ? 0x03 : 0;
  if (unused !== 0 && (valueOf(symbols.slice(-1)) & unused) !== 0) return undefined;
  return Buffer.from(symbols, urlSafe ? "base64url" : "base64");
}

function valueOf(symbol: string): number {
  const letter = LETTERS.indexOf(symbol);
  if (letter >= 0) return letter;
  return symbol === "+" || symbol === "-" ? 62 : 63;
}
