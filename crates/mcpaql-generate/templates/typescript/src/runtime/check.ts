// Finds the operation of a tool call, and checks its arguments.
//
// What always holds: checks run in a fixed order (envelope, operation, endpoint, names, required, limits, schema);
// prepared arguments have declared names only; no error repeats a value of the call; no argument makes checks slow.

import { RE2JS } from "re2js";
import { type Catalog, type CatalogData, type Operation, type Param, nearest, search, snakeCase } from "./catalog.js";
import { type Code, OpError, type Warn, invalid, tooLarge } from "./errors.js";
import { type JsonObject, isObject, stringify, tryParse } from "./json.js";

/** The operation of a call, and its parameters as they are given. */
export function route(catalog: Catalog, tool: string, given: JsonObject, warn: Warn) {
  const way = catalog.data.routes[tool] ?? {};
  const { operation: called, element_type: kind, ...beside } = given;
  const only = catalog.operations.get(way.operation ?? "");
  const params = only === undefined ? merged(beside) : flat(only, given);
  const operation = only ?? find(catalog, called, params);
  const { name, endpoint, deprecated } = operation;
  if (way.endpoint !== undefined && endpoint !== way.endpoint) {
    const details = { operation: name, expected_tool: operation.tool, expected_endpoint: endpoint };
    throw new OpError("VALIDATION_ENDPOINT_MISMATCH", `Call '${name}' via ${operation.tool}, not ${tool}.`, details);
  }
  const told = (message: string, code = "DEPRECATION_WARNING"): void => { warn(code, message); };
  if (way.renamed_to !== undefined) told(`The tool '${tool}' is deprecated: it is now called '${way.renamed_to}'.`);
  if (only === undefined && called !== name) told(`This operation is now called '${name}'.`);
  if (deprecated !== undefined) told(`The operation '${name}' is deprecated. ${deprecated}`.trimEnd());
  const isIgnored = only === undefined && kind !== undefined && meant(operation, "element_type") === undefined;
  if (isIgnored) told("Ignored: 'element_type'. The operation has one kind of resource.", "IGNORED_PARAMS");
  else if (only === undefined && kind !== undefined) params["element_type"] ??= kind;
  return { operation, params, beside: only === undefined ? given : params };
}

const noEnvelope = (code: Code, field: string, message: string): OpError =>
  Object.assign(new OpError(code, message, { param_name: field }), { undispatched: true });

/** The parameters of a tool that has one operation: the arguments themselves, or those inside an envelope. */
function flat({ name, aliases = [], params }: Operation, given: JsonObject): JsonObject {
  const declares = (one: string): boolean => params.some((param) => param.name === one);
  const { operation: called, ...rest } = given;
  const args = [name, ...aliases].includes(called as string) && !declares("operation") ? rest : given;
  return declares("params") ? args : merged(args);
}

/** The members of `params`, and those beside it with other names. Some models write `params` as a string. */
function merged({ params, ...beside }: JsonObject): JsonObject {
  const object = typeof params === "string" ? tryParse(params) : (params ?? {});
  if (isObject(object)) return { ...beside, ...object };
  throw noEnvelope("VALIDATION_INVALID_TYPE", "params", "Field 'params' must be an object.");
}

function find({ data, operations }: Catalog, name: unknown, params: JsonObject): Operation {
  const missing = `Missing required field 'operation'. Send {"operation": "introspect"} to list all operations.`;
  if (name === undefined || name === null) throw noEnvelope("VALIDATION_MISSING_PARAM", "operation", missing);
  const wrong = "Field 'operation' must be a string.";
  if (typeof name !== "string") throw noEnvelope("VALIDATION_INVALID_TYPE", "operation", wrong);
  const found = operations.get(name);
  if (found !== undefined) return found;
  const suggestions = nearest(name, data.operations.map((one) => one.name));
  const words = [name, ...Object.keys(params).slice(0, 12)].join(" ").slice(0, 500);
  if (suggestions.length === 0) suggestions.push(...search(data.operations, words).slice(0, 3).map((one) => one.name));
  const hint = suggestions[0] === undefined ? "Use 'introspect'." : `Did you mean '${suggestions[0]}'?`;
  const details = { suggestions, signatures: suggestions.map((one) => operations.get(one)?.brief) };
  throw new OpError("NOT_FOUND_OPERATION", `Unknown operation${quoted(name)}. ${hint}`, details);
}

/** A word of the caller in quotes for a message; empty unless it looks like a name. */
export const quoted = (name: string): string => (/^[\p{L}\p{N}_./:-]{1,64}$/u.test(name) ? ` '${name}'` : "");

