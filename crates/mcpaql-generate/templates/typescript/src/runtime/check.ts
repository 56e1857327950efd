// Finds the operation of a tool call, and checks its arguments.
//
// What always holds: checks run in a fixed order (envelope, operation, endpoint, names, required, limits, schema);
// prepared arguments have declared names only; no error repeats a value of the call; no argument makes checks slow.

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { DataValidationCxt } from "ajv/dist/types/index.js";
import { RE2JS } from "re2js";
import type { Catalog, CatalogData, Operation, Param } from "./catalog.js";
import { type Code, OpError, type Warn, invalid, tooLarge } from "./errors.js";
import { type JsonObject, isObject, stringify, tryParse } from "./json.js";
import { nearest, search, snakeCase } from "./suggest.js";

const MAX_STEPS = 100_000; // values of recursive types in one check

/** Prepares a call. `args` has no prototype, so that it has only names of the call and of defaults. */
export function prepare(catalog: Catalog, tool: string, given: JsonObject, warn: Warn) {
  const route = catalog.data.routes[tool] ?? {};
  const { operation: called, ...beside } = given;
  const only = catalog.operations.get(route.operation ?? "");
  const params = only === undefined ? merged(beside) : flat(only, given);
  const operation = only ?? find(catalog, called, params);
  const { name, endpoint, deprecated } = operation;
  if (route.endpoint !== undefined && endpoint !== route.endpoint) {
    const message = `Operation '${name}' must be called via ${operation.tool}, not ${tool}.`;
    const expected = { operation: name, expected_endpoint: endpoint, expected_tool: operation.tool };
    throw new OpError("VALIDATION_ENDPOINT_MISMATCH", message, { ...expected, actual_endpoint: route.endpoint });
  }
  const told = (what: string, message: string): void => { warn({ code: `DEPRECATED_${what}`, message }); };
  if (route.renamed_to !== undefined) told("TOOL", `The tool '${tool}' is now called '${route.renamed_to}'.`);
  if (only === undefined && called !== name) told("OPERATION", `This operation is now called '${name}'.`);
  if (deprecated !== undefined) told("OPERATION", `The operation '${name}' is deprecated. ${deprecated}`.trimEnd());
  return { operation, args: validate(catalog, operation, params) };
}

const noEnvelope = (code: Code, field: string, message: string): OpError =>
  new OpError(code, message, { param_name: field }, undefined, true);

/** The parameters of a tool that has one operation: the arguments themselves, or those inside an envelope. */
function flat({ name, aliases = [], params }: Operation, given: JsonObject): JsonObject {
  const declares = (one: string): boolean => params.some((param) => param.name === one);
  const { operation: called, ...rest } = given;
  const isEnvelope = [name, ...aliases].includes(called as string) && !declares("operation");
  const args = isEnvelope ? rest : given;
  return declares("params") ? args : merged(args);
}

/** The members of `params`, and those beside it with other names. Some models write `params` as a string. */
function merged({ params, ...beside }: JsonObject): JsonObject {
  const object = typeof params === "string" ? tryParse(params) : (params ?? {});
  if (isObject(object)) return { ...beside, ...object };
  throw noEnvelope("VALIDATION_INVALID_TYPE", "params", "Field 'params' must be an object.");
}

function find({ data, operations }: Catalog, name: unknown, params: JsonObject): Operation {
  if (name === undefined || name === null) {
    const message = `Missing required field 'operation'. Send {"operation": "introspect"} to list all operations.`;
    throw noEnvelope("VALIDATION_MISSING_PARAM", "operation", message);
  }
  const wrongType = "Field 'operation' must be a string.";
  if (typeof name !== "string") throw noEnvelope("VALIDATION_INVALID_TYPE", "operation", wrongType);
  const found = operations.get(name);
  if (found !== undefined) return found;
  const near = nearest(name, data.operations.map((one) => one.name)).flatMap((one) => operations.get(one) ?? []);
  const words = [name, ...Object.keys(params).slice(0, 12)].join(" ").slice(0, 500);
  const meant = [...new Set([...near, ...search(data.operations, words)])].slice(0, 3);
  const hint = meant[0] === undefined ? "Use 'introspect' to list operations." : `Did you mean '${meant[0].name}'?`;
  const [suggestions, signatures] = [meant.map((one) => one.name), meant.map((one) => one.brief)];
  const details = { operation: name.slice(0, 64), suggestions, signatures };
  throw new OpError("NOT_FOUND_OPERATION", `Unknown operation${quoted(name)}. ${hint}`, details);
}

