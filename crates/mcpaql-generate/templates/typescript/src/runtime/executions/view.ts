// Executions as callers see them.

import { OpError } from "../errors.js";
import { stringify } from "../json.js";
import { type Answer, type Reply, type Warning, answer } from "../response.js";
import { now, timestamp } from "../stamp.js";
import { isFinal } from "./status.js";
import type { Kept, Outcome, Row } from "./table.js";

/** How soon a client may ask again. */
const POLL_INTERVAL_MS = 1000;

/** What there is nothing to say about is left out. */
function shown(row: Row, progress: { progress?: number } = { progress: row.progress }): Record<string, unknown> {
  const { id, operation, status, message, started_at, finished_at } = row;
  return {
    execution_id: id,
    operation,
    status,
    ...progress,
    ...(message === undefined ? {} : { message }),
    started_at: timestamp(started_at),
    ...(finished_at === undefined ? {} : { finished_at: timestamp(finished_at) }),
  };
}

/** What the call that starts one answers. */
export function started(row: Row): Answer {
  return answer(shown(row, {}));
}

/** Without what came of it. */
export function brief(row: Row, warnings: Warning[]): Answer {
  return answer(shown(row), warnings);
}

/** With what came of it. */
export function whole({ row, outcome }: Kept): Answer {
  const { expires_at } = row;
  const head = { ...shown(row), ...(expires_at === undefined ? {} : { expires_at: timestamp(expires_at) }) };
  if (outcome === undefined) return answer(head);
  if (outcome instanceof OpError) {
    const { code, message, details } = outcome;
    return answer({ ...head, error: { code, message, ...(Object.keys(details).length === 0 ? {} : { details }) } });
  }
  const { data, warnings, blocks } = outcome;
  const beside = warnings.length === 0 ? "" : `,"warnings":${stringify(warnings)}`;
  // A result goes back as it came.
  return { data: { raw: `${stringify(head).slice(0, -1)},"result":${data}${beside}}` }, warnings: [], blocks: [...blocks] };
}

/** A page of them; `rows` has one more where another page follows. */
export function list(rows: readonly Row[], first: number): Answer {
  const page = rows.slice(0, first);
  const last = page.at(-1);
  const endCursor = last === undefined ? null : `x${last.seq.toString(16)}`;
  return answer({ executions: page.map((row) => shown(row)), pageInfo: { hasNextPage: rows.length > page.length, endCursor } });
}

/** The place that a cursor names; it has one spelling only. */
export function place(cursor: string): number | undefined {
  return /^x(?:[1-9a-f][0-9a-f]{0,14}|[1-7][0-9a-f]{15})$/.test(cursor) ? Number.parseInt(cursor.slice(1), 16) : undefined;
}

/** As MCP's tasks extension shows it to clients that know it; `reply` writes the outcome as the call would have been answered. */
export interface Task {
  /** Without what has come of it, as a call is answered. */
  readonly seed: Record<string, unknown>;
  /** What the call would have answered, success or failure, once it has ended by itself. */
  readonly reply: Reply | undefined;
}

/** An execution as a task: it has the same id, so that the same work can be asked after either way. */
export function task({ row, outcome }: Kept, reply: (outcome: Outcome) => Reply): Task {
  const { id, status, message, started_at, finished_at, expires_at } = row;
  const ended = isFinal(status) && status !== "cancelled";
  const unread = new OpError("INTERNAL_ERROR", "What came of this execution cannot be read; tell the user.");
  const seed = {
    taskId: id,
    status: ended ? "completed" : status === "cancelled" ? "cancelled" : "working",
    ...(message === undefined ? {} : { statusMessage: message }),
    createdAt: timestamp(started_at),
    lastUpdatedAt: timestamp(finished_at ?? now()),
    ttlMs: expires_at === undefined ? null : (expires_at - started_at) * 1000,
    pollIntervalMs: POLL_INTERVAL_MS,
  };
  return { seed, reply: ended ? reply(outcome ?? unread) : undefined };
}
