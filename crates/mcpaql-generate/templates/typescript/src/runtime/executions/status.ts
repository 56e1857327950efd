// The states that work in the background passes through, and what a document says of such work.
//
// What always holds: pending → running → completed, failed or cancelled; a state that ends is never left again.

export type Status = "pending" | "running" | "completed" | "failed" | "cancelled";

/** How an operation runs in the background. */
export interface Lifecycle {
  /** It goes on when the session that started it ends. */
  readonly survives: boolean;
  /** How long it is kept after its end. */
  readonly keep_seconds: number;
  /** How long it may take, where the document says; it stands in place of the target's own timeout. */
  readonly timeout_ms: number | null;
}

/** What can be asked about executions. */
export type ExecutionAction = "get" | "list" | "cancel";

/** How long work may take unless the document says otherwise: an hour. */
const TIMEOUT_MS = 3_600_000;

/** How long it may take. */
export function limitMs({ timeout_ms }: Lifecycle): number {
  return timeout_ms ?? TIMEOUT_MS;
}

/** Whether nothing follows. */
export function isFinal(status: Status): boolean {
  return status !== "pending" && status !== "running";
}
