import { expect } from "vitest";
import { LongPoll, TurnBudget } from "../../../../src/gateway/hub/index.ts";
import { EPOCH, type HubUnderTest, settled, test } from "../hub-fixture.ts";
import type { Step } from "../test-market.ts";

/** Long polls whose turns the test runs. A turn has time for one slice of a page. */
function createPolls(sut: HubUnderTest) {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const turn = new TurnBudget(() => (nowMs += 1), { defer: (next) => turns.push(next) });
  const polls = new LongPoll({ ...sut, history: sut.hub.history, stopping: sut.hub.stopping, turn });
  const query = { channels: ["*"], filter: { symbols: ["nobody"] }, after: "oldest", limit: 10, waitMs: 0 };
  const takeTurn = async () => {
    turns.shift()?.();
    await settled();
  };
  return {
    turn,
    turns,
    takeTurn,
    takeAll: (after: string) =>
      polls.take({ channels: ["*"], after, limit: 2_000, waitMs: 0 }, new AbortController().signal),
    take: (by: string, signal: AbortSignal) => polls.take(query, signal, { name: by, isKeyed: false }),
  };
}

test("[L5] another request runs between the slices of long searches through the log", async ({ sut }) => {
  for (let poll = 0; poll < 20; poll++) await sut.publish(...Array(10).fill("list"));
  const { turn, turns, takeTurn, take } = createPolls(sut);
  const order: string[] = [];
  const searches = Array.from({ length: 3 }, async (_, at) => {
    await take("busy", new AbortController().signal);
    order.push(`search ${at}`);
  });
  await settled();
  turn.run(() => order.push("another"), { name: "another", isKeyed: false });
  await takeTurn();
  await takeTurn();
  expect(order).toEqual(["another"]);
  while (turns.length > 0) await takeTurn();
  await Promise.all(searches);
  expect(order).toEqual(["another", "search 0", "search 1", "search 2"]);
});

test("[L6] polls after the same cursor share a page's bytes until the head moves", async ({ sut }) => {
  await sut.publish("list", "flare");
  const polls = new LongPoll({ ...sut, history: sut.hub.history, stopping: sut.hub.stopping });
  const { signal } = new AbortController();
  const take = async (channels: string[]) => {
    const page = await polls.take({ channels, after: `${EPOCH}-0`, limit: 10, waitMs: 0 }, signal);
    return page.kind === "page" ? page : expect.unreachable(page.kind);
  };
  const [first, second, other] = await Promise.all([take(["*"]), take(["*"]), take(["newest.*"])]);
  expect([first.count, other.count]).toEqual([2, 1]);
  expect(second.bytes).toBe(first.bytes);
  await sut.publish("list");
  expect([(await take(["*"])).count, (await take(["newest.*"])).count]).toEqual([3, 2]);
});

test("a search stops at its current position when its client disconnects", async ({ sut }) => {
  for (let poll = 0; poll < 20; poll++) await sut.publish(...Array(10).fill("list"));
  const { turns, takeTurn, take } = createPolls(sut);
  const gone = new AbortController();
  const answer = take("one", gone.signal);
  for (let turn = 0; turn < 5; turn++) await takeTurn();
  gone.abort();
  while (turns.length > 0) await takeTurn();
  const page = await answer;
  expect(page).toMatchObject({ kind: "page", more: true, count: 0 });
  expect(page.kind === "page" && page.cursor.seq).toBeLessThan(100);
});

test("[L3] [P6] if the log drops events while a page is built, the page has all that was read; the next one reports the loss", async ({
  make,
}) => {
  const sut = make({ log: { minCount: 10, maxAgeMs: 0 } });
  const publish = (count: number) => sut.publish(...Array<Step>(count).fill("status"));
  // More than two reads of the log, which is all that the first turn has time for.
  await publish(1_200);
  const { turns, takeTurn, takeAll } = createPolls(sut);
  const page = takeAll(`${EPOCH}-0`);
  await settled();
  expect(turns.length).toBeGreaterThan(0);
  sut.clock.advance(1);
  await publish(1);
  while (turns.length > 0) await takeTurn();
  expect(await page).toMatchObject({ kind: "page", count: 1_024, cursor: { seq: 1_024 }, more: true });
  const next = takeAll(`${EPOCH}-1024`);
  while (turns.length > 0) await takeTurn();
  expect(await next).toMatchObject({ kind: "lost", lost: { reason: "expired", events: 1_201 - 1_024 } });
});
