import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openLogFile } from "../../src/app/data/log-file.ts";
import { restoreState } from "../../src/app/data/restore-state.ts";
import { SqliteLog } from "../../src/app/data/sqlite-log.ts";
import type { StoredLog } from "../../src/app/data/stored-log.ts";
import {
  advanceLists,
  type Channel,
  compileFilter,
  type EventBody,
  EventMessage,
  type Filter,
  filterEvent,
  formatCursor,
  type Step as ListStep,
  listsOf,
  projectLists,
} from "../../src/base/protocol/index.ts";
import { Head, Hub, websocketFraming } from "../../src/gateway/hub/index.ts";
import { encodeLists, formatState } from "../../src/gateway/persistence/restored-state.ts";
import { FRESH, INFO, settled } from "../gateway/hub/hub-fixture.ts";
import { MockSocket } from "../gateway/hub/mock-socket.ts";
import { STEPS, TestMarket } from "../gateway/hub/test-market.ts";
import { lawRuns } from "../support/law-runs.ts";
import { assertReaching } from "../support/random/assert-reaching.ts";
import { ManualClock } from "../support/time/manual-clock.ts";

const RUNS = lawRuns(12, 25);
const CHANNELS: readonly Channel[] = ["flares.pro", "newest.bsc", "status"];
const FILTERS: readonly Filter[] = [
  { tokens: ["0x1".padEnd(42, "a")] },
  { min_liquidity: 60_000 },
  { min_price_change: 25, symbols: ["T1"] },
  { names: ["token-listed", "flare-updated"] },
];

/** Starts the log, head and hub of a gateway on a log file. */
function start(path: string, market: TestMarket, clock: ManualClock) {
  const file = openLogFile({ path, nowMs: clock.now(), onSetAside: () => undefined });
  const stored: StoredLog | undefined = file.found;
  const restored = stored && restoreState(stored, "test", false);
  if (restored && "problem" in restored) throw new Error(restored.problem);
  const errors: unknown[] = [];
  const log: SqliteLog = new SqliteLog({
    ...{ file, fingerprint: "test", clock, minCount: 150, maxAgeMs: 0, lastingAgeMs: 0 },
    ...(stored ? { stored: stored } : {}),
    notify: (_level, _message, { err: error } = {}) => errors.push(error),
  });
  const snapshot = restored?.known.lists.snapshot ?? market.snapshot;
  const head = new Head({ log, initial: { snapshot, observedAtMs: 1 } });
  const hub = new Hub({
    ...{ log, head, clock, info: () => INFO, freshness: () => FRESH, serverName: "flarewire/test" },
    ...(restored ? { known: restored.known } : {}),
    limits: { catchUpRecords: 7 },
    onError: (error) => errors.push(error),
  });
  const saveCheckpoint = () =>
    log.saveCheckpoint(head.cursor.seq, formatState(head, undefined), encodeLists(hub.history.lists));
  return { log, head, hub, errors, saveCheckpoint };
}

const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("publish" as const),
      steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 9 }),
      isSaved: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("restart" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("visit" as const), client: fc.nat(FILTERS.length - 1) }),
  },
);

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

test("[W28] [L3] after a restart at any point, a client with a filter receives the same events as without it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-filters-"));
  const totals = { across: 0, reported: 0, surges: 0, reset: 0, files: 0 };
  const run = async (operations: readonly Operation[]) => {
    const path = join(directory, `${totals.files++}.sqlite`);
    const [market, clock] = [new TestMarket(), new ManualClock()];
    let gateway = start(path, market, clock);
    gateway.saveCheckpoint();
    const steps: ListStep[] = [];
    let lists = listsOf(market.snapshot);
    const clients = FILTERS.map(() => ({ cursor: gateway.head.cursor, gateway }));
    for (const one of operations) {
      if (one.op === "publish") {
        const batch = market.poll(one.steps);
        for (const event of batch.events) {
          const before = lists;
          lists = advanceLists(before, event);
          steps.push({ event, before, after: lists });
        }
        await gateway.head.publish({ observedAtMs: 1, ...batch });
        if (one.isSaved) gateway.saveCheckpoint();
      } else if (one.op === "restart") {
        await gateway.log.close();
        gateway = start(path, market, clock);
      } else {
        const [client, given] = [clients[one.client], FILTERS[one.client]];
        const filter = compileFilter(given);
        if (!client || !filter || !given) continue;
        const socket = new MockSocket();
        const { seq } = client.cursor;
        const after = formatCursor(client.cursor);
        socket.session = gateway.hub.connect(socket, websocketFraming, {
          channels: CHANNELS,
          filter: given,
          after,
        });
        for (let turn = 0; turn < 100; turn++) await settled();
        socket.session.closed();
        const answer = socket.of("subscribed")[0];
        if (answer?.resumed === "reset") {
          expect(seq).toBeLessThan(gateway.hub.history.first.cursor.seq);
          expect(answer.snapshot).toEqual(JSON.parse(JSON.stringify(projectLists(lists, CHANNELS, filter))));
          totals.reset += 1;
        } else {
          const expected = steps.slice(seq).flatMap((step, at) => {
            const event = CHANNELS.includes(step.event.channel) && filterEvent(filter, step);
            return event ? [{ seq: seq + at + 1, ...event }] : [];
          });
          const reported = socket.of("event").map((message) => {
            const { seq, name, channel, observed_at, data } = EventMessage.parse(message);
            return { seq, name, channel, observed_at, data } as EventBody & { seq: number };
          });
          expect(reported).toEqual(expected);
          totals.reported += reported.length;
          totals.surges += reported.filter(({ name }) => name === "flare-surged").length;
          if (client.gateway !== gateway) totals.across += 1;
        }
        clients[one.client] = { cursor: gateway.head.cursor, gateway };
      }
    }
    expect(gateway.errors).toEqual([]);
    await gateway.log.close();
  };
  try {
    await assertReaching(
      fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 60 }), run),
      RUNS,
      totals,
      { across: 2.4 * RUNS.numRuns, reported: 40 * RUNS.numRuns, surges: RUNS.numRuns },
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
