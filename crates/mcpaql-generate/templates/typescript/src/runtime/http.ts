// The HTTP target: each operation is one request to the API.
//
// What always holds: a call with its redirects and retries ends within the timeout of the target; credentials go to no
// origin but the one in the document; only repeatable requests are retried; an aborted call aborts its request.

import { pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import ipaddr from "ipaddr.js";
import { Agent, type Dispatcher, EnvHttpProxyAgent, request as send } from "undici";
import { type Failures, type Received, answerOf, failureOf, retryAfter } from "./answer.js";
import { type Auth, Credentials, type Said, type Secrets, Tokens, noTokens } from "./auth.js";
import { fill } from "./catalog.js";
import { type Job, OpError, invalid, tooLarge } from "./errors.js";
import { isObject, tryParse } from "./json.js";
import { type HttpRequest, type Outgoing, build, encode, unusable } from "./request.js";

export type HttpTarget = Record<"connect_timeout_ms" | "timeout_ms" | "retries" | "max_response_bytes", number> &
  Readonly<{ protocol: "http"; base_url: string; headers: Record<string, string>; allow_http: boolean; auth: Auth }> &
  Readonly<{ failures: Failures }>;

const ERROR_BYTES = 64 * 1024; // maximum of the body of an error
const [MAX_HOPS, MAX_HEADERS, MAX_HEAD_BYTES] = [5, 100, 408 * 1024];

/** A failed connection. `isEarly` means that no part of an answer came, so another attempt may help. */
class ConnectionError extends OpError {
  constructor(cause: unknown, readonly isEarly: boolean) {
    super("TRANSPORT_CONNECTION_FAILED", "The connection to the API failed; try later or tell the user.", {}, cause);
  }
}

/** One request of a call. Credentials are sent if it is `trusted`; `isNext` means that it follows a redirect. */
type Hop = Readonly<{ outgoing: Outgoing; trusted: boolean; isNext?: boolean }>;

export class HttpClient {
  readonly #direct: Dispatcher;
  readonly #proxied: Dispatcher;
  readonly #plain = new Map<string, string>();
  readonly #secret = new Map<string, string>();
  readonly #tokens = new Tokens((url, headers, form) => this.#post(url, headers, form));

  constructor(readonly target: HttpTarget) {
    const options = { connect: { timeout: target.connect_timeout_ms }, maxHeaderSize: MAX_HEAD_BYTES, pipelining: 1 };
    [this.#direct, this.#proxied] = [new Agent(options), new EnvHttpProxyAgent(options)];
    for (const [name, value] of Object.entries(target.headers)) {
      (value.includes("${env:") ? this.#secret : this.#plain).set(name.toLowerCase(), value);
    }
  }

  async call(job: Job<HttpRequest>): Promise<unknown> {
    const { binding: request, args, signal } = job;
    const timeout = this.target.timeout_ms;
    const late = AbortSignal.timeout(timeout);
    try {
      const outgoing = build(this.#address(request.base_url ?? this.target.base_url), this.#plain, request, args);
      const over = AbortSignal.any([signal, late]);
      return await this.#attempts({ ...job, signal: over }, { outgoing, trusted: true }, Date.now() + timeout);
    } catch (error) {
      if (error instanceof OpError) throw error;
      if (signal.aborted) throw new OpError("INTERNAL_ERROR", "The call was cancelled.");
      if (!late.aborted) throw error;
      throw new OpError("TRANSPORT_TIMEOUT", `No answer within ${timeout} ms; a write may be done.`, {}, error);
    }
  }

  async #attempts(job: Job<HttpRequest>, first: Hop, deadline: number): Promise<unknown> {
    const { binding: request, signal } = job;
    const auth = request.auth === undefined ? this.target.auth : request.auth;
    // An aborted call does not wait for its token, but the next call can use it.
    const over = (): Promise<never> => sleep(0x7fff_ffff, undefined as never, { signal, ref: false });
    const signIn = () => Promise.race([Credentials.read(auth, this.#secret, this.#tokens), over()]);
    const repeats = request.repeatable === true ? this.target.retries : 0;
    let [credentials, renewed, n] = [await signIn(), false, 0];
    for (;;) {
      const outcome = await this.#follow(first, credentials, signal).catch((error: unknown) => {
        if (error instanceof ConnectionError && error.isEarly) return error;
        throw error;
      });
      const reply = outcome instanceof ConnectionError ? undefined : outcome;
      // A rejected request had no effect, so any request is sent again with a new token, but only once.
      if (reply?.received.status === 401 && reply.hop.trusted && !renewed && credentials.giveUp()) {
        [renewed, credentials] = [true, await signIn()];
        continue;
      }
      const wait = n < repeats ? waitAfter(reply?.received, n) : undefined;
      if (wait === undefined || Date.now() + wait >= deadline) {
        if (outcome instanceof ConnectionError) throw outcome;
        return this.#conclude(job, outcome.hop.outgoing.method, outcome.received, credentials.secrets, n > 0);
      }
      n += 1;
      await sleep(wait, undefined, { signal });
    }
  }

  #conclude(job: Job<HttpRequest>, method: string, received: Received, secrets: Secrets, repeated: boolean): unknown {
    const { status, cut } = received;
    const isSuccess = status >= 200 && status < 300;
    const tooMuch = "The answer is too large; ask for less with a page or a filter.";
    if (isSuccess && cut) throw tooLarge(tooMuch, "response_size", this.target.max_response_bytes);
    if (isSuccess || status === 304) return answerOf(job, method, received, this.target.failures, secrets);
    const error = failureOf(job, received, this.target.failures, secrets);
    if (repeated && job.binding.removes === true) error.message += " An earlier attempt may have removed it.";
    throw error;
  }

  async #follow(first: Hop, credentials: Credentials, signal: AbortSignal) {
    let hop = first;
    for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
      const received = await this.#send(signed(hop, credentials), this.target.max_response_bytes, signal);
      if (![301, 302, 303, 307, 308].includes(received.status)) return { hop, received };
      hop = redirected(hop, received, this.target.allow_http, credentials.secrets);
    }
    throw unsafe(302, "too many redirects");
  }

  async #send({ method, url, headers, body }: Outgoing, most: number, signal: AbortSignal): Promise<Received> {
    try {
      const raw = [...headers].map(([name, value]) => [name, Buffer.from(value).toString("latin1")]);
      const all = [["user-agent", "mcpaql-adapter"], ["accept-encoding", "gzip"], ...raw].flat();
      const dispatcher = rangeOf(url) === "loopback" ? this.#direct : this.#proxied;
      const options = { dispatcher, signal, headersTimeout: 0, bodyTimeout: 0, onInfo };
      const reply = await send(url, { method, headers: all, body: body ?? null, ...options });
      const header = (name: string): string | undefined => [reply.headers[name]].flat()[0];
      const isEmpty = method === "HEAD" || reply.statusCode === 204 || header("content-length") === "0";
      const isGzip = !isEmpty && /^(?:x-)?gzip$/i.test(header("content-encoding") ?? "");
      const stream = isGzip ? pipeline(reply.body, createGunzip(), () => undefined) : reply.body;
      const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
      const isTooLarge = isSuccess && !isEmpty && !isGzip && Number(header("content-length") ?? 0) > most;
      const isOverloaded = Object.values(reply.headers).flat().length > MAX_HEADERS;
      const room = isSuccess ? most : Math.min(most, ERROR_BYTES);
      const read = isTooLarge || isOverloaded ? NOTHING : await readUpTo(stream, room);
      if (read.cut) reply.body.on("error", () => undefined).destroy();
      if (isOverloaded) throw new Error("too many headers");
      // A broken answer is not retried, and a part of an error is enough.
      if (read.broken !== undefined && isSuccess) throw new ConnectionError(read.broken, false);
      return { status: reply.statusCode, header, ...read };
    } catch (error) {
      const isSwitched = error instanceof Error && error.message === SWITCHED;
      if (isSwitched) return { status: 101, header: () => undefined, ...NOTHING };
      if (signal.aborted) throw error instanceof ConnectionError ? error.cause : error;
      throw error instanceof OpError ? error : new ConnectionError(error, true);
    }
  }

  async #post(url: string, own: Record<string, string>, form: URLSearchParams): Promise<Said> {
    const headers = { accept: "application/json", "content-type": "application/x-www-form-urlencoded", ...own };
    const sent = { headers: new Map(Object.entries(headers)), body: Buffer.from(form.toString()) };
    const outgoing = { method: "POST", url: this.#address(url), ...sent };
    const asked = this.#send(outgoing, ERROR_BYTES, AbortSignal.timeout(30_000));
    const received = await asked.catch((error: unknown) => Promise.reject(noTokens(error)));
    const body = tryParse(received.body.toString("utf8"));
    return { status: received.status, body: isObject(body) ? body : {} };
  }

  /** A URL of the document with its variables: `https`, or `http` to the loopback interface or with `allow_http`. */
  #address(text: string): URL {
    const filled = fill(text, (name) => new OpError("INTERNAL_ERROR", `Tell the user to set ${name}.`));
    const url = URL.canParse(filled) ? new URL(filled) : undefined;
    if (url !== undefined && isAllowed(url, this.target.allow_http) && !/[?#]/.test(url.href)) return url;
    throw unusable("the address is no https URL without query and credentials");
  }
}

function isAllowed(url: URL, allowHttp: boolean): boolean {
  const isPlain = url.protocol === "http:" && (allowHttp || rangeOf(url) === "loopback");
  return (url.protocol === "https:" || isPlain) && url.username === "";
}

const NOTHING = { body: Buffer.alloc(0), cut: true, broken: undefined };
/** The error of undici for status 101 with an `upgrade` header. `onInfo` throws the same without that header. */
const SWITCHED = "bad upgrade";
const onInfo = ({ statusCode }: { statusCode: number }): void => { if (statusCode === 101) throw new Error(SWITCHED); };

async function readUpTo(stream: AsyncIterable<unknown>, most: number) {
  const chunks: Buffer[] = [];
  let [room, broken]: [number, unknown] = [most, undefined];
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, room));
      room -= chunk.length;
      if (room < 0) break;
    }
  } catch (error) { broken = error; }
  return { body: Buffer.concat(chunks), cut: room < 0 || broken !== undefined, broken };
}

