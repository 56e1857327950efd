// The store: records of declared resources in a file, held in memory.
//
// What always holds: a write that was answered is on disk; an update merges into the record as it is then, so that concurrent
// updates never lose one another; several processes may share a file.

import { join } from "node:path";
import type { Catalog } from "../catalog.js";
import { OpError } from "../errors.js";
import { Journal, type State, StoreError } from "../journal.js";
import { type Answer, answer } from "../response.js";
import { OBJECT, Schemas } from "../schema/types.js";
import { freshId, now } from "../stamp.js";
import { byteLength, splitBlanks } from "../text.js";
import { type JsonObject, isSame, jsonText, own } from "../values.js";
import { RECORD_KEYS, type StoreAction, type StoreTarget, isFilter, searchFields } from "./binding.js";
import { type Kind, changes, checkFields, clip, merged, newBody } from "./change.js";
import { type Change, type Cursor, START, type Stored, decodeCursor, encodeCursor, fold, searchText, shown } from "./record.js";

/** Records of a page unless the caller says otherwise, and the largest page. */
const PAGE = 25;
const PAGE_LIMIT = 100;
/** More words than that are not a query. */
const WORD_LIMIT = 32;
/** Largest record. What is larger could be written but hardly be read again, so it is refused before anything happens. */
const MAX_RECORD_BYTES = 1 << 20;
/** So often a change is made anew when another process was faster. */
const ATTEMPTS = 50;

/** What the first line of the file says. */
const FORMAT = "mcpaql-store";

/** A record and how well a search found it: 0 is best. */
interface Hit {
  readonly rank: number;
  readonly record: Stored;
}

/** The store of one adapter. */
export class Store {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #records: Records;
  readonly #file: Journal;
  /** One call after the other: each sees what the one before it did. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(kinds: ReadonlyMap<string, Kind>, records: Records, file: Journal) {
    this.#kinds = kinds;
    this.#records = records;
    this.#file = file;
  }

  /** Opens the store in that folder; throws a `StoreError`. */
  static async open(folder: string, catalog: Catalog, target: StoreTarget): Promise<Store> {
    const kinds = kindsOf(catalog, target);
    const records = new Records(kinds);
    const path = join(folder, `${catalog.data.adapter.name}.jsonl`);
    return new Store(kinds, records, await Journal.open(path, FORMAT, records));
  }

  /** Runs one call. */
  async call({ resource, action }: StoreAction, args: JsonObject): Promise<Answer> {
    const kind = this.#kinds.get(resource);
    if (kind === undefined) throw internal(`the store has no resource ${resource}`);
    const turn = this.#queue.then(() => this.#run(kind, action, args));
    this.#queue = turn.catch(() => undefined);
    return answer(await turn);
  }

  async #run(kind: Kind, action: StoreAction["action"], args: JsonObject): Promise<unknown> {
    try {
      await this.#file.refresh();
      switch (action) {
        case "create":
          return await this.#create(kind, args);
        case "get":
          return shown(this.#find(kind, args));
        case "list":
          return this.#list(kind, args);
        case "search":
          return this.#search(kind, args);
        case "update":
          return await this.#update(kind, args);
        case "delete":
          return await this.#delete(kind, args);
      }
    } catch (error) {
      throw error instanceof OpError ? error : broken(error);
    }
  }

