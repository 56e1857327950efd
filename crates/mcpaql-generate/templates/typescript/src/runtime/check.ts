// Arguments of a tool call → one operation with complete, validated parameters.
//
// What always holds: errors come in a fixed order (envelope, operation, endpoint, names, required, limits, schema);
// what comes back holds declared names only; no error repeats a value that was given; no argument makes checking slow.

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import type { Catalog, CatalogData, Operation, Param } from "./catalog.js";
import { type Code, OpError, type Warning } from "./errors.js";
import { type JsonObject, isObject, stringify, tryParse } from "./json.js";
import { nearest, search, snakeCase } from "./suggest.js";

/** A call that may run; `args` has no prototype, so that no name is there unless it was given or has a default. */
export type Prepared = Readonly<{ operation: Operation; args: JsonObject; warnings: readonly Warning[] }>;

const MAX_STEPS = 100_000; // how often recursive types may be entered in one check

/** Prepares a call that came through a tool. */
export function prepare(catalog: Catalog, tool: string, given: JsonObject): Prepared {
  const route = catalog.route(tool) ?? {};
  const warnings: Warning[] = [];
  const deprecated = (code: string, message: string): unknown => warnings.push({ code, message });
  if (route.renamed_to !== undefined) {
    deprecated("DEPRECATED_TOOL", `The tool '${tool}' is now called '${route.renamed_to}'.`);
  }
  const { operation: called, ...beside } = given;
  const one = route.operation === undefined ? undefined : catalog.get(route.operation);
  const params = one === undefined ? merged(beside) : flat(one, given);
  if (one === undefined && (called === undefined || called === null)) {
    const message = `Missing required field 'operation'. Send {"operation": "introspect"} to list what there is.`;
    throw new OpError("VALIDATION_MISSING_PARAM", message, { param_name: "operation" }, undefined, true);
  }
  if (one === undefined && typeof called !== "string") throw notA("a string", "operation");
  const operation = one ?? find(catalog, String(called), params);
  const { name, endpoint } = operation;
  if (route.endpoint !== undefined && endpoint !== route.endpoint) {
    const message = `Operation '${name}' must be called via ${operation.tool}, not ${tool}.`;
    const expected = { operation: name, expected_endpoint: endpoint, expected_tool: operation.tool };
    throw new OpError("VALIDATION_ENDPOINT_MISMATCH", message, { ...expected, actual_endpoint: route.endpoint });
  }
  if (one === undefined && called !== name) {
    deprecated("DEPRECATED_OPERATION", `The operation '${String(called)}' is now called '${name}'.`);
  }
  const args = validate(catalog, operation, params);
  if (operation.deprecated !== undefined) {
    deprecated("DEPRECATED_OPERATION", `The operation '${name}' is deprecated. ${operation.deprecated}`.trimEnd());
  }
  return { operation, args, warnings };
}

function notA(what: string, field: string): OpError {
  const message = `Field '${field}' must be ${what}.`;
  return new OpError("VALIDATION_INVALID_TYPE", message, { param_name: field }, undefined, true);
}

/** The parameters of a tool that is one operation: the arguments themselves, or an envelope. */
function flat({ name, aliases = [], params }: Operation, given: JsonObject): JsonObject {
  const declares = (one: string): boolean => params.some((param) => param.name === one);
  const { operation: called, ...rest } = given;
  const isEnvelope = [name, ...aliases].includes(called as string) && !declares("operation");
  const args = isEnvelope ? rest : given;
  return declares("params") ? args : merged(args);
}

/** What stands under `params`, and beside it what that does not name. Some models write the object as a string. */
function merged({ params, ...beside }: JsonObject): JsonObject {
  if (params === undefined || params === null) return beside;
  const object = typeof params === "string" ? tryParse(params) : params;
  if (!isObject(object)) throw notA("an object", "params");
  return { ...beside, ...object };
}

