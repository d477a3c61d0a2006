import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/base/lib/io/sqlite.ts";
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
