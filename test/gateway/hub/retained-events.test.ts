import fc from "fast-check";
import { expect } from "vitest";
import { LASTING_EVENTS, projectSnapshot } from "../../../src/base/protocol/index.ts";
import { LongPoll } from "../../../src/gateway/hub/index.ts";
import { gatewaySettings } from "../../../src/gateway/settings/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { createHubUnderTest, type HubUnderTest, settled, test } from "./hub-fixture.ts";
import type { Message } from "./mock-socket.ts";
import { STEPS } from "./test-market.ts";

const HOUR = 3_600_000;
const NAMES = ["flare-started", "flare-surged", "flare-finished"] as const;
/** Events other than the lasting ones expire with the next batch. */
const SHORT = { log: { minCount: 4, maxAgeMs: 0 } };

/**
 * Publishes one batch per hour: flares start and surge among many other events. Returns every
 * event.
 */
async function play(sut: HubUnderTest, hours: number): Promise<readonly Message[]> {
  const whole = sut.open({ channels: ["*"] });
  for (let at = 0; at < hours; at++) {
    await sut.publish(
      "flare",
      "list",
      "refresh",
      "surge",
      "unlist",
      "refresh",
      at % 5 ? "refresh" : "status",
    );
    sut.clock.advance(HOUR);
  }
  whole.session?.closed();
  return whole.of("event");
}

function pollOf({ log, head, hub, clock }: HubUnderTest): LongPoll {
  return new LongPoll({ log, head, history: hub.history, clock, stopping: hub.stopping });
}

const seqsOf = (events: readonly Message[], names: ReadonlySet<unknown>) =>
  events.filter(({ name }) => names.has(name)).map(({ seq }) => seq);

test("[W36] [W15] a subscription that selects only starts, surges and finishes resumes after 20 hours, and prev proves completeness", async ({
  make,
}) => {
  const sut = make(SHORT);
  const events = await play(sut, 20);
  expect(sut.log.oldest.seq).toBeGreaterThan(120);
  for (const filter of [{ names: [...NAMES] }, { names: [...NAMES, "chart-updated" as const] }]) {
    const channels = filter.names.length > 3 ? ["flares.*"] : ["*"];
    const socket = sut.open({ channels, filter, after: "test1-1" });
    await settled();
    await settled();
    expect(socket.of("subscribed")[0]).toMatchObject({ resumed: "full", cursor: "test1-1" });
    const reported = socket.of("event");
    for (const name of ["flare-started", "flare-surged"])
      expect(reported.filter((event) => event.name === name).length).toBeGreaterThan(1);
    expect(reported.map(({ seq }) => seq)).toEqual(seqsOf(events, new Set(NAMES)).slice(1));
    expect(reported.map(({ prev }) => prev)).toEqual([1, ...reported.slice(0, -1).map(({ seq }) => seq)]);
    socket.session?.closed();
  }
});

test("[W36] a subscription to status alone resumes after 20 hours; one with other events, or with a filter on items, gets a reset", async ({
  make,
}) => {
  const sut = make(SHORT);
  await play(sut, 20);
  const resumed = async (query: Parameters<HubUnderTest["open"]>[0]) => {
    const socket = sut.open({ after: "test1-2", ...query });
    await settled();
    return socket.of("subscribed")[0];
  };
  expect(await resumed({ channels: ["status"] })).toMatchObject({ resumed: "full" });
  const lost = { resumed: "reset", lost: { reason: "expired", events: sut.log.head.seq - 2 } };
  expect(await resumed({ channels: ["flares.pro"] })).toMatchObject(lost);
  const tokens = ["0x1".padEnd(42, "a")];
  for (const about of [
    { tokens },
    { symbols: ["T1"] },
    { min_liquidity: 0 },
    { min_price_change: -100 },
    { min_age: 0 },
    { min_locked: 0 },
  ])
    expect(await resumed({ channels: ["*"], filter: { names: [...NAMES], ...about } })).toMatchObject(lost);
  const names = [...NAMES, "flare-updated" as const];
  expect(await resumed({ channels: ["flares.*"], filter: { names } })).toMatchObject(lost);
});

