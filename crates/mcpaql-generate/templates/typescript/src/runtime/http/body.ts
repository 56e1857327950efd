// The body of a request.
//
// What always holds: the body holds nothing that the caller or the document did not say, and its length is known before the
// first byte leaves.

import { OpError } from "../errors.js";
import type { JsonObject } from "../values.js";
import { isObject, jsonText, own, scalar } from "../values.js";
import { bytesOf } from "./base64.js";
import type { HttpParam, HttpRequest } from "./binding.js";
import { styleOf, wireOf } from "./binding.js";
import { given, unusableDocument } from "./headers.js";
import { multipart } from "./multipart.js";
import type { Style } from "./style.js";
import { Pairs } from "./style.js";

/** A body, and what it is called unless the document or the caller calls it otherwise. */
export interface Body {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** A field of a body. */
export interface Field {
  /** On the wire. */
  readonly name: string;
  /** What the caller calls the parameter it came in. */
  readonly param: string;
  /** Whether it is a file as base64. */
  readonly file: boolean;
  readonly style: Style;
  readonly value: unknown;
}

/** What the caller gave for the body: one parameter that is all of it, or fields. */
type Given = { readonly name: string; readonly param: HttpParam; readonly whole: unknown } | { readonly fields: Field[] };

/** What the operation's body parameters become; `undefined` where the request has no body. */
export function bodyOf(request: HttpRequest, args: JsonObject, boundary: () => string): Body | undefined {
  const found = find(request, args);
  if (found === undefined) return undefined;
  switch (request.body ?? "json") {
    case "json": {
      const value = "whole" in found ? found.whole : Object.fromEntries(found.fields.map(({ name, value }) => [name, value]));
      return typed(jsonText(value), "application/json");
    }
    case "form":
      return typed(form(found), "application/x-www-form-urlencoded");
    case "multipart": {
      const fields = fieldsOf(found);
      if (fields === undefined) throw unusableDocument("the parameter that is the whole multipart body is no object");
      return multipart(fields, request.contentType, boundary());
    }
    case "text":
      return typed(scalar(wholeOf(found).whole) ?? "", "text/plain; charset=utf-8");
    case "binary": {
      const { name, whole } = wholeOf(found);
      return { bytes: fileOf(name, whole), contentType: "application/octet-stream" };
    }
  }
}

function typed(text: string, contentType: string): Body {
  return { bytes: Buffer.from(text, "utf8"), contentType };
}

function form(found: Given): string {
  const fields = fieldsOf(found);
  if (fields === undefined) return scalar(wholeOf(found).whole) ?? "";
  const pairs = Pairs.query();
  for (const { name, value, style } of fields) pairs.appendField(name, value, style);
  return pairs.text();
}

function wholeOf(found: Given): { name: string; whole: unknown } {
  if ("whole" in found) return found;
  throw unusableDocument("a text or binary body needs one body parameter");
}

function find(request: HttpRequest, args: JsonObject): Given | undefined {
  const declared = Object.entries(request.params).filter(([, param]) => param.in === "body");
  const [only] = declared;
  let name = request.bodyParam;
  if (name === undefined) {
    if (only === undefined) return undefined;
    if ((request.body === "text" || request.body === "binary") && declared.length === 1) name = only[0];
  }
  if (name !== undefined) {
    const param = request.params[name];
    if (param === undefined) throw unusableDocument("the body's parameter is not declared");
    const whole = own(args, name);
    return whole === undefined ? undefined : { name, param, whole };
  }
  const fields = given(request, args, "body").map(
    ([param, how, value]): Field => ({ name: wireOf(param, how), param, file: how.file === true, style: styleOf(how), value }),
  );
  // A method that expects a body gets an empty one; any other gets none.
  const expected = ["POST", "PUT", "PATCH"].includes(request.method);
  return expected || fields.length > 0 ? { fields } : undefined;
}

/** The fields; those of the object where one parameter is the body, and `undefined` where it is no object. */
function fieldsOf(found: Given): Field[] | undefined {
  if ("fields" in found) return found.fields;
  const { name: param, whole } = found;
  if (!isObject(whole)) return undefined;
  const files = typeof found.param.file === "object" ? found.param.file : [];
  const style = styleOf({ in: "body" });
  return Object.entries(whole).map(([name, value]) => ({ name, param, file: files.includes(name), style, value }));
}

/** The file that a parameter's value holds. */
export function fileOf(param: string, value: unknown): Buffer {
  const bytes = typeof value === "string" ? bytesOf(value) : undefined;
  if (bytes !== undefined) return bytes;
  throw new OpError(
    "VALIDATION_INVALID_ENCODING",
    `Parameter '${param}' holds a file and must be base64 text; encode its bytes and send that.`,
  ).with("param_name", param);
}