/** Checked arguments with defaults. They have no prototype, so that they have no names of its members. */
export function validate({ data }: Catalog, operation: Operation, given: JsonObject): JsonObject {
  const args = declared(operation, given);
  const missing = operation.params.filter((param) => param.required === true && !(param.name in args));
  if (missing[0] !== undefined) {
    const details = { param_name: missing[0].name, missing_params: missing.map(({ name }) => name) };
    throw new OpError("VALIDATION_MISSING_PARAM", `Missing: ${details.missing_params.join(", ")}.`, details);
  }
  measure(data, operation, args);
  checkSchema(data, operation, args);
  for (const param of operation.params) {
    if (param.default !== undefined && !(param.name in args)) args[param.name] = structuredClone(param.default);
  }
  return args;
}

/** The declared parameter for a name in any spelling. */
export function meant({ params, spellings = {} }: Operation, name: string): Param | undefined {
  const snake = name.startsWith("_") || Buffer.byteLength(name) > 96 ? name : snakeCase(name);
  const declared = (one: string): Param | undefined => params.find((param) => param.name === one);
  const spelled = [name, snake].find((one) => Object.hasOwn(spellings, one));
  return declared(name) ?? declared(spelled === undefined ? snake : (spellings[spelled] ?? ""));
}

/** The parameters under their declared names; an update may have its fields in `input`. */
function declared(operation: Operation, given: JsonObject): JsonObject {
  const args = Object.create(null) as JsonObject;
  const takesInput = operation.takes_input === true;
  const names = Object.keys(given).filter((name) => name !== "input" || !takesInput);
  refuseUnknown(operation, names, false);
  // An exact name wins over another spelling of it.
  const isSpelled = (name: string): number => (meant(operation, name)?.name === name ? 0 : 1);
  for (const name of names.sort((a, b) => isSpelled(a) - isSpelled(b))) {
    const param = meant(operation, name);
    if (param !== undefined && !(param.name in args)) args[param.name] = given[name];
  }
  const { input = {} } = takesInput ? given : {};
  if (!isObject(input)) throw invalid("input", "must be an object with fields to change.", "VALIDATION_INVALID_TYPE");
  refuseUnknown(operation, Object.keys(input), true);
  for (const [field, value] of Object.entries(input)) {
    const { name, identifier } = meant(operation, field) ?? {};
    if (name === undefined) continue;
    if (identifier === true) throw invalid(name, "belongs beside 'input'.", "VALIDATION_UNKNOWN_FIELD");
    const isOther = name in args && canonical(args[name]) !== canonical(value);
    if (isOther) throw invalid(name, "has two values, one of them inside 'input'.");
    args[name] = value;
  }
  return args;
}

/** Whether a name belongs to the protocol. A dry run never does: this server has none, and the call would run. */
const isIgnored = (name: string): boolean =>
  name.startsWith("_") && name.toLowerCase().replaceAll(/[^a-z]/g, "") !== "dryrun";

/** Rejects names that are not declared, except those that start with `_`: they belong to the protocol. */
function refuseUnknown(operation: Operation, names: readonly string[], isField: boolean): void {
  const isUnknown = (name: string): boolean => !isIgnored(name) && meant(operation, name) === undefined;
  const unknown = names.filter(isUnknown).slice(0, 10).map((name) => name.slice(0, 64));
  if (unknown.length === 0) return;
  const kind = isField ? "fields" : "params";
  const valid = operation.params.flatMap(({ name, identifier }) => (isField && identifier === true ? [] : [name]));
  if (!isField && operation.takes_input === true) valid.push("input");
  const near = unknown.flatMap((name) => nearest(name, valid, 1).map((one) => [name, one]));
  const hint = near[0] === undefined ? "" : ` Did you mean '${near[0][1] ?? ""}'?`;
  const message = `Unknown ${kind} of '${operation.name}':${unknown.map(quoted).join(",")}.${hint}`;
  const did_you_mean = Object.fromEntries(near) as JsonObject;
  const details = { [`unknown_${kind}`]: unknown, [`valid_${kind}`]: valid, did_you_mean };
  throw new OpError(`VALIDATION_UNKNOWN_${isField ? "FIELD" : "PARAM"}`, message, details);
}

