// Where a text stops being JSON, for people who look for the mistake: JavaScript's own parser does not always say.

const TOKEN = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

/** The line of the first character that cannot stand where it stands; the last one where the text ends too early. */
export function lineOfFault(text: string): number {
  const before = text.slice(0, faultIn(text));
  return before.split("\n").length;
}

function faultIn(text: string): number {
  const open: string[] = [];
  let expected: Expected = "value";
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const start = at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0);
    if (match === null) return start;
    const [, mark, string] = match;
    const next = follows(expected, mark, string !== undefined, open);
    if (next === undefined) return start;
    expected = next;
    at = TOKEN.lastIndex;
  }
}

/** What is expected behind a token; `undefined` where the token cannot stand there. */
function follows(expected: Expected, mark: string | undefined, isString: boolean, open: string[]): Expected | undefined {
  const takesValue = expected === "value" || expected === "value or ]";
  if (mark === undefined) {
    if (takesValue) return ", or end";
    return isString && (expected === "key" || expected === "key or }") ? ":" : undefined;
  }
  if ((mark === "{" || mark === "[") && takesValue) {
    open.push(mark);
    return mark === "{" ? "key or }" : "value or ]";
  }
  if (mark === ":") return expected === ":" ? "value" : undefined;
  const inside = open.at(-1);
  if (mark === "," && expected === ", or end" && inside !== undefined) return inside === "{" ? "key" : "value";
  const ends = (mark === "}" && inside === "{" && expected !== "key") || (mark === "]" && inside === "[" && expected !== "value");
  if (!ends || expected === ":") return undefined;
  if (mark === "}" && expected === "value") return undefined;
  open.pop();
  return ", or end";
}
