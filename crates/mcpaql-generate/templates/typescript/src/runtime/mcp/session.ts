// One conversation with an upstream: the handshake, then any number of calls side by side.
//
// What always holds: a call ends with an answer, an error, its timeout, or its caller's patience, and then the upstream is told to stop;
// its questions are put to its caller; news of its progress begin its time anew, and so does an answered question.

import { type Ability, type Asked, LEVELS, LOG_LEVEL, type Level, abilityOf } from "../client.js";
import type { Caller } from "../pipeline.js";
import { Mask } from "../secrets.js";
import { type JsonObject, isJson, isObject, jsonText, own, parseValue } from "../values.js";
import { Calls, type Ticket, isWork, unanswered } from "./calls.js";
import { UpstreamError } from "./error.js";
import {
  METHOD_NOT_FOUND,
  STATELESS,
  UNSUPPORTED_REVISION,
  answer,
  hello,
  notification,
  request,
  statelessMeta,
} from "./message.js";
import type { Raw } from "./raw.js";

/** How long a server may take to accept a level. */
const SETTING_MS = 2000;
/** How long a question may wait for its answer. */
const QUESTION_MS = 600_000;
/** How often a server may ask by its answer. */
const ROUNDS = 10;
/** How long the rest of an answer's stream may take, so that its connection can be used again. */
const REST_MS = 1000;
/** How long closing a conversation may take. */
const CLOSING_MS = 5000;
/** The longest that a timer can wait. */
const FOREVER_MS = 0x7fff_ffff;

/** Why questions of a call that has ended are given up; made once, since most calls have none. */
const OVER = new Error("the call has ended");

/** A way to a server, for one conversation. */
export interface Link {
  /** What must not be shown of what the server says. */
  mask(): Mask;
  /** What the server may have been sent along and must not come back in its answers. */
  echoMask(): Mask;
  /** Sends a request; over HTTP it also brings the answer, and the signal ends it. */
  post(line: string, id: number, method: string, name: string | undefined, signal: AbortSignal): Promise<void>;
  /** The revision that is spoken from now on. */
  speak(version: string): void;
  /** The handshake is over. */
  greeted(): void;
  /** Ends it; resolves when nothing is left of it. */
  close(): Promise<void>;
}

/** How links to a server are made. */
export interface Connector {
  /** What to call the server before it has said its name. */
  readonly name: string;
  connect(calls: Calls, limit: number): Promise<Link>;
}

/** What is needed to begin a conversation. */
export interface Plan {
  readonly connector: Connector;
  readonly limit: number;
  readonly startTimeoutMs: number;
  /** Of this program. */
  readonly version: string;
}

/** Nobody who could be told or asked anything. */
export function nobody(signal: AbortSignal): Caller {
  return { signal, progress: () => undefined };
}

/** A conversation. */
export class Session {
  readonly calls: Calls;
  readonly #link: Link;
  readonly #version: string;
  /** The server's answer to the handshake. */
  greeting: JsonObject = {};
  /** What each request carries in revisions without a handshake. */
  #meta: JsonObject | undefined;
  /** The level that the server was told to log from. */
  #level: Level | undefined;

  private constructor(calls: Calls, link: Link, version: string) {
    this.calls = calls;
    calls.mask = () => link.mask();
    this.#link = link;
    this.#version = version;
  }

