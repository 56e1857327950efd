// What a document says about the store: its resources, and the one action that an operation is.

import { isArray, isObject } from "../values.js";

/** The store, as `catalog.json` describes it. */
export interface StoreTarget {
  readonly protocol: "store";
  readonly resources: Readonly<Record<string, Resource>>;
}

/** A resource type. */
export interface Resource {
  /** `notes` for `note`. */
  readonly plural: string;
  /** Field → JSON Schema. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fields a record must have. */
  readonly required: readonly string[];
  /** Fields that search reads; every field of free text where it is empty. */
  readonly search: readonly string[];
}

/** One action on one resource of the store. */
export interface StoreAction {
  readonly resource: string;
  readonly action: "create" | "get" | "list" | "search" | "update" | "delete";
  /** The parameter that chooses among several upstreams. */
  readonly target?: string;
}

/** What the store itself writes into every record; no field may have such a name. */
export const RECORD_KEYS = ["id", "created_at", "updated_at", "_etag"];

/** The names of the fields that search reads: the declared ones, else every field of free text. */
export function searchFields(resource: Resource): readonly string[] {
  if (resource.search.length > 0) return resource.search;
  const isText = (schema: unknown): boolean => isObject(schema) && schema["type"] === "string" && !("enum" in schema);
  return Object.keys(resource.fields).filter((name) => isText(resource.fields[name]));
}

/** Whether `list` can compare the field for equality: one string, number or boolean, and no parameter of `list` itself. */
export function isFilter(name: string, schema: unknown): boolean {
  return isScalar(schema) && name !== "first" && name !== "after";
}

function isScalar(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const scalars: unknown[] = ["string", "integer", "number", "boolean", "null"];
  const { type: kind, enum: values } = schema;
  if (isArray(kind)) return kind.every((one) => scalars.includes(one));
  if (kind !== undefined) return scalars.includes(kind);
  return isArray(values) && values.every((value) => typeof value !== "object" || value === null);
}

/** Whether the field is a parameter of its own in `update`, next to `input`. */
export function isFlat(name: string): boolean {
  return !["id", "input", "if_match"].includes(name);
}
