import { expect, test } from "vitest";
import type { Notice } from "../../../../src/scale/cluster/engine.ts";
import { createClusterState } from "../../../../src/scale/cluster/node/cluster-state.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";

test("a node ignores messages that it cannot parse on the cluster's server, and takes the next valid one", () => {
  const listeners: ((notice: Notice) => void)[] = [];
  const unused = async () => undefined;
  const engine = {
    ...{ put: unused, get: unused, take: unused, notify: () => {} },
    onNotice: (listener: (notice: Notice) => void) => {
      listeners.push(listener);
      return () => {};
    },
  };
  const state = createClusterState(engine, new ManualClock());
  const claimed: string[] = [];
  state.onClaimed((client) => claimed.push(client));
  const other = JSON.stringify({ by: "another", message: { type: "claim", client: "mine" } });
  for (const text of [
    "",
    "claim",
    "null",
    "[]",
    "{}",
    '{"by":"a"}',
    '{"by":"a","message":{"type":"x"}}',
    other,
  ])
    for (const listener of listeners) listener({ kind: "shared", text });
  expect(claimed).toEqual(["mine"]);
  state.stop();
});
