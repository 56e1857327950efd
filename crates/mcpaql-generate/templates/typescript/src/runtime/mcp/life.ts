// The life of an upstream: started when it is first needed, one start at a time, and again after it died, not too often.
//
// What always holds: a start outlives the call that began it, so that one caller's impatience costs nobody else a start; while an
// upstream is left alone after failures, calls fail at once and say for how long.

import { log } from "../log.js";
import type { JsonObject } from "../values.js";
import { UpstreamError, resting } from "./error.js";
import { type Plan, Session } from "./session.js";

/** The longest an upstream is left alone. */
const LONGEST_MS = 30_000;
/** One that has run this long has not failed to start, however it ends. */
const SETTLED_MS = 10_000;

type Phase =
  | { readonly kind: "idle" }
  | { readonly kind: "starting"; readonly started: Promise<Session> }
  | { readonly kind: "running"; readonly session: Session; readonly since: number }
  | { readonly kind: "down"; readonly until: number; readonly why: UpstreamError };

/** How long an upstream is left alone after so many failures in a row. */
export function delay(failures: number): number {
  return failures < 2 ? 0 : Math.min(500 * 2 ** Math.min(failures - 2, 10), LONGEST_MS);
}

/** The life of one upstream. */
export class Life {
  /** The last answer to a handshake. */
  greeting: JsonObject | undefined;
  /** Called each time an upstream that ran is gone. */
  onended: () => void = () => undefined;
  readonly #plan: Plan;
  #phase: Phase = { kind: "idle" };
  /** In a row. */
  #failures = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  get name(): string {
    return this.#plan.connector.name;
  }

  /** The conversation that is under way, if one is. */
  get running(): Session | undefined {
    return this.#phase.kind === "running" ? this.#phase.session : undefined;
  }

  /** A conversation: the one that is under way, or a new one. */
  async session(): Promise<Session> {
    const phase = this.#phase;
    if (phase.kind === "running") {
      const why = phase.session.calls.endReason;
      if (why === undefined) return phase.session;
      this.#fallen(why, phase.since);
    }
    if (this.#phase.kind === "starting") return await this.#phase.started;
    if (this.#phase.kind === "down") {
      const left = this.#phase.until - performance.now();
      if (left > 0) throw resting(this.#phase.why, left);
    }
    return await this.#begin();
  }

  #begin(): Promise<Session> {
    const started = Session.start(this.#plan);
    const starting: Phase = { kind: "starting", started };
    this.#phase = starting;
    started.then(
      (session) => {
        this.#began(session, starting);
      },
      (error: unknown) => {
        if (this.#phase !== starting) return;
        const why = error instanceof UpstreamError ? error : failedOddly(this.name, error);
        log.warn("MCP server did not start", { server: this.name, reason: why.message });
        this.#fail(why);
      },
    );
    return started;
  }

  #began(session: Session, starting: Phase): void {
    if (this.#phase !== starting) {
      // It was closed meanwhile.
      void session.close();
      return;
    }
    const since = performance.now();
    this.#phase = { kind: "running", session, since };
    this.greeting = session.greeting;
    log.debug("MCP server started", { server: session.calls.server });
    void session.calls.ended.then(() => {
      const why = session.calls.endReason;
      if (this.running !== session || why === undefined) return;
      log.warn("MCP server went away", { server: this.name, reason: why.message });
      this.#fallen(why, since);
    });
  }

  #fallen(why: UpstreamError, since: number): void {
    if (performance.now() - since >= SETTLED_MS) this.#failures = 0;
    this.#fail(why);
    this.onended();
  }

  #fail(why: UpstreamError): void {
    this.#failures += 1;
    const before = this.running;
    this.#phase = { kind: "down", until: performance.now() + delay(this.#failures), why };
    // What is still under way in it comes to its own end.
    if (before !== undefined) void before.calls.idle().then(() => before.close());
  }

  /** Ends what is under way; the next call starts anew. */
  async close(): Promise<void> {
    const phase = this.#phase;
    this.#failures = 0;
    this.#phase = { kind: "idle" };
    if (phase.kind === "running") await phase.session.close();
  }
}

function failedOddly(server: string, error: unknown): UpstreamError {
  const reason = "cannot be started";
  log.warn("MCP server", { server, error: error instanceof Error ? error.stack : String(error) });
  return new UpstreamError({ kind: "unavailable", server, reason });
}
