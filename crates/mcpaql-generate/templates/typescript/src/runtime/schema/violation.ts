// One way in which a value breaks its schema, and how it is said.

import { escaped, shorten } from "../text.js";

/** A step into a value: a declared property, a key that the caller chose, or a position in an array. */
export type PathPart =
  | { readonly is: "field" | "key"; readonly name: string }
  | { readonly is: "index"; readonly index: number };

/** What is wrong. */
export type ViolationKind =
  | { readonly is: "type"; readonly expected: string; readonly actual: string }
  | { readonly is: "missing"; readonly field: string }
  | { readonly is: "unknown-field"; readonly field: string; readonly valid: string[]; readonly nearest: string | undefined }
  | {
      readonly is: "value";
      /** `must be one of 'open', 'closed'`. */
      readonly fragment: string;
      /** The keywords that were broken, with their values: `{"enum": ["open", "closed"]}`. */
      readonly allowed: Record<string, unknown>;
      /** The literal that was probably meant. */
      readonly nearest: string | undefined;
    }
  /** None of several forms fits; the first violation of each. */
  | { readonly is: "no-variant"; readonly forms: readonly Violation[] }
  | { readonly is: "too-deep" | "too-complex" };

export interface Violation {
  /** Where in the value; empty for the value itself. */
  readonly path: readonly PathPart[];
  /** The schema calls this place a secret. */
  readonly sensitive: boolean;
  readonly kind: ViolationKind;
}

/** What is wrong, as the rest of a sentence that begins with the place. */
export function said(kind: ViolationKind): string {
  switch (kind.is) {
    case "type":
      return `expected '${kind.expected}', got '${kind.actual}'`;
    case "missing":
      return `misses required field '${shorten(kind.field, 64)}'`;
    case "unknown-field": {
      const hint = kind.nearest === undefined ? "" : `, did you mean '${kind.nearest}'?`;
      return `has unknown field '${shorten(kind.field, 64)}'${hint}`;
    }
    case "value":
      return kind.fragment;
    case "no-variant": {
      const forms = kind.forms.map(({ path, kind }) => `${pathText("", path)}${path.length === 0 ? "" : " "}${said(kind)}`);
      return `matches none of its forms${forms.length === 0 ? "" : ": "}${forms.join("; or ")}`;
    }
    case "too-deep":
      return "is nested too deeply";
    case "too-complex":
      return "is too large to be checked against its schema";
  }
}

/** `labels[2].name`: a path below the parameter `base`, as people write it. */
export function pathText(base: string, path: readonly PathPart[]): string {
  let out = base;
  for (const part of path) {
    if (part.is === "index") out += `[${part.index}]`;
    else if (/^[\p{Alphabetic}\p{N}_-]+$/u.test(part.name)) out += `${out === "" ? "" : "."}${shorten(part.name, 64)}`;
    else out += `["${escaped(shorten(part.name, 64))}"]`;
  }
  return out;
}
