// The parameters of a call against what the operation declares.
//
// The order is fixed: unknown names → required → limits (they protect what follows) → types → constraints → defaults.
// What always holds: what comes back holds declared names only, every required one among them, and nothing that the schema
// refuses; and an error repeats no secret: neither a sensitive parameter's value nor any part of it, its keys included.
//
// - `perPage` and `per-page` are accepted for `per_page`, and so is a parameter's wire name where only one has it; next to the exact
//   name they are ignored. Names that begin with `_` belong to the protocol and are dropped.
// - An update over HTTP may carry its fields in `input`; identifiers stay outside of it.

import type { Limits, Operation, Param } from "./catalog.js";
import { type Fields, isFields, noFields, own, same } from "./json.js";
import { Complaint, type Found } from "./complaint.js";
import { Measure } from "./measure.js";
import { check } from "./schema/check.js";
import type { Schemas } from "./schema/types.js";
import { snakeCase } from "./suggest.js";
import { byteLength } from "./text.js";

/** Longer keys are not another spelling of a name. */
const MAX_NAME = 96;
/** The object that carries the fields of an update. */
const INPUT = "input";

/** The parameters under their declared names, with defaults; throws an `OpError` that says what to repair. */
export function validate(operation: Operation, params: Fields, schemas: Schemas, limits: Limits): Fields {
  const validation = new Validation(operation);
  const named = validation.underDeclaredNames(params);
  validation.require(named);
  validation.check(named, schemas, limits);
  for (const param of operation.params) {
    if (param.default !== undefined && !Object.hasOwn(named, param.name)) named[param.name] = structuredClone(param.default);
  }
  return named;
}

class Validation {
  readonly #exact: ReadonlyMap<string, Param>;
  readonly #complaint: Complaint;

  constructor(readonly operation: Operation) {
    this.#exact = new Map(operation.params.map((param) => [param.name, param]));
    this.#complaint = new Complaint(operation);
  }

  underDeclaredNames(params: Fields): Fields {
    const named = noFields();
    const respelled: [Param, unknown][] = [];
    const unknown: string[] = [];
    let input: unknown;
    for (const [name, value] of Object.entries(params)) {
      const other = this.#exact.has(name) ? undefined : this.#respelled(name);
      if (this.#exact.has(name)) named[name] = value;
      else if (this.operation.takes_input === true && name === INPUT) input = value;
      else if (other !== undefined) respelled.push([other, value]);
      else if (!name.startsWith("_")) unknown.push(name);
    }
    if (unknown.length > 0) throw this.#complaint.unknownParams(unknown);
    for (const [param, value] of respelled) if (!Object.hasOwn(named, param.name)) named[param.name] = value;
    if (input === undefined) return named;
    if (!isFields(input)) throw this.#complaint.inputNotAnObject(input);
    return this.#merged(named, input);
  }

  /** The parameter that another spelling of its name stands for. */
  #respelled(name: string): Param | undefined {
    const { params, wire = {}, spelled = {} } = this.operation;
    const position = own(wire, name);
    if (typeof position === "number") return params[position];
    if (name.startsWith("_") || byteLength(name) > MAX_NAME) return undefined;
    const spelling = snakeCase(name);
    const other = own(spelled, spelling);
    return other === undefined ? this.#exact.get(spelling) : params[typeof other === "number" ? other : -1];
  }

  /** The flat parameters together with the fields of `input`. */
  #merged(named: Fields, fields: Fields): Fields {
    const unknown: string[] = [];
    for (const [name, value] of Object.entries(fields)) {
      const param = this.#exact.get(name) ?? this.#respelled(name);
      if (param === undefined) {
        if (!name.startsWith("_")) unknown.push(name);
        continue;
      }
      if (param.identifier === true) throw this.#complaint.identifierInInput(param);
      if (!Object.hasOwn(named, param.name)) named[param.name] = value;
      else if (!same(named[param.name], value)) throw this.#complaint.givenTwice(param);
    }
    if (unknown.length > 0) throw this.#complaint.unknownInputFields(unknown);
    return named;
  }

  require(params: Fields): void {
    const missing = this.operation.params.filter((param) => param.required === true && !Object.hasOwn(params, param.name));
    const [first, ...rest] = missing;
    if (first !== undefined) throw this.#complaint.missingParams(first, rest);
  }

  check(params: Fields, schemas: Schemas, limits: Limits): void {
    const measure = new Measure(limits);
    const found: Found[] = [];
    for (const [name, value] of Object.entries(params)) {
      const param = this.#exact.get(name);
      if (param === undefined) continue;
      const excess = measure.param(name, value, param.text);
      if (excess !== undefined) throw this.#complaint.excess(param, params, excess);
      for (const violation of check(schemas, param.check, value)) found.push({ param, value, violation });
    }
    if (found.length > 0) throw this.#complaint.violated(found);
  }
}
