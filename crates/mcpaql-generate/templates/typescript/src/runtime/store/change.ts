// Changes to a record: what an update asks for, the merge, and what a record must be afterwards.

import { type Code, OpError } from "../errors.js";
import { hasControl } from "../lines.js";
import { check } from "../schema/check.js";
import type { NodeId, Schemas } from "../schema/types.js";
import { pathText, said } from "../schema/violation.js";
import { chars, take } from "../text.js";
import { type JsonObject, isObject, own } from "../values.js";
import { RECORD_KEYS, type Resource, isFlat } from "./binding.js";

/** A resource with what calls need of it. */
export interface Kind {
  readonly name: string;
  readonly resource: Resource;
  readonly search: readonly string[];
  /** What every record fulfils. */
  readonly schema: NodeId;
  readonly schemas: Schemas;
}

/** The fields of a new record. Null is the same as nothing. */
export function newBody({ resource }: Kind, args: JsonObject): JsonObject {
  const given = Object.keys(resource.fields).filter((name) => own(args, name) !== undefined);
  return merged({}, Object.fromEntries(given.map((name) => [name, own(args, name)])));
}

/** What an update asks for: `input`, and flat fields over it. */
export function changes(kind: Kind, args: JsonObject): JsonObject {
  const input = own(args, "input") ?? {};
  if (!isObject(input)) {
    throw new OpError("VALIDATION_INVALID_TYPE", "Parameter 'input' must be an object with the fields to change.");
  }
  const fields = Object.keys(kind.resource.fields);
  const unknown = Object.keys(input).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw unknownField(fields, unknown);
  const flat = fields.filter((name) => isFlat(name) && own(args, name) !== undefined);
  const all = { ...input, ...Object.fromEntries(flat.map((name) => [name, own(args, name)])) };
  if (Object.keys(all).length === 0) {
    throw new OpError(
      "VALIDATION_MISSING_PARAM",
      "Nothing to change: give 'input' with the fields to set, or null to remove one.",
    ).with("valid_fields", fields);
  }
  return all;
}

function unknownField(fields: string[], name: string): OpError {
  let message = `Unknown field '${clip(name)}' in 'input'. Use one of: ${fields.join(", ")}.`;
  if (name === "id") message = "Field 'id' does not belong in 'input'; give it as a parameter of its own.";
  else if (name === "_etag") message = "Field '_etag' does not belong in 'input'; give it as 'if_match'.";
  else if (RECORD_KEYS.includes(name)) message = `Field '${name}' is written by the store and cannot be changed.`;
  return new OpError("VALIDATION_UNKNOWN_FIELD", message).with("valid_fields", fields);
}

/** What a caller sent, short enough to be repeated to it. */
export function clip(text: string): string {
  return take(chars(text).filter((char) => !hasControl(char)).join(""), 64);
}

/** Deep merge: objects merge, everything else replaces, null removes. */
export function merged(target: JsonObject, more: JsonObject): JsonObject {
  const out = new Map(Object.entries(target));
  for (const [name, change] of Object.entries(more)) {
    if (change === null) {
      out.delete(name);
    } else if (isObject(change)) {
      const present = out.get(name);
      out.set(name, merged(isObject(present) ? present : {}, change));
    } else {
      out.set(name, change);
    }
  }
  return Object.fromEntries(out);
}

/**
 * What every stored record fulfils: the schema of its resource, after a merge as after a creation.
 *
 * Fields that an earlier version of the document declared may still be in a record; they are kept and not judged.
 */
export function checkFields(kind: Kind, body: JsonObject): void {
  const [violation] = check(kind.schemas, kind.schema, body);
  if (violation === undefined) return;
  const { kind: what, path } = violation;
  const place = pathText("", path);
  if (what.is === "missing" && path.length === 0) {
    throw new OpError(
      "VALIDATION_MISSING_PARAM",
      `Field '${what.field}' is required and cannot be removed; give it a value.`,
    ).with("param_name", what.field);
  }
  const code: Code = what.is === "type" ? "VALIDATION_INVALID_TYPE" : "VALIDATION_INVALID_VALUE";
  const where = place === "" ? "" : `${place} `;
  throw new OpError(code, `The record does not fit: field ${where}${said(what)}.`).with("param_name", place);
}
