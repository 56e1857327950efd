// What can go wrong in a call, and the envelope that every call is answered with.

import { stringify } from "./json.js";

type Wrong = `INVALID_${"TYPE" | "VALUE" | "ENCODING"}` | `UNKNOWN_${"PARAM" | "FIELD"}` | "MISSING_PARAM";
export type Code =
  | `VALIDATION_${Wrong | "ENDPOINT_MISMATCH" | "PAYLOAD_TOO_LARGE"}`
  | `NOT_FOUND_${"OPERATION" | "RESOURCE"}` | `CONFLICT_${"ALREADY_EXISTS" | "VERSION_MISMATCH"}`
  | `TRANSPORT_${"TIMEOUT" | "CONNECTION_FAILED"}`
  | ("PERMISSION_DENIED" | "RATE_LIMIT_EXCEEDED" | "INTERNAL_ERROR");

/** A failed call: a code, one sentence for the model, details that a program can read, and a cause for the log. */
export class OpError extends Error {
  constructor(
    readonly code: Code,
    message: string,
    readonly details: Record<string, unknown> = {},
    cause?: unknown,
    readonly undispatched = false, // the arguments were no envelope at all
  ) {
    super(message, { cause });
  }
}

export const tooLarge = (message: string, details: Record<string, unknown> = {}): OpError =>
  new OpError("VALIDATION_PAYLOAD_TOO_LARGE", message, details);

/** What the agent should know although the call succeeded. */
export type Warning = Readonly<{ code: string; message: string }>;
export type Warn = (warning: Warning) => void;
/** A call on its way to a target; `read` makes data of JSON that came back. */
export type Job<T> = Readonly<{ binding: T; args: Record<string, unknown>; signal: AbortSignal; warn: Warn }> &
  Readonly<{ read: (json: string) => unknown }>;

/** What goes back to the client. */
export type Reply = Readonly<{ text: string; isError: boolean }>;

export function success(data: unknown, warnings: readonly Warning[]): Reply {
  const envelope = { success: true, data: data ?? null, ...(warnings.length === 0 ? {} : { warnings }) };
  return { text: stringify(envelope), isError: false };
}

/** `isError` only where the agent cannot repair the call itself, unless every failure shall carry it. */
export function failure(error: OpError, policy: "unrecoverable" | "all"): Reply {
  const { code, message, details, undispatched } = error;
  const told = Object.keys(details).length === 0 ? { code, message } : { code, message, details };
  const isError = policy === "all" || undispatched || code === "INTERNAL_ERROR" || code.startsWith("TRANSPORT_");
  return { text: stringify({ success: false, error: told }), isError };
}
