// Suggests names for a misspelt one, and finds operations for a question.

import { distance } from "fastest-levenshtein";
import type { Operation } from "./catalog.js";

const MAX_WORD = 96; // longer words are not misspelt names
const FILLERS = new Set("a an and all are by can do for from how i in is it me my of on or the to with".split(" "));

/** `userID`, `user-id` and `User ID` as `user_id`; `userIDs` as `user_ids`. */
export function snakeCase(text: string): string {
  const apart = text.replace(/(?<=\p{Lu})(?=\p{Lu}(?!s(?!\p{Ll}))\p{Ll})|(?<=\P{Lu})(?=\p{Lu})/gu, "_");
  return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).join("_").toLowerCase();
}

/** The candidates that are most similar to a word, the nearest first. */
export function nearest(word: string, candidates: readonly string[], most = 3): string[] {
  const asked = snakeCase(word.slice(0, MAX_WORD));
  const far = (name: string): number => distance(name, asked) / Math.max(name.length, asked.length, 1);
  // Names that differ more would mislead more often than help.
  const near = candidates.filter((name) => name.length <= MAX_WORD && far(name) <= 0.4);
  return near.sort((a, b) => far(a) - far(b)).slice(0, most);
}

/** The operations for a question, the best first: words of the name count more than tags and the summary. */
export function search(operations: readonly Operation[], question: string): Operation[] {
  const asked = [...new Set(words(question.slice(0, 500)))].filter((word) => !FILLERS.has(word));
  const score = ({ name, summary, extra: { tags = [] } }: Operation): number => {
    const [named, said] = [words(name), words([summary, ...tags].join(" "))];
    const sum = asked.reduce((all, word) => all + (named.includes(word) ? 3 : said.includes(word) ? 1 : 0), 0);
    // Of two names with the same words, the one with fewer other words is better.
    return sum === 0 ? 0 : sum - named.filter((word) => !asked.includes(word)).length * 0.1;
  };
  const scored = operations.map((operation) => ({ operation, score: score(operation) }));
  return scored.filter((one) => one.score > 0).sort((a, b) => b.score - a.score).map((one) => one.operation);
}

/** The words of a text in lower case, without the `s` of a plural. */
function words(text: string): string[] {
  const all = snakeCase(text).split("_");
  return all.map((word) => (word.length > 3 && !word.endsWith("ss") ? word.replace(/s$/, "") : word));
}
