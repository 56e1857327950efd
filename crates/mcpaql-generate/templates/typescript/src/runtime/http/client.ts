// The HTTP target: one operation is one request to one API.
//
// What always holds: the whole call, with its redirects and retries, ends within the target's timeout; credentials go to the
// origin that the document names alone; an aborted call aborts the request; logs name the method, the path's template, the status
// and the duration, never a value.

import { setTimeout as sleep } from "node:timers/promises";
import type { Auth } from "../auth.js";
import { Credentials, Reserved } from "../auth.js";
import type { Environment, Template } from "../environment.js";
import { OpError } from "../errors.js";
import type { JsonObject } from "../values.js";
import { own } from "../values.js";
import { log } from "../log.js";
import { Tokens } from "../oauth.js";
import type { Answer } from "../response.js";
import { answer } from "../response.js";
import type { Mask } from "../secrets.js";
import { SetupError, checkBase, resolve } from "./address.js";
import type { HttpRequest, HttpTarget } from "./binding.js";
import type { Message, Received } from "./connection.js";
import { ConnectionError, Connections } from "./connection.js";
import { READ_BYTES, failureOf } from "./failure.js";
import type { Headers } from "./headers.js";
import { isSendable, joinCookies, targetHeaders, unusableDocument } from "./headers.js";
import { randomBoundary } from "./multipart.js";
import type { Hop } from "./redirect.js";
import { MAX_HOPS, step } from "./redirect.js";
import { build } from "./request.js";
import { decode, head, tooLarge } from "./response.js";
import { backoff, waitAfter } from "./retry.js";
import { Pairs, encode } from "./style.js";

/** The longest that a timer can wait. */
const FOREVER_MS = 0x7fff_ffff;

/** The HTTP target. */
export class HttpClient {
  readonly target: HttpTarget;
  readonly env: Environment;
  readonly connections: Connections;
  readonly tokens: Tokens;
  /** The target's headers that hold a variable. */
  readonly secretHeaders: readonly [string, Template][];
  /** The target's headers that hold no secret. */
  readonly #headers: Headers;
  /** What the target's headers keep for the server, whatever the way of authentication. */
  readonly #fixed = new Reserved();
  /** That, and what the adapter's own way of authentication keeps. */
  readonly #reserved: Reserved;

