// The calls that wait for an upstream's answers, and what becomes of everything that comes in.
//
// What always holds: an answer goes to the call whose id it bears and to no other; one that nobody waits for is ignored; once the
// conversation has ended every call has been told, and no further one begins; logs and news hold nothing that the server was told in
// confidence. Nothing here waits for anybody.

import { type Ability, type Asked, type Client, type Wish, abilityOf, includes } from "../client.js";
import { log } from "../log.js";
import type { Caller } from "../pipeline.js";
import { IdScan } from "../reader.js";
import { Mask } from "../secrets.js";
import { type JsonObject, own, parseValue } from "../values.js";
import { UpstreamError } from "./error.js";
import { METHOD_NOT_FOUND, type Message, answer, errorOf, notification, paramsOf, readMessages } from "./message.js";
import { Outbox } from "./outbox.js";
import type { Raw } from "./raw.js";

/** The notification that brings what was logged. */
const LOG_MESSAGE = "notifications/message";

/** How a question is put to the caller of a call. */
type Put = (id: Raw, ability: Ability, params: JsonObject) => void;

interface Waiting {
  readonly caller: Caller;
  /** Whether the server may have a reason to say something besides its answer. */
  readonly isWork: boolean;
  readonly put: Put;
  readonly ticket: Ticket;
  resolve(result: Raw): void;
  reject(error: UpstreamError): void;
}

/** Whether a server may ask and log on behalf of a call of that method. */
export function isWork(method: string): boolean {
  return method === "tools/call" || method === "prompts/get" || method === "resources/read";
}

/** What the server is told when nobody could be asked. */
export function unanswered(ability: Ability): Asked {
  // Nobody said no, and nobody said yes.
  if (ability === "elicitation/create") return { result: { action: "cancel" } };
  return { error: { code: -32000, message: "The client of this call cannot be asked for sampling." } };
}

/** The calls of one conversation. */
export class Calls {
  readonly outbox = new Outbox();
  /** The server's name, as far as it is known. */
  server: string;
  /** What the server was told in confidence. */
  mask: () => Mask = () => new Mask();
  /** Resolves when the conversation has ended. */
  readonly ended: Promise<void>;
  readonly #limit: number;
  /** In the order they began. */
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;
  #end: UpstreamError | undefined;
  #tellEnded: () => void = () => undefined;
  #tellIdle: () => void = () => undefined;

  /** For a conversation with that server; `limit` is that of answers. */
  constructor(server: string, limit: number) {
    this.server = server;
    this.#limit = limit;
    this.ended = new Promise((resolve) => {
      this.#tellEnded = resolve;
    });
  }

  /** Begins a call of that method; throws why the conversation has ended. */
  open(method: string, caller: Caller, put: Put): Ticket {
    if (this.#end !== undefined) throw new UpstreamError(this.#end.fault, true);
    const id = this.#next;
    this.#next += 1;
    let settle: Pick<Waiting, "resolve" | "reject"> | undefined;
    const answered = new Promise<Raw>((resolve, reject) => {
      settle = { resolve, reject };
    });
    answered.catch(() => undefined);
    const ticket = new Ticket(this, id, answered);
    if (settle !== undefined) this.#waiting.set(id, { caller, isWork: isWork(method), put, ticket, ...settle });
    return ticket;
  }

  /** What the callers of running calls want to hear of what the server logs. */
  logWishes(): Wish[] {
    return [...this.#waiting.values()].map(({ caller }) => caller.client?.logWish() ?? "nothing");
  }

  /** Whether the call's answer has not come yet. */
  isWaiting(id: number): boolean {
    return this.#waiting.has(id);
  }

  /** Forgets a call; false where its answer has come. */
  forget(id: number): boolean {
    const isWaiting = this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#tellIdle();
    return isWaiting;
  }

  /** Resolves when no call waits any more. */
  async idle(): Promise<void> {
    if (this.#waiting.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#tellIdle = resolve;
    });
  }

  /** Sends a message where there is room for it now. A server that reads nothing misses nothing. */
  sendAside(line: string): void {
    if (!this.outbox.offer(line)) log.debug("the server takes no messages", { server: this.server });
  }

  /** Ends the conversation: whoever waits is told why. */
  end(why: UpstreamError): void {
    this.retire(why);
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const call of waiting) call.reject(this.#end ?? why);
    this.#tellIdle();
  }

  /** Lets running calls go on, but no further one begin. */
  retire(why: UpstreamError): void {
    this.#end ??= why;
    this.#tellEnded();
  }

  /** Why it has ended. */
  get endReason(): UpstreamError | undefined {
    return this.#end;
  }

  /** Something came in, in answer to the call `related` where that is known. */
  incoming(text: string, related?: number): void {
    const messages = readMessages(text);
    if (messages === undefined) this.#unreadable(text);
    else for (const message of messages) this.#take(message, related);
  }

  /** Something came in that was too long to be held. */
  tooLong(scan: IdScan | undefined, related?: number): void {
    log.debug("the server sent more than is read", { server: this.server });
    const id = numberIn(scan) ?? related;
    if (id !== undefined) this.#refuse(id, new UpstreamError({ kind: "too large", server: this.server, limit: this.#limit }));
  }

  #unreadable(text: string): void {
    log.debug("the server sent something that is no message", { server: this.server, length: text.length });
    if (!text.startsWith("{")) return;
    const scan = new IdScan();
    scan.feed(Buffer.from(text, "utf8"));
    const id = numberIn(scan);
    if (id !== undefined) this.#refuse(id, this.#unreadableBecause("cannot be read"));
  }

