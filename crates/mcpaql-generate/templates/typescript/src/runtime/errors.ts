// Errors of calls, and the envelope of every reply.

import { stringify } from "./json.js";

type Wrong = `INVALID_${"TYPE" | "VALUE" | "ENCODING"}` | `UNKNOWN_${"PARAM" | "FIELD"}` | "MISSING_PARAM";
export type Code =
  | `VALIDATION_${Wrong | "ENDPOINT_MISMATCH" | "PAYLOAD_TOO_LARGE"}`
  | `NOT_FOUND_${"OPERATION" | "RESOURCE"}` | `CONFLICT_${"ALREADY_EXISTS" | "VERSION_MISMATCH"}`
  | `TRANSPORT_${"TIMEOUT" | "CONNECTION_FAILED"}`
  | ("PERMISSION_DENIED" | "RATE_LIMIT_EXCEEDED" | "INTERNAL_ERROR");

/** A failed call: a code, a message for the model, details for programs, and a cause for the log. */
export class OpError extends Error {
  constructor(
    readonly code: Code,
    message: string,
    readonly details: Record<string, unknown> = {},
    cause?: unknown,
    readonly undispatched = false, // the arguments are no envelope of an operation
  ) {
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

/** A note for the agent in the reply of a call that succeeded. */
export type Warning = Readonly<{ code: string; message: string }>;
export type Warn = (warning: Warning) => void;
/** A call of a target. `read` turns the JSON of its answer into data. */
export type Job<T> = Readonly<{ binding: T; args: Record<string, unknown>; signal: AbortSignal; warn: Warn }> &
  Readonly<{ read: (json: string) => unknown }>;

export type Reply = Readonly<{ text: string; isError: boolean }>;

export function success(data: unknown, warnings: readonly Warning[]): Reply {
  const envelope = { success: true, data: data ?? null, ...(warnings.length === 0 ? {} : { warnings }) };
  return { text: stringify(envelope), isError: false };
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
