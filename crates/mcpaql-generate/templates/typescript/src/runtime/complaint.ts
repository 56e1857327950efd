// What to tell the model about parameters that do not fit: one sentence with the repair in it, the rest in `details`, the
// signature always.

import type { Operation, Param } from "./catalog.js";
import { type Code, OpError } from "./errors.js";
import { type Fields, isFields, own, parse, stringify, typeName } from "./json.js";
import type { Excess } from "./measure.js";
import { type Violation, type ViolationKind, pathText, said } from "./schema/violation.js";
import { nearest } from "./suggest.js";
import { asciiLower, byteLength, shorten, splitBlanks, trim } from "./text.js";

/** Characters of a value that `details` repeats. */
const ECHO = 200;
/** Names that a message lists. */
const LISTED = 10;
/** Further problems that `details.also` lists. */
const ALSO = 4;

/** A parameter, its value, and what is wrong with it. */
export interface Found {
  readonly param: Param;
  readonly value: unknown;
  readonly violation: Violation;
}

/** The complaints about calls of one operation. */
export class Complaint {
  constructor(readonly operation: Operation) {}

  #error(code: Code, message: string, details: Fields): OpError {
    const error = new OpError(code, message).with("operation", this.operation.name);
    Object.assign(error.details, details);
    return error.with("signature", this.operation.signature);
  }

  #names(keep: (param: Param) => boolean): string[] {
    return this.operation.params.filter(keep).map((param) => param.name);
  }

  unknownParams(unknown: readonly string[]): OpError {
    const valid = this.#names(() => true);
    const pairs = meant(unknown, valid);
    const hint = valid.length === 0 ? ". It takes no parameters" : question(pairs, unknown.length);
    const message = `Unknown parameter(s) for operation '${this.operation.name}': ${listed(unknown)}${hint}`;
    return this.#error("VALIDATION_UNKNOWN_PARAM", message, {
      unknown_params: texts(unknown),
      valid_params: valid,
      ...(pairs.length === 0 ? {} : { did_you_mean: Object.fromEntries(pairs) }),
    });
  }

  unknownInputFields(unknown: readonly string[]): OpError {
    const valid = this.#names((param) => param.identifier !== true);
    const pairs = meant(unknown, valid);
    const message = `Unknown field(s) in 'input' of operation '${this.operation.name}': ${listed(unknown)}${question(pairs, unknown.length)}`;
    return this.#error("VALIDATION_UNKNOWN_FIELD", message, {
      param_name: "input",
      unknown_fields: texts(unknown),
      valid_fields: valid,
      ...(pairs.length === 0 ? {} : { did_you_mean: Object.fromEntries(pairs) }),
    });
  }

  identifierInInput({ name }: Param): OpError {
    const message = `'${name}' says what is updated and belongs beside 'input', not inside it`;
    return this.#error("VALIDATION_UNKNOWN_FIELD", message, {
      param_name: `input.${name}`,
      unknown_fields: [name],
      valid_fields: this.#names((param) => param.identifier !== true),
    });
  }

  givenTwice({ name }: Param): OpError {
    const message = `Parameter '${name}' has two different values, one of them inside 'input'. Send it once`;
    return this.#error("VALIDATION_INVALID_VALUE", message, { param_name: name });
  }

  inputNotAnObject(given: unknown): OpError {
    const actual = typeName(given);
    const message = `Parameter 'input' expected 'object', got '${actual}'. Send the fields to change as an object or as flat parameters`;
    return this.#error("VALIDATION_INVALID_TYPE", message, { param_name: "input", expected_type: "object", actual_type: actual });
  }

  missingParams(first: Param, rest: readonly Param[]): OpError {
    const others = rest.length === 0 ? "" : ` (and ${rest.length} more: ${listed(rest.map(({ name }) => `'${name}'`))})`;
    const message = `Missing required parameter '${first.name}'${others}. Expected: ${first.expected}`;
    return this.#error("VALIDATION_MISSING_PARAM", message, {
      param_name: first.name,
      missing_params: [first, ...rest].map(({ name }) => name),
    });
  }

  excess({ name }: Param, params: Fields, excess: Excess): OpError {
    switch (excess.is) {
      case "request": {
        const actual = byteLength(stringify(params));
        const message = `The parameters have ${actual} bytes, the limit is ${excess.maximum}. Send less in one call`;
        return this.#tooLarge(name, "max_request_size", actual, excess.maximum, message);
      }
      case "string": {
        const message = `Parameter '${name}' has a text of ${excess.actual} bytes, the limit is ${excess.maximum}. Send a shorter one`;
        return this.#tooLarge(name, "max_string_length", excess.actual, excess.maximum, message);
      }
      case "items": {
        const message = `Parameter '${name}' has ${excess.actual} items, the limit is ${excess.maximum}. Split the call`;
        return this.#tooLarge(name, "max_array_elements", excess.actual, excess.maximum, message);
      }
      case "depth": {
        // A value that is too deep is not walked to its end; one level more is what is known.
        const message = `Parameter '${name}' is nested deeper than ${excess.maximum} levels. Send a flatter value`;
        return this.#tooLarge(name, "max_nesting_depth", excess.maximum + 1, excess.maximum, message);
      }
      case "nul":
        return this.#encoding(name, `Parameter '${name}' holds the character U+0000. Send it without`);
      case "control":
        return this.#encoding(name, `Parameter '${name}' holds a control character such as a line break. Send one plain line`);
    }
  }

  #tooLarge(name: string, limit: string, actual: number, maximum: number, message: string): OpError {
    return this.#error("VALIDATION_PAYLOAD_TOO_LARGE", message, { param_name: name, limit, actual, maximum });
  }

  #encoding(name: string, message: string): OpError {
    return this.#error("VALIDATION_INVALID_ENCODING", message, { param_name: name });
  }

  /** The gravest violation as the error, the others as `details.also`. */
  violated(found: readonly Found[]): OpError {
    const sorted = found.toSorted((a, b) => rank(a.violation.kind) - rank(b.violation.kind));
    const [first, ...others] = sorted.map((one) => new Report(one));
    if (first === undefined) return this.#error("VALIDATION_INVALID_VALUE", "A parameter is not valid", {});
    const also = others.slice(0, ALSO).map((report) => report.message());
    return this.#error(first.code(), first.message(), { ...first.details(), ...(also.length === 0 ? {} : { also }) });
  }
}

