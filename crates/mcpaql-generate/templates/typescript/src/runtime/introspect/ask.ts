// What somebody asks `introspect` for.

import { CATEGORIES, type Category } from "../catalog.js";
import { OpError } from "../errors.js";
import { type Fields, own } from "../json.js";
import type { Warning } from "../response.js";
import { trim } from "../text.js";

const DETAILS = ["names", "signature", "summary", "full"] as const;
/** How much is said about each operation or type. */
export type Detail = (typeof DETAILS)[number];

/** The arguments, read. A blank text is as good as none: some callers fill in every parameter. */
export interface Ask {
  /** About types, not operations. */
  readonly types: boolean;
  readonly names: readonly string[] | undefined;
  /** The names came as a list. */
  readonly several: boolean;
  readonly search: string | undefined;
  readonly category: Category | undefined;
  readonly endpoint: string | undefined;
  readonly tag: string | undefined;
  readonly detail: Detail | undefined;
  readonly first: number | undefined;
  readonly after: string | undefined;
}

export function readAsk(args: Fields): Ask {
  const text = (key: string): string | undefined => {
    const value = own(args, key);
    return typeof value === "string" && trim(value) !== "" ? trim(value) : undefined;
  };
  const query = text("query") ?? "operations";
  if (query !== "operations" && query !== "types") throw invalid("query", "Parameter 'query' must be 'operations' or 'types'.");
  const name = own(args, "name");
  const one = text("name");
  const first = own(args, "first");
  return {
    types: query === "types",
    names: Array.isArray(name) ? name.filter((item) => typeof item === "string") : one === undefined ? undefined : [one],
    several: Array.isArray(name),
    search: text("search"),
    category: CATEGORIES.find((category) => category === text("category")),
    endpoint: text("endpoint"),
    tag: text("tag"),
    detail: DETAILS.find((detail) => detail === text("detail")),
    first: typeof first === "number" && first >= 0 ? first : undefined,
    after: text("after"),
  };
}

/** The parameters that leave operations out. */
export function narrowedBy(ask: Ask): string[] {
  return (["search", "category", "endpoint", "tag"] as const).filter((name) => ask[name] !== undefined);
}

/** Whether somebody wants one page of many. */
export function isPaged(ask: Ask): boolean {
  return ask.first !== undefined || ask.after !== undefined;
}

/** A warning about what has no effect beside names. */
export function besideNames(ask: Ask): Warning[] {
  const idle = [...narrowedBy(ask), ...(isPaged(ask) ? ["first or after"] : [])];
  if (idle.length === 0) return [];
  return [{ code: "IGNORED_PARAMS", message: `'name' says what to show, so ${idle.join(", ")} had no effect.` }];
}

export function invalid(param: string, message: string): OpError {
  return new OpError("VALIDATION_INVALID_VALUE", message).with("param_name", param);
}
