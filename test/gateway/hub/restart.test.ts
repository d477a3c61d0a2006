import { expect } from "vitest";
import {
  EMPTY_SNAPSHOT,
  formatCursor,
  listsOf,
  toEpoch,
  toRun,
  toSeq,
} from "../../../src/base/protocol/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { EPOCH, type HubUnderTest, settled, test } from "./hub-fixture.ts";

/** Starts another history after this cursor, with empty lists. */
async function restart({ head, log, market }: HubUnderTest, seq: number, epoch: string, run?: string) {
  if (!(log instanceof MemoryLog)) throw new Error("the log cannot start over");
  const cursor = {
    epoch: toEpoch(epoch),
    seq: toSeq(seq),
    ...(run === undefined ? {} : { run: toRun(run) }),
  };
  const positions = { "newest.bsc": seq, "flares.pro": Math.floor(seq / 2) };
  market.snapshot = EMPTY_SNAPSHOT;
  const base = { lists: listsOf(EMPTY_SNAPSHOT), observedAtMs: 2 };
  await head.restart(base, () => log.restart({ cursor, positions }));
}

test("[W39] each restart of the history closes all sessions, and later ones get the positions of the new history", async ({
  sut,
}) => {
  for (const [epoch, seq] of [
    ["another1", 20],
    ["another2", 7],
  ] as const) {
    const before = [sut.open({ channels: ["*"] }), sut.open({ channels: ["newest.bsc"] })];
    before[1]?.freeze();
    await sut.publish("list", "flare", "status");
    await restart(sut, seq, epoch);
    expect(before.map(({ closed }) => closed)).toEqual(["reset", "reset"]);
    const positions = { "newest.bsc": seq, "flares.pro": Math.floor(seq / 2), status: 0 };
    const mirror = sut.open({ channels: ["*"], mirror: true });
    await settled();
    const subscribed = mirror.messages.find(({ type }) => type === "subscribed");
    expect(subscribed).toMatchObject({ cursor: `${epoch}-${seq}`, base: { positions } });
    sut.clock.advance(15_000);
    expect(mirror.messages.at(-1)).toMatchObject({ type: "heartbeat", positions });
  }
});

test("[W39] after each restart in the same epoch, a client that resumes gets the events of the new run", async ({
  sut,
}) => {
  await sut.publish("list", "list");
  let cursor = `${EPOCH}-0`;
  for (const run of ["r1", "r2", "r3"]) {
    const client = sut.open({ channels: ["newest.bsc"], after: cursor });
    await settled();
    const { newest } = sut.market.snapshot;
    const listed = client.messages.flatMap(({ type, data }) =>
      type === "event" ? [Object(data).listing.id] : [],
    );
    expect(listed.toReversed()).toEqual(newest.bsc.map(({ id }) => id));
    await restart(sut, 0, EPOCH, run);
    cursor = formatCursor(sut.head.cursor);
    await sut.publish("list", "list");
  }
});
