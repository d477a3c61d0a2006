import fc from "fast-check";
import { expect } from "vitest";
import { SwitchingClient } from "../../../support/clients/switching-client.ts";
import { shownLists } from "../../../support/expect/shown-lists.ts";
import { lawRuns } from "../../../support/law-runs.ts";
import { assertReaching } from "../../../support/random/assert-reaching.ts";
import type { Step } from "../../hub/test-market.ts";
import { STEPS } from "../../hub/test-market.ts";
import { type ConnectionHandle, test } from "../stream/websocket-fixture.ts";

const enough = fc.integer({ min: 0, max: 12 });
const leg = fc.oneof(
  fc.record({ over: fc.constant("websocket" as const), enough }),
  fc.record({ over: fc.constant("sse" as const), enough, byHeader: fc.boolean() }),
  fc.record({
    over: fc.constant("poll" as const),
    enough,
    limit: fc.constantFrom(1, 3, 1_000),
    wait: fc.constantFrom(0, 1, 60),
  }),
);
const batch = fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 6 });
const run = fc.record({
  legs: fc.array(leg, { minLength: 3, maxLength: 10 }),
  batches: fc.array(batch, { minLength: 4, maxLength: 8 }),
});
type Leg = typeof leg extends fc.Arbitrary<infer T> ? T : never;

function go(client: SwitchingClient, leg: Leg): Promise<void> {
  if (leg.over === "websocket") return client.overWebSocket(leg.enough);
  if (leg.over === "sse") return client.overSse(leg.enough, leg.byHeader);
  return client.overPolling(leg.enough, leg.limit, leg.wait);
}

/**
 * Maximum events that the market may be ahead of the client. Otherwise its lists would grow on a
 * slow machine, and both would become ever slower.
 */
const MAX_AHEAD = 300;

/** Publishes the batches repeatedly, each in a later turn of the event loop, until stopped. */
async function flow(
  wire: ConnectionHandle,
  client: SwitchingClient,
  batches: readonly (readonly Step[])[],
  stop: AbortSignal,
): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let at = 0; !stop.aborted; at++) {
    await wire.publish(...(batches[at % batches.length] ?? []));
    wire.clock.advance(10);
    for (let turns = 0; turns < 3; turns++) await turn();
    while (!stop.aborted && wire.head.cursor.seq - client.seq > MAX_AHEAD) await turn();
  }
}

/**
 * Sends one client over the legs while events are published. It ends at the head with the head's
 * state.
 */
async function travel(
  wire: ConnectionHandle,
  { legs, batches }: typeof run extends fc.Arbitrary<infer T> ? T : never,
) {
  const client = new SwitchingClient(`http://127.0.0.1:${wire.port}`);
  const over = new AbortController();
  const flowing = flow(wire, client, batches, over.signal);
  try {
    for (const leg of legs) await go(client, leg);
  } finally {
    over.abort();
    await flowing;
  }
  while (client.seq < wire.head.cursor.seq) await client.overPolling(1, 1_000, 0);
  expect(client.state).toEqual(shownLists(wire.head.snapshot));
  return client;
}

test("[P10] [W13] [W15] a client that changes its transport while events arrive loses nothing and repeats nothing", async ({
  makeWire,
}) => {
  const totals = { applied: 0 };
  await assertReaching(
    fc.asyncProperty(run, async (plan) => {
      const wire = await makeWire();
      const client = await travel(wire, plan);
      const [first = 1] = client.applied;
      expect(client.applied).toEqual(client.applied.map((_, at) => first + at));
      expect(client.resets).toBe(1);
      totals.applied += client.applied.length;
      await wire.sessions(0);
      await wire.app.close();
    }),
    { ...lawRuns(4, 8), endOnFailure: true },
    totals,
    { applied: 150 },
  );
});

test("[L3] [P10] if the log is too short, each transport reports the loss and sends the current lists", async ({
  makeWire,
}) => {
  const totals = { resets: 0 };
  await assertReaching(
    fc.asyncProperty(run, async (plan) => {
      const wire = await makeWire({ log: { minCount: 3, maxAgeMs: 0 } });
      const client = await travel(wire, plan);
      totals.resets += client.resets - 1;
      await wire.sessions(0);
      await wire.app.close();
    }),
    { ...lawRuns(3, 7), endOnFailure: true },
    totals,
    { resets: 0 },
  );
});
