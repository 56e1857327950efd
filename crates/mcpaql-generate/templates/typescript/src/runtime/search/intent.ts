// What shall be done to the world, as far as a question says so: a set of categories, a bit for each; none where the question does
// not say.

import { CATEGORIES, type Category } from "../catalog.js";
import { f } from "./index.js";

export type Intent = number;

export const UNKNOWN: Intent = 0;
/** Something shall be done, whatever it is. */
export const ACT: Intent = intentOf("CREATE") | intentOf("UPDATE") | intentOf("DELETE") | intentOf("EXECUTE");

export function intentOf(category: Category): Intent {
  return 1 << CATEGORIES.indexOf(category);
}

export function includes(intent: Intent, category: Category): boolean {
  return (intent & intentOf(category)) !== 0;
}

/** How well an operation's category fits what shall be done. */
export function agreement(intent: Intent, category: Category): number {
  if (intent === UNKNOWN) return category === "READ" ? 1 : f(0.85);
  if (includes(intent, category)) return 1;
  const changes = includes(intent, "CREATE") || includes(intent, "UPDATE") || includes(intent, "EXECUTE");
  if (category !== "READ" && category !== "DELETE" && changes) return f(0.8);
  return (category === "UPDATE" || category === "EXECUTE") && includes(intent, "DELETE") ? 0.5 : 0.25;
}
