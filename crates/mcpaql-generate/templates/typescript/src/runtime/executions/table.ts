// The table of executions: rows in a journal, results in files of their own beside it.
//
// What always holds: a state that ends is never left, whoever writes; no parameter of a call stands in the table.

import { open, readFile, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Code, OpError } from "../errors.js";
import { Journal, type State, StoreError, makeFolder, syncFolder } from "../journal.js";
import { stringify } from "../json.js";
import type { Answer, Warning } from "../response.js";
import { now } from "../stamp.js";
import { byteLength } from "../text.js";
import { type JsonObject, isObject, parseValue } from "../values.js";
import { type Status, isFinal } from "./status.js";

/** What the first line of the file says. */
const FORMAT = "mcpaql-executions";

/** One execution without what came of it. */
export interface Row {
  readonly seq: number;
  readonly id: string;
  readonly operation: string;
  readonly status: Status;
  readonly progress: number;
  readonly message?: string;
  readonly started_at: number;
  readonly finished_at?: number;
  readonly expires_at?: number;
  /** How long it is kept after its end. */
  readonly keep: number;
  /** Who works on it. */
  readonly instance: string;
  /** Somebody asked whoever works on it to stop. */
  readonly cancel?: true;
  readonly error?: Fault;
}

interface Fault {
  readonly code: Code;
  readonly message: string;
  readonly details?: JsonObject;
}

/** An execution to be entered. */
export type New = Pick<Row, "id" | "operation" | "status" | "progress" | "keep" | "instance">;

/** What came of an execution. */
export type Outcome = Done | OpError;

/** An answer as it is kept. */
export interface Done {
  /** JSON text. */
  readonly data: string;
  readonly warnings: readonly Warning[];
  readonly blocks: readonly unknown[];
}

/** One execution with what came of it. */
export interface Kept {
  readonly row: Row;
  readonly outcome: Outcome | undefined;
}

/** What happened to an execution; a whole row where all that happened before is in it. */
type Event =
  | { readonly event: "entered"; readonly row: Omit<Row, "seq"> }
  | { readonly event: "kept"; readonly row: Row }
  | { readonly event: "begun"; readonly id: string; readonly progress: number }
  | { readonly event: "advanced"; readonly id: string; readonly progress: number; readonly message?: string }
  | { readonly event: "asked"; readonly id: string }
  | {
      readonly event: "ended";
      readonly id: string;
      readonly status: Status;
      readonly at: number;
      readonly message?: string;
      readonly error?: Fault;
    };