  #unreadableBecause(reason: string): UpstreamError {
    return new UpstreamError({ kind: "unreadable", server: this.server, reason });
  }

  #refuse(id: number, error: UpstreamError): void {
    this.#taken(id)?.reject(error);
  }

  #taken(id: number): Waiting | undefined {
    const call = this.#waiting.get(id);
    if (call === undefined) log.debug("an answer that nobody waits for", { id });
    this.#waiting.delete(id);
    return call;
  }

  #take(message: Message, related: number | undefined): void {
    switch (message.kind) {
      case "answer":
        this.#taken(message.id)?.resolve(message.result);
        return;
      case "refusal": {
        const error = errorOf(parseValue(message.error));
        const refused = error === undefined ? undefined : new UpstreamError({ kind: "refused", server: this.server, ...error });
        this.#refuse(message.id, refused ?? this.#unreadableBecause("is an error of no known form"));
        return;
      }
      case "request":
        this.#asked(message.id, message.method, message.params, related);
        return;
      case "notification":
        this.#noticed(message.method, message.params, related);
    }
  }

  #asked(id: Raw, method: string, params: Raw | undefined, related: number | undefined): void {
    const ability = abilityOf(method);
    let outcome: Asked = { error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } };
    if (method === "ping") outcome = { result: {} };
    if (ability !== undefined) {
      const call = this.#meant(related, (client) => client?.isAble(ability) === true);
      if (call !== undefined) {
        call.put(id, ability, paramsOf(params));
        return;
      }
      outcome = unanswered(ability);
    }
    this.sendAside(answer(id, outcome));
  }

  #noticed(method: string, params: Raw | undefined, related: number | undefined): void {
    if (method === "notifications/progress") {
      this.#progressed(paramsOf(params));
    } else if (method === LOG_MESSAGE) {
      const said = paramsOf(params);
      log.debug("the server logs", { server: this.server, level: own(said, "level") });
      const client = this.#meant(related, () => true)?.caller.client;
      if (client !== undefined && includes(client.logWish(), said)) client.notify(method, this.#shown(said));
    }
  }

  #shown(said: JsonObject): JsonObject {
    const mask = this.mask();
    // Levels are words of the protocol, whatever else they are.
    return Object.fromEntries(Object.entries(said).map(([key, value]) => [key, key === "level" ? value : mask.applyValue(value)]));
  }

  #progressed(params: JsonObject): void {
    const token = own(params, "progressToken");
    const id = typeof token === "string" && /^\+?\d+$/.test(token) ? Number(token) : token;
    const call = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (call === undefined) return;
    call.ticket.heardAt = performance.now();
    const [done, total, message] = [own(params, "progress"), own(params, "total"), own(params, "message")];
    call.caller.progress({
      done: typeof done === "number" ? done : 0,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message: this.mask().apply(message) } : {}),
    });
  }

  /**
   * The call that something belongs to; where that is not known, the latest one whose client will do, unless calls of several
   * clients are running: what is meant for one of them must not reach another.
   */
  #meant(related: number | undefined, willDo: (client: Client | undefined) => boolean): Waiting | undefined {
    if (related !== undefined) {
      const call = this.#waiting.get(related);
      return call !== undefined && willDo(call.caller.client) ? call : undefined;
    }
    const work = [...this.#waiting.values()].filter((call) => call.isWork).reverse();
    const latest = work.find((call) => willDo(call.caller.client));
    const isTheirs = ({ caller: { client } }: Waiting): boolean =>
      client !== undefined && latest?.caller.client !== undefined && client.isSame(latest.caller.client);
    return work.every((call) => call === latest || isTheirs(call)) ? latest : undefined;
  }
}

function numberIn(scan: IdScan | undefined): number | undefined {
  const found = scan?.found;
  return typeof found === "number" && found >= 0 ? found : undefined;
}

/** A call that waits. Whoever closes it before its answer has come tells the upstream to stop. */
export class Ticket {
  /** When the upstream last said that it is still at work. */
  heardAt: number | undefined;
  /** Questions that were put to the caller and are not answered yet. */
  readonly open = new Set<Raw>();
  readonly #calls: Calls;

  constructor(
    calls: Calls,
    readonly id: number,
    readonly answered: Promise<Raw>,
  ) {
    this.#calls = calls;
  }

  close(): void {
    const error = { code: -32000, message: "The call that the question belongs to was cancelled." };
    for (const question of this.open) this.#calls.sendAside(answer(question, { error }));
    this.open.clear();
    if (!this.#calls.forget(this.id)) return;
    const params = { requestId: this.id, reason: "the caller does not wait any more" };
    this.#calls.sendAside(notification("notifications/cancelled", params));
  }
}