  async #create(kind: Kind, args: JsonObject): Promise<unknown> {
    const body = newBody(kind, args);
    checkFields(kind, body);
    checkSize(body);
    const created_at = now();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const id = freshId(kind.name);
      const change = { resource: kind.name, id, version: 1, created_at, updated_at: created_at, body };
      if (await this.#file.write(change)) return shown(this.#find(kind, { id }));
    }
    throw internal("no free id found");
  }

  async #update(kind: Kind, args: JsonObject): Promise<unknown> {
    idOf(args);
    const wanted = changes(kind, args);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const record = this.#find(kind, args);
      checkMatch(kind, args, record.version);
      const body = merged(record.body, wanted);
      // A repeat changes nothing, not even the version.
      if (isSame(body, record.body)) return shown(record);
      checkFields(kind, body);
      checkSize(body);
      const { id, created: created_at } = record;
      const change = { resource: kind.name, id, version: record.version + 1, created_at, updated_at: now(), body };
      if (await this.#file.write(change)) return shown(this.#find(kind, args));
    }
    throw busy();
  }

  async #delete(kind: Kind, args: JsonObject): Promise<unknown> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const record = this.#find(kind, args);
      checkMatch(kind, args, record.version);
      const { id, version, created: created_at } = record;
      if (await this.#file.write({ resource: kind.name, id, version, created_at, updated_at: now() })) {
        return { id, deleted: true };
      }
    }
    throw busy();
  }

  /** Newest first means by order of creation, which no update changes, so that a cursor stays valid. */
  #list(kind: Kind, args: JsonObject): unknown {
    const { first, after } = pageOf(args);
    const filters = Object.entries(kind.resource.fields).flatMap(([name, schema]): [string, unknown][] => {
      const wanted = own(args, name);
      return wanted !== undefined && isFilter(name, schema) ? [[name, comparable(wanted)]] : [];
    });
    const fits = ({ seq, body }: Stored): boolean =>
      seq < after.seq && filters.every(([name, wanted]) => comparable(own(body, name)) === wanted);
    return page(this.#newest(kind).filter(fits).map((record) => ({ rank: 0, record })), first);
  }

  #search(kind: Kind, args: JsonObject): unknown {
    const { first, after } = pageOf(args);
    const words = wordsOf(args);
    const hits = this.#newest(kind).flatMap((record): Hit[] => {
      if (!words.every((word) => record.head.includes(word) || record.rest.includes(word))) return [];
      return [{ rank: words.every((word) => record.head.includes(word)) ? 0 : 1, record }];
    });
    const isBehind = ({ rank, record }: Hit): boolean => rank > after.rank || (rank === after.rank && record.seq < after.seq);
    return page(hits.filter(isBehind).sort((one, other) => one.rank - other.rank), first);
  }

  #newest(kind: Kind): Stored[] {
    return [...this.#records.of(kind.name).values()].reverse();
  }

  #find(kind: Kind, args: JsonObject): Stored {
    const id = idOf(args);
    const found = this.#records.of(kind.name).get(id);
    if (found !== undefined) return found;
    const { plural } = kind.resource;
    const said = clip(id);
    throw new OpError(
      "NOT_FOUND_RESOURCE",
      `No ${kind.name} has the id '${said}'. Find it with list_${plural} or search_${plural}.`,
    )
      .with("resource_type", kind.name)
      .with("resource_id", said);
  }
}

/** The records of all resources, those that this program does not know included: another one may share the file. */
export class Records implements State {
  readonly #kinds: ReadonlyMap<string, Pick<Kind, "search">>;
  /** By resource and id, in order of creation. */
  readonly #all = new Map<string, Map<string, Stored>>();
  #seq = 0;

  constructor(kinds: ReadonlyMap<string, Pick<Kind, "search">>) {
    this.#kinds = kinds;
  }

  /** Those of a resource, by id. */
  of(resource: string): Map<string, Stored> {
    let records = this.#all.get(resource);
    if (records === undefined) {
      records = new Map();
      this.#all.set(resource, records);
    }
    return records;
  }

  clear(): void {
    this.#all.clear();
    this.#seq = 0;
  }