  /** Starts the server where it is a program, and greets it. */
  static async start({ connector, limit, startTimeoutMs, version }: Plan): Promise<Session> {
    const calls = new Calls(connector.name, limit);
    const session = new Session(calls, await connector.connect(calls, limit), version);
    const patience = new AbortController();
    const late = new UpstreamError({ kind: "timeout", server: connector.name, afterMs: startTimeoutMs });
    try {
      await within(startTimeoutMs, session.#greet(startTimeoutMs, patience.signal), () => late);
      return session;
    } catch (error) {
      patience.abort();
      void session.close();
      // What the server says against us may hold what it was told in confidence.
      throw error instanceof UpstreamError ? error.masked(session.mask()) : error;
    }
  }

  async #greet(patienceMs: number, signal: AbortSignal): Promise<void> {
    const greeting = parseValue(await this.#greeted(patienceMs, signal));
    if (!isObject(greeting)) {
      throw new UpstreamError({ kind: "unreadable", server: this.calls.server, reason: "to the handshake is no object" });
    }
    const info = own(greeting, "serverInfo");
    const name = isObject(info) ? own(info, "name") : undefined;
    if (typeof name === "string" && name !== "") this.calls.server = this.mask().apply(name);
    if (this.#meta === undefined) {
      const version = own(greeting, "protocolVersion");
      if (typeof version === "string") this.#link.speak(version);
      await this.calls.outbox.put(notification("notifications/initialized"));
    }
    this.greeting = greeting;
    this.#link.greeted();
  }

  async #greeted(patienceMs: number, signal: AbortSignal): Promise<Raw> {
    try {
      return await this.ask("initialize", hello(this.#version), nobody(signal), patienceMs);
    } catch (error) {
      const fault = error instanceof UpstreamError ? error.fault : undefined;
      const isStateless = fault?.kind === "refused" && [METHOD_NOT_FOUND, UNSUPPORTED_REVISION].includes(fault.code);
      if (!isStateless) throw error;
      this.#meta = statelessMeta(this.#version);
      this.#link.speak(STATELESS);
      return await this.ask("server/discover", {}, nobody(signal), patienceMs);
    }
  }

  /** What must not be shown of the server's errors. */
  mask(): Mask {
    return this.#link.mask();
  }

  /** An answer without what was sent along to be let in, should the server echo it. */
  withoutCredentials(said: Raw): Raw {
    const mask = this.#link.echoMask();
    if (!mask.finds(said)) return said;
    const masked = mask.apply(said);
    // Where the secret is a bare number, what replaces it needs quotes.
    return isJson(masked) ? masked : jsonText(mask.applyValue(parseValue(said) ?? null));
  }

  /** One call. Without a handshake a server asks by its answer, and the request is sent again with what the caller says. */
  async ask(method: string, params: JsonObject, caller: Caller, patienceMs: number): Promise<Raw> {
    const level = this.#levelToSet(method, caller);
    if (level !== undefined) {
      const setting = this.#askOnce("logging/setLevel", { level }, nobody(caller.signal), Math.min(patienceMs, SETTING_MS));
      // A server that does not follow logs as it likes, and our callers hear no more than they want.
      await setting.catch(() => undefined);
    }
    let said = await this.#askOnce(method, params, caller, patienceMs);
    if (this.#meta === undefined) return said;
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = inputRequired(said);
      if (asked === undefined) return said;
      said = await this.#askOnce(method, { ...params, ...(await answeredBy(asked, caller)) }, caller, patienceMs);
    }
    throw new UpstreamError({ kind: "unreadable", server: this.calls.server, reason: "asks for more and more" });
  }

  /** Whether the server says that it logs. */
  #logs(): boolean {
    const capabilities = own(this.greeting, "capabilities");
    return isObject(capabilities) && isObject(own(capabilities, "logging"));
  }

  /**
   * The level to be set before a call begins, where it changes: the most talkative one that this caller or one whose call runs wants.
   * Once a level was set, who never named one counts as wanting what is usual.
   */
  #levelToSet(method: string, { client }: Caller): Level | undefined {
    if (!isWork(method) || this.#meta !== undefined || !this.#logs()) return undefined;
    const usual = this.#level === undefined ? undefined : "info";
    const wanted = [...this.calls.logWishes(), client?.logWish() ?? "nothing"].flatMap((wish): Level[] => {
      if (typeof wish !== "string") return [wish.from];
      return wish === "everything" && usual !== undefined ? [usual] : [];
    });
    const level = LEVELS.find((one) => wanted.includes(one));
    if (level === undefined || level === this.#level) return undefined;
    this.#level = level;
    return level;
  }

  /** One request and its answer. */
  async #askOnce(method: string, params: JsonObject, caller: Caller, patienceMs: number): Promise<Raw> {
    const asking = new AbortController();
    const ticket = this.calls.open(method, caller, (id, ability, asked) => {
      ticket.open.add(id);
      void put(ability, asked, caller, asking.signal).then((outcome) => {
        if (!ticket.open.delete(id)) return;
        this.calls.sendAside(answer(id, outcome));
        deadline.renew();
      });
    });
    const deadline = new Deadline(ticket, patienceMs, () => this.#late(patienceMs));
    const posting = new AbortController();
    const posted = this.#post(ticket, method, params, caller, posting.signal);
    let rest = 0;
    try {
      const failed = posted.then(() => ticket.answered);
      failed.catch(() => undefined);
      const said = await unlessAborted(Promise.race([ticket.answered, failed, deadline.passed]), caller.signal);
      rest = REST_MS;
      return said;
    } finally {
      deadline.stop();
      asking.abort(OVER);
      ticket.close();
      letGo(posted, posting, rest);
    }
  }

  /** Sends the request; over HTTP it also brings the answer. */
  async #post(ticket: Ticket, method: string, params: JsonObject, { client }: Caller, signal: AbortSignal): Promise<void> {
    const wish = client?.logWish();
    const level = this.#meta !== undefined && this.#logs() && typeof wish === "object" ? { [LOG_LEVEL]: wish.from } : {};
    const token = method === "tools/call" ? { progressToken: ticket.id } : {};
    const line = request(ticket.id, method, params, { ...this.#meta, ...level, ...token });
    const name = ["name", "uri"].map((key) => own(params, key)).find((text) => typeof text === "string");
    await this.#link.post(line, ticket.id, method, name, signal);
  }

  #late(afterMs: number): UpstreamError {
    return new UpstreamError({ kind: "timeout", server: this.calls.server, afterMs });
  }

  /** Ends the conversation and waits until the program behind it is gone. */
  async close(): Promise<void> {
    await within(CLOSING_MS, this.#link.close(), () => new Error("late")).catch(() => undefined);
  }
}

/** Ends what still posts: at once, or when it has had time to come to its end. */
function letGo(posted: Promise<void>, posting: AbortController, restMs: number): void {
  const timer = setTimeout(() => {
    posting.abort();
  }, restMs);
  posted.then(
    () => {
      clearTimeout(timer);
    },
    () => {
      clearTimeout(timer);
    },
  );
}

/** The time that a call has. */
class Deadline {
  /** Rejects when it is over. */
  readonly passed: Promise<never>;
  readonly #ticket: Ticket;
  readonly #patienceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #fail: () => void = () => undefined;

  constructor(ticket: Ticket, patienceMs: number, late: () => UpstreamError) {
    this.#ticket = ticket;
    this.#patienceMs = Math.min(patienceMs, FOREVER_MS);
    this.passed = new Promise((_, reject) => {
      this.#fail = () => {
        reject(late());
      };
    });
    this.passed.catch(() => undefined);
    this.renew();
  }

  renew(): void {
    this.#wait(this.#patienceMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#fail = () => undefined;
  }

  #wait(millis: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { heardAt, open } = this.#ticket;
      const left = heardAt === undefined ? 0 : heardAt + this.#patienceMs - performance.now();
      if (left > 0) this.#wait(left);
      else if (open.size > 0) this.renew();
      else this.#fail();
    }, millis);
  }
}

