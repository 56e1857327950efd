// Failures of calls: a code, one sentence for the model that reads it, and details for programs.
//
// What always holds: a message says what to do next and holds no path, no secret and no stack. What only an operator may see
// travels in `cause` and reaches the log, never the answer.

/** Codes that nobody in the conversation can act on: the server, the network or the upstream failed. */
const OPERATOR = ["INTERNAL_ERROR", "TRANSPORT_TIMEOUT", "TRANSPORT_CONNECTION_FAILED", "TRANSPORT_CANCELLED"] as const;

/** The codes of the protocol that calls are answered with. */
const CODES = [
  "VALIDATION_MISSING_PARAM",
  "VALIDATION_INVALID_TYPE",
  "VALIDATION_INVALID_VALUE",
  "VALIDATION_UNKNOWN_PARAM",
  "VALIDATION_UNKNOWN_FIELD",
  "VALIDATION_ENDPOINT_MISMATCH",
  "VALIDATION_INVALID_ENCODING",
  "VALIDATION_PAYLOAD_TOO_LARGE",
  "NOT_FOUND_OPERATION",
  "NOT_FOUND_RESOURCE",
  "PERMISSION_DENIED",
  "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
  "PERMISSION_DANGER_LEVEL_DENIED",
  "CONFIRMATION_REQUIRED",
  "TOKEN_INVALID",
  "TOKEN_EXPIRED",
  "TOKEN_ALREADY_USED",
  "TOKEN_SCOPE_MISMATCH",
  "RATE_LIMIT_EXCEEDED",
  "RATE_LIMIT_QUOTA_WARNING",
  "RATE_LIMIT_QUOTA_PAUSE",
  "RATE_LIMIT_QUOTA_EXHAUSTED",
  "CONFLICT_ALREADY_EXISTS",
  "CONFLICT_VERSION_MISMATCH",
  ...OPERATOR,
] as const;

export type Code = (typeof CODES)[number];

/** The code of that name. */
export function codeNamed(name: string): Code | undefined {
  return CODES.find((code) => code === name);
}

/** Who can do something about a failure, which decides MCP's `isError`. */
export type Remedy = "agent" | "operator";

/** Who can act on a code: the agent repairs its call or chooses another one, or else only the operator can. */
export function remedy(code: Code): Remedy {
  return (OPERATOR as readonly string[]).includes(code) ? "operator" : "agent";
}

/** A failed call. */
export class OpError extends Error {
  /** What a program can read, in the order in which it was added. */
  readonly details: Record<string, unknown> = {};
  /** The arguments were no envelope at all, so nothing was dispatched: MCP's `isError`, whatever the code. */
  undispatched = false;

  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
    this.name = "OpError";
  }

  /** Adds a detail. */
  with(key: string, value: unknown): this {
    this.details[key] = value;
    return this;
  }

  /** Marks arguments that are no envelope. */
  beforeDispatch(): this {
    this.undispatched = true;
    return this;
  }

  /** Adds what only the log may show. */
  because(cause: unknown): this {
    this.cause = cause;
    return this;
  }
}

/** The same error once more, for another caller. */
export function copyOf(error: OpError): OpError {
  const copy = new OpError(error.code, error.message).because(error.cause);
  copy.undispatched = error.undispatched;
  Object.assign(copy.details, error.details);
  return copy;
}

/** Whatever finds fault with a call's parameters, the caller is shown what they should be. */
export function signed(error: OpError, operation: { name: string; signature: string }): OpError {
  if (!error.code.startsWith("VALIDATION_")) return error;
  const copy = new OpError(error.code, error.message).because(error.cause);
  copy.undispatched = error.undispatched;
  Object.assign(copy.details, { operation: operation.name }, error.details);
  copy.details["signature"] ??= operation.signature;
  return copy;
}