test("[W36] [L3] a cursor before a dropped start or finish gets a reset, a later one does not", async ({
  make,
}) => {
  const sut = make({ log: { ...SHORT.log, lastingAgeMs: 10 * HOUR } });
  await play(sut, 30);
  const oldest = sut.log.oldestLasting.seq;
  expect(oldest).toBeGreaterThan(0);
  expect(oldest).toBeLessThan(sut.log.oldest.seq);
  const answers = [];
  for (const after of [oldest - 1, oldest]) {
    const socket = sut.open({
      channels: ["*"],
      filter: { names: [...NAMES, "source-status"] },
      after: `test1-${after}`,
    });
    await settled();
    answers.push(socket.of("subscribed")[0]);
  }
  expect(answers).toMatchObject([
    { resumed: "reset", lost: { reason: "expired", events: sut.log.head.seq - oldest + 1 } },
    { resumed: "full", cursor: `test1-${oldest}` },
  ]);
});

test("[W36] [W34] [W35] in mode latest, a client away for 20 hours gets every lasting event and its lists, then events", async ({
  make,
}) => {
  const sut = make(SHORT);
  const events = await play(sut, 20);
  const channels = ["flares.pro", "newest.bsc", "status"] as const;
  const socket = sut.open({ channels: [...channels], mode: "latest", after: "test1-1" });
  await settled();
  await settled();
  expect(socket.of("subscribed")[0]).toMatchObject({ resumed: "full" });
  expect(socket.of("missed").map(({ seq }) => seq)).toEqual(
    seqsOf(events, LASTING_EVENTS).filter((seq) => Number(seq) > 1),
  );
  expect(socket.of("event")).toEqual([]);
  const { seq } = sut.head.cursor;
  const snapshot = projectSnapshot(sut.head.snapshot, channels);
  expect(socket.of("conflated")).toMatchObject([{ cursor: `test1-${seq}`, channels, snapshot }]);
  await sut.publish("list");
  expect(socket.of("event")).toMatchObject([{ seq: seq + 1, prev: seq }]);
  const picky = sut.open({ channels: ["*"], mode: "latest", filter: { min_liquidity: 1 }, after: "test1-1" });
  await settled();
  expect(picky.of("subscribed")[0]).toMatchObject({ resumed: "reset", lost: { reason: "expired" } });
});

test("[W36] [W23] a frozen client of starts and finishes alone is not closed while these are stored, unlike others", async ({
  make,
}) => {
  const sut = make({ ...SHORT, hub: { limits: { noProgressMs: 30 * HOUR } } });
  const frozen = [["*"], ["flares.pro"]].map((channels, at) =>
    sut.open({ channels, ...(at === 0 ? { filter: { names: [...NAMES] } } : {}) }, (made) => {
      made.highWater = 1;
    }),
  );
  for (const socket of frozen) {
    socket.readOnce();
    socket.freeze();
  }
  const events = await play(sut, 20);
  expect(frozen.map(({ closed }) => closed)).toEqual([undefined, "slow-consumer"]);
  const [socket] = frozen;
  for (let turn = 0; turn < 40; turn++) {
    socket?.readOnce();
    await settled();
  }
  socket?.thaw();
  await settled();
  expect(socket?.of("event").map(({ seq }) => seq)).toEqual(seqsOf(events, new Set(NAMES)));
});

test("[P11] pages of starts and finishes reach back 20 hours, and oldest means the first of them", async ({
  make,
}) => {
  const sut = make(SHORT);
  const events = await play(sut, 20);
  const polls = pollOf(sut);
  for (const after of ["oldest", "test1-1"]) {
    const seqs: number[] = [];
    let [from, more] = [after, true];
    while (more) {
      const filter = { names: [...NAMES] };
      const page = await polls.take(
        { channels: ["*"], filter, after: from, limit: 3, waitMs: 0 },
        new AbortController().signal,
      );
      if (page.kind !== "page") throw new Error(page.kind);
      const messages: Message[] = JSON.parse(`[${page.bytes}]`);
      seqs.push(...messages.map(({ seq }) => Number(seq)));
      ({ more } = page);
      from = `test1-${page.cursor.seq}`;
    }
    expect(seqs).toEqual(seqsOf(events, new Set(NAMES)).slice(after === "oldest" ? 0 : 1));
    expect(from).toBe(`test1-${sut.head.cursor.seq}`);
  }
});

