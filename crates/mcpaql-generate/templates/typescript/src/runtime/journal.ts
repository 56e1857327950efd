// A file that keeps a state: one line of JSON for each change, never changed in place.
//
// What always holds: a change that was answered is on disk. Several processes may share the file: a line is appended in one go and
// counts only if whoever keeps the state accepts it, which every reader decides alike, so whoever was too late sees that. A line
// that a crash cut short counts for nobody.
//
// A file that has grown well beyond what is alive is sealed: no line behind the seal counts, and the state goes on in the next
// generation, `name.1.jsonl` after `name.jsonl`. Whoever reads a seal makes that generation unless it is there, from the state up to
// the seal, which is the same for all; only the first one to link it gets the name. So nobody needs a lock, and nobody who crashes
// holds up the others.

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { link, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { platform } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse, stringify } from "./json.js";
import { log } from "./log.js";
import { byteLength } from "./text.js";
import { type JsonObject, isObject } from "./values.js";

const LAYOUT = 1;
const CHUNK = 1 << 20;
/** A smaller file is left as it is. */
const SMALL = 1 << 20;
/** So many times larger than what is alive a file may be. */
const GROWN = 4;
/** So often a line is appended anew when a seal was faster, and a generation is looked for. */
const ATTEMPTS = 50;

/** Why what is kept cannot be served. For the operator: it may name paths. */
export class StoreError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StoreError";
  }
}

/** Whoever keeps its state in a journal. */
export interface State {
  /** Forgets everything. */
  clear(): void;
  /** Takes a change in; `false` where it does not follow what is there. */
  take(line: JsonObject): boolean;
  /** The changes that lead from nothing to what is there. */
  lines(): Iterable<object>;
}

/** The file of a state. */
export class Journal {
  readonly #path: string;
  readonly #format: string;
  readonly #state: State;
  #handle: FileHandle;
  #generation = 0;
  /** How far the file has been read. */
  #offset = 0;
  #unread: Buffer = Buffer.alloc(0);
  #begun = false;
  /** Nothing that follows counts; `moved` where nothing of what was before is left here either. */
  #seal: "none" | "sealed" | "moved" = "none";
  /** Where it is looked again whether the file has grown too large. */
  #worth = SMALL;
  /** Whether the changes of this process counted, by their marks. */
  readonly #outcomes = new Map<string, boolean>();
  readonly #process = randomUUID();
  #changes = 0;
  /** One use after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(path: string, format: string, state: State, handle: FileHandle) {
    this.#path = path;
    this.#format = format;
    this.#state = state;
    this.#handle = handle;
  }

  /** Opens the file, making it and its folder where there are none; throws a `StoreError`. */
  static async open(path: string, format: string, state: State): Promise<Journal> {
    let handle: FileHandle;
    try {
      await makeFolder(dirname(path));
      handle = await open(path, "a+", 0o600);
    } catch (error) {
      throw new StoreError(`cannot create the store ${path}`, error);
    }
    const journal = new Journal(path, format, state, handle);
    try {
      await journal.#begin();
    } catch (error) {
      throw error instanceof StoreError ? error : new StoreError(`cannot open the store ${path}`, error);
    }
    return journal;
  }