const REFUSED_TEXTS = { no_nul: /[\0\ud800-\udfff]/u, no_control: /[\0-\x08\x0a-\x1f\x7f\ud800-\udfff]/u };
/** Checks the limits of arguments. */
function measure({ limits }: CatalogData, { params }: Operation, args: JsonObject): void {
  let size = 1; // as JSON, without escapes and most digits
  const walk = (param: Param, value: unknown, depth: number): void => {
    const within = (limit: string, actual: number, maximum: number): void => {
      if (actual <= maximum) return;
      throw tooLarge(`Parameter '${param.name}' exceeds ${limit}. Send less.`, limit, maximum, actual, param.name);
    };
    if (typeof value === "string") {
      size += Buffer.byteLength(value) + 1;
      within("string_length", Buffer.byteLength(value), limits.string_bytes);
      const isRefused = REFUSED_TEXTS[param.text ?? "no_nul"].test(value);
      if (isRefused) throw invalid(param.name, "has control characters. Remove them.", "VALIDATION_INVALID_ENCODING");
    }
    size += typeof value === "boolean" || value === null ? 4 : 1;
    within("request_size", size, limits.request_bytes);
    const isNumber = typeof value === "number" || typeof value === "bigint";
    if (isNumber) within("number", Math.abs(Number(value)), Number.MAX_VALUE);
    if (typeof value !== "object" || value === null) return;
    within("nesting_depth", depth, limits.depth);
    const fields = Object.entries(value);
    within("array_elements", fields.length, limits.array_items);
    size += fields.length;
    for (const [key, item] of fields) {
      if (!Array.isArray(value)) walk(param, key, depth);
      walk(param, item, depth + 1);
    }
  };
  for (const [name, value] of Object.entries(args)) {
    size += Buffer.byteLength(name) + 4;
    walk(params.find((param) => param.name === name) ?? { name }, value, 2);
  }
}

/** JSON Schema with the keywords that the generator writes; those in `TESTS` are left out here. */
interface Rules {
  type?: string | string[]; enum?: unknown[]; format?: string; $ref?: string; required?: string[];
  prefixItems?: Schema[]; allOf?: Schema[]; anyOf?: Schema[]; properties?: Schemas; patternProperties?: Schemas;
  items?: Schema; additionalProperties?: Schema; not?: Schema; if?: Schema; then?: Schema; else?: Schema;
}
type Schema = boolean | Rules;
type Schemas = Readonly<Record<string, Schema>>;
/** Gets an error, and returns whether more errors are wanted. */
type Report = (keyword: string, rule: unknown, place: string) => boolean;
type Goes = (schema: Schema, value: unknown, place: string) => boolean;

let steps = 0; // left for the current check
/** Counts a step: the schema of an inner value or of a choice, or a text by its length. */
function step<T>(subject: T): T {
  steps -= typeof subject === "string" ? subject.length / 10 : 1;
  if (steps < 0) throw new RangeError("too many steps");
  return subject;
}

/** A function that computes its result once for each argument. */
function memo<K, V>(make: (key: K) => V, known = new Map<K, V>()): (key: K) => V {
  return (key) => known.get(key) ?? (known.set(key, make(key)).get(key) as V);
}

const patternOf = memo((pattern: string) => RE2JS.compile(pattern)); // needs linear time
const literalsOf = memo((literals: unknown[]) => new Set(literals.map(canonical)));
const nameOf = memo((ref: string) => decodeURIComponent(ref.slice(8)).replaceAll("~1", "/").replaceAll("~0", "~"));

/** A text that is the same for equal values. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return typeof value === "string" ? JSON.stringify(value) : String(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

type Numeric = number | bigint; // JavaScript compares the two exactly
const isInteger = (value: unknown): boolean => typeof value === "bigint" || Number.isInteger(value);
const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : isInteger(value) ? "integer" : typeof value;
const isLong = (value: bigint): boolean => [BigInt.asIntN(64, value), BigInt.asUintN(64, value)].includes(value);
const isExact = (value: unknown): boolean =>
  typeof value === "bigint" ? isLong(value) : !Number.isInteger(value) || Number.isSafeInteger(value);
const isWhole = (times: number): boolean => !(Math.abs(times - Math.round(times)) > 1e-9);
const rest = (value: Numeric, unit: Numeric): Numeric =>
  typeof value === "bigint" && Number.isInteger(unit) ? value % BigInt(unit) : value;
const isSet = (items: unknown[]) => new Set(items.map((item) => step(canonical(step(item))))).size === items.length;
const sizeOf = (value: string | object) => (typeof value === "string" ? Array.from(value) : Object.keys(value)).length;
const least = (value: string | object, bound: number): boolean => sizeOf(value) >= bound;
const most = (value: string | object, bound: number): boolean => sizeOf(value) <= bound;
/** Keywords for values of one type. */
const TESTS: Readonly<Record<string, readonly [type: string, holds: (value: never, rule: never) => boolean]>> = {
  minimum: ["number", (value: Numeric, bound: Numeric) => value >= bound],
  maximum: ["number", (value: Numeric, bound: Numeric) => value <= bound],
  exclusiveMinimum: ["number", (value: Numeric, bound: Numeric) => value > bound],
  exclusiveMaximum: ["number", (value: Numeric, bound: Numeric) => value < bound],
  multipleOf: ["number", (value: Numeric, unit: Numeric) => isWhole(Number(rest(value, unit)) / Number(unit))],
  pattern: ["string", (text: string, pattern: string) => patternOf(pattern).test(step(text))],
  ...{ minLength: ["string", least], minItems: ["array", least], minProperties: ["object", least] },
  ...{ maxLength: ["string", most], maxItems: ["array", most], maxProperties: ["object", most] },
  uniqueItems: ["array", isSet],
};

