// The file of a store: one line of JSON for each change, never rewritten.
//
// What always holds: a change that was answered is on disk. Several processes may share the file: a line is appended in one go and
// counts only if it follows the version that it was made from, which every reader decides alike, so whoever was too late sees
// that and tries again. A line that a crash cut short counts for nobody.

import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { parse, stringify } from "../json.js";
import { log } from "../log.js";
import { type JsonObject, isObject } from "../values.js";

/** What the first line says. */
const FORMAT = "mcpaql-store";
const LAYOUT = 1;
const CHUNK = 1 << 20;

/** Why a store cannot be served. For the operator: it may name paths. */
export class StoreError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StoreError";
  }
}

/** A record after a change; without a body where it is gone. */
export interface Change {
  readonly resource: string;
  readonly id: string;
  /** The version that it leads to; the one that it removes. */
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly body?: JsonObject;
}

/** Takes a change in; `false` where it does not follow what is there. */
export type Apply = (change: Change) => boolean;

/** The file of a store. */
export class StoreFile {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #apply: Apply;
  /** How far the file has been read. */
  #offset = 0;
  #unread: Buffer = Buffer.alloc(0);
  #begun = false;
  /** Whether the changes of this process counted, by their marks. */
  readonly #outcomes = new Map<string, boolean>();
  readonly #process = randomUUID();
  #changes = 0;

  private constructor(path: string, handle: FileHandle, apply: Apply) {
    this.#path = path;
    this.#handle = handle;
    this.#apply = apply;
  }

  /** Opens the file, making it and its folder where there are none; throws a `StoreError`. */
  static async open(path: string, apply: Apply): Promise<StoreFile> {
    let handle: FileHandle;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      handle = await open(path, "a+", 0o600);
    } catch (error) {
      throw new StoreError(`cannot create the store ${path}`, error);
    }
    const file = new StoreFile(path, handle, apply);
    await file.refresh();
    if (!file.#begun) {
      await file.#append({ format: FORMAT, layout: LAYOUT });
      const folder = await open(dirname(path), "r");
      await folder.sync().finally(() => folder.close());
      await file.refresh();
    }
    return file;
  }

  /** Takes in what was appended since. */
  async refresh(): Promise<void> {
    for (;;) {
      const chunk = Buffer.alloc(CHUNK);
      const { bytesRead } = await this.#handle.read(chunk, 0, CHUNK, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      this.#unread = Buffer.concat([this.#unread, chunk.subarray(0, bytesRead)]);
      const end = this.#unread.lastIndexOf(0x0a) + 1;
      for (const line of this.#unread.toString("utf8", 0, end).split("\n")) if (line !== "") this.#take(line);
      this.#unread = this.#unread.subarray(end);
    }
  }

  /** Appends a change; `false` where another one was faster. */
  async write(change: Change): Promise<boolean> {
    this.#changes += 1;
    const mark = `${this.#process}.${this.#changes}`;
    await this.#append({ ...change, mark });
    await this.refresh();
    const counted = this.#outcomes.get(mark) === true;
    this.#outcomes.delete(mark);
    return counted;
  }

  async #append(line: object): Promise<void> {
    // What a crash left of a line before ends here.
    const bytes = Buffer.from(`${this.#begun ? "\n" : ""}${stringify(line)}\n`, "utf8");
    const { bytesWritten } = await this.#handle.write(bytes);
    if (bytesWritten < bytes.length) throw Object.assign(new Error("the line was cut short"), { code: "ENOSPC" });
    await this.#handle.datasync();
  }

  #take(line: string): void {
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
      if (value["format"] !== FORMAT) throw this.#foreign();
      if (value["layout"] !== LAYOUT) {
        throw new StoreError(
          `${this.#path} was written by a newer version (layout ${String(value["layout"])}, known up to ${LAYOUT}); update this program`,
        );
      }
      this.#begun = true;
      return;
    }
    if (typeof value["id"] !== "string") return;
    const counted = this.#apply(value as unknown as Change);
    const mark = value["mark"];
    if (typeof mark === "string" && mark.startsWith(this.#process)) this.#outcomes.set(mark, counted);
  }

  #foreign(): StoreError {
    return new StoreError(`${this.#path} belongs to another program; name another file`);
  }
}
