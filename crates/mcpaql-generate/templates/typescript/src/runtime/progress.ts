// What a client hears while a call runs: every second, and whenever the work says something of itself.
//
// What always holds: progress rises strictly and stays below 90, where finishing would begin; nothing is announced after the answer.

import type { News } from "./pipeline.js";

const SECOND_MS = 1000;

/** What a client hears. */
export interface Progress {
  readonly done: number;
  readonly message: string;
}

/** One scale for what the work says of itself and for the clock. */
export class Scale {
  #last = 0;
  heard: News = { done: 0 };

  /** What is to be announced after that many seconds; `undefined` where it could not rise any more. */
  next(seconds: number): Progress | undefined {
    const clock = 10 + (80 * seconds) / (seconds + 20);
    const { done, total, message } = this.heard;
    const told = total !== undefined && total > 0 ? 10 + 80 * Math.min(Math.max(done / total, 0), 0.99) : clock;
    // Work that stands still is announced as well, or a client would think that it has died.
    const reached = told > this.#last ? told : this.#last + (90 - this.#last) / 100;
    if (!(reached > this.#last && reached < 90)) return undefined;
    this.#last = reached;
    return { done: reached, message: message ?? `Running for ${seconds} s` };
  }
}

/** Announces how far some work has come until it is stopped. */
export class Announcer {
  readonly #scale = new Scale();
  readonly #announce: (progress: Progress) => void;
  readonly #timer: NodeJS.Timeout;
  #seconds = 0;
  #stopped = false;

  constructor(announce: (progress: Progress) => void) {
    this.#announce = announce;
    this.#timer = setInterval(() => {
      this.#seconds += 1;
      this.#tell();
    }, SECOND_MS);
  }

  /** The work says something of itself. */
  hear(news: News): void {
    this.#scale.heard = news;
    this.#tell();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  #tell(): void {
    const progress = this.#stopped ? undefined : this.#scale.next(this.#seconds);
    if (progress !== undefined) this.#announce(progress);
  }
}
