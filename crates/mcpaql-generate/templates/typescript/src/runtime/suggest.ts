// Names that were probably meant, and operations that fit a question.

import type { Operation } from "./catalog.js";

/** Below this a suggestion would mislead more often than help. */
const THRESHOLD = 0.6;
/** Longer words are not misspelt names. */
const MAX_WORD = 96;

/** `userID`, `user-id` and `User ID` as `user_id`. */
export function snakeCase(text: string): string {
  return text
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1_$2")
    .replace(/([^\p{Lu}])(\p{Lu})/gu, "$1_$2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .join("_")
    .toLowerCase();
}

/** Candidates that are near a word, the nearest first. */
export function nearest(word: string, candidates: readonly string[], most = 3): string[] {
  if (word.length > MAX_WORD) return [];
  const sorted = (text: string): string => snakeCase(text).split("_").sort().join("_");
  const [plain, bag] = [snakeCase(word), sorted(word)];
  return candidates
    .filter((candidate) => candidate.length <= MAX_WORD)
    .map((name) => ({ name, score: Math.max(similarity(plain, snakeCase(name)), similarity(bag, sorted(name))) }))
    .filter(({ score }) => score >= THRESHOLD)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ name }) => name);
}

/** 1 for equal texts, 0 for texts with nothing in common: one minus the share of letters to edit. */
function similarity(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return 1 - (row[b.length] ?? 0) / Math.max(a.length, b.length, 1);
}

/** Words that say nothing about an operation. */
const FILLERS = new Set("a an and all are by can do for from how i in is it me my of on or the this to with".split(" "));

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
  const named = words(name);
  const fields = [
    { found: named, weight: 3 },
    { found: (detail.tags ?? []).flatMap(words), weight: 2 },
    { found: words(summary), weight: 1 },
  ];
  const hits = asked.map((word) => Math.max(0, ...fields.map(({ found, weight }) => (found.includes(word) ? weight : 0))));
  const total = hits.reduce((sum, hit) => sum + hit, 0);
  // Of operations with the same words the one that has no others in its name is meant.
  return total === 0 ? 0 : total - named.filter((word) => !asked.includes(word)).length * 0.1;
}

/** Lower case, without a plural's `s`. */
function words(text: string): string[] {
  return snakeCase(text)
    .split("_")
    .map((word) => (word.length > 3 && !word.endsWith("ss") ? word.replace(/s$/, "") : word));
}
