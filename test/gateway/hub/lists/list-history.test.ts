import { expect, onTestFinished, vi } from "vitest";
import {
  type Channel,
  compileFilter,
  EMPTY_SNAPSHOT,
  type ListFilter,
  listsOf,
  projectSnapshot,
  toEpoch,
  toSeq,
} from "../../../../src/base/protocol/index.ts";
import { maskOf } from "../../../../src/gateway/hub/channel-mask.ts";
import { Hub, websocketFraming } from "../../../../src/gateway/hub/index.ts";
import { ListHistory } from "../../../../src/gateway/hub/lists/list-history.ts";
import type { SelectionPart } from "../../../../src/gateway/hub/session/selection.ts";
import { FRESH, INFO, settled, test } from "../hub-fixture.ts";
import { MockSocket } from "../mock-socket.ts";
import type { Step } from "../test-market.ts";

test("[W28] [W9] a hub that starts on an existing log resets filtered clients with cursors from before, and resumes unfiltered ones", async ({
  sut,
}) => {
  await sut.publish("list", "list", "flare");
  const { log, head, clock, errors } = sut;
  const again = new Hub({
    ...{ log, head, clock, info: () => INFO, freshness: () => FRESH, serverName: "flarewire/again" },
    onError: (error) => errors.push(error),
  });
  const answer = async (after: string, filter?: { min_liquidity: number }) => {
    const socket = new MockSocket();
    socket.session = again.connect(socket, websocketFraming, { channels: ["newest.bsc"], after, filter });
    await settled();
    await settled();
    socket.session.closed();
    return socket.of("subscribed").at(-1);
  };
  for (const seq of [1, 3])
    expect(await answer(`test1-${seq}`, { min_liquidity: 1 })).toMatchObject({
      resumed: "reset",
      lost: { reason: "expired", events: 3 - seq },
    });
  expect(await answer("test1-3")).toMatchObject({ resumed: "full" });
  expect(await answer("test1-1")).toMatchObject({ resumed: "full" });
  await sut.publish("list");
  expect(await answer("test1-4", { min_liquidity: 1 })).toMatchObject({ resumed: "full" });
  expect(again.size).toBe(0);
});

test("[W28] after the history restarts with known marks, filtered clients resume from its seq", async ({
  sut,
}) => {
  await sut.publish("list", "list");
  const { log, head } = sut;
  const history = new ListHistory(log, head.snapshot);
  const { seq } = log.head;
  expect([history.lacksMarks(seq), await history.at(log.head)]).toEqual([true, undefined]);
  history.restart(history.lists, seq);
  expect([history.lacksMarks(seq), await history.at(log.head)]).toEqual([false, history.lists]);
});

test("[W28] an unreadable stored checkpoint is reported once and skipped: the lists are computed from the one before it", async ({
  sut,
}) => {
  await sut.publish("list", "list", "list");
  const { log, hub, market } = sut;
  const first = await hub.history.at({ ...log.head, seq: toSeq(1) });
  if (!first) throw new Error("no lists");
  const damaged = () => {
    throw new Error("incorrect data check");
  };
  const notify = vi.fn();
  const historyOf = (...readable: readonly boolean[]) => {
    const checkpoints = readable.map((isReadable, at) => ({
      seq: toSeq(at + 1),
      lists: isReadable ? () => first : damaged,
    }));
    return new ListHistory(log, market.snapshot, { lists: listsOf(market.snapshot), checkpoints }, notify);
  };
  const history = historyOf(true, false);
  for (const _ of [1, 2]) {
    const second = await history.at({ ...log.head, seq: toSeq(2) });
    expect(second?.snapshot.newest.bsc).toHaveLength(2);
    const message = expect.stringContaining("or get a reset: incorrect data check");
    expect(notify.mock.calls).toEqual([["warn", message, { seq: 2 }]]);
  }
  expect(await historyOf(false, false).at({ ...log.head, seq: toSeq(2) })).toBeUndefined();
  expect(historyOf(false, false).first.cursor.seq).toBe(3);
});

