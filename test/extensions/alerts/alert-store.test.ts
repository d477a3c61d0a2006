import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Alert } from "../../../src/extensions/alerts/alert.ts";
import { NEW_RULE } from "../../../src/extensions/alerts/rules/rule-state.ts";
import { type AlertStore, openAlertStore } from "../../../src/extensions/alerts/store/alert-store.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";

const alert = (at: number, target = "desk"): Alert => ({
  id: `msg_${at}`,
  target,
  madeAtMs: at,
  body: `{"at":${at}}`,
});
const positionAt = (seq: number) => ({
  cursor: `test1-${seq}`,
  state: { ...NEW_RULE, begun: [["x", seq % 2 === 0]] as const },
});

function openSqlite(path: string): AlertStore {
  const store = openAlertStore(path);
  return store;
}

const ADAPTERS = {
  memory: () => openAlertStore(),
  sqlite: (finish: Finish) => openSqlite(join(newDirectory(finish), "alerts.sqlite")),
};

describe.each(Object.entries(ADAPTERS))("the %s store fulfills the contract", (_name, make) => {
  const opened = (finish: Finish) => {
    const store = make(finish);
    finish(() => store.close());
    return store;
  };

  test("each target has its own queue, first in, first out", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    expect(store.first("desk")).toBeUndefined();
    store.commit("desk/a", positionAt(1), [alert(1), alert(2), alert(3, "phone")]);
    store.commit("desk/b", positionAt(2), [alert(4)]);
    expect(store.waiting("desk")).toEqual({ count: 3, oldestMadeAtMs: 1 });
    const taken = [];
    for (let next = store.first("desk"); next; next = store.first("desk")) {
      taken.push(next);
      store.remove(next);
    }
    expect(taken).toEqual([alert(1), alert(2), alert(4)]);
    expect(store.waiting("desk")).toEqual({ count: 0, oldestMadeAtMs: undefined });
    expect(store.first("phone")).toEqual(alert(3, "phone"));
  });

  test("the last position of a rule is stored, and a queued message is not queued twice", ({
    onTestFinished,
  }) => {
    const store = opened(onTestFinished);
    expect(store.position("desk/a")).toBeUndefined();
    store.commit("desk/a", positionAt(1), [alert(1)]);
    store.commit("desk/a", positionAt(2), [{ ...alert(1), madeAtMs: 9, body: "queued again" }, alert(2)]);
    expect(store.position("desk/a")).toEqual(positionAt(2));
    expect([store.waiting("desk").count, store.first("desk")]).toEqual([2, alert(1)]);
  });

  test("messages that are too old or too many are dropped, oldest first, and counted until announced", ({
    onTestFinished,
  }) => {
    const store = opened(onTestFinished);
    store.commit(
      "desk/a",
      positionAt(1),
      [1, 2, 3, 4, 5, 6].map((at) => alert(at)),
    );
    expect(store.expire("desk", 1, 6)).toBe(0);
    expect(store.expired("desk")).toBeUndefined();
    expect(store.expire("desk", 3, 6)).toBe(2);
    expect(store.expired("desk")).toEqual({ count: 2, firstMadeAtMs: 1, lastMadeAtMs: 2 });
    expect(store.expire("desk", 0, 1)).toBe(3);
    expect(store.expired("desk")).toEqual({ count: 5, firstMadeAtMs: 1, lastMadeAtMs: 5 });
    expect(store.first("desk")).toEqual(alert(6));
    const notice = { ...alert(9), id: "notice" };
    store.announce(notice);
    expect([store.expired("desk"), store.notice("desk")]).toEqual([undefined, notice]);
    expect(store.first("desk")).toEqual(alert(6));
    store.forgetNotice("desk");
    expect(store.notice("desk")).toBeUndefined();
  });

  test("a disabled target has no queue and no notice, and can be enabled again", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    store.commit("desk/a", positionAt(1), [alert(1), alert(2, "phone")]);
    store.expire("desk", 2, 9);
    store.disable("desk", "mark");
    expect(store.disabled("desk")).toBe("mark");
    expect([store.first("desk"), store.expired("desk")]).toEqual([undefined, undefined]);
    store.announce(alert(3));
    store.disable("desk", "mark");
    expect(store.notice("desk")).toBeUndefined();
    expect(store.first("phone")).toEqual(alert(2, "phone"));
    store.disable("desk", undefined);
    expect(store.disabled("desk")).toBeUndefined();
  });

  test("the state of removed rules and targets is deleted", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    store.commit("desk/a", positionAt(1), [alert(1)]);
    store.commit("phone/a", positionAt(2), [alert(2, "phone")]);
    store.disable("gone", "mark");
    store.retain(new Set(["desk/a"]), new Set(["desk"]));
    expect([store.position("desk/a"), store.position("phone/a")]).toEqual([positionAt(1), undefined]);
    expect([store.first("desk"), store.first("phone")]).toEqual([alert(1), undefined]);
    expect(store.disabled("gone")).toBeUndefined();
  });
});

