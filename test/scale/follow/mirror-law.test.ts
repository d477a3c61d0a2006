import fc from "fast-check";
import { expect, test } from "vitest";
import { type Epoch, toEpoch, toSeq } from "../../../src/base/protocol/index.ts";
import type { EventLog, LogRecord } from "../../../src/gateway/log/index.ts";
import { createHubUnderTest, type HubUnderTest, settled } from "../../gateway/hub/hub-fixture.ts";
import { STEPS, type Step } from "../../gateway/hub/test-market.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { EdgeUnderTest } from "./edge-under-test.ts";

const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("publish" as const),
      steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("freeze" as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("read" as const) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("cut" as const) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("connect" as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("epoch" as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("settle" as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface Run {
  leader: HubUnderTest;
  readonly edge: EdgeUnderTest;
  epochs: number;
  readonly maxBytes: number;
}

function newLeader(run: { epochs: number; readonly maxBytes: number }): HubUnderTest {
  run.epochs += 1;
  const epoch: Epoch = toEpoch(`epoch${run.epochs}`);
  return createHubUnderTest({ log: { epoch, maxBytes: run.maxBytes } });
}

/**
 * Publishes as a gateway does: the time of the data is that of its events, and a change of the
 * source's state does not change it.
 */
function publish({ head, market }: HubUnderTest, steps: readonly Step[]): Promise<void> {
  const { events, snapshot } = market.poll(steps);
  const listed = events.find(({ channel }) => channel !== "status");
  const observed = listed ? { observedAtMs: Date.parse(listed.observed_at) } : {};
  return head.publish({ events, snapshot, ...observed });
}

async function take(run: Run, operation: Operation): Promise<void> {
  const { edge } = run;
  switch (operation.op) {
    case "publish":
      return publish(run.leader, operation.steps);
    case "freeze":
      return edge.socket?.freeze();
    case "read":
      return edge.socket?.readOnce();
    case "cut":
      return edge.cut();
    case "connect":
      if (!edge.socket) edge.connect(run.leader);
      return;
    case "epoch":
      await edge.cut();
      run.leader = newLeader(run);
      return;
    case "settle":
      return settled();
  }
}

/** Reads all pending data, and reconnects if the leader closed the connection. */
async function catchUp({ leader, edge }: Run): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    if (edge.socket?.closed) await edge.cut();
    if (!edge.socket) edge.connect(leader);
    edge.socket?.thaw();
    await settled();
    if (
      edge.head.cursor.epoch === leader.head.cursor.epoch &&
      edge.head.cursor.seq === leader.head.cursor.seq
    )
      return;
  }
}

/** Returns the lasting events after this position. */
async function lastingAfter(log: EventLog, from: number): Promise<readonly LogRecord[]> {
  const found: LogRecord[] = [];
  for (let seq = toSeq(from); seq < log.head.seq; ) {
    const result = await log.readLasting({ epoch: log.epoch, seq }, 1_000);
    if (result.kind === "lost") throw new Error(`lost: ${result.lost.reason}`);
    found.push(...result.records);
    seq = result.through;
  }
  return found;
}

test("[F1] [F2] [F3] [L2] [W36] after any failures of connection and leader, a mirror has the leader's records, batches, positions, lists and marks", async () => {
  const totals = { resumed: 0, begun: 0, surges: 0 };
  await assertReaching(
    fc.asyncProperty(
      fc.constantFrom(6_000, 2 ** 40),
      fc.array(operation, { maxLength: 60, size: "max" }),
      async (maxBytes, operations) => {
        const about = { epochs: 0, maxBytes };
        const run: Run = Object.assign(about, { leader: newLeader(about), edge: new EdgeUnderTest() });
        const { edge } = run;
        const ends = new Map<number, unknown>();
        edge.head.onChange((_, { cursor, snapshot }) => ends.set(cursor.seq, snapshot));
        for (const one of operations) await take(run, one);
        await catchUp(run);
        const { leader } = run;
        expect(edge.errors).toEqual([]);
        expect(edge.log).toMatchObject({ head: leader.log.head, positions: leader.log.positions });
        expect(edge.head).toMatchObject({ ready: true, snapshot: leader.head.snapshot });
        expect(edge.head.observedAtMs).toBe(leader.head.observedAtMs);
        expect(edge.hub.history.lists).toEqual(leader.hub.history.lists);
        const from = Math.max(leader.log.oldest.seq, edge.log.oldest.seq);
        const after = { ...leader.log.head, seq: from as typeof leader.log.head.seq };
        expect(await edge.log.read(after, 10_000)).toEqual(await leader.log.read(after, 10_000));
        const lasting = Math.max(leader.log.oldestLasting.seq, edge.log.oldestLasting.seq);
        const mirrored = await lastingAfter(edge.log, lasting);
        expect(mirrored).toEqual(await lastingAfter(leader.log, lasting));
        totals.surges += mirrored.filter(({ name }) => name === "flare-surged").length;
        totals.resumed += edge.log.head.seq > edge.log.oldest.seq ? 1 : 0;
        totals.begun += edge.begun > 1 ? 1 : 0;
      },
    ),
    lawRuns(40),
    totals,
    { resumed: 5, begun: 1, surges: 5 },
  );
});
