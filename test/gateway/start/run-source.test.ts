import { expect, test } from "vitest";
import type { Persistence } from "../../../src/gateway/persistence/persistence.ts";
import type { OpenFollower, OpenSnapshots } from "../../../src/gateway/source/index.ts";
import { prepareSource } from "../../../src/gateway/start/run-source.ts";
import { FRESH, INFO } from "../hub/hub-fixture.ts";

const [own, copied] = [{ name: "own" }, { name: "copied" }];
const persistence = { createLog: () => own, createFollowerLog: () => copied } as unknown as Persistence;

test("a follower may be mirrored only while it is connected, and says itself what it may lack and how long clients wait", () => {
  const state = { isConnected: true, mayLack: false };
  const opened: OpenFollower = {
    kind: "follower",
    source: {
      info: INFO,
      get isConnected() {
        return state.isConnected;
      },
      freshness: () => FRESH,
      run: async () => undefined,
    },
    aheadWaitMs: 1_234,
    mayLackEvents: () => state.mayLack,
  };
  const prepared = prepareSource(opened, persistence);
  expect([prepared.log, prepared.publish, prepared.aheadWaitMs]).toEqual([copied, undefined, 1_234]);
  for (const isConnected of [true, false, true])
    for (const mayLack of [true, false]) {
      Object.assign(state, { isConnected, mayLack });
      expect([prepared.mayBeMirrored(), prepared.mayLackEvents()]).toEqual([isConnected, mayLack]);
    }
});

test("a server with a source of its own may always be mirrored, lacks nothing, and lets nobody wait", () => {
  const opened = { kind: "snapshots", source: {} } as unknown as OpenSnapshots;
  const prepared = prepareSource(opened, persistence);
  expect([prepared.log, prepared.aheadWaitMs, prepared.mayBeMirrored(), prepared.mayLackEvents()]).toEqual([
    own,
    0,
    true,
    false,
  ]);
  expect(prepared.publish).toBeInstanceOf(Function);
});