test("a SQLite store persists for the next process, and serves one process at a time", ({
  onTestFinished,
}) => {
  const path = join(newDirectory(onTestFinished), "alerts.sqlite");
  const first = openSqlite(path);
  first.commit("desk/a", positionAt(7), [alert(1), alert(2)]);
  first.expire("desk", 2, 9);
  expect(() => openSqlite(path)).toThrow(/locked/);
  first.close();
  const second = openSqlite(path);
  expect(second.position("desk/a")).toEqual(positionAt(7));
  expect(second.first("desk")).toEqual(alert(2));
  expect(second.expired("desk")).toMatchObject({ count: 1 });
  second.close();
});

test("a rule with a damaged stored state keeps its cursor, and its quiet times start over", ({
  onTestFinished,
}) => {
  const path = join(newDirectory(onTestFinished), "alerts.sqlite");
  for (const damaged of ["{", "null", '{"quiet":1,"begun":[]}', '{"quiet":[[1]],"begun":[]}']) {
    const first = openSqlite(path);
    first.commit("desk/a", positionAt(7), []);
    first.close();
    const db = new DatabaseSync(path);
    db.prepare("UPDATE place SET state = ?").run(damaged);
    db.close();
    const second = openSqlite(path);
    expect(second.position("desk/a")).toEqual({ ...positionAt(7), state: NEW_RULE });
    second.close();
  }
});

test("a damaged message is removed and logged by id when the store opens, and the others stay", ({
  onTestFinished,
}) => {
  const path = join(newDirectory(onTestFinished), "alerts.sqlite");
  const first = openSqlite(path);
  first.commit("desk/a", positionAt(1), [alert(1), alert(2)]);
  first.announce({ ...alert(3), body: "{" });
  first.close();
  const db = new DatabaseSync(path);
  db.exec("UPDATE alert SET body = '{' WHERE id = 'msg_1'");
  db.close();
  const named: unknown[] = [];
  const second = openAlertStore(path, (_level, _message, facts) => named.push(facts));
  onTestFinished(() => second.close());
  expect(named).toEqual([{ target: "desk", alert: "msg_1" }]);
  expect([second.first("desk"), second.waiting("desk").count]).toEqual([alert(2), 1]);
  expect(second.notice("desk")).toBeUndefined();
});

test("a failed commit changes neither the queue nor the position", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "alerts.sqlite");
  const store = openSqlite(path);
  onTestFinished(() => store.close());
  store.commit("desk/a", positionAt(1), [alert(1)]);
  const broken = { ...alert(3), body: undefined as unknown as string };
  expect(() => store.commit("desk/a", positionAt(2), [alert(2), broken])).toThrow();
  expect(store.position("desk/a")).toEqual(positionAt(1));
  expect(store.waiting("desk").count).toBe(1);
});

test("a file of another program or version is rejected", ({ onTestFinished }) => {
  const directory = newDirectory(onTestFinished);
  const text = join(directory, "text.sqlite");
  writeFileSync(text, "no database at all".repeat(100));
  expect(() => openSqlite(text)).toThrow(/not a database/);
  const other = join(directory, "other.sqlite");
  const db = new DatabaseSync(other);
  db.exec("CREATE TABLE mine (a); PRAGMA user_version = 9");
  db.close();
  expect(() => openSqlite(other)).toThrow(/another program's database/);
  openSqlite(join(directory, "newer.sqlite")).close();
  const newer = new DatabaseSync(join(directory, "newer.sqlite"));
  newer.exec("PRAGMA user_version = 2");
  newer.close();
  expect(() => openSqlite(join(directory, "newer.sqlite"))).toThrow(/its version is 2; .* version 1/);
  rmSync(text);
});
