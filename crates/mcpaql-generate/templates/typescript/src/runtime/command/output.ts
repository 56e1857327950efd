// What a program wrote → an answer, or words for an error.

import { isUtf8 } from "node:buffer";
import { OpError } from "../errors.js";
import { isJson } from "../values.js";
import type { Answer, Warning } from "../response.js";
import { answer } from "../response.js";
import { lastBytes, lines } from "../lines.js";
import { splitBlanks, take, trim } from "../text.js";
import type { CommandLine } from "./binding.js";
import { lineOfFault } from "./fault.js";

/** How much of one line of standard error goes into a message. */
const LINE = 300;

/** What errors must not show, and what they show instead. */
export type Hidden = readonly (readonly [string, string])[];

/**
 * Reads standard output the way the operation says.
 *
 * Nothing at all is null where JSON is expected. Text loses one final line end, lines their ends.
 */
export function outputOf(form: CommandLine["output"], stdout: Buffer): Answer {
  const text = stdout.toString("utf8");
  switch (form) {
    case "json":
      if (!isUtf8(stdout)) throw notUtf8();
      if (trim(text) === "") return answer(null);
      if (!isJson(text)) throw notJson(lineOfFault(text));
      return raw(trim(text));
    case "jsonlines": {
      if (!isUtf8(stdout)) throw notUtf8();
      return raw(`[${jsonLines(text).join(",")}]`);
    }
    case "lines":
      return answer(lines(text), warnings(stdout));
    case "text":
      return answer(text.replace(/\r?\n$/, ""), warnings(stdout));
  }
}

function raw(json: string): Answer {
  return { data: { raw: json }, warnings: [], blocks: [] };
}

function jsonLines(text: string): string[] {
  return lines(text).flatMap((line, index) => {
    if (trim(line) === "") return [];
    if (!isJson(line)) throw notJson(index + 1);
    return [trim(line)];
  });
}

function warnings(stdout: Buffer): Warning[] {
  const message = "The program's output is not UTF-8; what could not be read is shown as \ufffd.";
  return isUtf8(stdout) ? [] : [{ code: "OUTPUT_NOT_UTF8", message }];
}

function notUtf8(): OpError {
  return new OpError(
    "INTERNAL_ERROR",
    "The program's output is not UTF-8, although JSON was expected; tell the user.",
  );
}

function notJson(line: number): OpError {
  return new OpError(
    "INTERNAL_ERROR",
    `The program's output is not the JSON that was expected (see its line ${line}); tell the user.`,
  );
}

/** The end of standard error for people: no escape sequences, no control characters, nothing of what is hidden. */
export function clean(stderr: Buffer, tail: number, hidden: Hidden): string {
  let text = stderr
    .toString("utf8")
    .replace(/\x1b(?:\[[^@-~]*(?:[@-~]|$)|[^[]|$)/gsu, "")
    .replace(/\p{Cc}/gu, (char) => (char === "\n" || char === "\t" ? char : ""));
  // Masked before it is cut, so that half a secret cannot stay behind.
  for (const [value, mask] of hidden) text = text.replaceAll(value, () => mask);
  return trim(lastBytes(trim(text), tail).replace(/^\ufffd+/, ""));
}

/** The line of standard error that says what is wrong: the last one, unless it would pass for a stack frame or shows a path. */
export function lastLine(stderr: string): string | undefined {
  const line = lines(stderr)
    .map(trim)
    .findLast((text) => text !== "");
  if (line === undefined) return undefined;
  const leaks = (word: string): boolean =>
    word.toLowerCase() === "at" || word.includes(":\\") || word.replace(/^['"`(]+/, "").startsWith("/");
  return splitBlanks(line).some(leaks) ? undefined : take(line, LINE);
}
