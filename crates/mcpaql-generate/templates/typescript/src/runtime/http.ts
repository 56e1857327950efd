// The HTTP target: one operation is one request to one API.
//
// What always holds: the whole call, with its redirects and retries, ends within the target's timeout; credentials go to the
// origin that the document names alone; only operations whose repetition does no harm are repeated, as often as the target
// says; an aborted call aborts the request.

import { isIPv4, isIPv6 } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { Agent, type Dispatcher, EnvHttpProxyAgent, request as send } from "undici";
import { type Received, decode, failureOf, retryAfter } from "./answer.js";
import { type Auth, Credentials, type Reserved, Tokens, noTokens, reserve } from "./auth.js";
import type { HttpTarget } from "./catalog.js";
import { fill, variablesOf } from "./environment.js";
import { OpError, type Warning } from "./errors.js";
import { type JsonObject, tryParse } from "./json.js";
import { type HttpRequest, type Outgoing, build, unusable } from "./request.js";
import { encode } from "./style.js";

export type { HttpRequest } from "./request.js";

const MAX_HOPS = 5;
/** How much of an answer that is no success is read. */
const ERROR_BYTES = 64 * 1024;
const USER_AGENT = "mcpaql-adapter";

/** A connection that failed. */
class ConnectionError extends Error {}

/** One request of a call, and whether credentials go along. */
interface Hop {
  readonly outgoing: Outgoing;
  readonly trusted: boolean;
}

export class HttpClient {
  readonly #direct: Dispatcher;
  readonly #proxied: Dispatcher;
  readonly #plain = new Map<string, string>();
  readonly #secret = new Map<string, string>();
  readonly #tokens: Tokens;

  constructor(readonly target: HttpTarget) {
    const options = { connect: { timeout: target.connect_timeout_ms }, maxHeaderSize: 256 * 1024, pipelining: 1 };
    this.#direct = new Agent(options);
    this.#proxied = new EnvHttpProxyAgent(options);
    for (const [name, value] of Object.entries(target.headers)) {
      (variablesOf(value).length > 0 ? this.#secret : this.#plain).set(name.toLowerCase(), value);
    }
    this.#tokens = new Tokens((url, headers, form) => this.#post(url, headers, form));
  }

  /** Runs one call whose arguments are validated and completed with defaults. */
  async call(request: HttpRequest, args: JsonObject, signal: AbortSignal, warn: (warning: Warning) => void): Promise<unknown> {
    const { target } = this;
    const auth = request.auth === undefined ? target.auth : request.auth;
    const base = this.#address(request.base_url ?? target.base_url);
    const outgoing = build(base, this.#plain, this.#reserved(auth), request, args);
    const late = AbortSignal.timeout(target.timeout_ms);
    const over = AbortSignal.any([signal, late]);
    const deadline = Date.now() + target.timeout_ms;
    try {
      return await this.#attempts(request, args, auth, { outgoing, trusted: true }, over, deadline, warn);
    } catch (error) {
      if (error instanceof OpError) throw error;
      if (signal.aborted) throw new OpError("TRANSPORT_CANCELLED", "The call was cancelled.");
      if (late.aborted) {
        const message = `The API did not answer within ${target.timeout_ms} ms; after a write first read whether it took effect.`;
        throw new OpError("TRANSPORT_TIMEOUT", message, {}, { cause: error });
      }
      if (!(error instanceof ConnectionError)) throw error;
      const message = "The API could not be reached, or the connection broke; try later or tell the user.";
      throw new OpError("TRANSPORT_CONNECTION_FAILED", message, {}, { cause: error });
    }
  }

  async #attempts(
    request: HttpRequest,
    args: JsonObject,
    auth: Auth,
    first: Hop,
    over: AbortSignal,
    deadline: number,
    warn: (warning: Warning) => void,
  ): Promise<unknown> {
    let credentials = await Credentials.read(auth, this.#secret, this.#tokens);
    const repeats = request.repeatable === true ? this.target.retries : 0;
    let renewed = false;
    for (let n = 0; ; ) {
      const outcome = await this.#follow(first, credentials, over).catch((error: unknown) => {
        if (error instanceof ConnectionError && !over.aborted) return error;
        throw error;
      });
      const reply = outcome instanceof ConnectionError ? undefined : outcome;
      // A request that was refused had no effect, so it may be repeated, whatever it does; once.
      if (reply?.received.status === 401 && reply.trusted && !renewed && credentials.giveUp()) {
        renewed = true;
        credentials = await Credentials.read(auth, this.#secret, this.#tokens);
        continue;
      }
      const wait = n < repeats ? waitAfter(reply?.received, n) : undefined;
      if (wait !== undefined && Date.now() + wait < deadline) {
        n += 1;
        await sleep(wait, undefined, { signal: over });
        continue;
      }
      if (outcome instanceof ConnectionError) throw outcome;
      return this.#conclude(request, args, outcome.method, outcome.received, credentials, n > 0, warn);
    }
  }

  #conclude(
    request: HttpRequest,
    args: JsonObject,
    method: string,
    received: Received,
    { secrets }: Credentials,
    repeated: boolean,
    warn: (warning: Warning) => void,
  ): unknown {
    const { status } = received;
    if (status === 304) {
      warn({ code: "NOT_MODIFIED", message: "Nothing changed since the version that the call named." });
      return null;
    }
    if (status >= 200 && status < 300) {
      const most = this.target.max_response_bytes;
      if (!received.cut) return decode(method, received, secrets, warn);
      const message = `The answer is larger than the limit of ${most} bytes; ask for less with a page or a filter.`;
      throw new OpError("VALIDATION_PAYLOAD_TOO_LARGE", message, { limit: "max_response_bytes", max_bytes: most });
    }
    for (const [name, param] of Object.entries(request.params)) if (param.sensitive === true) secrets.addValue(args[name]);
    const error = failureOf(received, secrets);
    if (!repeated || error.code !== "NOT_FOUND_RESOURCE" || request.removes !== true) throw error;
    const message = `${error.message} An earlier attempt of this very call may have removed it.`;
    throw new OpError(error.code, message, error.details);
  }

