// The stem of an English word: what its plural, past, participle and noun of action have in common.
//
// What always holds: the stem is a function of the word alone, is never empty for a word that is not, and is only ever compared
// with other stems (it need not be a word). Nouns of the one who acts (`reviewer`, `contributor`) keep their ending, because
// APIs list reviewers and reviews apart; `relatives` leads from one to the other.

import { byteLength, chars } from "../text.js";

/** Shorter words have no ending to take off. */
const SHORTEST = 4;

/** The stem of a lower-case word. */
export function stem(word: string): string {
  if (word.length < SHORTEST || !isAscii(word)) return word;
  const one = singular(word);
  const plain = inflected(one) ?? adverb(one);
  let out = plain === undefined || plain.endsWith("ion") ? abstractNoun(plain ?? one) : plain;
  if (out.length >= SHORTEST && out.endsWith("e")) out = out.slice(0, -1);
  return out.length >= 7 && out.endsWith("at") ? out.slice(0, -2) : out;
}

/** The word without a plural's ending. */
export function singular(word: string): string {
  if (byteLength(word) < SHORTEST || !word.endsWith("s") || /(ss|us|is)$/.test(word)) return word;
  if (byteLength(word) > SHORTEST && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.slice(0, /(sses|xes|ches|shes|zzes)$/.test(word) ? -2 : -1);
}

/** The word without `-ing` or `-ed`; nothing where there is neither. */
function inflected(word: string): string | undefined {
  if (word.length > SHORTEST && word.endsWith("ied")) return `${word.slice(0, -3)}y`;
  const ending = word.endsWith("ing") ? 3 : word.endsWith("ed") && !word.endsWith("eed") ? 2 : 0;
  const kept = word.slice(0, word.length - ending);
  return ending === 0 || kept.length < 3 || !/[aeiouy]/.test(kept) ? undefined : undoubled(kept);
}

/** `runn` as `run`, but `call` and `access` as they are. */
function undoubled(word: string): string {
  return word.length > 3 && /([^aeiouylsz])\1$/.test(word) ? word.slice(0, -1) : word;
}

function adverb(word: string): string | undefined {
  return word.length > 5 && word.endsWith("ly") ? word.slice(0, -2) : undefined;
}

/** Without `-ion` and `-ity`, where enough is left. */
function abstractNoun(word: string): string {
  const acting = word.length >= 6 && /[ts]ion$/.test(word);
  return acting || (word.length >= 8 && word.endsWith("ity")) ? word.slice(0, -3) : word;
}

/** Stems of words of the same family: who does it, and the doing. */
export function relatives(stem: string): string[] {
  if (stem.length < 3 || !isAscii(stem)) return [];
  const found: string[] = [];
  for (const ending of ["er", "or", "ee", "ment", "ship", "al"]) {
    const root = stem.slice(0, -ending.length);
    if (!stem.endsWith(ending) || root.length < 4) continue;
    found.push(root);
    if (undoubled(root) !== root) found.push(undoubled(root));
  }
  return [...found, ...["er", "or", "e", "ment", "ship", "r"].map((ending) => stem + ending), doubled(stem)];
}

/** Stems of words for those who do it. */
export function doers(stem: string): string[] {
  return [...["er", "or", "r", "e"].map((ending) => stem + ending), doubled(stem)];
}

/** `run` as `runner`. */
function doubled(stem: string): string {
  return `${stem}${chars(stem).at(-1) ?? ""}er`;
}

function isAscii(text: string): boolean {
  return byteLength(text) === text.length;
}