  /** Every reader of the file decides alike whether a change follows what is there. */
  take(line: JsonObject): boolean {
    const { seq: kept, resource, id, version, created_at, updated_at, body } = line as Partial<Change> & { seq?: number };
    if (kept !== undefined) this.#seq = Math.max(this.#seq, kept);
    if (resource === undefined || id === undefined || version === undefined) return false;
    const records = this.of(resource);
    const present = records.get(id);
    if (body === undefined) return present?.version === version && records.delete(id);
    if (kept === undefined && version !== (present?.version ?? 0) + 1) return false;
    if (present === undefined && kept === undefined) this.#seq += 1;
    const seq = kept ?? present?.seq ?? this.#seq;
    const [created, updated] = [created_at ?? 0, updated_at ?? 0];
    records.set(id, { seq, id, version, created, updated, body, ...searchText(this.#kinds.get(resource)?.search ?? [], body) });
    return true;
  }

  /** The records as they are, behind the number of the last one that was ever created. */
  *lines(): Iterable<object> {
    yield { seq: this.#seq };
    for (const [resource, records] of this.#all) {
      for (const { seq, id, version, created: created_at, updated: updated_at, body } of records.values()) {
        yield { seq, resource, id, version, created_at, updated_at, body };
      }
    }
  }
}

/** The resources with what calls need of them. */
function kindsOf(catalog: Catalog, target: StoreTarget): Map<string, Kind> {
  const { schemas: nodes, patterns } = catalog.data;
  const all = [...nodes];
  const entries = Object.entries(target.resources).map(([name, resource]) => {
    const wrong = Object.keys(resource.fields).find((field) => !/^[A-Za-z0-9_]+$/.test(field) || RECORD_KEYS.includes(field));
    if (wrong !== undefined) {
      throw new StoreError(
        `field '${wrong}' of resource '${name}' cannot be stored: use letters, digits and '_', and none of id, created_at, updated_at, _etag`,
      );
    }
    // Whoever creates a record gives its fields as parameters, so these have the checks.
    const params = catalog.get(`create_${name}`)?.params ?? [];
    const properties = params.map((param): [string, number] => [param.name, param.check]);
    all.push({ types: OBJECT, object: { properties, required: resource.required } });
    return { name, resource, search: searchFields(resource), schema: all.length - 1 };
  });
  const schemas = new Schemas(all, patterns);
  return new Map(entries.map((entry) => [entry.name, { ...entry, schemas }]));
}

function page(hits: readonly Hit[], first: number): unknown {
  const shownHits = hits.slice(0, first);
  const last = shownHits.at(-1);
  const hasNextPage = hits.length > first;
  const endCursor = hasNextPage && last !== undefined ? encodeCursor({ rank: last.rank, seq: last.record.seq }) : null;
  return { items: shownHits.map(({ record }) => shown(record)), pageInfo: { hasNextPage, endCursor } };
}

function pageOf(args: JsonObject): { first: number; after: Cursor } {
  const first = own(args, "first") ?? PAGE;
  if (typeof first !== "number" || !Number.isInteger(first) || first < 1 || first > PAGE_LIMIT) {
    throw new OpError(
      "VALIDATION_INVALID_VALUE",
      `Parameter 'first' must be an integer from 1 to ${PAGE_LIMIT}.`,
    ).with("param_name", "first");
  }
  const cursor = own(args, "after") ?? null;
  const after = cursor === null ? START : typeof cursor === "string" ? decodeCursor(cursor) : undefined;
  if (after === undefined) {
    throw new OpError(
      "VALIDATION_INVALID_VALUE",
      "Parameter 'after' must be the endCursor of an earlier page; leave it out to start anew.",
    ).with("param_name", "after");
  }
  return { first, after };
}

function wordsOf(args: JsonObject): string[] {
  const invalid = (message: string): OpError => new OpError("VALIDATION_INVALID_VALUE", message).with("param_name", "query");
  const query = own(args, "query");
  const words = [...new Set(splitBlanks(fold(typeof query === "string" ? query : "")))];
  if (words.length === 0) throw invalid("Parameter 'query' needs one word or more; list instead to see everything.");
  if (words.length > WORD_LIMIT) throw invalid(`Parameter 'query' may have ${WORD_LIMIT} different words; use fewer.`);
  return words;
}

/** What two values are compared by: booleans are numbers, and what is not there is null. */
function comparable(value: unknown): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object" || value === undefined) return null;
  return value;
}

function idOf(args: JsonObject): string {
  const id = own(args, "id");
  if (typeof id === "string") return id;
  throw new OpError("VALIDATION_MISSING_PARAM", "Missing required parameter 'id'. Expected: string.");
}

function checkMatch(kind: Kind, args: JsonObject, version: number): void {
  const expected = own(args, "if_match") ?? own(args, "_etag") ?? null;
  if (expected === null) return;
  if ((typeof expected === "string" ? expected : jsonText(expected)) === String(version)) return;
  throw new OpError(
    "CONFLICT_VERSION_MISMATCH",
    `This ${kind.name} has changed since you read it; get it again and repeat the call with its new _etag.`,
  ).with("current_etag", String(version));
}

function checkSize(body: JsonObject): void {
  const length = byteLength(jsonText(body));
  if (length <= MAX_RECORD_BYTES) return;
  throw new OpError(
    "VALIDATION_PAYLOAD_TOO_LARGE",
    `The record would have ${length} bytes, more than the ${MAX_RECORD_BYTES} a record may have. Store less in it or split it.`,
  )
    .with("limit", "max_record_size")
    .with("actual", length)
    .with("maximum", MAX_RECORD_BYTES);
}

function internal(cause: unknown): OpError {
  return new OpError("INTERNAL_ERROR", "The store could not answer; tell the user.").because(cause);
}

function busy(): OpError {
  return new OpError("TRANSPORT_TIMEOUT", "The store is busy with other writes; try again in a moment.");
}

function broken(error: unknown): OpError {
  const code = (error as NodeJS.ErrnoException).code;
  if (code !== "ENOSPC" && code !== "EDQUOT") return internal(error);
  return new OpError("INTERNAL_ERROR", "The store's disk is full; tell the user.").because(error);
}
