// Nodes × value → violations.
//
// What always holds: a check always ends (depth and steps are bounded), and a violation tells what the schema wants, never the
// value that was given.
//
// Two deliberate leniencies: `oneOf` is satisfied by *at least* one variant, because variants of real documents overlap and the
// target has the last word; and `nullable: true` admits `null` whatever else the schema says.

import { type Fields, canonical, isFields, own, same, stringify, typeName } from "../json.js";
import { nearest } from "../suggest.js";
import { asciiLower, charCount, shorten } from "../text.js";
import { FORMATS } from "./format.js";
import {
  type ArrayRules,
  FRACTION,
  INTEGER,
  NULL,
  type NodeId,
  type NumberRules,
  type ObjectRules,
  type RuledNode,
  type Schemas,
  type StringRules,
  label,
  references,
  typeOf,
} from "./types.js";
import type { PathPart, Violation, ViolationKind } from "./violation.js";

/** More would not help anybody who repairs a call. */
const MAX_VIOLATIONS = 10;
/** Deeper values are refused. */
const MAX_DEPTH = 64;
/** Deeper than any value, because variants and references judge the same value again. */
const MAX_FRAMES = 192;
/** Recursive variants can take exponential time. */
const MAX_STEPS = 1_000_000;
/** Values of an enum that a message lists. */
const LISTED = 10;

/** What is wrong with `value`: nothing if it is valid, at most ten violations otherwise. */
export function check(schemas: Schemas, id: NodeId, value: unknown): Violation[] {
  return new Checker(schemas).check(id, value);
}

/** Where a visit stands: a list of parents. */
interface Trail {
  readonly parent?: Trail;
  readonly part?: PathPart;
  readonly depth: number;
}

const ROOT: Trail = { depth: 0 };

function below(parent: Trail, part: PathPart): Trail {
  return { parent, part, depth: parent.depth + 1 };
}

function pathOf(trail: Trail): PathPart[] {
  const parts: PathPart[] = [];
  for (let here: Trail | undefined = trail; here?.part !== undefined; here = here.parent) parts.push(here.part);
  return parts.reverse();
}

class Checker {
  #found: Violation[] = [];
  #limit = MAX_VIOLATIONS;
  #failures = 0;
  /** Only whether it fails is asked for. */
  #probing = false;
  #steps = 0;
  #frames = 0;
  #tooDeep = false;
  #sensitive = false;

  constructor(readonly schemas: Schemas) {}

