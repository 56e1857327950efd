// One walk over a value that ends as soon as a limit is passed, before anything more expensive looks at it.

import type { Limits, Param } from "./catalog.js";
import { isFields } from "./json.js";
import { byteLength } from "./text.js";

/** What went beyond. */
export type Excess =
  | { readonly is: "request" | "depth"; readonly maximum: number }
  | { readonly is: "string" | "items"; readonly actual: number; readonly maximum: number }
  | { readonly is: "nul" | "control" };

export class Measure {
  /** Never more than the size as JSON: escapes and most digits are not counted. */
  #bytes = 1;

  constructor(readonly limits: Limits) {}

  /** What goes beyond in the next parameter, if anything does. */
  param(name: string, value: unknown, rule: Param["text"]): Excess | undefined {
    return this.#add(byteLength(name) + 4) ?? this.#walk(value, rule, 2);
  }

  #add(bytes: number): Excess | undefined {
    this.#bytes += bytes;
    const maximum = this.limits.request_bytes;
    return this.#bytes > maximum ? { is: "request", maximum } : undefined;
  }

  #walk(value: unknown, rule: Param["text"], depth: number): Excess | undefined {
    if (typeof value === "string") return this.#text(value, rule);
    if (Array.isArray(value)) {
      let excess = this.#container(value.length, depth);
      for (let at = 0; at < value.length && excess === undefined; at++) {
        excess = this.#add(1) ?? this.#walk(value[at], rule, depth + 1);
      }
      return excess;
    }
    if (isFields(value)) {
      const fields = Object.entries(value);
      let excess = this.#container(fields.length, depth);
      for (const [key, field] of fields) {
        if (excess !== undefined) break;
        excess = this.#add(2) ?? this.#text(key, rule) ?? this.#walk(field, rule, depth + 1);
      }
      return excess;
    }
    return this.#add(typeof value === "number" || typeof value === "bigint" ? 1 : 4);
  }

  #container(length: number, depth: number): Excess | undefined {
    const { depth: deepest, array_items: most } = this.limits;
    if (depth > deepest) return { is: "depth", maximum: deepest };
    return length > most ? { is: "items", actual: length, maximum: most } : this.#add(1);
  }

  #text(text: string, rule: Param["text"]): Excess | undefined {
    const [actual, maximum] = [byteLength(text), this.limits.string_bytes];
    if (actual > maximum) return { is: "string", actual, maximum };
    const excess = this.#add(actual + 2);
    if (excess !== undefined) return excess;
    if (rule === "no_nul" && text.includes("\0")) return { is: "nul" };
    return rule === "no_control" && /(?!\t)[\0-\x1f\x7f]/.test(text) ? { is: "control" } : undefined;
  }
}
