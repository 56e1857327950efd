// Text as words: what is compared when operations are searched.
//
// What always holds: words are lower case, hold letters and digits only, and are the same for `pullRequest`, `pull-request`,
// `pull_request` and `Pull Request`; a word longer than `LONGEST` bytes is not a word.

import { lowered } from "../suggest.js";
import { byteLength, chars, isAlphanumeric } from "../text.js";

/** Longer runs of letters are data, not words. */
const LONGEST = 48;

/** The words of the text in lower case, unstemmed. */
export function words(text: string): string[] {
  const found: string[] = [];
  const all = chars(text);
  let word = "";
  let before: string | undefined;
  const flush = () => {
    if (word !== "" && byteLength(word) <= LONGEST) found.push(word);
    word = "";
  };
  for (let at = 0; at < all.length; at++) {
    const char = all[at] ?? "";
    if (!isAlphanumeric(char)) {
      // The apostrophe of `today's` and `don't` belongs to the word, with what follows it.
      if ((char === "'" || char === "’") && before !== undefined) while (isAlphabetic(all[at + 1])) at++;
      flush();
      before = undefined;
      continue;
    }
    if (before !== undefined && splits(before, char, all[at + 1])) flush();
    word += lowered(char);
    before = char;
  }
  flush();
  return found;
}

/** Whether a word begins between these: `pullRequest`, `HTTPServer` (but `userIDs` ends in a plural). */
function splits(before: string, char: string, after: string | undefined): boolean {
  if (!isUppercase(char)) return false;
  return isLowercase(before) || (isUppercase(before) && after !== "s" && isLowercase(after));
}

function isAlphabetic(char: string | undefined): boolean {
  return char !== undefined && /^\p{Alphabetic}$/u.test(char);
}

export function isUppercase(char: string | undefined): boolean {
  return char !== undefined && /^\p{Uppercase}$/u.test(char);
}

function isLowercase(char: string | undefined): boolean {
  return char !== undefined && /^\p{Lowercase}$/u.test(char);
}
