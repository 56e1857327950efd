// Requests to one whole address that no operation describes, with the same care as calls: credentials stay with the address's origin, a
// redirect never leaves it, and what must not be shown comes along as a mask.

import { type Auth, Credentials, Reserved } from "../auth.js";
import type { Environment, Template } from "../environment.js";
import type { OpError } from "../errors.js";
import { Tokens } from "../oauth.js";
import { Mask } from "../secrets.js";
import { SetupError, checkBase, resolve } from "./address.js";
import { refusedRedirect, signed } from "./client.js";
import { Connections, type Received } from "./connection.js";
import { READ_BYTES, failureOf } from "./failure.js";
import { type Headers, targetHeaders } from "./headers.js";
import { type Hop, MAX_HOPS, step } from "./redirect.js";

/** Until a connection stands. */
const CONNECT_MS = 10_000;

/** One address as a document names it, and how to be let in. */
export interface Address {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allow_http: boolean;
}

/** An answer, and what must not be shown of it. */
export interface Opened {
  readonly response: Received;
  readonly mask: Mask;
}

/** One address, and how to be let in. */
export class Door {
  readonly #address: Address;
  readonly #auth: Auth;
  readonly #env: Environment;
  readonly #plain: Headers;
  readonly #secret: [string, Template][];
  readonly #connections: Connections;
  readonly #tokens: Tokens;

  /** Throws a `SetupError`. */
  constructor(address: Address, auth: Auth, env: Environment, userAgent: string) {
    this.#address = address;
    this.#auth = auth;
    this.#env = env;
    checkBase(address.url, address.allow_http, env, true);
    const reserved = new Reserved();
    const { plain, secret } = targetHeaders(address.headers, reserved);
    [this.#plain, this.#secret] = [plain, secret];
    const wrong = reserved.add(auth);
    if (wrong !== undefined) throw new SetupError(`the header '${wrong}' is not a header name; correct it in auth`);
    this.#connections = new Connections({ connectTimeoutMs: CONNECT_MS, userAgent, env });
    this.#tokens = new Tokens(this.#connections, address.allow_http);
  }

  /** One request. A token that is refused is fetched anew, once. Throws an `OpError` or a `ConnectionError`. */
  async send(method: string, headers: Headers, body: Buffer | undefined, signal: AbortSignal): Promise<Opened> {
    const mask = new Mask();
    for (let isSecond = false; ; isSecond = true) {
      const credentials = await Credentials.read(this.#auth, this.#secret, this.#env, this.#tokens, signal);
      mask.join(credentials.mask);
      const response = await this.#follow(method, headers, body, credentials, signal);
      if (response.status !== 401 || isSecond || !credentials.giveUp()) return { response, mask };
      response.drop();
    }
  }

  async #follow(
    method: string,
    headers: Headers,
    body: Buffer | undefined,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<Received> {
    const { url: text, allow_http: allowHttp } = this.#address;
    const url = resolve(text, allowHttp, this.#env, true);
    let hop: Hop = { outgoing: { method, url, headers: new Map([...this.#plain, ...headers]), body }, trusted: true };
    for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
      const response = await this.#connections.send(signed(hop, credentials), signal);
      const next = step(hop, response, allowHttp, credentials.mask);
      if (next === "final") return response;
      response.drop();
      if ("refuse" in next) throw refusedRedirect(response.status, next.refuse);
      const isSame = next.follow.trusted && next.follow.outgoing.method === method;
      if (!isSame) throw refusedRedirect(response.status, "it leads to another origin");
      hop = next.follow;
    }
    throw refusedRedirect(302, "too many redirects");
  }
}

/** The body of an answer that is no success, as far as it is read, and what the caller is told where it says nothing better. */
export async function refusalOf({ response, mask }: Opened): Promise<{ readonly body: Buffer; readonly error: OpError }> {
  const pieces: Buffer[] = [];
  let cut = true;
  try {
    cut = (await response.read(READ_BYTES, pieces)) === "cut";
  } catch {
    // What arrived of a broken error is enough: the status is known.
  }
  const body = Buffer.concat(pieces);
  return { body, error: failureOf(response, body, cut, mask) };
}