/** The milliseconds before the next attempt, at least as many as `Retry-After` says; `undefined` for no retry. */
function waitAfter(received: Received | undefined, n: number): number | undefined {
  const backoff = Math.min(200 * 2 ** n, 5000) * (0.5 + Math.random() / 2);
  if (received === undefined) return backoff;
  const asked = retryAfter(received.header("retry-after"));
  if (received.status === 429) return asked === undefined ? undefined : Math.max(asked, backoff);
  return [502, 503, 504].includes(received.status) ? Math.max(asked ?? 0, backoff) : undefined;
}

/** Adds credentials to a trusted request. No parameter may replace them. */
function signed({ outgoing, trusted, isNext }: Hop, { headers: own, cookies, query }: Credentials): Outgoing {
  if (!trusted) return outgoing;
  const [url, headers] = [new URL(outgoing.url), new Map([...outgoing.headers, ...own])];
  const named = (cookie: string): string => decodeURIComponent(cookie.split("=")[0] ?? "").trim();
  const given = (outgoing.headers.get("cookie") ?? "").split(";").map(named);
  const taken =
    [...own.keys()].find((name) => name !== "cookie" && outgoing.headers.has(name)) ??
    cookies.map(named).find((name) => given.includes(name)) ??
    query.map(([name]) => name).find((name) => url.searchParams.has(name) && isNext !== true);
  if (taken !== undefined) throw invalid(taken, "is set by the server alone; leave it out.");
  const all = [outgoing.headers.get("cookie") ?? [], own.get("cookie") ?? [], cookies].flat();
  if (all.length > 0) headers.set("cookie", all.join("; "));
  // The location of a redirect may have the key already.
  const added = query.flatMap(([name, key]) => (url.searchParams.has(name) ? [] : [`${encode(name)}=${encode(key)}`]));
  url.search = [url.search.slice(1), ...added].filter((part) => part !== "").join("&");
  return { ...outgoing, url, headers };
}

