import { expect, test } from "vitest";
import { NEW_RULE } from "../../../src/extensions/alerts/rules/rule-state.ts";
import { type AlertCopy, openAlertCopy } from "../../../src/extensions/alerts/store/alert-copy.ts";
import type { AlertStore } from "../../../src/extensions/alerts/store/alert-store.ts";

const alert = (at: number) => ({ id: `msg_${at}`, target: "desk", madeAtMs: at, body: `{"at":${at}}` });
const positionAt = (seq: number) => ({ cursor: `test1-${seq}`, state: NEW_RULE });

const STEPS: readonly ((store: AlertStore) => void)[] = [
  (store) => store.commit("desk/all", positionAt(1), [alert(1), alert(2), alert(3)]),
  (store) => store.remove(alert(1)),
  (store) => store.commit("desk/all", positionAt(2), [alert(4), alert(5)]),
  (store) => void store.expire("desk", 3, 10),
  (store) => store.announce({ ...alert(9), id: "expired" }),
  (store) => store.forgetNotice("desk"),
  (store) => store.disable("desk", "mark"),
  (store) => store.disable("desk", undefined),
  (store) => store.commit("desk/all", positionAt(3), [alert(6)]),
  (store) => store.retain(new Set(), new Set()),
];

test("applying one copy's changes in order gives other copies the same state, also those opened later", () => {
  const leader = openAlertCopy();
  const others: AlertCopy[] = [openAlertCopy()];
  expect(leader.changes()).toBeUndefined();
  for (const step of STEPS) {
    step(leader.store);
    const changes = leader.changes();
    if (!changes) throw new Error("the step changed nothing");
    for (const other of others) other.apply(changes);
    for (const other of others) expect(other.content()).toBe(leader.content());
    others.push(openAlertCopy(leader.content()));
  }
  expect(leader.changes()).toBeUndefined();
});

test("a diverged copy takes the sender's position and first message", () => {
  const [one, other] = [openAlertCopy(), openAlertCopy()];
  other.store.commit("desk/all", positionAt(1), [alert(7)]);
  one.store.commit("desk/all", positionAt(2), [alert(8)]);
  other.apply(one.changes() ?? new Uint8Array());
  expect(other.store.position("desk/all")?.cursor).toBe("test1-2");
  expect(other.store.first("desk")?.id).toBe("msg_8");
});