/** A caller's name as a message shows it: short, and one word, so that it never reads as a sentence of ours. */
function shown(name: string): string {
  return splitBlanks(shorten(name, 64)).join("_");
}

/** Names as a message lists them. */
function listed(names: readonly string[]): string {
  const some = names.slice(0, LISTED).map(shown).join(", ");
  return names.length <= LISTED ? some : `${some} and ${names.length - LISTED} more`;
}

/** Unknown names, each with the declared one that was probably meant. */
function meant(unknown: readonly string[], valid: readonly string[]): [string, string][] {
  return unknown.slice(0, LISTED).flatMap((name): [string, string][] => {
    const near = nearest(name, valid);
    return near === undefined ? [] : [[shorten(name, 64), near]];
  });
}

/** `. Did you mean 'force'?` */
function question(pairs: readonly [string, string][], unknown: number): string {
  const words = pairs.map(([name, near]) => (unknown === 1 ? `'${near}'` : `'${near}' for '${shown(name)}'`));
  return words.length === 0 ? "" : `. Did you mean ${words.join(", ")}?`;
}

function texts(names: readonly string[]): string[] {
  return names.slice(0, LISTED).map((name) => shorten(name, 64));
}

/** The protocol's order: unknown → required → types → constraints. */
function rank(kind: ViolationKind): number {
  const order = ["unknown-field", "missing", "type"].indexOf(kind.is);
  return order < 0 ? 3 : order;
}

/**
 * One violation of one parameter, on its way to a sentence. A secret one tells nothing that the caller gave: no value, no key, no
 * suggestion that depends on them.
 */
class Report {
  readonly #kind: ViolationKind;
  /** `labels[2].name`. */
  readonly #place: string;
  readonly #secret: boolean;
  readonly #given: unknown;

  constructor({ param, value, violation: { path, sensitive, kind } }: Found) {
    this.#kind = kind;
    this.#secret = param.sensitive === true || sensitive;
    const key = this.#secret ? path.findIndex((part) => part.is === "key") : -1;
    this.#place = pathText(param.name, key < 0 ? path : path.slice(0, key));
    this.#given = this.#secret ? undefined : path.reduce(step, value);
  }

  code(): Code {
    switch (this.#kind.is) {
      case "type":
        return "VALIDATION_INVALID_TYPE";
      case "missing":
        return "VALIDATION_MISSING_PARAM";
      case "unknown-field":
        return "VALIDATION_UNKNOWN_FIELD";
      case "too-deep":
      case "too-complex":
        return "VALIDATION_PAYLOAD_TOO_LARGE";
      default:
        return "VALIDATION_INVALID_VALUE";
    }
  }

