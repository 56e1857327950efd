// What can go wrong in a call, and the envelope that every call is answered with.

import { stringify } from "./json.js";

export type Code =
  | "VALIDATION_MISSING_PARAM"
  | "VALIDATION_INVALID_TYPE"
  | "VALIDATION_INVALID_VALUE"
  | "VALIDATION_UNKNOWN_PARAM"
  | "VALIDATION_UNKNOWN_FIELD"
  | "VALIDATION_ENDPOINT_MISMATCH"
  | "VALIDATION_INVALID_ENCODING"
  | "VALIDATION_PAYLOAD_TOO_LARGE"
  | "NOT_FOUND_OPERATION"
  | "NOT_FOUND_RESOURCE"
  | "PERMISSION_DENIED"
  | "RATE_LIMIT_EXCEEDED"
  | "CONFLICT_ALREADY_EXISTS"
  | "CONFLICT_VERSION_MISMATCH"
  | "INTERNAL_ERROR"
  | "TRANSPORT_TIMEOUT"
  | "TRANSPORT_CONNECTION_FAILED"
  | "TRANSPORT_CANCELLED";

/** A failed call: a code, one sentence for the model, and details that a program can read. */
export class OpError extends Error {
  constructor(
    readonly code: Code,
    message: string,
    readonly details: Record<string, unknown> = {},
    options: { cause?: unknown; undispatched?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.undispatched = options.undispatched ?? false;
  }

  /** The arguments were no envelope at all, so nothing was dispatched. */
  readonly undispatched: boolean;
}

/** What the agent should know although the call succeeded. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** What goes back to the client. */
export interface Reply {
  readonly text: string;
  readonly isError: boolean;
}

export function success(data: unknown, warnings: readonly Warning[]): Reply {
  const envelope = { success: true, data: data === undefined ? null : data };
  return { text: stringify(warnings.length === 0 ? envelope : { ...envelope, warnings }), isError: false };
}

/** `isError` only where the agent cannot repair the call itself, unless every failure shall carry it. */
export function failure(error: OpError, policy: "unrecoverable" | "all"): Reply {
  const { code, message, details } = error;
  const told = Object.keys(details).length === 0 ? { code, message } : { code, message, details };
  const isError =
    policy === "all" || error.undispatched || code === "INTERNAL_ERROR" || code.startsWith("TRANSPORT_");
  return { text: stringify({ success: false, error: told }), isError };
}
