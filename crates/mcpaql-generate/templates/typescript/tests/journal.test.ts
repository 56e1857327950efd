// What holds for the file of a store: whoever shares it sees the same, and it does not grow for ever.

import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Journal, StoreError } from "../src/runtime/journal.js";
import type { Change } from "../src/runtime/store/record.js";
import { Records } from "../src/runtime/store/store.js";

const FORMAT = "test";
/** Files stay open until the process ends, as in a server. */
const open: Journal[] = [];

function freshPath(): string {
  return join(mkdtempSync(join(tmpdir(), "store-")), "x.jsonl");
}

/** One of the processes that share a file. */
async function reader(path: string): Promise<{ records: Records; file: Journal; versions: () => Record<string, number> }> {
  const records = new Records(new Map());
  const file = await Journal.open(path, FORMAT, records);
  open.push(file);
  const versions = (): Record<string, number> =>
    Object.fromEntries([...records.of("note").values()].map(({ id, version }) => [id, version]));
  return { records, file, versions };
}

function change(id: string, version: number, text = ""): Change {
  return { resource: "note", id, version, created_at: 0, updated_at: 0, body: { text } };
}

/** Writes one record anew until the file is far larger than what is alive. */
async function grow(file: Journal, id: string, from: number): Promise<number> {
  const text = "x".repeat(100_000);
  for (let version = from; version < from + 12; version += 1) assert.equal(await file.write(change(id, version, text)), true);
  return from + 12;
}

test("whoever writes later sees who was faster", async () => {
  const path = freshPath();
  const [one, other] = [await reader(path), await reader(path)];
  assert.equal(await one.file.write(change("n1", 1)), true);
  assert.equal(await other.file.write(change("n1", 1)), false);
  assert.equal(await other.file.write(change("n1", 2)), true);
  appendFileSync(path, '{"id":"n1","versi');
  assert.equal(await one.file.write(change("n1", 3)), true);
  await other.file.refresh();
  assert.deepEqual(one.versions(), { n1: 3 });
  assert.deepEqual(one.versions(), other.versions());
});

test("a file that has grown is written anew, and those who share it go on", async () => {
  const path = freshPath();
  const [one, other] = [await reader(path), await reader(path)];
  assert.equal(await one.file.write(change("kept", 1)), true);
  assert.equal(await one.file.write(change("gone", 1)), true);
  assert.equal(await one.file.write({ ...change("gone", 1), body: undefined }), true);
  let version = 1;
  for (let round = 0; round < 4; round += 1) version = await grow(one.file, "n1", version);
  const folder = join(path, "..");
  const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  assert.ok(size < 2 << 20, `${size} bytes`);
  // The other one has slept over several generations.
  assert.equal(await other.file.write(change("kept", 1)), false);
  assert.equal(await other.file.write(change("kept", 2)), true);
  assert.equal(await one.file.write(change("n1", version)), true);
  await other.file.refresh();
  const late = await reader(path);
  for (const { versions, records } of [one, other, late]) {
    assert.deepEqual(versions(), { kept: 2, n1: version });
    assert.deepEqual([...records.of("note").values()].map(({ seq }) => seq), [1, 3]);
  }
  assert.equal(await late.file.write(change("next", 1)), true);
  assert.equal(late.records.of("note").get("next")?.seq, 4);
  assert.equal(readFileSync(path, "utf8").split("\n")[1], '{"seal":"moved"}');
});

test("what is opened while it is too large is written anew at once", async () => {
  const path = freshPath();
  const one = await reader(path);
  assert.equal(await one.file.write(change("n1", 1)), true);
  appendFileSync(path, `{"nothing":"${"x".repeat(2 << 20)}"}\n`);
  await reader(path);
  assert.deepEqual(readdirSync(join(path, "..")).sort(), ["x.1.jsonl", "x.jsonl"]);
  assert.equal(await one.file.write(change("n1", 2)), true);
  assert.deepEqual((await reader(path)).versions(), { n1: 2 });
});

test("a seal whose writer died is followed by whoever reads it", async () => {
  const path = freshPath();
  const one = await reader(path);
  assert.equal(await one.file.write(change("n1", 1)), true);
  appendFileSync(path, '{"seal":"sealed"}\n{"resource":"note","id":"late","version":1,"body":{}}\n');
  const [late, other] = await Promise.all([reader(path), reader(path)]);
  assert.equal(await one.file.write(change("n1", 2)), true);
  await Promise.all([late.file.refresh(), other.file.refresh()]);
  for (const { versions } of [one, late, other]) assert.deepEqual(versions(), { n1: 2 });
});

test("what another program wrote is left alone", async () => {
  for (const [text, said] of [
    ['{"format":"other","layout":1}\n', /belongs to another program/],
    ["no JSON\n", /belongs to another program/],
    ['{"format":"test","layout":2}\n', /newer version \(layout 2, known up to 1\)/],
  ] as const) {
    const path = freshPath();
    writeFileSync(path, text);
    await assert.rejects(reader(path), (error) => error instanceof StoreError && said.test(error.message));
    assert.equal(readFileSync(path, "utf8"), text);
  }
});

test("folders are made as far as they can be, and where they cannot be that is said", async () => {
  const folder = mkdtempSync(join(tmpdir(), "store-"));
  await reader(join(folder, "a", "b", "x.jsonl"));
  assert.equal(statSync(join(folder, "a", "b")).mode & 0o777, 0o700);
  writeFileSync(join(folder, "file"), "");
  const impossible = process.platform === "linux" ? ["/proc/1/nope/mcpaql"] : [];
  for (const place of [...impossible, join(folder, "file", "below")]) {
    await assert.rejects(reader(join(place, "x.jsonl")), (error) => {
      return error instanceof StoreError && error.message === `cannot create the store ${join(place, "x.jsonl")}`;
    });
  }
});