/** The rows, as every process that shares the file knows them. */
class Rows implements State {
  /** In order of entry. */
  readonly #rows = new Map<string, Row>();
  #seq = 0;

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  all(): Row[] {
    return [...this.#rows.values()];
  }

  remove(id: string): void {
    this.#rows.delete(id);
  }

  clear(): void {
    this.#rows.clear();
    this.#seq = 0;
  }

  take(line: JsonObject): boolean {
    const { seq } = line;
    if (typeof seq === "number") this.#seq = Math.max(this.#seq, seq);
    if (typeof line["event"] !== "string") return false;
    const event = line as unknown as Event;
    const next = this.#after(event);
    if (next === undefined) return false;
    this.#rows.set(next.id, next);
    return true;
  }

  /** What is not there any more for anybody is left out; behind the number of the last one that was ever entered. */
  *lines(): Iterable<object> {
    yield { seq: this.#seq };
    for (const row of this.#rows.values()) if (!isExpired(row)) yield { event: "kept", row } satisfies Event;
  }

  /** The row after the event; `undefined` where it cannot happen. */
  #after(event: Event): Row | undefined {
    switch (event.event) {
      case "kept":
        return event.row;
      case "entered":
        if (this.#rows.has(event.row.id)) return undefined;
        this.#seq += 1;
        return { seq: this.#seq, ...event.row };
      default: {
        const row = this.#rows.get(event.id);
        return row === undefined || isFinal(row.status) ? undefined : changed(row, event);
      }
    }
  }
}

function changed(row: Row, event: Exclude<Event, { event: "kept" | "entered" }>): Row | undefined {
  switch (event.event) {
    case "begun":
      return row.status === "pending" ? { ...row, status: "running", progress: event.progress } : undefined;
    case "advanced": {
      if (row.status !== "running") return undefined;
      const message = event.message ?? row.message;
      return { ...row, progress: Math.max(row.progress, event.progress), ...(message === undefined ? {} : { message }) };
    }
    case "asked":
      return { ...row, cancel: true };
    case "ended": {
      const { seq, id, operation, progress, started_at, keep, instance } = row;
      const { status, at, message, error } = event;
      return {
        ...{ seq, id, operation, status, progress: status === "completed" ? 100 : progress },
        ...{ started_at, finished_at: at, expires_at: at + keep, keep, instance },
        ...(message === undefined ? {} : { message }),
        ...(error === undefined ? {} : { error }),
      };
    }
  }
}

/** The executions of one adapter. */
export class Table {
  readonly #rows = new Rows();
  readonly #results: Results;
  /** `undefined` where everything ends with the process. */
  #journal: Journal | undefined;

  private constructor(results: Results) {
    this.#results = results;
  }

  /** The table of that adapter in that folder, made where there is none; throws a `StoreError`. */
  static async open(folder: string | undefined, adapter: string): Promise<Table> {
    if (folder === undefined) return new Table(new Results(undefined));
    const path = join(folder, `${adapter}.executions.jsonl`);
    const table = new Table(new Results(join(folder, `${adapter}.executions`)));
    table.#journal = await Journal.open(path, FORMAT, table.#rows);
    await table.#results.open(table.#rows);
    return table;
  }

  /** Where processes that share the table meet. */
  get folder(): string | undefined {
    return this.#results.folder;
  }

  /** Enters a new execution; `undefined` where its id is taken. */
  async enter(row: New): Promise<Row | undefined> {
    const entered = await this.#happened({ event: "entered", row: { ...row, started_at: now() } });
    return entered ? this.#rows.get(row.id) : undefined;
  }

  /** Says that its turn has come. */
  async begin(id: string, progress: number): Promise<void> {
    await this.#happened({ event: "begun", id, progress });
  }

  /** Says how far it has come; never back. */
  async advance(id: string, progress: number, message: string | undefined): Promise<void> {
    await this.#happened({ event: "advanced", id, progress, ...(message === undefined ? {} : { message }) });
  }

  /** Says how it ended, unless it has ended already. */
  async finish(id: string, status: Status, message: string | undefined, outcome?: Outcome): Promise<void> {
    if (outcome !== undefined && !(outcome instanceof OpError)) await this.#results.keep(id, outcome);
    const error = outcome instanceof OpError ? faultOf(outcome) : undefined;
    const said = { ...(message === undefined ? {} : { message }), ...(error === undefined ? {} : { error }) };
    await this.#happened({ event: "ended", id, status, at: now(), ...said });
  }

  async get(id: string): Promise<Kept | undefined> {
    await this.#journal?.refresh();
    const row = this.#rows.get(id);
    if (row === undefined || isExpired(row)) return undefined;
    return { row, outcome: row.status === "completed" ? await this.#results.read(id) : outcomeOf(row.error) };
  }

  /** The newest first, behind that place. */
  async list(status: Status | undefined, before: number | undefined, count: number): Promise<Row[]> {
    await this.#journal?.refresh();
    const fits = (row: Row): boolean =>
      !isExpired(row) && (status === undefined || row.status === status) && (before === undefined || row.seq < before);
    return this.#rows.all().filter(fits).sort((one, other) => other.seq - one.seq).slice(0, count);
  }

  /** What has not ended, as far as the table knows. */
  async openOnes(): Promise<Row[]> {
    await this.#journal?.refresh();
    return this.#rows.all().filter(({ status }) => !isFinal(status));
  }

  /** Asks whichever process works on it to stop. */
  async askToCancel(id: string): Promise<void> {
    await this.#happened({ event: "asked", id });
  }

  /** Removes what has been kept long enough. */
  async sweep(): Promise<void> {
    await this.#journal?.refresh();
    for (const row of this.#rows.all()) {
      if (!isExpired(row)) continue;
      this.#rows.remove(row.id);
      await this.#results.remove(row.id);
    }
  }

  async #happened(event: Event): Promise<boolean> {
    if (this.#journal === undefined) return this.#rows.take(event);
    // How far something has come says the next line as well.
    return await this.#journal.write(event, { mayGetLost: event.event === "advanced" });
  }
}

/** The results, each in a file: the rows are read by everybody, a result by whoever asks for it. */
class Results {
  readonly #memory = new Map<string, string>();

  constructor(readonly folder: string | undefined) {}

  /** Makes the folder and removes what belongs to no row. */
  async open(rows: Rows): Promise<void> {
    const { folder } = this;
    if (folder === undefined) return;
    try {
      await makeFolder(folder);
      for (const name of await readdir(folder)) {
        const id = /^([a-z0-9]+)\.json$/.exec(name)?.[1];
        if (id !== undefined && rows.get(id) === undefined) await rm(join(folder, name), { force: true });
      }
    } catch (error) {
      throw new StoreError(`cannot create the store ${folder}`, error);
    }
  }

  async keep(id: string, { data, warnings, blocks }: Done): Promise<void> {
    const text = `${stringify({ warnings, blocks })}\n${data}`;
    const path = this.#path(id);
    if (path === undefined) {
      this.#memory.set(id, text);
      return;
    }
    const file = await open(`${path}.tmp`, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.tmp`, path);
    await syncFolder(dirname(path));
  }

  async read(id: string): Promise<Done | undefined> {
    const path = this.#path(id);
    const text = path === undefined ? this.#memory.get(id) : await readFile(path, "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    const end = text.indexOf("\n");
    const beside = parseValue(text.slice(0, end));
    if (!isObject(beside)) return undefined;
    const { warnings, blocks } = beside as unknown as Omit<Done, "data">;
    return { data: text.slice(end + 1), warnings, blocks };
  }

  async remove(id: string): Promise<void> {
    this.#memory.delete(id);
    const path = this.#path(id);
    if (path !== undefined) await rm(path, { force: true });
  }

  /** Ids are made by this program, so that one is a name of a file. */
  #path(id: string): string | undefined {
    return this.folder === undefined ? undefined : join(this.folder, `${id}.json`);
  }
}

/** What a target answered as it is kept, and the length of its text. */
export function doneOf({ data, warnings, blocks }: Answer): [Done, number] {
  const text = "raw" in data ? data.raw : stringify(data.value);
  const beside = warnings.length === 0 ? 0 : byteLength(stringify(warnings));
  const length = blocks.reduce((sum: number, block) => sum + byteLength(stringify(block)), byteLength(text) + beside);
  return [{ data: text, warnings, blocks }, length];
}

function faultOf({ code, message, details }: OpError): Fault {
  return { code, message, ...(Object.keys(details).length === 0 ? {} : { details }) };
}

function outcomeOf(fault: Fault | undefined): OpError | undefined {
  if (fault === undefined) return undefined;
  const error = new OpError(fault.code, fault.message);
  Object.assign(error.details, fault.details);
  return error;
}

function isExpired({ expires_at }: Row): boolean {
  return expires_at !== undefined && expires_at <= now();
}
