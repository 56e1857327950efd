// Calls on their way, and those that wait for their client where there is no handshake: there a question is the answer to the request, and
// the client's answer comes with the request again.
//
// What always holds: a call that is put aside is the very call that goes on, so nothing runs twice; what leads back to it cannot be
// guessed, works once and only for the same tool; there are never more than `MOST`, and none waits longer than `PATIENCE_MS`. A call that
// nobody comes back for is aborted.

import { randomBytes } from "node:crypto";
import type { Question } from "./clients.js";
import type { Announcer } from "./progress.js";
import type { News } from "./pipeline.js";
import type { Reply } from "./response.js";
import { type JsonObject, isArray, isObject, own } from "./values.js";

/** How many calls are put aside together. */
const MOST = 256;
/** How long a call waits for its client. */
const PATIENCE_MS = 600_000;
/** The one question of a round. */
const KEY = "question";

/** What a client is answered with that has to answer something first. */
export interface InputRequired extends Record<string, unknown> {
  readonly resultType: "input_required";
}

/** A call that can be put aside. */
export class Ongoing {
  readonly tool: string;
  readonly signal: AbortSignal;
  /** Who tells the client of the request that is being answered how far the work has come. */
  announcer: Announcer | undefined;
  readonly #aborted = new AbortController();
  readonly #questions: Question[] = [];
  #work: Promise<Reply> | undefined;
  #wake: () => void = () => undefined;

  /** A call that ends with the server. */
  constructor(tool: string, ending: AbortSignal) {
    this.tool = tool;
    this.signal = AbortSignal.any([this.#aborted.signal, ending]);
  }

  begin(work: Promise<Reply>): void {
    this.#work = work;
    const wake = (): void => {
      this.#wake();
    };
    work.then(wake, wake);
  }

  abort(): void {
    this.#aborted.abort();
  }

  progress(news: News): void {
    this.announcer?.hear(news);
  }

  ask(question: Question): void {
    this.#questions.push(question);
    this.#wake();
  }

  /** Goes on until there is an answer or a question. */
  async step(): Promise<Reply | Question> {
    const asked = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const question = this.#questions.shift();
    if (question !== undefined) return question;
    const reply = await Promise.race([this.#work, asked]);
    return reply ?? (await this.step());
  }
}

/** The calls that are put aside. */
export class Parked {
  readonly #calls = new Map<string, { readonly call: Ongoing; readonly question: Question; readonly timer: NodeJS.Timeout }>();

  /** Puts a call aside until its client has answered; nothing comes back where that cannot be, and the question is given up. */
  ask(call: Ongoing, question: Question): InputRequired | undefined {
    const { ability: method, params: asked } = question;
    if (this.#calls.size >= MOST || !isKnown(question)) {
      question.answer(undefined);
      return undefined;
    }
    const params = method === "elicitation/create" ? { mode: "form", ...asked } : asked;
    const state = randomBytes(32).toString("hex");
    const timer = setTimeout(() => {
      this.#calls.delete(state);
      call.abort();
    }, PATIENCE_MS);
    this.#calls.set(state, { call, question, timer: timer.unref() });
    return { resultType: "input_required", inputRequests: { [KEY]: { method, params } }, requestState: state };
  }

  /** Takes up a call of that tool with what its client answered. Without an answer the question is given up. */
  resume(state: string, tool: string, responses: unknown): Ongoing | undefined {
    const parked = this.#calls.get(state);
    if (parked?.call.tool !== tool) return undefined;
    this.#calls.delete(state);
    clearTimeout(parked.timer);
    const result = isObject(responses) ? own(responses, KEY) : undefined;
    parked.question.answer(result === undefined ? undefined : { result });
    return parked.call;
  }
}

/** Whether the question has the form that the protocol defines. */
function isKnown({ ability, params }: Question): boolean {
  const isText = (name: string): boolean => typeof own(params, name) === "string";
  if (ability === "sampling/createMessage") return isArray(own(params, "messages")) && typeof own(params, "maxTokens") === "number";
  if (own(params, "mode") === "url") return isText("message") && isText("url") && isText("elicitationId");
  return isText("message") && isSchema(own(params, "requestedSchema"));
}

function isSchema(schema: unknown): schema is JsonObject {
  return isObject(schema) && own(schema, "type") === "object" && isObject(own(schema, "properties"));
}