/** A word of the caller in quotes for a message; empty unless it looks like a name. */
export const quoted = (name: string): string => (/^[\p{L}\p{N}_./:-]{1,64}$/u.test(name) ? ` '${name}'` : "");

function validate({ data }: Catalog, operation: Operation, given: JsonObject): JsonObject {
  const args = declared(operation, given);
  const missing = operation.params.filter((param) => param.required === true && !(param.name in args));
  if (missing[0] !== undefined) {
    const missing_params = missing.map(({ name }) => name);
    const message = `Missing required parameter(s): ${missing_params.join(", ")}.`;
    throw problem(operation, "VALIDATION_MISSING_PARAM", message, { param_name: missing[0].name, missing_params });
  }
  checkSchema(data, operation, args);
  for (const param of operation.params) {
    if (param.default !== undefined && !(param.name in args)) args[param.name] = structuredClone(param.default);
  }
  return args;
}

const problem = ({ name, signature }: Operation, code: Code, message: string, details: JsonObject): OpError =>
  new OpError(code, message, { operation: name, ...details, signature });

/** The declared parameter for a name in any spelling. */
function meant({ params, spellings = {} }: Operation, name: string): Param | undefined {
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
  refuseUnknown(operation, "PARAM", names);
  // An exact name wins over another spelling of it.
  const isSpelled = (name: string): number => (meant(operation, name)?.name === name ? 0 : 1);
  for (const name of names.sort((a, b) => isSpelled(a) - isSpelled(b))) {
    const param = meant(operation, name);
    if (param !== undefined && !(param.name in args)) args[param.name] = given[name];
  }
  const input = takesInput ? (given["input"] ?? {}) : {};
  const refused = (code: Code, name: string, message: string): OpError =>
    problem(operation, code, `${name} ${message}.`, { param_name: name });
  if (!isObject(input)) throw refused("VALIDATION_INVALID_TYPE", "input", "must be an object with fields to change");
  refuseUnknown(operation, "FIELD", Object.keys(input));
  for (const [field, value] of Object.entries(input)) {
    const { name, identifier } = meant(operation, field) ?? {};
    if (name === undefined) continue;
    if (identifier === true) throw refused("VALIDATION_UNKNOWN_FIELD", `input.${name}`, "belongs beside 'input'");
    const isOther = name in args && canonical(args[name]) !== canonical(value);
    if (isOther) throw refused("VALIDATION_INVALID_VALUE", name, "has two values, one of them inside 'input'");
    args[name] = value;
  }
  return args;
}

/** Rejects names that are not declared, except those that start with `_`: they belong to the protocol. */
function refuseUnknown(operation: Operation, what: "PARAM" | "FIELD", names: readonly string[]): void {
  const isUnknown = (name: string): boolean => !name.startsWith("_") && meant(operation, name) === undefined;
  const unknown = names.filter(isUnknown).slice(0, 10).map((name) => name.slice(0, 64));
  if (unknown.length === 0) return;
  const [kind, place] = what === "PARAM" ? ["params", "parameter(s)"] : ["fields", "field(s) in 'input'"];
  const params = operation.params.filter((param) => what === "PARAM" || param.identifier !== true);
  const valid = params.map(({ name }) => name);
  const near = unknown.flatMap((name) => nearest(name, valid, 1).map((one) => [name, one]));
  const hint = near[0] === undefined ? "" : ` Did you mean '${near[0][1] ?? ""}'?`;
  const message = `Unknown ${place} for operation '${operation.name}':${unknown.map(quoted).join(",")}.${hint}`;
  const did_you_mean = hint === "" ? undefined : Object.fromEntries(near) as JsonObject;
  const details = { [`unknown_${kind}`]: unknown, [`valid_${kind}`]: valid, did_you_mean };
  throw problem(operation, `VALIDATION_UNKNOWN_${what}`, message, details);
}

