import fc from "fast-check";
import { expect, test } from "vitest";
import { CHANNELS, type Channel } from "../../../src/base/protocol/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { FollowingClient } from "./following-client.ts";
import { createHubUnderTest, type HubUnderTest, settled } from "./hub-fixture.ts";
import { STEPS, type Step } from "./test-market.ts";

const CLIENTS = 4;
const RUNS = lawRuns(24, 60);

const client = fc.nat(CLIENTS - 1);
/** Only a few sets, so that clients share groups. */
const channels = fc.constantFrom<readonly Channel[]>(
  ["newest.bsc"],
  ["flares.pro", "status"],
  ["flares.finished"],
  ["newest.bsc", "status"],
  CHANNELS,
);
const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("publish" as const),
      steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("freeze" as const), client }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("thaw" as const), client }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("read" as const), client }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("subscribe" as const), client, channels }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("unsubscribe" as const), client }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("connect" as const),
      client,
      channels,
      keep: fc.boolean(),
      highWater: fc.constantFrom(1, 700, 4_096, 65_536),
      isDeflated: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("wait" as const), ms: fc.constantFrom(1, 1_000, 4_000, 16_000) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("settle" as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface Run {
  readonly sut: HubUnderTest;
  readonly clients: readonly FollowingClient[];
  readonly history: { seq: number; channel: Channel }[];
}

async function publish({ sut, history }: Run, steps: readonly Step[]): Promise<void> {
  const { events, snapshot } = sut.market.poll(steps);
  for (const { channel } of events) history.push({ seq: history.length + 1, channel });
  await sut.head.publish({ observedAtMs: 1, events, snapshot });
}

async function perform(run: Run, operation: Operation): Promise<void> {
  const one = "client" in operation ? run.clients[operation.client] : undefined;
  if (operation.op === "publish") await publish(run, operation.steps);
  if (operation.op === "wait") run.sut.clock.advance(operation.ms);
  if (operation.op === "settle") await settled();
  if (!one) return;
  if (operation.op === "connect") {
    // To resume, a client must request the same channels as before.
    const requested = operation.keep && one.channels.size > 0 ? [...one.channels] : operation.channels;
    one.connect(requested, operation.keep, operation.highWater, operation.isDeflated);
  }
  if (one.socket.closed) return;
  if (operation.op === "freeze") one.socket.freeze();
  if (operation.op === "thaw") one.socket.thaw();
  if (operation.op === "read") one.socket.readOnce();
  if (operation.op === "subscribe") one.subscribe(operation.channels);
  if (operation.op === "unsubscribe") one.unsubscribe();
}

/**
 * Lets every client read. Clients that were closed, or are closed because they read too late,
 * reconnect with their cursor.
 */
async function catchUpAll({ clients }: Run): Promise<void> {
  for (const one of clients) {
    one.socket.thaw();
    await settled();
    if (one.socket.closed) one.connect(one.channels.size > 0 ? [...one.channels] : CHANNELS, true, 4_096);
    await settled();
  }
}

test("[L3] [L2] [W14] whatever clients do, each applies every event of its channels once, and ends with the head's state", async () => {
  const totals = { applied: 0, surges: 0, resets: 0, deflated: 0 };
  await assertReaching(
    fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 80 }), async (operations) => {
      const sut = createHubUnderTest({
        log: { minCount: 60, maxAgeMs: 0 },
        hub: {
          limits: {
            commandsPerSecond: 1_000,
            commandsBurst: 1_000,
            catchUpBytes: 3_000,
            catchUpRecords: 7,
            queuedCommands: 1_000,
          },
        },
      });
      const history: Run["history"] = [];
      const clients = Array.from({ length: CLIENTS }, () => new FollowingClient(sut, history));
      const run = { sut, clients, history };
      for (const [index, one] of clients.entries())
        one.connect(index % 2 ? CHANNELS : ["newest.bsc"], false, 4_096);
      for (const operation of operations) await perform(run, operation);
      await catchUpAll(run);
      for (const one of clients) {
        expect(one.socket.closed).toBeUndefined();
        expect(one.socket.session?.isBehind).toBe(false);
        expect(one.view).toEqual(one.expectedView(sut.head.snapshot));
        totals.applied += one.applied;
        totals.surges += one.surges;
        totals.resets += one.resets - 1;
      }
      totals.deflated += sut.hub.counters.deflatedTexts;
      expect(sut.errors).toEqual([]);
    }),
    RUNS,
    totals,
    { applied: 300, surges: 30, resets: 0, deflated: 300 },
  );
});
