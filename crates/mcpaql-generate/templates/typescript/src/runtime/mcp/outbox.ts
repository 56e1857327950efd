// Messages that wait to be sent: a server that does not read makes further calls wait, and misses what is sent aside.

/** So many wait. */
const MOST = 64;

/** A queue that has room for so many. */
export class Outbox {
  readonly #lines: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #wake: () => void = () => undefined;
  #closed = false;

  /** Puts a message in as soon as there is room; where nobody takes it any more, it is dropped. */
  async put(line: string): Promise<void> {
    while (this.#lines.length >= MOST && !this.#closed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.offer(line);
  }

  /** Puts a message in where there is room now. */
  offer(line: string): boolean {
    if (this.#closed || this.#lines.length >= MOST) return false;
    this.#lines.push(line);
    this.#wake();
    return true;
  }

  /** The next message; `undefined` when there are no more. */
  async take(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const line = this.#closed ? undefined : this.#lines.shift();
    this.#waiting.shift()?.();
    return line;
  }

  /** Nobody sends any more. */
  close(): void {
    this.#closed = true;
    this.#lines.length = 0;
    this.#wake();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