  /** One attempt, with its redirects. */
  async #follow(
    first: Hop,
    credentials: Credentials,
    over: AbortSignal,
  ): Promise<{ method: string; trusted: boolean; received: Received }> {
    let hop = first;
    for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
      const received = await this.#send(signed(hop, credentials), this.target.max_response_bytes, over);
      if (![301, 302, 303, 307, 308].includes(received.status)) {
        return { method: hop.outgoing.method, trusted: hop.trusted, received };
      }
      hop = redirected(hop, received, this.target.allow_http, credentials);
    }
    throw unsafe(302, "too many redirects");
  }

  async #send({ method, url, headers, body }: Outgoing, most: number, over: AbortSignal): Promise<Received> {
    try {
      const raw = Object.fromEntries([...headers].map(([name, value]) => [name, Buffer.from(value).toString("latin1")]));
      const reply = await send(url, {
        method: method as Dispatcher.HttpMethod,
        headers: { "user-agent": USER_AGENT, "accept-encoding": "gzip", ...raw },
        body: body ?? null,
        signal: over,
        dispatcher: isLoopback(url) ? this.#direct : this.#proxied,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const header = (name: string): string | undefined => [reply.headers[name]].flat()[0];
      const isGzip = method !== "HEAD" && /\bgzip\b/i.test(header("content-encoding") ?? "");
      const stream: AsyncIterable<Buffer> = isGzip ? reply.body.compose(createGunzip()) : reply.body;
      const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
      const { body: read, cut } = await readUpTo(stream, isSuccess ? most : Math.min(most, ERROR_BYTES), isSuccess);
      if (cut) reply.body.destroy();
      return { status: reply.statusCode, header, body: read, cut };
    } catch (error) {
      if (over.aborted) throw error;
      throw new ConnectionError(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  async #post(url: string, headers: Record<string, string>, form: string): Promise<{ status: number; body: unknown }> {
    const type = "application/x-www-form-urlencoded";
    const all = new Map(Object.entries({ accept: "application/json", "content-type": type, ...headers }));
    const outgoing = { method: "POST", url: this.#address(url), headers: all, body: Buffer.from(form) };
    const received = await this.#send(outgoing, ERROR_BYTES, AbortSignal.timeout(30_000)).catch((error: unknown) => {
      throw noTokens(error);
    });
    return { status: received.status, body: tryParse(received.body.toString("utf8")) };
  }

  #reserved(auth: Auth): Reserved {
    const cookie = this.target.headers["cookie"] ?? this.target.headers["Cookie"] ?? "";
    const names = cookie.split(";").map((pair) => (pair.split("=")[0] ?? "").trim());
    const reserved = { headers: new Set(this.#secret.keys()), query: new Set<string>(), cookies: new Set(names) };
    reserve(auth, reserved);
    return reserved;
  }

  /** An address of the document with its variables: `https`, or `http` to this machine or where the document allows it. */
  #address(text: string): URL {
    const unset = (name: string): OpError => {
      const message = `The address of this API is not set up; tell the user to set the environment variable ${name}.`;
      return new OpError("INTERNAL_ERROR", message, { variable: name });
    };
    const filled = fill(text, unset);
    const url = URL.canParse(filled) ? new URL(filled) : undefined;
    const isPlain = url?.protocol === "http:" && (this.target.allow_http || isLoopback(url));
    if (url === undefined || (url.protocol !== "https:" && !isPlain) || /[?#]/.test(url.href) || url.username !== "") {
      throw unusable("the address is no https URL without query and credentials");
    }
    return url;
  }
}

/** Reads no more than so much; what came of an error before it broke is enough. */
async function readUpTo(
  stream: AsyncIterable<Buffer>,
  most: number,
  isStrict: boolean,
): Promise<{ body: Buffer; cut: boolean }> {
  const chunks: Buffer[] = [];
  let room = most;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk.subarray(0, room));
      if (chunk.length > room) return { body: Buffer.concat(chunks), cut: true };
      room -= chunk.length;
    }
  } catch (error) {
    if (isStrict) throw error;
    return { body: Buffer.concat(chunks), cut: true };
  }
  return { body: Buffer.concat(chunks), cut: false };
}

