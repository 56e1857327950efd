// Compiled schemas, as `catalog.json` holds them: an arena of nodes that refer to each other by place.
//
// What always holds: every number that stands for a node or a pattern is a place in the arena.

import { isFields } from "../json.js";
import { matcher } from "./pattern.js";

/** The place of a node. */
export type NodeId = number;

/** A compiled schema; plain types, which are most, are nothing but their set of types. */
export type Node = TypeSet | RuledNode;

/** What a schema asks for beyond a type. */
export interface RuledNode {
  readonly types: TypeSet;
  readonly nullable?: boolean;
  /** A secret, of which nothing is ever repeated. */
  readonly sensitive?: boolean;
  readonly enum?: readonly unknown[];
  /** What to say where no literal fits, for literals that not every language spells alike. */
  readonly enum_says?: string;
  readonly number?: NumberRules;
  readonly string?: StringRules;
  readonly array?: ArrayRules;
  readonly object?: ObjectRules;
  readonly ref?: NodeId;
  readonly all?: readonly NodeId[];
  /** `anyOf` and `oneOf`, each with its variants. */
  readonly choices?: readonly (readonly NodeId[])[];
  readonly not?: NodeId;
}

/** A bound, and whether it is excluded itself. */
export type Bound = readonly [bound: number | bigint, exclusive: boolean];

export interface NumberRules {
  readonly minimum?: Bound;
  readonly maximum?: Bound;
  readonly says?: string;
  readonly multiple_of?: number | bigint;
  readonly multiple_says?: string;
}

export interface StringRules {
  readonly min?: number;
  readonly max?: number;
  /** A place in `patterns`. */
  readonly pattern?: number;
  readonly format?: string;
}

export interface ArrayRules {
  readonly prefix?: readonly NodeId[];
  readonly items?: NodeId;
  readonly min?: number;
  readonly max?: number;
  readonly unique?: boolean;
}

export interface ObjectRules {
  readonly properties?: readonly (readonly [name: string, node: NodeId])[];
  readonly required?: readonly string[];
  readonly patterns?: readonly (readonly [pattern: number, node: NodeId])[];
  readonly additional?: false | NodeId;
  readonly min?: number;
  readonly max?: number;
}

/** A set of JSON types, a bit for each. A whole number is `INTEGER`, any other is `FRACTION`; `number` is both. */
export type TypeSet = number;

export const NULL = 1;
export const BOOLEAN = 2;
export const INTEGER = 4;
export const FRACTION = 8;
export const STRING = 16;
export const ARRAY = 32;
export const OBJECT = 64;
export const ANY = 127;

/** The type of a value. */
export function typeOf(value: unknown): TypeSet {
  if (value === null || value === undefined) return NULL;
  if (Array.isArray(value)) return ARRAY;
  if (isFields(value)) return OBJECT;
  if (typeof value === "boolean") return BOOLEAN;
  if (typeof value === "string") return STRING;
  return typeof value === "bigint" || Number.isInteger(value) ? INTEGER : FRACTION;
}

/** `string | null`. */
export function label(types: TypeSet): string {
  const names: string[] = [];
  if (types & STRING) names.push("string");
  if (types & (INTEGER | FRACTION)) names.push(types & FRACTION ? "number" : "integer");
  if (types & BOOLEAN) names.push("boolean");
  if (types & ARRAY) names.push("array");
  if (types & OBJECT) names.push("object");
  if (types & NULL) names.push("null");
  return names.length === 0 ? "nothing" : names.join(" | ");
}

/** The schemas of an adapter, ready to check. */
export class Schemas {
  readonly #nodes: readonly Node[];
  readonly #patterns: readonly (readonly [text: string, portable: string | null])[];
  readonly #compiled = new Map<number, (text: string) => boolean>();
  readonly #properties = new WeakMap<ObjectRules, ReadonlyMap<string, NodeId>>();

  constructor(nodes: readonly Node[], patterns: readonly (readonly [string, string | null])[]) {
    this.#nodes = nodes;
    this.#patterns = patterns;
  }

  node(id: NodeId): RuledNode {
    const node = this.#nodes[id] ?? ANY;
    return typeof node === "number" ? { types: node } : node;
  }

  /** The declared properties by name. */
  properties(rules: ObjectRules): ReadonlyMap<string, NodeId> {
    let known = this.#properties.get(rules);
    if (known === undefined) {
      known = new Map(rules.properties);
      this.#properties.set(rules, known);
    }
    return known;
  }

  /** A pattern as its author wrote it. */
  patternText(pattern: number): string {
    return this.#patterns[pattern]?.[0] ?? "";
  }

  /** Whether a pattern is found in a text; one that no engine here reads is found in any. */
  matches(pattern: number, text: string): boolean {
    let compiled = this.#compiled.get(pattern);
    if (compiled === undefined) {
      compiled = matcher(this.#patterns[pattern]?.[1] ?? "");
      this.#compiled.set(pattern, compiled);
    }
    return compiled(text);
  }

  /** The JSON types that a schema admits, references and variants followed a little. */
  types(id: NodeId, fuel = 16): TypeSet {
    if (fuel === 0) return ANY;
    const node = this.node(id);
    let set = node.types;
    for (const next of references(node)) set &= this.types(next, fuel - 1);
    for (const variants of node.choices ?? []) {
      set &= variants.slice(0, 16).reduce((any, variant) => any | this.types(variant, (fuel - 1) >> 1), 0);
    }
    return node.nullable === true ? set | NULL : set;
  }
}

/** What has to hold besides: a reference, and every schema of `allOf`. */
export function references(node: RuledNode): NodeId[] {
  return node.ref === undefined ? [...(node.all ?? [])] : [node.ref, ...(node.all ?? [])];
}