  /** A client for one target; throws a `SetupError`. A variable that is not set is an error of the calls, not of the setup. */
  constructor(target: HttpTarget, env: Environment, userAgent: string) {
    this.target = target;
    this.env = env;
    checkBase(target.base_url, target.allow_http, env);
    const { plain, secret } = targetHeaders(target.headers, this.#fixed);
    [this.#headers, this.secretHeaders] = [plain, secret];
    this.#reserved = this.#fixed.copy();
    const wrong = this.#reserved.add(target.auth);
    if (wrong !== undefined) throw new SetupError(`the header '${wrong}' is not a header name; correct it in auth`);
    this.connections = new Connections({ connectTimeoutMs: target.connect_timeout_ms, userAgent, env });
    this.tokens = new Tokens(this.connections, target.allow_http);
  }

  /** Runs one call whose arguments are validated and completed with defaults; `background` is how long it may take where nobody waits. */
  async call(request: HttpRequest, args: JsonObject, signal: AbortSignal, background?: number): Promise<Answer> {
    const { target, env } = this;
    const base = resolve(request.baseUrl ?? target.base_url, target.allow_http, env);
    // No credentials at all is a way of its own.
    const auth = request.auth === undefined ? target.auth : request.auth;
    const frame = { base, headers: this.#headers, reserved: this.#reservedFor(request.auth), boundary: randomBoundary };
    const outgoing = build(frame, request, args);
    const call = new Call(this, request, args, auth, signal, background ?? target.timeout_ms);
    const started = Date.now();
    try {
      return await call.run({ outgoing, trusted: true });
    } finally {
      log.debug("http", { method: request.method, path: request.path, status: call.status, ms: Date.now() - started });
    }
  }

  #reservedFor(auth: Auth | undefined): Reserved {
    if (auth === undefined) return this.#reserved;
    const reserved = this.#fixed.copy();
    const wrong = reserved.add(auth);
    if (wrong !== undefined) throw unusableDocument(`${JSON.stringify(wrong)} in auth is no header name`);
    return reserved;
  }
}

/** An answer, and what it answers. */
interface Reply {
  readonly method: string;
  /** Whether the request carried the credentials. */
  readonly trusted: boolean;
  readonly response: Received;
}

/** One call on its way: attempts, redirects, a renewed token, and what becomes of the answer. */
class Call {
  /** Of the last answer, for the log; 0 without one. */
  status = 0;
  /** What the last attempt was made with. */
  #credentials = Credentials.none();
  readonly #client: HttpClient;
  readonly #request: HttpRequest;
  readonly #args: JsonObject;
  readonly #auth: Auth;
  readonly #timeoutMs: number;
  readonly #deadline: number;
  readonly #late: AbortSignal;
  /** The call is over: it took too long, or nobody waits for it any more. */
  readonly #over: AbortSignal;

  constructor(client: HttpClient, request: HttpRequest, args: JsonObject, auth: Auth, signal: AbortSignal, timeoutMs: number) {
    this.#client = client;
    this.#request = request;
    this.#args = args;
    this.#auth = auth;
    this.#timeoutMs = timeoutMs;
    const patience = Math.min(timeoutMs, FOREVER_MS);
    this.#deadline = Date.now() + patience;
    this.#late = AbortSignal.timeout(patience);
    this.#over = AbortSignal.any([signal, this.#late]);
  }

  /** Attempts until an answer is final, then reads it. */
  async run(first: Hop): Promise<Answer> {
    try {
      return await this.#attempts(first);
    } catch (error) {
      if (error instanceof OpError) throw error;
      if (this.#late.aborted) throw timedOut(this.#timeoutMs);
      if (error instanceof ConnectionError) throw this.#broken(error);
      throw error;
    }
  }

  async #attempts(first: Hop): Promise<Answer> {
    await this.#signIn();
    const repeats = this.#request.repeatable === true ? this.#client.target.retries : 0;
    let n = 0;
    let renewed = false;
    for (;;) {
      const outcome = await this.#attempt(first);
      // A request that was refused had no effect, so it may be repeated, whatever it does; once.
      const refused = !(outcome instanceof ConnectionError) && outcome.trusted && outcome.response.status === 401;
      if (refused && !renewed && this.#credentials.giveUp()) {
        renewed = true;
        outcome.response.drop();
        log.debug("the token was refused; fetching another", {});
        await this.#signIn();
        continue;
      }
      const wait = n >= repeats ? undefined : this.#waitAfter(outcome, backoff(n));
      if (wait === undefined) {
        if (outcome instanceof ConnectionError) throw outcome;
        return await this.#conclude(outcome, n > 0);
      }
      if (!(outcome instanceof ConnectionError)) outcome.response.drop();
      n += 1;
      log.debug("trying again", { attempt: n, wait_ms: Math.round(wait) });
      await sleep(wait, undefined, { signal: this.#over });
    }
  }

  async #attempt(first: Hop): Promise<Reply | ConnectionError> {
    try {
      return await this.#follow(first);
    } catch (error) {
      if (error instanceof ConnectionError && !this.#over.aborted) return error;
      throw error;
    }
  }

  #waitAfter(outcome: Reply | ConnectionError, atLeast: number): number | undefined {
    const left = this.#deadline - Date.now();
    if (outcome instanceof ConnectionError) return atLeast < left ? atLeast : undefined;
    return waitAfter(outcome.response, atLeast, left);
  }

  /** Reads or fetches the credentials; what was hidden before stays hidden. */
  async #signIn(): Promise<void> {
    const { secretHeaders, env, tokens } = this.#client;
    const credentials = await Credentials.read(this.#auth, secretHeaders, env, tokens, this.#over);
    credentials.mask.join(this.#credentials.mask);
    this.#credentials = credentials;
  }

  /** One attempt, with its redirects. */
  async #follow(first: Hop): Promise<Reply> {
    const { connections, target } = this.#client;
    let hop = first;
    for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
      const response = await connections.send(signed(hop, this.#credentials), this.#over);
      this.status = response.status;
      const next = step(hop, response, target.allow_http, this.#credentials.mask);
      if (next === "final") return { method: hop.outgoing.method, trusted: hop.trusted, response };
      response.drop();
      if ("refuse" in next) throw refusedRedirect(response.status, next.refuse);
      hop = next.follow;
    }
    throw refusedRedirect(302, "too many redirects");
  }

  async #conclude({ method, response }: Reply, repeated: boolean): Promise<Answer> {
    const { status } = response;
    if (status >= 200 && status < 300) return await this.#success(method, response);
    if (status === 304) {
      response.finish();
      return answer(null, [{ code: "NOT_MODIFIED", message: "Nothing changed since the version that the call named." }]);
    }
    throw await this.#failure(response, repeated);
  }

  async #success(method: string, response: Received): Promise<Answer> {
    const { mask } = this.#credentials;
    if (method === "HEAD") {
      response.finish();
      return head(response, mask);
    }
    if (response.status === 204 || response.status === 205) {
      response.finish();
      return answer(null);
    }
    const limit = this.#client.target.max_response_bytes;
    if ((response.contentLength ?? 0) > limit) {
      response.drop();
      throw tooLarge(limit);
    }
    const body: Buffer[] = [];
    try {
      if ((await response.read(limit, body)) === "cut") throw tooLarge(limit);
    } catch (error) {
      if (error instanceof OpError || this.#over.aborted) throw error;
      throw new ConnectionError(false, error);
    }
    return decode(response.text("content-type") ?? "", Buffer.concat(body), mask);
  }

  async #failure(response: Received, repeated: boolean): Promise<OpError> {
    const body: Buffer[] = [];
    let cut = true;
    try {
      const limit = Math.min(this.#client.target.max_response_bytes, READ_BYTES);
      cut = (await response.read(limit, body)) === "cut";
    } catch {
      // What arrived of a slow or broken error is enough: the status is known.
    }
    const error = failureOf(response, Buffer.concat(body), cut, this.#errorMask());
    if (repeated && error.code === "NOT_FOUND_RESOURCE" && this.#request.removes === true) {
      error.message += " An earlier attempt of this very call may have removed it.";
    }
    return error;
  }

  #broken(error: ConnectionError): OpError {
    const message = error.unreachable
      ? "The API could not be reached; try later or tell the user."
      : "The connection to the API broke before the answer was complete; try later, and after a write first read whether it took effect.";
    return new OpError("TRANSPORT_CONNECTION_FAILED", message).because(this.#errorMask().apply(error.message));
  }

  /** Credentials, and the values of parameters that must not be echoed. */
  #errorMask(): Mask {
    const mask = this.#credentials.mask.copy();
    const sensitive = Object.entries(this.#request.params).filter(([, param]) => param.sensitive === true);
    mask.addValues(sensitive.map(([name]) => own(this.#args, name)));
    return mask;
  }
}

function timedOut(millis: number): OpError {
  return new OpError(
    "TRANSPORT_TIMEOUT",
    `The API did not answer within ${millis} ms; try later, and after a write first read whether it took effect.`,
  );
}

export function refusedRedirect(status: number, reason: string): OpError {
  return new OpError(
    "INTERNAL_ERROR",
    `The API answered ${status} with a redirect that is not safe to follow; tell the operator to check the address.`,
  )
    .with("upstream", { status })
    .because(reason);
}

/** The request of a hop, with credentials where they may go along. */
export function signed(hop: Hop, credentials: Credentials): Message {
  const { method, body } = hop.outgoing;
  if (!hop.trusted) return { method, url: hop.outgoing.url, headers: hop.outgoing.headers, body };
  const url = new URL(hop.outgoing.url);
  const headers = new Map([...hop.outgoing.headers, ...credentials.headers]);
  const cookies = cookiesOf(hop.outgoing.headers, credentials);
  if (cookies !== undefined) headers.set("cookie", cookies);
  for (const [name, key] of credentials.query) {
    // A redirect may have kept it.
    if (url.searchParams.has(name)) continue;
    const query = Pairs.query(url.search.replace(/^\?/, ""));
    query.push(encode(name), encode(key));
    url.search = `?${query.text()}`;
  }
  return { method, url, headers, body };
}

/** One header for the cookies of parameters, of the target and of the credentials, where the latter two have any. */
function cookiesOf(outgoing: Headers, credentials: Credentials): string | undefined {
  const own = credentials.headers.get("cookie");
  if (own === undefined && credentials.cookies.length === 0) return undefined;
  let cookies = joinCookies(outgoing.get("cookie") ?? "", own ?? "");
  for (const [name, secret] of credentials.cookies) cookies = joinCookies(cookies, `${name}=${secret}`);
  if (!isSendable(cookies)) throw unusableDocument("the cookie of the credentials cannot be sent");
  return cookies;
}