  check(id: NodeId, value: unknown): Violation[] {
    this.#visit(id, value, ROOT);
    // A probe that gave up decided nothing, so neither did what was built on it.
    if (this.#steps > MAX_STEPS) return [{ path: [], sensitive: false, kind: { is: "too-complex" } }];
    if (this.#tooDeep) return [{ path: [], sensitive: false, kind: { is: "too-deep" } }];
    return this.#found;
  }

  #fail(at: Trail, kind: () => ViolationKind): void {
    this.#failures += 1;
    if (this.#probing || this.#found.length >= this.#limit) return;
    this.#found.push({ path: pathOf(at), sensitive: this.#sensitive, kind: kind() });
  }

  /** Whether further findings would change nothing. */
  #settled(): boolean {
    return this.#probing ? this.#failures > 0 : this.#found.length >= this.#limit;
  }

  #visit(id: NodeId, value: unknown, at: Trail): void {
    if (at.depth > MAX_DEPTH || this.#frames >= MAX_FRAMES) {
      this.#tooDeep = true;
      this.#fail(at, () => ({ is: "too-deep" }));
      return;
    }
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) {
      this.#fail(at, () => ({ is: "too-complex" }));
      return;
    }
    const node = this.schemas.node(id);
    const outer = this.#sensitive;
    this.#frames += 1;
    this.#sensitive ||= node.sensitive === true;
    this.#judge(node, value, at);
    this.#sensitive = outer;
    this.#frames -= 1;
  }

  #judge(node: RuledNode, value: unknown, at: Trail): void {
    if (node.nullable === true && value === null) return;
    const given = typeOf(value);
    if ((node.types & given) === 0) {
      const expected = label(node.nullable === true ? node.types | NULL : node.types);
      this.#fail(at, () => ({ is: "type", expected, actual: typeName(value) }));
      return;
    }
    if (given === INTEGER && (node.types & FRACTION) === 0 && isInexact(value)) {
      this.#fail(at, tooLarge);
      return;
    }
    const literals = node.enum;
    if (literals !== undefined && !literals.some((literal) => same(literal, value))) {
      this.#failLiteral(literals, node.enum_says, value, at);
      return;
    }
    if (typeof value === "number" || typeof value === "bigint") this.#number(node.number, value, at);
    else if (typeof value === "string") this.#string(node.string, value, at);
    else if (Array.isArray(value)) this.#array(node.array, value, at);
    else if (isFields(value)) this.#object(node.object, value, at);
    this.#combined(node, value, at);
  }

  #combined(node: RuledNode, value: unknown, at: Trail): void {
    for (const id of references(node)) {
      if (this.#settled()) return;
      this.#visit(id, value, at);
    }
    for (const variants of node.choices ?? []) {
      if (this.#settled()) return;
      if (!variants.some((id) => this.#holds(id, value, at))) this.#failChoice(variants, value, at);
    }
    if (node.not !== undefined && this.#holds(node.not, value, at)) {
      this.#fail(at, () => broken("has a form that is not allowed", { not: {} }));
    }
  }

  #holds(id: NodeId, value: unknown, at: Trail): boolean {
    const [probing, failures] = [this.#probing, this.#failures];
    [this.#probing, this.#failures] = [true, 0];
    this.#visit(id, value, at);
    const holds = this.#failures === 0;
    [this.#probing, this.#failures] = [probing, failures];
    return holds;
  }

  #failLiteral(literals: readonly unknown[], says: string | undefined, value: unknown, at: Trail): void {
    this.#fail(at, () => {
      const texts = literals.filter((literal) => typeof literal === "string");
      let meant: string | undefined;
      if (typeof value === "string") {
        const given = asciiLower(value);
        meant = texts.find((text) => asciiLower(text) === given) ?? nearest(value, texts);
      }
      const fragment = says ?? literalsSaid(literals);
      return { is: "value", fragment, allowed: { enum: literals.slice(0, LISTED * 5) }, nearest: meant };
    });
  }

  /** Reports the variant that was meant where that can be told, and every form otherwise. */
  #failChoice(variants: readonly NodeId[], value: unknown, at: Trail): void {
    if (this.#probing) {
      this.#fail(at, () => ({ is: "too-complex" }));
      return;
    }
    const given = typeOf(value);
    const all = variants.reduce((set, id) => set | this.schemas.types(id), 0);
    if ((all & given) === 0) {
      this.#fail(at, () => ({ is: "type", expected: label(all), actual: typeName(value) }));
      return;
    }
    const fitting = variants.filter((id) => (this.schemas.types(id) & given) !== 0);
    const marked = fitting.filter((id) => this.#marked(id, value, 16));
    const meant = marked.length === 0 ? fitting : marked;
    const [only] = meant;
    if (meant.length === 1 && only !== undefined) {
      this.#visit(only, value, at);
      return;
    }
    const literals = meant.map((id) => this.schemas.node(id).enum);
    if (literals.every((list) => list !== undefined)) {
      this.#failLiteral(literals.flat(), undefined, value, at);
      return;
    }
    const forms = meant.slice(0, 4).flatMap((id) => this.#first(id, value) ?? []);
    const outer = this.#sensitive;
    this.#sensitive ||= forms.some((form) => form.sensitive);
    this.#fail(at, () => ({ is: "no-variant", forms }));
    this.#sensitive = outer;
  }

  /** The first violation of a schema, with a path relative to `value`. */
  #first(id: NodeId, value: unknown): Violation | undefined {
    const [found, limit, failures] = [this.#found, this.#limit, this.#failures];
    [this.#found, this.#limit] = [[], 1];
    this.#visit(id, value, ROOT);
    const [first] = this.#found;
    [this.#found, this.#limit, this.#failures] = [found, limit, failures];
    return first;
  }

  /** Whether a field that can have only one value (`kind: {const: circle}`) says that this variant is meant. */
  #marked(id: NodeId, value: unknown, fuel: number): boolean {
    if (fuel === 0 || !isFields(value)) return false;
    const node = this.schemas.node(id);
    const says = (node.object?.properties ?? []).some(([name, property]) => {
      const literals = this.schemas.node(property).enum;
      return literals?.length === 1 && Object.hasOwn(value, name) && same(literals[0], value[name]);
    });
    const next = [...(node.ref === undefined ? [] : [node.ref]), ...(node.all ?? []).slice(0, 8)];
    return says || next.some((id) => this.#marked(id, value, (fuel - 1) >> 1));
  }

  #number(rules: NumberRules | undefined, number: number | bigint, at: Trail): void {
    if (rules === undefined) return;
    const { minimum, maximum, multiple_of: step } = rules;
    const tooLow = minimum !== undefined && (number < minimum[0] || (minimum[1] && equal(number, minimum[0])));
    const tooHigh = maximum !== undefined && (number > maximum[0] || (maximum[1] && equal(number, maximum[0])));
    if (tooLow || tooHigh) {
      const allowed: Fields = {};
      if (minimum !== undefined) allowed[minimum[1] ? "exclusiveMinimum" : "minimum"] = minimum[0];
      if (maximum !== undefined) allowed[maximum[1] ? "exclusiveMaximum" : "maximum"] = maximum[0];
      this.#fail(at, () => broken(rules.says ?? "", allowed));
    }
    if (step !== undefined && !isMultiple(number, step)) {
      this.#fail(at, () => broken(rules.multiple_says ?? "", { multipleOf: step }));
    }
  }

  #string(rules: StringRules | undefined, text: string, at: Trail): void {
    if (rules === undefined) return;
    const { min = 0, max = Infinity, pattern } = rules;
    // A text has no more code points than UTF-16 units, and no less than half of them.
    const maybe = text.length < min * 2 || text.length > max;
    const length = maybe ? charCount(text) : text.length;
    if (maybe && (length < min || length > max)) {
      this.#fail(at, () => countBroken(["minLength", rules.min], ["maxLength", rules.max], "character", length));
    }
    if (pattern !== undefined && !this.schemas.matches(pattern, text)) {
      const written = this.schemas.patternText(pattern);
      this.#fail(at, () => broken(`must match the pattern ${shorten(written, 120)}`, { pattern: written }));
    }
    const format = FORMATS.get(rules.format ?? "");
    if (format !== undefined && !format.accepts(text)) {
      this.#fail(at, () => broken(format.fragment, { format: rules.format }));
    }
  }

  #array(rules: ArrayRules | undefined, items: readonly unknown[], at: Trail): void {
    if (rules === undefined) return;
    const { min = 0, max = Infinity } = rules;
    if (items.length < min || items.length > max) {
      this.#fail(at, () => countBroken(["minItems", rules.min], ["maxItems", rules.max], "item", items.length));
    }
    const repeated = rules.unique === true ? duplicate(items) : -1;
    if (repeated >= 0) {
      const place = below(at, { is: "index", index: repeated });
      this.#fail(place, () => broken("repeats an earlier item of the list", { uniqueItems: true }));
    }
    for (const [index, item] of items.entries()) {
      if (this.#settled()) return;
      const id = rules.prefix?.[index] ?? rules.items;
      if (id !== undefined) this.#visit(id, item, below(at, { is: "index", index }));
    }
  }

  #object(rules: ObjectRules | undefined, fields: Fields, at: Trail): void {
    if (rules === undefined) return;
    for (const field of rules.required ?? []) {
      if (!Object.hasOwn(fields, field)) this.#fail(at, () => ({ is: "missing", field }));
    }
    const names = Object.keys(fields);
    const { min = 0, max = Infinity } = rules;
    if (names.length < min || names.length > max) {
      this.#fail(at, () => countBroken(["minProperties", rules.min], ["maxProperties", rules.max], "field", names.length));
    }
    for (const name of names) {
      if (this.#settled()) return;
      this.#field(rules, name, own(fields, name), at);
    }
  }

  #field(rules: ObjectRules, name: string, value: unknown, at: Trail): void {
    const properties = this.schemas.properties(rules);
    const id = properties.get(name);
    const matching = (rules.patterns ?? []).filter(([pattern]) => this.schemas.matches(pattern, name));
    if (id !== undefined) this.#visit(id, value, below(at, { is: "field", name }));
    for (const [, node] of matching) this.#visit(node, value, below(at, { is: "key", name }));
    if (id !== undefined || matching.length > 0 || rules.additional === undefined) return;
    if (rules.additional !== false) {
      this.#visit(rules.additional, value, below(at, { is: "key", name }));
      return;
    }
    const valid = [...properties.keys()];
    this.#fail(at, () => ({ is: "unknown-field", field: name, valid, nearest: nearest(name, valid) }));
  }
}

/** Whether the number was written as a whole number but may not be the one that was written. */
function isInexact(value: unknown): boolean {
  return typeof value === "number" && !Number.isSafeInteger(value);
}

function tooLarge(): ViolationKind {
  const fragment = "is too large to be kept exactly; send it as a string if the operation allows one";
  return broken(fragment, { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
}

function broken(fragment: string, allowed: Fields): ViolationKind {
  return { is: "value", fragment, allowed, nearest: undefined };
}

/** `must be one of 'open', 'closed'`. */
function literalsSaid(literals: readonly unknown[]): string {
  const listed = literals.slice(0, LISTED).map(literalText).join(", ");
  if (literals.length === 1) return `must be ${listed}`;
  const rest = literals.length - LISTED;
  return `must be one of ${listed}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function literalText(value: unknown): string {
  return typeof value === "string" ? `'${shorten(value, 64)}'` : shorten(stringify(value), 64);
}

type Count = readonly [keyword: string, bound: number | undefined];

function countBroken([minKey, min]: Count, [maxKey, max]: Count, noun: string, actual: number): ViolationKind {
  const allowed: Fields = {};
  if (min !== undefined) allowed[minKey] = min;
  if (max !== undefined) allowed[maxKey] = max;
  const nouns = (count: number) => (count === 1 ? noun : `${noun}s`);
  let wanted = `no more than ${max ?? 0} ${nouns(max ?? 0)}`;
  if (min !== undefined && max === undefined) wanted = `${min} ${nouns(min)} or more`;
  else if (min !== undefined && max === min) wanted = `exactly ${min} ${nouns(min)}`;
  else if (min !== undefined) wanted = `between ${min} and ${max ?? 0} ${noun}s`;
  return broken(`must have ${wanted}, has ${actual}`, allowed);
}

function equal(a: number | bigint, b: number | bigint): boolean {
  return a >= b && a <= b;
}

function isMultiple(number: number | bigint, step: number | bigint): boolean {
  const isWhole = (value: number | bigint) => typeof value === "bigint" || Number.isSafeInteger(value);
  if (isWhole(number) && isWhole(step)) return BigInt(number) % BigInt(step) === 0n;
  const quotient = Number(number) / Number(step);
  return !Number.isFinite(quotient) || Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(Math.abs(quotient), 1);
}

/** The first item that equals an earlier one; -1 where none does. */
function duplicate(items: readonly unknown[]): number {
  const seen = new Set<string>();
  return items.findIndex((item) => seen.size === seen.add(canonical(item)).size);
}