test("[F5] [W28] after a restart with another history, the earlier one is not used, even while a walk along it continues", async ({
  sut,
}) => {
  await sut.publish("list", "list", "flare");
  const { log, hub, market } = sut;
  const { history } = hub;
  const before = await history.at({ ...log.head, seq: toSeq(2) });
  const read = await log.read({ ...log.head, seq: toSeq(2) }, 1);
  const [record] = read.kind === "records" ? read.records : [];
  if (!before || !record) throw new Error("there is no record to walk along");
  const walk = history.walkFrom(before);
  const other = listsOf({
    ...market.snapshot,
    newest: { ...market.snapshot.newest, bsc: [] },
    flares: EMPTY_SNAPSHOT.flares,
  });
  history.restart(other, toSeq(2));
  walk.next(record);
  expect(walk.lists.snapshot.newest.bsc).toHaveLength(2);
  const at = await history.at(log.head);
  expect(at?.snapshot.newest.bsc).toEqual([]);
  expect(at?.snapshot.flares.pro).toHaveLength(1);
  expect(await history.at({ ...log.head, seq: toSeq(1) })).toBeUndefined();
  expect(await history.at({ epoch: toEpoch("other"), seq: toSeq(2) })).toBeUndefined();
});

test("[L5] checkpoints of the lists are at least 64 events apart, and none precedes the oldest event of the log", async ({
  make,
}) => {
  const sut = make({ log: { minCount: 640, maxAgeMs: 0 } });
  for (let poll = 0; poll < 100; poll += 1) {
    sut.clock.advance(1);
    await sut.publish(...Array<Step>(16).fill(poll % 2 ? "list" : "unlist"));
  }
  const seqs = sut.hub.history.checkpoints.map(({ seq }) => Number(seq));
  expect(seqs.length).toBeGreaterThanOrEqual(8);
  expect(seqs.length).toBeLessThanOrEqual(10);
  expect(Math.min(...seqs)).toBeGreaterThanOrEqual(sut.log.oldest.seq);
  for (const [at, seq] of seqs.slice(1).entries()) expect(seq - (seqs[at] ?? 0)).toBeGreaterThanOrEqual(64);
  expect(sut.hub.history.first.cursor.seq).toBe(seqs[0]);
});

test("[L5] the cache of filtered snapshot texts is bounded: the oldest are dropped, and built again", async ({
  sut,
}) => {
  await sut.publish("list");
  let evaluations = 0;
  const partOf = (symbol: string) => {
    const filter = compileFilter({ symbols: [symbol] });
    if (!filter) throw new Error("no filter");
    const passes: ListFilter["passes"] = (...marks) => {
      evaluations += 1;
      return filter.passes(...marks);
    };
    return { mask: maskOf(["newest.bsc"]), filter: { ...filter, passes } };
  };
  const isBuilt = () => {
    const before = evaluations;
    sut.hub.history.listEnds([partOf("first")]);
    return evaluations > before;
  };
  const others = Array.from({ length: 32 }, (_, at) => partOf(`other${at}`));
  expect([isBuilt(), isBuilt()]).toEqual([true, false]);
  for (const part of others.slice(1)) sut.hub.history.listEnds([part]);
  expect(isBuilt()).toBe(false);
  for (const part of others) sut.hub.history.listEnds([part]);
  expect([isBuilt(), isBuilt()]).toEqual([true, false]);
});

test("[L6] the snapshot text of a set of channels is built once until the next change", async ({ sut }) => {
  const { head, hub } = sut;
  await sut.publish("list");
  const textOf = (...channels: readonly Channel[]) =>
    textsOf(hub.history, { mask: maskOf(channels), filter: undefined });
  const text = textOf("newest.bsc", "flares.pro");
  expect(JSON.parse(text)).toEqual(plain(projectSnapshot(head.snapshot, ["flares.pro", "newest.bsc"])));
  const stringify = vi.spyOn(JSON, "stringify");
  onTestFinished(() => stringify.mockRestore());
  expect([textOf("flares.pro", "newest.bsc"), stringify.mock.calls.length]).toEqual([text, 0]);
  stringify.mockRestore();
  await sut.publish("list");
  expect(JSON.parse(textOf("newest.bsc"))).toEqual(plain(projectSnapshot(head.snapshot, ["newest.bsc"])));
});

test("[L2] after a restart, snapshot texts contain the new lists", async ({ sut }) => {
  await sut.publish("list");
  const text = () =>
    JSON.parse(textsOf(sut.hub.history, { mask: maskOf(["newest.bsc"]), filter: undefined }));
  expect(text().newest.bsc).toHaveLength(1);
  await sut.head.restart({ lists: listsOf(EMPTY_SNAPSHOT), observedAtMs: 2 }, async () => {});
  expect(text()).toEqual(projectSnapshot(EMPTY_SNAPSHOT, ["newest.bsc"]));
});

/** Returns the JSON text of the lists, without the closing brace of their message. */
function textsOf(history: ListHistory, part: SelectionPart): string {
  return history.listEnds([part]).join().slice(0, -1);
}

/** Returns the value as JSON transmits it. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