function find(catalog: Catalog, name: string, params: JsonObject): Operation {
  const found = catalog.get(name);
  if (found !== undefined) return found;
  const { operations } = catalog.data;
  const near = nearest(name, operations.map((operation) => operation.name));
  const words = [name, ...Object.keys(params).slice(0, 12)].join(" ").slice(0, 500);
  const suggestions = [...new Set([...near, ...search(operations, words).map((one) => one.name)])].slice(0, 3);
  const [first] = suggestions;
  const hint = first === undefined ? "Use 'introspect' to list operations." : `Did you mean '${first}'?`;
  const signatures = suggestions.flatMap((one) => catalog.get(one)?.brief ?? []);
  const details = { operation: name.slice(0, 64), suggestions, signatures };
  throw new OpError("NOT_FOUND_OPERATION", `Unknown operation${quoted(name)}. ${hint}`, details);
}

/** A caller's word as a sentence may repeat it; what is no name is not repeated. */
export const quoted = (name: string): string => (/^[\p{L}\p{N}_./:-]{1,64}$/u.test(name) ? ` '${name}'` : "");

/** The parameters under their declared names, checked and with defaults. */
function validate({ data }: Catalog, operation: Operation, given: JsonObject): JsonObject {
  const args = new Names(operation).declared(given);
  const missing = operation.params.filter((param) => param.required === true && !(param.name in args));
  if (missing[0] !== undefined) {
    const missing_params = missing.map(({ name }) => name);
    const message = `Missing required parameter(s): ${missing_params.join(", ")}.`;
    throw problem(operation, "VALIDATION_MISSING_PARAM", message, { param_name: missing[0].name, missing_params });
  }
  let room = data.limits.request_bytes;
  for (const [name, value] of Object.entries(args)) {
    const param = operation.params.find((declared) => declared.name === name);
    if (param !== undefined) room = measure(data.limits, param, value, 2, room - Buffer.byteLength(name));
  }
  checkSchema(data, operation, args);
  for (const param of operation.params) {
    if (param.default !== undefined && !(param.name in args)) args[param.name] = structuredClone(param.default);
  }
  return args;
}

const problem = ({ name, signature }: Operation, code: Code, message: string, details: JsonObject): OpError =>
  new OpError(code, message, { operation: name, ...details, signature });

/** The names of an operation's parameters, in all spellings. */
class Names {
  readonly #declared: ReadonlyMap<string, Param>;

  constructor(readonly operation: Operation) {
    this.#declared = new Map(operation.params.map((param) => [param.name, param]));
  }

  /** The parameters that a call means. */
  declared(given: JsonObject): JsonObject {
    const args = Object.create(null) as JsonObject;
    const isInput = (name: string): boolean => name === "input" && this.operation.takes_input === true;
    const unknown = Object.keys(given).filter((name) => this.#meant(name) === undefined && !isInput(name));
    this.#refuse("params", unknown);
    // An exact name goes before another spelling of it.
    const spelled = (name: string): boolean => !this.#declared.has(name);
    for (const name of Object.keys(given).sort((a, b) => Number(spelled(a)) - Number(spelled(b)))) {
      const meant = this.#meant(name);
      if (meant !== undefined && !(meant in args)) args[meant] = given[name];
    }
    if (this.operation.takes_input === true && given["input"] !== undefined) this.#merge(args, given["input"]);
    return args;
  }

  /** The declared name that a name stands for. */
  #meant(name: string): string | undefined {
    const { spellings = {} } = this.operation;
    if (this.#declared.has(name)) return name;
    if (Object.hasOwn(spellings, name)) return spellings[name] ?? undefined;
    if (name.startsWith("_") || Buffer.byteLength(name) > 96) return undefined;
    const snake = snakeCase(name);
    if (Object.hasOwn(spellings, snake)) return spellings[snake] ?? undefined;
    return this.#declared.has(snake) ? snake : undefined;
  }

  /** The fields of an update, beside the flat parameters. */
  #merge(args: JsonObject, input: unknown): void {
    const refuse = (code: Code, name: string, message: string): OpError =>
      problem(this.operation, code, `${name} ${message}.`, { param_name: name });
    if (!isObject(input)) throw refuse("VALIDATION_INVALID_TYPE", "input", "must be an object with fields to change");
    this.#refuse("fields", Object.keys(input).filter((name) => this.#meant(name) === undefined));
    for (const [given, value] of Object.entries(input)) {
      const { name, identifier } = this.#declared.get(this.#meant(given) ?? "") ?? { name: "_" };
      if (identifier === true) throw refuse("VALIDATION_UNKNOWN_FIELD", `input.${name}`, "belongs beside 'input'");
      const isOther = name in args && stringify(args[name]) !== stringify(value);
      if (isOther) throw refuse("VALIDATION_INVALID_VALUE", name, "has two values, one of them inside 'input'");
      if (name !== "_") args[name] = value;
    }
  }

