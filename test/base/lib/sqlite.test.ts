import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openDatabase, openStore, transact } from "../../../src/base/lib/io/sqlite.ts";
import { newDirectory } from "../../support/servers/edges.ts";

test("a damaged file of an earlier version is not upgraded", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "a.sqlite");
  const first = { applicationId: 7, version: 1, tables: "CREATE TABLE one (text TEXT)" };
  const db = openDatabase(path, first);
  db.prepare("INSERT INTO one VALUES (?)").run("x".repeat(20_000));
  db.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(8, 255), 0, 8, statSync(path).size - 4_096 * 4);
  closeSync(file);
  const second = { ...first, version: 2, upgrades: { 1: "CREATE TABLE two (text TEXT)" } };
  expect(() => openDatabase(path, second)).toThrow();
  const raw = new DatabaseSync(path);
  expect(raw.prepare("PRAGMA user_version").get()).toEqual({ user_version: 1 });
  raw.close();
});

const SCHEMA = { applicationId: 7, version: 1, tables: "CREATE TABLE one (text TEXT)" };

test("each failed transaction is undone, and what follows is stored on its own", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "a.sqlite");
  const db = openDatabase(path, SCHEMA);
  const insert = (text: string) => db.prepare("INSERT INTO one VALUES (?)").run(text);
  const texts = () =>
    db
      .prepare("SELECT text FROM one")
      .all()
      .map(({ text }) => text);
  for (const round of ["first", "second"]) {
    const fail = () => {
      insert(`${round} undone`);
      // Nested work belongs to the same transaction.
      transact(db, () => insert(`${round} undone too`));
      throw new Error(round);
    };
    expect(() => transact(db, fail)).toThrow(round);
    expect(db.isTransaction).toBe(false);
    transact(db, () => insert(round));
  }
  expect(texts()).toEqual(["first", "second"]);
  db.close();
});

test("a file whose store cannot be opened is free for the next attempt", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "a.sqlite");
  const fail = () => {
    throw new Error("no store");
  };
  for (const _ of [1, 2]) expect(() => openStore(path, SCHEMA, fail)).toThrow("no store");
  const other = { ...SCHEMA, applicationId: 8 };
  for (const _ of [1, 2]) expect(() => openDatabase(path, other)).toThrow("another program's database");
  openDatabase(path, SCHEMA).close();
});
