// One execution while it is worked on: its turn, its news, and the ways in which it ends.

import { setTimeout as sleep } from "node:timers/promises";
import { OpError } from "../errors.js";
import { log } from "../log.js";
import type { Caller, News } from "../pipeline.js";
import type { Answer } from "../response.js";
import type { Release, Slots } from "../slots.js";
import type { Status } from "./status.js";
import { type Outcome, type Table, doneOf } from "./table.js";

/** How often anybody looks at how far it has come. */
export const LOOK_MS = 1000;
/** Where running begins, and where finishing would. */
export const STARTED = 10;
const FINISHING = 90;
/** The target's own limit has the better words, so it gets to speak first. */
const COURTESY_MS = 1000;
/** The longest that a timer can wait. */
const FOREVER_MS = 0x7fff_ffff;

/** Why work stops before its end, for people. */
export const ASKED = "Cancelled on request.";
export const SESSION_ENDED = "Cancelled because the session that started it ended.";

/** What a job is made of. */
export interface Making {
  readonly id: string;
  readonly table: Table;
  readonly turns: Slots;
  /** How long the target may take. */
  readonly limitMs: number;
  /** The longest result, in bytes. */
  readonly largest: number;
  /** Tells whoever waits that something has changed. */
  readonly changed: () => void;
  readonly work: (caller: Caller) => Promise<Answer>;
}

/** One execution while it is worked on. */
export class Job {
  readonly #making: Making;
  readonly #stopping = new AbortController();
  /** That it was stopped before its end, and why. */
  readonly #stopped: Promise<Ended>;
  #over = false;
  /** What the work said last and nobody has written down. */
  #news: News | undefined;
  #recording = false;

  constructor(making: Making) {
    this.#making = making;
    const { signal } = this.#stopping;
    this.#stopped = new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        resolve(["cancelled", String(signal.reason), undefined]);
      });
    });
  }

  /** Stops the work, for that reason. */
  stop(reason: string): void {
    this.#stopping.abort(reason);
  }

  /** Works to the end, whichever it is, and writes it down. */
  async run(turn: Release | undefined): Promise<void> {
    const { id, table } = this.#making;
    const [status, message, outcome] = await Promise.race([this.#stopped, this.#work(turn)]);
    this.#over = true;
    // Work that has been too late is not waited for, either.
    this.#stopping.abort();
    try {
      await table.finish(id, status, message, outcome);
    } catch (error) {
      log.warn("what came of an execution could not be kept", { execution: id, error: String(error) });
    }
  }

  /** Waits for its turn and works, for no longer than it may. */
  async #work(taken: Release | undefined): Promise<Ended> {
    const { id, table, turns, changed } = this.#making;
    const release = taken ?? (await turns.take());
    try {
      if (taken === undefined) {
        if (this.#over) return await this.#stopped;
        await table.begin(id, STARTED);
        changed();
      }
      return await this.#outcome();
    } catch (error) {
      return ["failed", undefined, unkept(error)];
    } finally {
      release();
    }
  }

  async #outcome(): Promise<Ended> {
    const { work, limitMs } = this.#making;
    const caller: Caller = {
      signal: this.#stopping.signal,
      progress: (news) => {
        this.#hear(news);
      },
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Ended>((resolve) => {
      timer = setTimeout(() => {
        resolve(["failed", undefined, tookTooLong()]);
      }, Math.min(limitMs + COURTESY_MS, FOREVER_MS));
    });
    try {
      // Work that does not stop when it is told to is not waited for.
      return await Promise.race([this.#stopped, work(caller).then((answer) => this.#ended(answer)), late]);
    } catch (error) {
      return ["failed", undefined, error instanceof OpError ? error : failed()];
    } finally {
      clearTimeout(timer);
    }
  }

  /** What is kept of an outcome: a result that could never be returned is refused like any other answer. */
  #ended(answer: Answer): Ended {
    const [done, length] = doneOf(answer);
    const { largest } = this.#making;
    if (length <= largest) return ["completed", undefined, done];
    const error = new OpError(
      "VALIDATION_PAYLOAD_TOO_LARGE",
      `The result has ${length} bytes, more than the ${largest} that are kept; ask for less.`,
    )
      .with("limit", "max_response_size")
      .with("actual", length)
      .with("maximum", largest);
    return ["failed", undefined, error];
  }

  #hear(news: News): void {
    this.#news = news;
    if (!this.#recording) void this.#record();
  }

  /** Writes down how far the work has come, not more often than anybody looks. */
  async #record(): Promise<void> {
    const { id, table, changed } = this.#making;
    this.#recording = true;
    while (this.#news !== undefined && !this.#over) {
      const news = this.#news;
      this.#news = undefined;
      try {
        await table.advance(id, percent(news), news.message);
      } catch (error) {
        log.debug("progress could not be kept", { execution: id, error: String(error) });
      }
      changed();
      await sleep(LOOK_MS, undefined, { ref: false });
    }
    this.#recording = false;
  }
}

type Ended = readonly [status: Status, message: string | undefined, outcome: Outcome | undefined];

/** What the work says of itself, within the part of the scale that is running's own. */
export function percent({ done, total }: News): number {
  const share = total !== undefined && total > 0 ? done / total : 0;
  const within = Math.min(Math.max(Number.isNaN(share) ? 0 : share, 0), 1);
  return STARTED + Math.trunc(within * (FINISHING - STARTED));
}

function tookTooLong(): OpError {
  return new OpError(
    "TRANSPORT_TIMEOUT",
    "The execution took longer than it may; ask for less, and for a write first read whether it took effect.",
  );
}

function failed(): OpError {
  return new OpError(
    "INTERNAL_ERROR",
    "The server failed during this execution; tell the user, and for a write first read whether it took effect.",
  );
}

/** The table could not be read or written. */
export function unkept(cause: unknown): OpError {
  return new OpError("INTERNAL_ERROR", "The server could not keep or find executions; tell the user.").because(cause);
}