const REFUSED_TEXTS = { no_nul: /\0/, no_control: /[\0-\x08\x0a-\x1f\x7f]/ };

/** Checks the limits of arguments, and returns them for Ajv, which knows no bigints: large ones are rounded. */
function measured({ limits }: CatalogData, { params }: Operation, args: JsonObject): JsonObject {
  let size = 0;
  const walk = (param: Param, value: unknown, depth: number): unknown => {
    const within = (limit: string, actual: number, maximum: number): void => {
      const message = `Parameter '${param.name}' exceeds the limit ${limit} of ${maximum}. Send less in one call.`;
      if (actual > maximum) throw tooLarge(message, { param_name: param.name, limit, actual, maximum });
    };
    size += typeof value === "string" ? Buffer.byteLength(value) + 2 : 1;
    if (typeof value === "string") {
      within("max_string_length", Buffer.byteLength(value), limits.string_bytes);
      const message = "holds a control character, which cannot be sent. Send plain text.";
      const isRefused = param.text !== undefined && REFUSED_TEXTS[param.text].test(value);
      if (isRefused) throw invalid(param.name, message, "VALIDATION_INVALID_ENCODING");
    }
    within("max_request_size", size, limits.request_bytes);
    if (typeof value === "number") within("max_number", Math.abs(value), Number.MAX_VALUE);
    if (typeof value !== "object" || value === null) return plain(value);
    within("max_nesting_depth", depth, limits.depth);
    within("max_array_elements", Object.keys(value).length, limits.array_items);
    if (Array.isArray(value)) return value.map((item) => walk(param, item, depth + 1));
    const fields = Object.entries(value).map(([key, item]) => [walk(param, key, depth), walk(param, item, depth + 1)]);
    return Object.fromEntries(fields) as JsonObject;
  };
  const checked = Object.entries(args).map(([name, value]) => {
    size += Buffer.byteLength(name);
    return [name, walk(params.find((param) => param.name === name) ?? { name }, value, 2)] as const;
  });
  return Object.fromEntries(checked);
}

/** NaN stands for integers outside 64 bits and for those that were rounded before. */
function plain(value: unknown): unknown {
  const isLong = typeof value === "bigint" && [BigInt.asIntN(64, value), BigInt.asUintN(64, value)].includes(value);
  const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLong ? Number(value) : typeof value === "bigint" || isInexact ? Number.NaN : value;
}

const ajv = new Ajv2020({
  ...{ strict: false, strictNumbers: false, allErrors: true, verbose: true, validateFormats: false },
  multipleOfPrecision: 9,
  validateSchema: false, // bounds may be bigints
  ownProperties: true, // a field may be called `constructor`
  code: { regExp: Object.assign((pattern: string) => RE2JS.compile(pattern), { code: "" }) }, // needs linear time
});
let steps = 0;
const step = (): boolean => {
  steps += 1;
  if (steps > MAX_STEPS) throw new RangeError("too many steps");
  return true;
};
ajv.addKeyword({ keyword: "x-recursive", validate: step });

/** The arguments of the current check, with numbers that Ajv does not know. */
let given: JsonObject = {};

