// Arguments of a tool call → one validated call of one operation.
//
// What always holds: the order is envelope, operation known, right endpoint, then the parameters (`validate.ts`). Everything here
// can be mended by the agent, except arguments that are no envelope at all.

import { type Catalog, INTROSPECT, type Operation } from "./catalog.js";
import { meant } from "./discovery.js";
import { OpError } from "./errors.js";
import { type Fields, isFields, parse, typeName } from "./json.js";
import type { Warning } from "./response.js";
import { byteLength, quoted, take } from "./text.js";
import { validate } from "./validate.js";

/** So many keys of parameters help to find out which operation was meant. */
const KEYS = 12;
/** Longer keys are no names. */
const LONG_KEY = 64;

/** A call that may run: an operation and complete, validated arguments. */
export interface Prepared {
  readonly operation: Operation;
  /** By parameter name, defaults filled in. */
  readonly args: Fields;
  /** What to tell the agent besides the answer. */
  readonly warnings: Warning[];
}

/** Prepares a call that came through a tool; throws an `OpError` that says what is wrong. */
export function prepare(catalog: Catalog, tool: string, args: Fields): Prepared {
  const route = catalog.route(tool);
  if (route === undefined) throw noTool(tool);
  const warnings: Warning[] = [];
  if (route.renamed_to !== undefined) {
    warnings.push({ code: "DEPRECATED_TOOL", message: `The tool '${tool}' is now called '${route.renamed_to}'.` });
  }
  if (route.operation !== undefined) {
    const operation = catalog.operations[route.operation];
    if (operation === undefined) throw noTool(tool);
    return finish(catalog, operation, flat(operation, args), warnings);
  }
  const { name, params } = merged(args);
  if (name === undefined) throw missingOperation();
  const operation = find(catalog, name, params);
  if (route.endpoint !== undefined && operation.endpoint !== route.endpoint) {
    throw wrongEndpoint(operation, route.endpoint, tool);
  }
  if (operation.name !== name) {
    warnings.push({ code: "DEPRECATED_OPERATION", message: `The operation '${name}' is now called '${operation.name}'.` });
  }
  return finish(catalog, operation, params, warnings);
}

function finish(catalog: Catalog, operation: Operation, params: Fields, warnings: Warning[]): Prepared {
  if (operation.unreadable === true) {
    const message = `The operation '${operation.name}' cannot be read from the description of its API; use another one.`;
    throw new OpError("INTERNAL_ERROR", message);
  }
  const args = validate(operation, params, catalog.schemas, catalog.limits);
  if (operation.deprecated !== undefined) {
    const message = `The operation '${operation.name}' is deprecated. ${operation.deprecated}`.trimEnd();
    warnings.push({ code: "DEPRECATED_OPERATION", message });
  }
  return { operation, args, warnings };
}

/**
 * The parameters of a tool that is one operation. The arguments are the parameters; an envelope is taken too, as far as the
 * operation has no parameters of those names.
 */
function flat(operation: Operation, args: Fields): Fields {
  const has = (name: string) => operation.params.some((param) => param.name === name);
  const { operation: called, ...rest } = args;
  const namesIt = called === operation.name || operation.aliases?.some((alias) => alias === called) === true;
  const left = namesIt && !has("operation") ? rest : args;
  return has("params") ? left : together(left);
}

/** The operation's name and its parameters. */
function merged(args: Fields): { name: string | undefined; params: Fields } {
  const { operation: name, ...rest } = args;
  if (name !== undefined && name !== null && typeof name !== "string") {
    throw new OpError("VALIDATION_INVALID_TYPE", "Field 'operation' must be a string, the name of an operation.")
      .with("param_name", "operation")
      .with("actual_type", typeName(name))
      .beforeDispatch();
  }
  return { name: name ?? undefined, params: together(rest) };
}

/** What stands under `params`, and beside it those that it does not name. */
function together({ params, ...beside }: Fields): Fields {
  const own = inside(params);
  return { ...own, ...beside, ...own };
}

function inside(params: unknown): Fields {
  if (params === undefined || params === null) return {};
  if (isFields(params)) return params;
  if (typeof params !== "string") throw paramsNotObject(typeName(params));
  // Some models write the object as a string; what it means is not in doubt.
  try {
    const read = parse(params);
    if (isFields(read)) return read;
  } catch {
    // Told below.
  }
  throw paramsNotObject("string");
}

function paramsNotObject(found: string): OpError {
  return new OpError("VALIDATION_INVALID_TYPE", "Field 'params' must be an object with the operation's parameters.")
    .with("param_name", "params")
    .with("expected_type", "object")
    .with("actual_type", found)
    .beforeDispatch();
}

function noTool(tool: string): OpError {
  return new OpError("NOT_FOUND_OPERATION", `There is no tool${quoted(tool)} here.`);
}

function missingOperation(): OpError {
  return new OpError(
    "VALIDATION_MISSING_PARAM",
    `Missing required field 'operation'. Send {"operation": "introspect"} to list what there is.`,
  )
    .with("param_name", "operation")
    .beforeDispatch();
}

function find(catalog: Catalog, name: string, params: Fields): Operation {
  const known = catalog.get(name);
  if (known !== undefined) return known;
  const keys = Object.keys(params).filter((key) => byteLength(key) <= LONG_KEY);
  const offered = meant(catalog, name, keys.slice(0, KEYS));
  const names = offered.map((operation) => operation.name);
  const hint = names[0] === undefined ? `Use '${INTROSPECT}' to list operations.` : `Did you mean '${names[0]}'?`;
  const error = new OpError("NOT_FOUND_OPERATION", `Unknown operation${quoted(name)}. ${hint}`)
    .with("operation", take(name, 64))
    .with("suggestions", names);
  throw names.length === 0 ? error : error.with("signatures", offered.map(({ brief }) => brief[0]));
}

function wrongEndpoint(operation: Operation, actual: string, tool: string): OpError {
  const message = `Operation '${operation.name}' must be called via ${operation.tool}, not ${tool}.`;
  return new OpError("VALIDATION_ENDPOINT_MISMATCH", message)
    .with("operation", operation.name)
    .with("expected_endpoint", operation.endpoint)
    .with("actual_endpoint", actual)
    .with("expected_tool", operation.tool);
}
