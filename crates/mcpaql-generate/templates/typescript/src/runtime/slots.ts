// So many at a time; the others wait in order.

/** Gives a slot back; once. */
export type Release = () => void;

/** Places that are taken and given back. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  /** A slot, where one is free. */
  takeNow(): Release | undefined {
    if (this.#free === 0) return undefined;
    this.#free -= 1;
    return this.#release;
  }

  /** Waits for a slot. */
  async take(): Promise<Release> {
    const now = this.takeNow();
    if (now === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return now ?? this.#release;
  }

  readonly #release = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  };
}