  /** Names that begin with `_` belong to the protocol. */
  #refuse(what: "params" | "fields", names: readonly string[]): void {
    const unknown = names.filter((name) => !name.startsWith("_")).slice(0, 10).map((name) => name.slice(0, 64));
    if (unknown.length === 0) return;
    const params = this.operation.params.filter((param) => what === "params" || param.identifier !== true);
    const valid = params.map(({ name }) => name);
    const meant = Object.fromEntries(unknown.flatMap((name) => nearest(name, valid, 1).map((near) => [name, near])));
    const hint = Object.values(meant)[0];
    const message =
      `Unknown ${what === "params" ? "parameter(s)" : "field(s) in 'input'"} for operation '${this.operation.name}':` +
      `${unknown.map(quoted).join(",")}.${hint === undefined ? "" : ` Did you mean '${hint}'?`}`;
    const code = what === "params" ? "VALIDATION_UNKNOWN_PARAM" : "VALIDATION_UNKNOWN_FIELD";
    const details = { [`unknown_${what}`]: unknown, [`valid_${what}`]: valid };
    throw problem(this.operation, code, message, hint === undefined ? details : { ...details, did_you_mean: meant });
  }
}

const REFUSED_TEXTS = { no_nul: /\0/, no_control: /[\0-\x08\x0a-\x1f\x7f]/ };

/** Walks a value until a limit is passed; gives the bytes that are left for the rest of the request. */
function measure(limits: CatalogData["limits"], param: Param, value: unknown, depth: number, room: number): number {
  const within = (limit: string, actual: number, maximum: number): void => {
    const message = `Parameter '${param.name}' goes beyond the limit ${limit} of ${maximum}. Send less in one call.`;
    const details = { param_name: param.name, limit, actual, maximum };
    if (actual > maximum) throw new OpError("VALIDATION_PAYLOAD_TOO_LARGE", message, details);
  };
  let left = room - 1;
  if (typeof value === "string") {
    left -= Buffer.byteLength(value) + 1;
    within("max_string_length", Buffer.byteLength(value), limits.string_bytes);
    const message = `Parameter '${param.name}' holds a control character that cannot be sent. Send plain text.`;
    const isRefused = param.text !== undefined && REFUSED_TEXTS[param.text].test(value);
    if (isRefused) throw new OpError("VALIDATION_INVALID_ENCODING", message, { param_name: param.name });
  } else if (typeof value === "object" && value !== null) {
    within("max_nesting_depth", depth, limits.depth);
    within("max_array_elements", Object.keys(value).length, limits.array_items);
    for (const [key, item] of Object.entries(value)) {
      if (!Array.isArray(value)) left = measure(limits, param, key, depth, left);
      left = measure(limits, param, item, depth + 1, left);
    }
  }
  within("max_request_size", limits.request_bytes - left, limits.request_bytes);
  return left;
}

/** Patterns run on an engine that is linear in the text. */
function linear(pattern: string): { test: (text: string) => boolean; toString: () => string } {
  const compiled = RE2JS.compile(pattern);
  return { test: (text) => compiled.test(text), toString: () => pattern };
}