  async #begin(): Promise<void> {
    await this.#refresh();
    if (!this.#begun) {
      await this.#append(this.#head(), true);
      await syncFolder(dirname(this.#path));
      await this.#refresh();
    }
    await this.#compact();
  }

  /** Takes in what was appended since. */
  refresh(): Promise<void> {
    return this.#inTurn(() => this.#refresh());
  }

  /** Appends a change and waits until it is on disk, unless it may get lost; `false` where it does not follow what is there. */
  write(change: object, { mayGetLost = false } = {}): Promise<boolean> {
    return this.#inTurn(async () => {
      const counted = await this.#write(change, !mayGetLost);
      await this.#compact();
      return counted;
    });
  }

  #inTurn<T>(use: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(use);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #write(change: object, sync: boolean): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      this.#changes += 1;
      const mark = `${this.#process}.${this.#changes}`;
      await this.#append({ ...change, mark }, sync);
      await this.#refresh();
      const counted = this.#outcomes.get(mark);
      this.#outcomes.delete(mark);
      // Otherwise it stands behind a seal.
      if (counted !== undefined) return counted;
    }
    throw new Error("the file was sealed again and again");
  }

  async #append(line: object, sync: boolean): Promise<void> {
    // What a crash left of a line before ends here.
    const bytes = Buffer.from(`${this.#begun ? "\n" : ""}${stringify(line)}\n`, "utf8");
    const { bytesWritten } = await this.#handle.write(bytes);
    if (bytesWritten < bytes.length) throw Object.assign(new Error("the line was cut short"), { code: "ENOSPC" });
    if (sync) await this.#handle.datasync();
  }

  async #refresh(): Promise<void> {
    await this.#read();
    while (this.#seal !== "none") {
      await this.#goOn();
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    while (this.#seal === "none") {
      const { size } = await this.#handle.stat();
      if (size <= this.#offset) return;
      const chunk = Buffer.alloc(Math.min(CHUNK, size - this.#offset));
      const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      this.#unread = Buffer.concat([this.#unread, chunk.subarray(0, bytesRead)]);
      const end = this.#unread.lastIndexOf(0x0a) + 1;
      for (const line of this.#unread.toString("utf8", 0, end).split("\n")) if (line !== "") this.#take(line);
      this.#unread = this.#unread.subarray(end);
    }
  }

  #take(line: string): void {
    if (this.#seal !== "none") return;
    let value: unknown;
    try {
      value = parse(line);
    } catch {
      if (!this.#begun) throw this.#foreign();
      log.warn("a line of the store cannot be read; it is left out", {});
      return;
    }
    if (!isObject(value)) return;
    if (!this.#begun) {
      this.#checkHead(value);
      this.#begun = true;
    } else if (value["seal"] !== undefined) {
      this.#seal = value["seal"] === "moved" ? "moved" : "sealed";
    } else {
      const counted = this.#state.take(value);
      const mark = value["mark"];
      if (typeof mark === "string" && mark.startsWith(this.#process)) this.#outcomes.set(mark, counted);
    }
  }

  #head(): object {
    return { format: this.#format, layout: LAYOUT };
  }

  #checkHead({ format, layout }: JsonObject): void {
    if (format !== this.#format) throw this.#foreign();
    if (layout === LAYOUT) return;
    throw new StoreError(
      `${this.#path} was written by a newer version (layout ${String(layout)}, known up to ${LAYOUT}); update this program`,
    );
  }

  #foreign(): StoreError {
    return new StoreError(`${this.#path} belongs to another program; name another file`);
  }

  /** Goes on in the generation behind the seal. */
  async #goOn(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const newest = await this.#newest();
      if (newest > this.#generation) {
        if (await this.#turnTo(newest)) return;
      } else if (this.#seal === "sealed") {
        await this.#makeNext();
      }
    }
    throw new Error("what follows the seal cannot be found");
  }

  async #turnTo(generation: number): Promise<boolean> {
    let handle: FileHandle;
    try {
      handle = await open(this.#pathOf(generation), constants.O_RDWR | constants.O_APPEND);
    } catch (error) {
      // It has been followed by another one meanwhile.
      if (isCode(error, "ENOENT")) return false;
      throw error;
    }
    await this.#handle.close();
    this.#handle = handle;
    this.#generation = generation;
    this.#offset = 0;
    this.#unread = Buffer.alloc(0);
    this.#begun = false;
    this.#seal = "none";
    this.#worth = SMALL;
    this.#state.clear();
    return true;
  }

  /** Makes the next generation from the present state; no harm is done where another process was faster. */
  async #makeNext(): Promise<void> {
    const [sealed, next] = [this.#generation, this.#generation + 1];
    const draft = await this.#draft(this.#state.lines());
    try {
      await link(draft, this.#pathOf(next));
    } catch (error) {
      if (isCode(error, "EEXIST")) return;
      throw error;
    } finally {
      await unlink(draft);
    }
    await syncFolder(dirname(this.#path));
    // A process that slept over several generations has made one that nobody waits for.
    if ((await this.#newest()) > next) {
      await unlink(this.#pathOf(next));
      return;
    }
    // Whoever still opens the sealed file finds that it leads on. The two newest are always there, so that nobody sees none.
    await rename(await this.#draft([{ seal: "moved" }]), this.#pathOf(sealed));
    if (sealed >= 2) await unlink(this.#pathOf(sealed - 1)).catch(() => undefined);
  }

  /** Seals the file where it has grown well beyond what is alive, and goes on in the next. What was written is safe either way. */
  async #compact(): Promise<void> {
    if (this.#offset < this.#worth) return;
    let alive = 0;
    for (const line of this.#state.lines()) alive += byteLength(stringify(line)) + 1;
    this.#worth = Math.max(SMALL, GROWN * alive);
    if (this.#offset < this.#worth) return;
    this.#worth = Number.POSITIVE_INFINITY;
    if (!(await this.#canLink())) return;
    try {
      await this.#append({ seal: "sealed" }, true);
      await this.#refresh();
      this.#worth = Math.max(SMALL, GROWN * this.#offset);
    } catch (error) {
      log.warn("a store has grown large and could not be written anew", { cause: String(error) });
    }
  }

  /** Some file systems have no links, and a seal there would be the end. */
  async #canLink(): Promise<boolean> {
    const probe = `${this.#path}.${randomUUID()}.tmp`;
    try {
      await link(this.#pathOf(this.#generation), probe);
      await unlink(probe);
      return true;
    } catch {
      return false;
    }
  }

  async #draft(lines: Iterable<object>): Promise<string> {
    const path = `${this.#path}.${randomUUID()}.tmp`;
    const draft = await open(path, "wx", 0o600);
    try {
      let text = `${stringify(this.#head())}\n`;
      for (const line of lines) {
        text += `${stringify(line)}\n`;
        if (text.length < CHUNK) continue;
        await draft.appendFile(text);
        text = "";
      }
      await draft.appendFile(text);
      await draft.sync();
    } finally {
      await draft.close();
    }
    return path;
  }

  /** The newest generation there is; the first one is always there. */
  async #newest(): Promise<number> {
    const names = await readdir(dirname(this.#path));
    const stem = `${this.#stem()}.`;
    const numbers = names.flatMap((name) => {
      const number = name.startsWith(stem) ? /^([1-9]\d{0,8})\.jsonl$/.exec(name.slice(stem.length)) : null;
      return number === null ? [] : [Number(number[1])];
    });
    return Math.max(0, ...numbers);
  }

  #stem(): string {
    return basename(this.#path, ".jsonl");
  }

  #pathOf(generation: number): string {
    return generation === 0 ? this.#path : join(dirname(this.#path), `${this.#stem()}.${generation}.jsonl`);
  }
}

/** Waits until the names in a folder are on disk, where the system can be asked for that. */
export async function syncFolder(path: string): Promise<void> {
  if (platform() === "win32") return;
  const folder = await open(path, "r");
  await folder.sync().finally(() => folder.close());
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

/** Makes a folder and those above it, one after the other: Node's own way never ends where the system makes none, as below `/proc`. */
export async function makeFolder(folder: string): Promise<void> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster.
    if (!isCode(error, "EEXIST")) throw error;
  }
}
