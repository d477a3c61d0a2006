import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Alert } from "../../../src/extensions/alerts/alert.ts";
import { NEW_RULE } from "../../../src/extensions/alerts/rules/rule-state.ts";
import { openAlertStore } from "../../../src/extensions/alerts/store/alert-store.ts";
import { GroupCommit } from "../../../src/extensions/alerts/store/group-commit.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";

const alert = (at: number): Alert => ({ id: `msg_${at}`, target: "desk", madeAtMs: at, body: "{}" });
const positionAt = (at: number) => ({ cursor: `test1-${at}`, state: NEW_RULE });

function open(finish: Finish) {
  const store = openAlertStore(join(newDirectory(finish), "alerts.sqlite"));
  finish(() => store.close());
  return { store, group: new GroupCommit(store) };
}

test("a thousand simultaneous commits take five transactions, with turns of the event loop in between", async ({
  onTestFinished,
}) => {
  const { store, group } = open(onTestFinished);
  const together = vi.spyOn(store, "together");
  const rules = Array.from({ length: 1_000 }, (_, at) => at);
  let turns = 0;
  const count = setInterval(() => (turns += 1), 0);
  await Promise.all(rules.map((at) => group.commit(`desk/${at}`, positionAt(at), [alert(at)])));
  clearInterval(count);
  expect(together).toHaveBeenCalledTimes(5);
  expect(turns).toBeGreaterThan(0);
  expect(store.waiting("desk").count).toBe(1_000);
  expect(rules.filter((at) => store.position(`desk/${at}`)?.cursor !== `test1-${at}`)).toEqual([]);
});

test("if one write fails, its whole batch fails, and later commits succeed", async ({ onTestFinished }) => {
  const { store, group } = open(onTestFinished);
  const broken = { ...alert(2), body: undefined as unknown as string };
  const outcomes = await Promise.allSettled([
    group.commit("desk/1", positionAt(1), [alert(1)]),
    group.commit("desk/2", positionAt(2), [broken]),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([store.position("desk/1"), store.first("desk")]).toEqual([undefined, undefined]);
  await group.commit("desk/1", positionAt(1), [alert(1)]);
  expect(store.first("desk")).toEqual(alert(1));
});

test("simultaneous removals of many targets take one transaction", async ({ onTestFinished }) => {
  const { store, group } = open(onTestFinished);
  const alerts = Array.from({ length: 150 }, (_, at) => ({ ...alert(at), target: `desk${at}` }));
  store.commit("desk/1", positionAt(1), alerts);
  const together = vi.spyOn(store, "together");
  await Promise.all(alerts.map((one) => group.remove(one)));
  expect(together).toHaveBeenCalledTimes(1);
  expect(alerts.filter(({ target }) => store.first(target))).toEqual([]);
});