const unsafe = (status: number, cause: string): OpError =>
  new OpError("INTERNAL_ERROR", "The API sent an unsafe redirect; tell the user.", { upstream: { status } }, cause);

/** Follows a redirect. Headers and body go only to the same origin; a write is not sent to another one. */
function redirected(hop: Hop, { status, header }: Received, allowHttp: boolean, secrets: Secrets): Hop {
  const { outgoing: { method, url: from, headers, body: sent }, trusted } = hop;
  const location = Buffer.from(header("location") ?? "", "latin1").toString("utf8");
  if (/^$|\ufffd/.test(location) || !URL.canParse(location, from.href)) throw unsafe(status, "no usable location");
  const to = new URL(location, from);
  to.hash = "";
  const isSame = to.origin === from.origin;
  const isDowngrade = from.protocol === "https:" && to.protocol !== "https:";
  if (isDowngrade || !isAllowed(to, allowHttp)) throw unsafe(status, "a location that is not allowed");
  const isLocal = (url: URL): boolean => ["loopback", "linkLocal", "unspecified"].includes(rangeOf(url));
  if (isLocal(to) && !isLocal(from)) throw unsafe(status, "from the outside to this machine");
  if (!isSame && secrets.mask(to.href) !== to.href) throw unsafe(status, "it carries a credential elsewhere");
  const becomesGet = status === 303 && method !== "HEAD";
  const isWrite = method !== "GET" && method !== "HEAD" && !becomesGet;
  if (isWrite && (![307, 308].includes(status) || !isSame)) throw unsafe(status, "a write is not repeated");
  const isTrusted = trusted && isSame;
  const stays = (name: string): boolean => (isTrusted ? !becomesGet || name !== "content-type" : name === "accept");
  const kept = [...headers].filter(([name]) => stays(name));
  const body = becomesGet || !isTrusted ? undefined : sent;
  const next = becomesGet ? "GET" : method;
  return { outgoing: { method: next, url: to, headers: new Map(kept), body }, trusted: isTrusted, isNext: true };
}

/** The kind of address of the URL's host. Services on local addresses often trust every client. */
function rangeOf(url: URL): string {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (ipaddr.isValid(host)) return ipaddr.process(host).range();
  return /(?:^|\.)localhost$/.test(host) ? "loopback" : "";
}