  message(): string {
    const [kind, place] = [this.#kind, this.#place];
    switch (kind.is) {
      case "type": {
        const hint = advice(kind.expected, this.#given);
        return `Parameter '${place}' ${said(kind)}${hint === undefined ? "" : `. ${hint}`}`;
      }
      case "missing":
        return `Missing required field '${kind.field}' in '${place}'`;
      case "unknown-field": {
        if (this.#secret) return `Unknown field in '${place}'. Its fields are: ${listed(kind.valid)}`;
        const fields = kind.valid.length === 0 ? "It has no fields" : `Its fields are: ${listed(kind.valid)}`;
        const hint = kind.nearest === undefined ? fields : `Did you mean '${kind.nearest}'?`;
        return `Unknown field in '${place}': ${shorten(kind.field, 64)}. ${hint}`;
      }
      case "value": {
        const near = this.#secret ? undefined : kind.nearest;
        return `Parameter '${place}' ${kind.fragment}${near === undefined ? "" : `. Did you mean '${near}'?`}`;
      }
      case "no-variant":
        if (this.#secret) return `Parameter '${place}' matches none of its forms`;
        break;
    }
    return `Parameter '${place}' ${said(kind)}`;
  }

  details(): Fields {
    const [kind, place] = [this.#kind, this.#place];
    const details: Fields = { param_name: place };
    let echoed = false;
    switch (kind.is) {
      case "type":
        details["expected_type"] = kind.expected;
        details["actual_type"] = kind.actual;
        // A list or an object that was sent as a text may have secrets among its parts.
        echoed = !wants(kind.expected, "array") && !wants(kind.expected, "object");
        break;
      case "missing":
        details["param_name"] = pathText(place, [{ is: "field", name: kind.field }]);
        details["missing_params"] = [details["param_name"]];
        break;
      case "unknown-field":
        if (!this.#secret) details["unknown_fields"] = [shorten(kind.field, 64)];
        details["valid_fields"] = kind.valid;
        if (!this.#secret && kind.nearest !== undefined) {
          details["did_you_mean"] = Object.fromEntries([[shorten(kind.field, 64), kind.nearest]]);
        }
        break;
      case "value":
        details["allowed"] = kind.allowed;
        echoed = true;
        break;
    }
    const value = echoed ? echo(this.#given) : undefined;
    return value === undefined ? details : { ...details, value };
  }
}

function step(value: unknown, part: Violation["path"][number]): unknown {
  if (part.is === "index") return Array.isArray(value) ? value[part.index] : undefined;
  return isFields(value) ? own(value, part.name) : undefined;
}

/**
 * A scalar as it was given, shortened. Larger values are known to whoever sent them, and may hold a secret; so may a text that
 * spells one of them.
 */
function echo(value: unknown): unknown {
  if (typeof value === "string") return /^\p{White_Space}*[{[]/u.test(value) ? undefined : shorten(value, ECHO);
  return typeof value === "object" ? undefined : value;
}

/** Whether a value of one of these types is expected. */
function wants(expected: string, kind: string): boolean {
  return expected.split(" | ").some((name) => name === kind || (name === "number" && kind === "integer"));
}

/** What to send instead of a value of the wrong type. */
function advice(expected: string, given: unknown): string | undefined {
  if (given === null) return "Leave it out instead of sending null";
  if (typeof given === "string") {
    const [value, text] = meantBy(given);
    if (value !== undefined && wants(expected, typeName(value))) {
      return typeof value === "object" && value !== null ? "Send it as JSON, unquoted" : `Send it unquoted: ${text}`;
    }
    return wants(expected, "array") ? `Send a list such as ["a", "b"]` : undefined;
  }
  const scalar = typeof given === "number" || typeof given === "bigint" || typeof given === "boolean";
  return scalar && wants(expected, "string") ? `Send it quoted: "${stringify(given)}"` : undefined;
}

/** The value that a text spells, and how it is written. */
function meantBy(given: string): [value: unknown, text: string] {
  const text = trim(given);
  const flag = asciiLower(text);
  if (flag === "true" || flag === "false") return [flag === "true", flag];
  try {
    const value = parse(text);
    // A number with a fraction or an exponent keeps its fraction.
    const isFloat = typeof value === "number" && !/^-?\d+$/.test(text) && Number.isInteger(value);
    return [value === Infinity || value === -Infinity ? undefined : value, `${stringify(value)}${isFloat ? ".0" : ""}`];
  } catch {
    return [undefined, ""];
  }
}