type Numeric = number | bigint; // JavaScript compares the two exactly
type Keyword = readonly [keyword: string, holds: (rule: never, value: never) => boolean, type?: "number" | "array"];
const distinct = (items: unknown[]): number => new Set(items.map(canonical)).size;
/** Keywords that compare numbers. `uniqueItems` is here too, because Ajv compares every pair of items. */
const KEYWORDS: readonly Keyword[] = [
  ["minimum", (bound: Numeric, value: Numeric) => value >= bound, "number"],
  ["maximum", (bound: Numeric, value: Numeric) => value <= bound, "number"],
  ["exclusiveMinimum", (bound: Numeric, value: Numeric) => value > bound, "number"],
  ["exclusiveMaximum", (bound: Numeric, value: Numeric) => value < bound, "number"],
  ["enum", (literals: unknown[], value: unknown) => literals.map(canonical).includes(canonical(value))],
  ["uniqueItems", (rule: boolean, items: unknown[]) => !rule || distinct(items) === items.length, "array"],
];
for (const [keyword, holds, type] of KEYWORDS) {
  const validate = (rule: unknown, _data: unknown, _parent?: unknown, at?: DataValidationCxt): boolean => {
    const value = partsOf(at?.instancePath ?? "").reduce<unknown>((outer, part) => (outer as JsonObject)[part], given);
    return holds(rule as never, value as never);
  };
  ajv.removeKeyword(keyword).addKeyword({ keyword, validate, ...(type === undefined ? {} : { type }) });
}

/** A text that is the same for equal values. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

const validators = new WeakMap<Operation, ValidateFunction>();
/** The codes of keywords, the most important first. Any other keyword means VALIDATION_INVALID_VALUE. */
const CODES = new Map<string, Code>([
  ["additionalProperties", "VALIDATION_UNKNOWN_FIELD"],
  ["required", "VALIDATION_MISSING_PARAM"],
  ["type", "VALIDATION_INVALID_TYPE"],
  ["false schema", "VALIDATION_INVALID_TYPE"],
]);

function checkSchema(data: CatalogData, operation: Operation, args: JsonObject): void {
  const check = validators.get(operation) ?? ajv.compile({ ...operation.schema, $defs: data.$defs });
  validators.set(operation, check);
  [steps, given] = [0, args];
  try {
    if (check(measured(data, operation, args))) return;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = "The parameters are too large to be checked against their schema. Send less.";
    throw problem(operation, "VALIDATION_PAYLOAD_TOO_LARGE", message, {});
  }
  const errors = (check.errors ?? []).filter((error) => error.keyword !== "if");
  // That no choice of an `anyOf` fits says more than the errors of each choice.
  const choices = errors.filter((error) => error.keyword === "anyOf").map((error) => error.instancePath);
  const isInside = (error: ErrorObject): boolean =>
    error.keyword !== "anyOf" && choices.some((path) => `${error.instancePath}/`.startsWith(`${path}/`));
  const codeOf = (error: ErrorObject): Code =>
    (Number.isNaN(error.data) ? undefined : CODES.get(error.keyword)) ?? "VALIDATION_INVALID_VALUE";
  const rank = (error: ErrorObject): number => [...CODES.values(), "VALIDATION_INVALID_VALUE"].indexOf(codeOf(error));
  const [first, ...others] = errors.filter((error) => !isInside(error)).sort((a, b) => rank(a) - rank(b));
  if (first === undefined) return;
  const also = others.length === 0 ? undefined : others.slice(0, 4).map(said);
  throw problem(operation, codeOf(first), `${said(first)}.`, { param_name: placeOf(first), also });
}

/** The parts of a JSON Pointer. */
const partsOf = (pointer: string): string[] =>
  pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** `labels.2.name`. */
function placeOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty = [] } = params as { readonly missingProperty?: string };
  return [partsOf(instancePath), missingProperty].flat().join(".");
}

/** A message with the rule, never with the value. */
function said(error: ErrorObject): string {
  const { properties = {}, format } = (error.parentSchema ?? {}) as { properties?: object; format?: string };
  const rule: unknown = error.keyword === "additionalProperties" ? Object.keys(properties).slice(0, 10) : error.schema;
  const told = error.keyword === "pattern" ? (format ?? rule) : rule;
  return `Parameter '${placeOf(error)}' does not fit its ${error.keyword}: ${stringify(told).slice(0, 300)}`;
}