/** A result that asks instead of answering. */
interface InputRequired {
  readonly requests: JsonObject;
  readonly state: unknown;
}

function inputRequired(said: Raw): InputRequired | undefined {
  // Cheap to see for most of what is none.
  const asked = said.includes('"input_required"') ? parseValue(said) : undefined;
  if (!isObject(asked) || own(asked, "resultType") !== "input_required") return undefined;
  const requests = own(asked, "inputRequests") ?? {};
  return isObject(requests) ? { requests, state: own(asked, "requestState") } : undefined;
}

/** What goes along with the request when it is sent again. A question that nobody can answer goes without. */
async function answeredBy({ requests, state }: InputRequired, caller: Caller): Promise<JsonObject> {
  const responses: [string, unknown][] = [];
  for (const [key, asked] of Object.entries(requests)) {
    const ability = isObject(asked) ? abilityOf(own(asked, "method")) : undefined;
    if (!isObject(asked) || ability === undefined) continue;
    const params = own(asked, "params");
    const outcome = await put(ability, isObject(params) ? params : {}, caller, caller.signal);
    if ("result" in outcome) responses.push([key, outcome.result]);
  }
  return { inputResponses: Object.fromEntries(responses), ...(state === undefined || state === null ? {} : { requestState: state }) };
}

/** The caller's answer, or what stands for it; who does not answer in time has not agreed to anything. */
async function put(ability: Ability, params: JsonObject, { client }: Caller, signal: AbortSignal): Promise<Asked> {
  if (client?.isAble(ability) !== true) return unanswered(ability);
  const over = AbortSignal.any([signal, AbortSignal.timeout(QUESTION_MS)]);
  try {
    return (await unlessAborted(client.ask(ability, params, over), over)) ?? unanswered(ability);
  } catch {
    return unanswered(ability);
  }
}

/** What comes first: the end of the work, or somebody's loss of patience. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = () => {
      reject(new Error("nobody waits any more"));
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  aborted.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** The outcome of some work where it comes in time. */
export async function within<T>(millis: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(late());
    }, Math.min(millis, FOREVER_MS));
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, passed]);
  } finally {
    clearTimeout(timer);
  }
}
