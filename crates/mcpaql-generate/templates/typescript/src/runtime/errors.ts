// Errors of calls, and the envelope of every reply.

import { type JsonObject, type RawJson, stringify } from "./json.js";

type Wrong = `INVALID_${"TYPE" | "VALUE" | "ENCODING"}` | `UNKNOWN_${"PARAM" | "FIELD"}` | "MISSING_PARAM";
export type Code =
  | `VALIDATION_${Wrong | "ENDPOINT_MISMATCH" | "PAYLOAD_TOO_LARGE"}`
  | `NOT_FOUND_${"OPERATION" | "RESOURCE"}` | `CONFLICT_${"ALREADY_EXISTS" | "VERSION_MISMATCH"}`
  | `TRANSPORT_${"TIMEOUT" | "CONNECTION_FAILED"}` | "RATE_LIMIT_EXCEEDED" | "CONFIRMATION_REQUIRED" | "INTERNAL_ERROR"
  | `PERMISSION_${"DENIED" | "DANGER_LEVEL_DENIED" | "TRUST_LEVEL_INSUFFICIENT"}`
  | `TOKEN_${"INVALID" | "EXPIRED" | "ALREADY_USED" | "SCOPE_MISMATCH"}`;

/** A failed call: a code, a message for the model, details for programs, and a cause for the log. */
export class OpError extends Error {
  undispatched = false; // the arguments are no envelope of an operation

  constructor(readonly code: Code, message: string, readonly details: JsonObject = {}, cause?: unknown) {
    super(message, { cause });
  }
}

export const invalid = (param: string, message: string, code: Code = "VALIDATION_INVALID_VALUE"): OpError =>
  new OpError(code, `Parameter '${param}' ${message}`, { param_name: param });
/** The error for a value over a limit. `actual` is unknown if reading stopped there. */
export function tooLarge(message: string, type?: string, maximum?: number, actual?: number, param?: string): OpError {
  const unit = type === "array_elements" ? "elements" : type === "nesting_depth" ? "levels" : "bytes";
  const told = type === undefined ? {} : { limit_type: type, limit_value: maximum, actual_value: actual, unit };
  return new OpError("VALIDATION_PAYLOAD_TOO_LARGE", message, { param_name: param, ...told });
}

/** Adds a note for the agent to the reply of a call that succeeds. */
export type Warn = (code: string, message: string, details?: JsonObject) => void;
/** A call of a target. `read` turns the JSON of its answer into data. */
export type Job<T> = Readonly<{ operation: string; binding: T; args: Record<string, unknown>; signal: AbortSignal }> &
  Readonly<{ warn: Warn; read: (json: RawJson) => unknown }>;

/** The content of files, by their data. */
export const blocks = new WeakMap<object, JsonObject>();
export type Reply = Readonly<{ text: string; isError: boolean; block?: JsonObject | undefined }>;

export function success(data: unknown, warnings: readonly JsonObject[]): Reply {
  const envelope = { success: true, data: data ?? null, ...(warnings.length === 0 ? {} : { warnings }) };
  return { text: stringify(envelope), isError: false, block: blocks.get(data as object) };
}

/** The leak check of the specification. It has no word boundaries, so "that the" counts, too. */
const INTERNAL = /at\s+\S|typeerror|referenceerror|syntaxerror|\/src\/|\/node_modules\/|\.[jt]s:\d/i;

/** `isError` is set where the agent cannot fix the call itself, or with the policy `all` for every failure. */
export function failure(error: OpError, policy: "unrecoverable" | "all"): Reply {
  const { code, undispatched } = error;
  const isInternal = INTERNAL.test(error.message);
  const message = isInternal ? "The call failed; `details.reason` says why." : error.message;
  const details = isInternal ? { reason: error.message, ...error.details } : error.details;
  const told = Object.keys(details).length === 0 ? { code, message } : { code, message, details };
  const isError = policy === "all" || undispatched || code === "INTERNAL_ERROR" || code.startsWith("TRANSPORT_");
  return { text: stringify({ success: false, error: told }), isError };
}
