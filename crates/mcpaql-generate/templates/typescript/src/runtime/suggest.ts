// Names that were probably meant, and operations that fit a question.

import { distance } from "fastest-levenshtein";
import type { Operation } from "./catalog.js";

const THRESHOLD = 0.6; // below this a suggestion would mislead more often than help
const MAX_WORD = 96; // longer words are not misspelt names
/** Words that say nothing about an operation. */
const FILLERS = new Set("a an and all are by can do for from how i in is it me my of on or the to with".split(" "));

/** `userID`, `user-id` and `User ID` as `user_id`. */
export function snakeCase(text: string): string {
  const apart = text.replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1_$2").replace(/([^\p{Lu}])(\p{Lu})/gu, "$1_$2");
  return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).join("_").toLowerCase();
}

/** Candidates that are near a word, the nearest first. */
export function nearest(word: string, candidates: readonly string[], most = 3): string[] {
  if (word.length > MAX_WORD) return [];
  const spellings = (name: string): string[] => [snakeCase(name), snakeCase(name).split("_").sort().join("_")];
  const alike = (a: string, b: string): number => 1 - distance(a, b) / Math.max(a.length, b.length, 1);
  const asked = spellings(word);
  return candidates
    .map((name) => ({ name, score: Math.max(...spellings(name).map((text, at) => alike(text, asked[at] ?? ""))) }))
    .filter(({ name, score }) => score >= THRESHOLD && name.length <= MAX_WORD)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ name }) => name);
}

/** The operations that fit a question, the best first: words of the name count most, then tags, then the summary. */
export function search(operations: readonly Operation[], question: string): Operation[] {
  const asked = [...new Set(words(question))].filter((word) => !FILLERS.has(word));
  return operations
    .map((operation) => ({ operation, score: score(operation, asked) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((hit) => hit.operation);
}

function score({ name, summary, detail }: Operation, asked: readonly string[]): number {
  const [named, tagged, said] = [words(name), (detail.tags ?? []).flatMap(words), words(summary)];
  const weight = (word: string): number =>
    named.includes(word) ? 3 : tagged.includes(word) ? 2 : said.includes(word) ? 1 : 0;
  const total = asked.reduce((sum, word) => sum + weight(word), 0);
  // Of operations with the same words the one that has no others in its name is meant.
  return total === 0 ? 0 : total - named.filter((word) => !asked.includes(word)).length * 0.1;
}

/** Lower case, without a plural's `s`. */
function words(text: string): string[] {
  const all = snakeCase(text).split("_");
  return all.map((word) => (word.length > 3 && !word.endsWith("ss") ? word.replace(/s$/, "") : word));
}