/** Checks a value until `report` wants no more errors; then the result is false. */
function check($defs: Schemas, schema: Schema, value: unknown, place: string, report: Report): boolean {
  const rules: Rules = typeof schema === "object" ? schema : schema ? {} : { type: [] };
  const own = typeOf(value);
  const kind = own === "integer" ? "number" : own;
  const types = typeof rules.type === "object" ? rules.type : [rules.type ?? kind];
  if (!types.includes(own) && !types.includes(kind)) return report("type", types, place);
  if (!types.includes("number") && !isExact(value)) return report("maximum", Number.MAX_SAFE_INTEGER, place);
  const { enum: known, prefixItems = [], $ref, allOf = [], anyOf, not } = rules;
  if (known !== undefined && !literalsOf(known).has(step(canonical(value)))) return report("enum", known, place);
  for (const keyword in rules) {
    const [type, holds] = TESTS[keyword] ?? [];
    const rule: unknown = rules[keyword as keyof Rules];
    const isBroken = type === kind && holds?.(value as never, rule as never) === false;
    if (isBroken && !report(keyword, keyword === "pattern" ? (rules.format ?? rule) : rule, place)) return false;
  }
  const goes = (one: Schema, inner = value, at = place): boolean => check($defs, one, inner, at, report);
  const fits = (one: Schema): boolean => check($defs, one, value, place, () => false);
  const items = Array.isArray(value) && (rules.items ?? rules.prefixItems) !== undefined ? value : [];
  return (
    items.every((item, index) => goes(step(prefixItems[index] ?? rules.items ?? true), item, `${place}[${index}]`)) &&
    (!isObject(value) || checkFields(rules, value, place, report, goes)) &&
    ($ref === undefined || goes($defs[nameOf($ref)] ?? true)) &&
    allOf.every((one) => goes(one)) &&
    (anyOf === undefined || anyOf.some((one) => fits(step(one))) || report("anyOf", undefined, place)) &&
    (not === undefined || !fits(not) || report("not", undefined, place)) &&
    (rules.if === undefined || goes((fits(rules.if) ? rules.then : rules.else) ?? true))
  );
}

function checkFields(rules: Rules, fields: JsonObject, place: string, report: Report, goes: Goes): boolean {
  const { properties = {}, patternProperties = {}, additionalProperties: other, required = [] } = rules;
  const inside = (name: string): string =>
    place + (/^[\p{L}\p{N}_-]{1,64}$/u.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 64))}]`);
  const isThere = (name: string): boolean => Object.hasOwn(fields, name) || report("required", name, inside(name));
  const isFree = (rules.properties ?? rules.patternProperties ?? other) === undefined;
  return required.every(isThere) && Object.entries(isFree ? {} : fields).every(([name, value]) => {
    const own = Object.hasOwn(properties, step(name)) ? [properties[name] ?? true] : [];
    const matching = Object.entries(patternProperties).filter(([pattern]) => patternOf(pattern).test(step(name)));
    const known = [...own, ...matching.map(([, one]) => one)];
    if (known.length > 0) return known.every((one) => goes(step(one), value, inside(name)));
    if (other === false) return report("additionalProperties", Object.keys(properties), place);
    return other === undefined || goes(step(other), value, inside(name));
  });
}

/** The codes of keywords, the most important first. Any other keyword means VALIDATION_INVALID_VALUE. */
const CODES = new Map<string, Code>([
  ["additionalProperties", "VALIDATION_UNKNOWN_FIELD"], ["required", "VALIDATION_MISSING_PARAM"],
  ["type", "VALIDATION_INVALID_TYPE"],
]);

function checkSchema({ $defs }: CatalogData, { schema }: Operation, args: JsonObject): void {
  const { properties = {} } = schema as Rules;
  const found = Object.entries(args).flatMap(([name, value]) => {
    const errors: OpError[] = [];
    steps = 1_000_000;
    try {
      check($defs as Schemas, properties[name] ?? true, value, name, (...one) => errors.push(violation(...one)) < 10);
      return errors;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return [invalid(name, "is too large to be checked. Send less.", "VALIDATION_PAYLOAD_TOO_LARGE")];
    }
  });
  const rank = ({ code }: OpError): number => [...CODES.values(), code].indexOf(code);
  const [first] = found.sort((a, b) => rank(a) - rank(b));
  if (first !== undefined) throw first;
}

/** An error with the rule, never with the value. */
function violation(keyword: string, rule: unknown, param_name: string): OpError {
  const told = rule === undefined ? "" : `: ${stringify(rule).slice(0, 300)}`;
  return invalid(param_name, `does not fit its ${keyword}${told}.`, CODES.get(keyword));
}