/** Milliseconds before the next attempt; `undefined` where the answer is final. A wait that was asked for is not shortened. */
function waitAfter(received: Received | undefined, n: number): number | undefined {
  const backoff = Math.min(200 * 2 ** n, 5000) * (0.5 + Math.random() / 2);
  if (received === undefined) return backoff;
  const asked = retryAfter(received.header("retry-after"));
  if (received.status === 429) return asked === undefined ? undefined : Math.max(asked, backoff);
  return [502, 503, 504].includes(received.status) ? Math.max(asked ?? 0, backoff) : undefined;
}

/** The request of a hop, with credentials where they may go along. */
function signed({ outgoing, trusted }: Hop, credentials: Credentials): Outgoing {
  if (!trusted) return outgoing;
  const url = new URL(outgoing.url);
  const headers = new Map([...outgoing.headers, ...credentials.headers]);
  const cookies = [outgoing.headers.get("cookie"), credentials.headers.get("cookie"), ...credentials.cookies];
  const all = cookies.filter((cookie) => cookie !== undefined);
  if (all.length > 0) headers.set("cookie", all.join("; "));
  for (const [name, key] of credentials.query) {
    // A redirect may have kept it.
    if (url.searchParams.has(name)) continue;
    url.search = `${url.search === "" ? "?" : `${url.search}&`}${encode(name)}=${encode(key)}`;
  }
  return { ...outgoing, url, headers };
}

function unsafe(status: number, cause: string): OpError {
  const message = `The API answered ${status} with a redirect that is not safe to follow; tell the operator.`;
  return new OpError("INTERNAL_ERROR", message, { upstream: { status } }, { cause });
}

/** The next hop. Headers and body stay with the origin that they were meant for; a write is never repeated elsewhere. */
function redirected({ outgoing, trusted }: Hop, received: Received, allowHttp: boolean, credentials: Credentials): Hop {
  const { method, url: from, headers } = outgoing;
  const { status } = received;
  const location = Buffer.from(received.header("location") ?? "", "latin1").toString("utf8");
  if (location === "" || !URL.canParse(location, from.href)) throw unsafe(status, "no usable location");
  const to = new URL(location, from);
  to.hash = "";
  const isSame = to.origin === from.origin;
  const isWeb = to.protocol === "https:" || (to.protocol === "http:" && from.protocol === "http:");
  if (!isWeb || to.username !== "" || to.password !== "") throw unsafe(status, "the location may not be used");
  if (to.protocol === "http:" && !allowHttp && !isLoopback(to)) throw unsafe(status, "plain http to another machine");
  if (isLocal(to) && !isLocal(from)) throw unsafe(status, "from the outside to this machine");
  if (!isSame && credentials.secrets.mask(to.href) !== to.href) throw unsafe(status, "it carries a credential elsewhere");
  const becomesGet = status === 303 && method !== "HEAD";
  const isWrite = method !== "GET" && method !== "HEAD" && !becomesGet;
  if (isWrite && (![307, 308].includes(status) || !isSame)) throw unsafe(status, "a write is not repeated");
  const isTrusted = trusted && isSame;
  const kept = [...headers].filter(([name]) => (isTrusted ? !becomesGet || name !== "content-type" : name === "accept"));
  const body = becomesGet || !isTrusted ? undefined : outgoing.body;
  return { outgoing: { method: becomesGet ? "GET" : method, url: to, headers: new Map(kept), body }, trusted: isTrusted };
}

function hostOf(url: URL): string {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host)?.slice(1).map((half) => Number.parseInt(half, 16));
  return mapped === undefined ? host : mapped.flatMap((half) => [half >> 8, half & 0xff]).join(".");
}

/** Whether the URL's host is this machine. */
function isLoopback(url: URL): boolean {
  const host = hostOf(url);
  if (isIPv4(host)) return host.startsWith("127.");
  return host === "::1" || host === "localhost" || host.endsWith(".localhost");
}

/** Loopback, unspecified and link-local addresses: services that trust whoever reaches them. */
function isLocal(url: URL): boolean {
  const host = hostOf(url);
  if (isLoopback(url)) return true;
  if (isIPv4(host)) return host === "0.0.0.0" || host.startsWith("169.254.");
  return isIPv6(host) && (host === "::" || /^fe[89ab][0-9a-f]:/.test(host));
}
