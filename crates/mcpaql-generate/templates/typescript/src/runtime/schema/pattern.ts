// Patterns, matched in time that grows with the text and not with its square or worse.
//
// What always holds: a pattern is spelled out (`catalog.json` has no shorthand in it whose meaning depends on an engine), and one
// code point is one character, whatever JavaScript stores it as.

import { setFlagsFromString } from "node:v8";

// A backtracking engine can be kept busy for hours by a short text; V8 has another one, which reads neither the flag `u` nor
// look-around.
setFlagsFromString("--enable-experimental-regexp-engine-on-excessive-backtracks");

const END = "(?![\\s\\S])";
const CLASS = /\[(?:\\.|[^\]\\])*\]/g;
const ALL = "[\\s\\S]";
const PAIR = "[\\ud800-\\udbff][\\udc00-\\udfff]";

/** A test for one pattern. */
export function matcher(pattern: string): (text: string) => boolean {
  const source = pattern.replaceAll(END, "$");
  const beyond = /[\ud800-\udfff]/.test(source) || (source.match(CLASS) ?? []).some(spansHalves);
  const regex = beyond ? new RegExp(source, "u") : new RegExp(source.replace(CLASS, inUnits));
  return (text) => regex.test(text);
}

/** Whether a class runs from below to above what JavaScript stores code points beyond U+FFFF as. */
function spansHalves(characters: string): boolean {
  return !characters.startsWith("[^") && characters !== ALL && new RegExp(characters).test("\ud800");
}

/** A class of code points in code units. */
function inUnits(characters: string): string {
  if (characters === "[^\\s\\S]") return characters;
  if (characters === ALL) return `(?:[^\\ud800-\\udfff]|${PAIR})`;
  return characters.startsWith("[^") ? `(?:${characters.slice(0, -1)}\\ud800-\\udfff]|${PAIR})` : characters;
}