test("[P11] [W36] oldest reaches further back for starts alone than with a filter on items, which needs the lists", async ({
  make,
}) => {
  const sut = make(SHORT);
  await play(sut, 20);
  const starts = async (filter: object) => {
    const query = { channels: ["*"], after: "oldest", limit: 1_000, waitMs: 0 };
    const page = await pollOf(sut).take(
      { ...query, filter: { names: ["flare-started"], ...filter } },
      new AbortController().signal,
    );
    if (page.kind !== "page") throw new Error(page.kind);
    return JSON.parse(`[${page.bytes}]`).map(({ seq }: Message) => seq);
  };
  const all = await starts({});
  const ofItems = await starts({ min_price_change: -1_000_000 });
  expect(all[0]).toBeLessThan(sut.log.oldest.seq);
  expect(ofItems).toEqual(all.filter((seq: number) => seq > sut.hub.history.first.cursor.seq));
});

test("[W36] by default, starts and finishes of 72 hours resume, and all events of an hour", async ({
  make,
}) => {
  const { logAgeMs: maxAgeMs, logFlareAgeMs: lastingAgeMs, logBytes: maxBytes } = gatewaySettings();
  const sut = make({ log: { minCount: 1, maxAgeMs, lastingAgeMs, maxBytes } });
  const events = await play(sut, 73);
  const lastHour = events.findLast(({ seq }) => Number(seq) <= sut.head.cursor.seq - 7)?.cursor;
  const everything = sut.open({ channels: ["*"], after: `${lastHour}` });
  const lasting = sut.open({ channels: ["*"], filter: { names: [...NAMES] }, after: "test1-1" });
  for (let turn = 0; turn < 20; turn++) await settled();
  expect(everything.of("event").map(({ seq }) => seq)).toEqual(events.slice(-7).map(({ seq }) => seq));
  expect(lasting.of("event").map(({ seq }) => seq)).toEqual(seqsOf(events, new Set(NAMES)).slice(1));
  sut.clock.advance(HOUR);
  await sut.publish("refresh");
  const late = sut.open({ channels: ["*"], filter: { names: [...NAMES] }, after: "test1-1" });
  await settled();
  expect(late.of("subscribed")[0]).toMatchObject({ resumed: "reset", lost: { reason: "expired" } });
});

test("[W36] [L3] whatever the log drops, a client of lasting events gets each one once, or a reset if some are lost", async () => {
  const operation = fc.record({
    steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 9 }),
    waitMs: fc.nat(6 * HOUR),
    away: fc.boolean(),
  });
  const totals = { resumedFar: 0, surges: 0, reset: 0 };
  await assertReaching(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async (operations) => {
      const sut = createHubUnderTest({
        log: { minCount: 3, maxAgeMs: 0, lastingAgeMs: 8 * HOUR },
        hub: { limits: { catchUpRecords: 2 } },
      });
      const query = { channels: ["*"], filter: { names: [...LASTING_EVENTS] } };
      const lasting: number[] = [];
      sut.log.onAppend((records) =>
        lasting.push(...records.filter(({ name }) => LASTING_EVENTS.has(name)).map(({ seq }) => seq)),
      );
      let position = 0;
      for (const { steps, waitMs, away } of operations) {
        await sut.publish(...steps);
        sut.clock.advance(waitMs);
        if (away) continue;
        const isFar = position < sut.log.oldest.seq;
        const socket = sut.open({ ...query, after: `test1-${position}` });
        for (let turn = 0; turn < 60; turn++) await settled();
        const isReset = socket.of("subscribed")[0]?.resumed === "reset";
        const gone = position < sut.log.oldestLasting.seq;
        expect(isReset).toBe(gone);
        const behind = lasting.filter((seq) => seq > position && !isReset);
        expect(socket.of("event").map(({ seq }) => seq)).toEqual(behind);
        expect(socket.of("event").map(({ prev }) => prev)).toEqual(
          [position, ...behind].slice(0, behind.length),
        );
        if (isReset) totals.reset += 1;
        else if (isFar) {
          totals.resumedFar += 1;
          totals.surges += socket.of("event").filter(({ name }) => name === "flare-surged").length;
        }
        position = isReset ? sut.head.cursor.seq : (behind.at(-1) ?? position);
        socket.session?.closed();
      }
      expect(sut.errors).toEqual([]);
    }),
    lawRuns(6, 15),
    totals,
    { resumedFar: 5, surges: 5, reset: 1 },
  );
});