const ajv = new Ajv2020({
  ...{ strict: false, allErrors: true, verbose: true, validateFormats: false, multipleOfPrecision: 9 },
  ownProperties: true, // a field may be called `constructor`
  code: { regExp: Object.assign(linear, { code: "" }) },
});
let steps = 0;
const step = (): boolean => {
  steps += 1;
  if (steps > MAX_STEPS) throw new RangeError("too many steps");
  return true;
};
ajv.addKeyword({ keyword: "x-recursive", validate: step });
// The library's own compares every pair of items.
const isUnique = (unique: boolean, items: unknown[]): boolean =>
  !unique || new Set(items.map((item) => stringify(plain(item)))).size === items.length;
ajv.removeKeyword("uniqueItems").addKeyword({ keyword: "uniqueItems", type: "array", validate: isUnique });

/** The value in a form that the library takes and that is the same for equal values: no bigints, keys in order. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, plain(value[key])]));
}

const validators = new WeakMap<Operation, ValidateFunction>();
/** What breaking a keyword means; the gravest first. Any other keyword is about a value. */
const CODES: readonly (readonly [string, Code])[] = [
  ["additionalProperties", "VALIDATION_UNKNOWN_FIELD"],
  ["required", "VALIDATION_MISSING_PARAM"],
  ["type", "VALIDATION_INVALID_TYPE"],
  ["false schema", "VALIDATION_INVALID_TYPE"],
];

function checkSchema(data: CatalogData, operation: Operation, args: JsonObject): void {
  const check = validators.get(operation) ?? ajv.compile({ ...operation.schema, $defs: data.$defs });
  validators.set(operation, check);
  steps = 0;
  try {
    if (check(plain(args))) return;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = "The parameters are too large to be checked against their schema. Send less.";
    throw problem(operation, "VALIDATION_PAYLOAD_TOO_LARGE", message, {});
  }
  const errors = (check.errors ?? []).filter((error) => error.keyword !== "if");
  // What is wrong with each of several forms says less than that none of them fits.
  const choices = errors.filter((error) => error.keyword === "anyOf").map((error) => error.instancePath);
  const isInside = (error: ErrorObject): boolean =>
    error.keyword !== "anyOf" && choices.some((path) => `${error.instancePath}/`.startsWith(`${path}/`));
  const rank = (error: ErrorObject): number => (CODES.findIndex(([keyword]) => keyword === error.keyword) + 9) % 9;
  const [first, ...others] = errors.filter((error) => !isInside(error)).sort((a, b) => rank(a) - rank(b));
  if (first === undefined) return;
  const code = CODES.find(([keyword]) => keyword === first.keyword)?.[1] ?? "VALIDATION_INVALID_VALUE";
  const also = others.slice(0, 4).map(said);
  const details = { param_name: placeOf(first), ...(also.length > 0 ? { also } : {}) };
  throw problem(operation, code, `${said(first)}.`, details);
}

/** `labels.2.name`. */
function placeOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty } = params as { readonly missingProperty?: string };
  const parts = instancePath.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return [...parts, missingProperty ?? []].flat().join(".");
}

/** One sentence with the rule, never with the value. */
function said(error: ErrorObject): string {
  const { keyword, message = "is not valid", parentSchema } = error;
  const fields = Object.keys((parentSchema?.["properties"] ?? {}) as JsonObject).slice(0, 10).join(", ");
  const rules = { additionalProperties: `its fields are ${fields}`, enum: stringify(error.schema).slice(0, 300) };
  const rule = keyword in rules ? `: ${rules[keyword as keyof typeof rules]}` : "";
  const format = keyword === "pattern" ? (parentSchema?.["format"] as string | undefined) : undefined;
  return `Parameter '${placeOf(error)}' ${format === undefined ? message : `must be a ${format}`}${rule}`;
}
