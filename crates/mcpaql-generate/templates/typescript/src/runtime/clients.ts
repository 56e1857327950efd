// The clients behind requests, as each era of the protocol reaches them.
//
// With a handshake a question is a request to the client. Without one it is the answer to the client's own request, so it goes into a
// mailbox from which whoever answers that request takes it.

import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { type Ability, type Asked, type Client, LOG_LEVEL, type Level, type Wish, levelOf } from "./client.js";
import { type JsonObject, own } from "./values.js";

/** The longest that a timer can wait; whoever asks has a patience of their own. */
const FOREVER_MS = 0x7fff_ffff;

type Request = ServerContext["mcpReq"];

/** An answer is passed on as it is. */
const ANYTHING: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "mcpaql", validate: (value) => ({ value }) },
};

function declares(capabilities: unknown, ability: Ability): boolean {
  const name = ability === "elicitation/create" ? "elicitation" : "sampling";
  return (own(capabilities ?? {}, name) ?? undefined) !== undefined;
}

/** Past the SDK, which lets nothing through that was not announced: what a server behind logs is known only when it does. */
// eslint-disable-next-line @typescript-eslint/no-deprecated
function tell({ transport }: Server, method: string, params: JsonObject): void {
  // A client that has gone away needs no news.
  transport?.send({ jsonrpc: "2.0", method, params }).catch(() => undefined);
}

/** The client of a connection that began with a handshake. */
export class ConnectedClient implements Client {
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  readonly #server: Server;
  readonly #request: Request;
  readonly #capabilities: unknown;
  readonly #level: () => Level | undefined;

  // eslint-disable-next-line @typescript-eslint/no-deprecated
  constructor(server: Server, request: Request, level: () => Level | undefined) {
    this.#server = server;
    this.#request = request;
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    this.#capabilities = server.getClientCapabilities();
    this.#level = level;
  }

  isAble(ability: Ability): boolean {
    return declares(this.#capabilities, ability);
  }

  isSame(other: Client): boolean {
    return other instanceof ConnectedClient;
  }

  async ask(ability: Ability, params: JsonObject, signal: AbortSignal): Promise<Asked | undefined> {
    try {
      return { result: await this.#request.send({ method: ability, params }, ANYTHING, { timeout: FOREVER_MS, signal }) };
    } catch (error) {
      if (!(error instanceof ProtocolError)) return undefined;
      const { code, message, data } = error;
      return { error: { code, message, ...(data === undefined ? {} : { data }) } };
    }
  }

  notify(method: string, params: JsonObject): void {
    tell(this.#server, method, params);
  }

  logWish(): Wish {
    const level = this.#level();
    return level === undefined ? "everything" : { from: level };
  }
}

/** A question to the client, and where its answer goes; nothing means that there is none. */
export interface Question {
  readonly ability: Ability;
  readonly params: JsonObject;
  answer(asked: Asked | undefined): void;
}

/** The client of one request without a handshake. */
export class RequestClient implements Client {
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  readonly #server: Server;
  readonly #request: Request;
  readonly #mail: ((question: Question) => void) | undefined;

  /** Without a mailbox it cannot be asked. */
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  constructor(server: Server, request: Request, mail?: (question: Question) => void) {
    this.#server = server;
    this.#request = request;
    this.#mail = mail;
  }

  isAble(ability: Ability): boolean {
    return this.#mail !== undefined && declares(own(this.#request.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY), ability);
  }

  isSame(other: Client): boolean {
    return other instanceof RequestClient;
  }

  async ask(ability: Ability, params: JsonObject): Promise<Asked | undefined> {
    return await new Promise((resolve) => {
      if (this.#mail === undefined) resolve(undefined);
      else this.#mail({ ability, params, answer: resolve });
    });
  }

  notify(method: string, params: JsonObject): void {
    tell(this.#server, method, params);
  }

  logWish(): Wish {
    const level = levelOf(own(this.#request.envelope ?? {}, LOG_LEVEL));
    return level === undefined ? "nothing" : { from: level };
  }
}
