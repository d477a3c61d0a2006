import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT, flaresKeyOf, GROUPS, type Snapshot } from "../../../src/base/model/index.ts";
import { listsOf as markedLists, toEpoch, toSeq } from "../../../src/base/protocol/index.ts";
import { HistoryProgress } from "../../../src/extensions/history/history-progress.ts";
import { openSqliteHistoryStore, writeHistory } from "../../../src/extensions/history/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import {
  finishAt,
  flareAt,
  inGroup,
  listsOf,
  MINUTE_MS,
  outcomeAt,
  START_MS,
  whyAt,
} from "./flare-records.ts";

const LIMITS = { maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 };

test("the lists of any group that a new epoch begins with are stored at once, and the history is behind until then", async () => {
  const clock = new ManualClock();
  const log = new MemoryLog({ clock });
  const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: START_MS } });
  const store = openSqliteHistoryStore(LIMITS);
  const progress = new HistoryProgress();
  const killed = new AbortController();
  const { signal } = killed;
  void writeHistory({ log, head, store, progress, clock, signal, notify: expect.unreachable });
  expect(await progress.settled()).toBe(true);
  for (const [index, group] of GROUPS.entries()) {
    const { flare: ofBsc, outcome } = finishAt(900 + index, 1);
    const [ended, running] = [ofBsc, flareAt(800 + index, 9)].map((flare) =>
      group === "bsc" ? flare : inGroup(flare, group),
    );
    if (!ended || !running) throw new Error("there are no flares");
    const snapshot = {
      ...EMPTY_SNAPSHOT,
      [flaresKeyOf(group)]: listsOf([running], [ended], group),
      explanations: { [running.id]: whyAt(9) },
      outcomes: { [ended.id]: outcome ?? outcomeAt(1, true) },
    };
    const cursor = { epoch: toEpoch(`another${index}`), seq: toSeq(5), run: undefined };
    const base = { observedAtMs: START_MS + 9 * MINUTE_MS, lists: markedLists(snapshot) };
    await head.restart(base, () => log.restart({ cursor, positions: { "flares.pro": 5 } }));
    expect(await progress.settled()).toBe(true);
    expect(store.find(ended.id)?.key.id, group).toBe(ended.id);
    expect(store.started(running.id), group).toEqual(whyAt(9));
    expect(store.cursor).toBe(`another${index}-5`);
  }
  killed.abort();
  store.close();
});

test("a flare that is running when the history begins has its start, if its explanation has not changed since", async () => {
  const clock = new ManualClock();
  const log = new MemoryLog({ clock });
  const [same, changed] = [flareAt(1, 1), flareAt(2, 1)];
  const snapshot: Snapshot = {
    ...EMPTY_SNAPSHOT,
    flares: { free: [], pro: [same, changed], finished_trending: [] },
    explanations: { [same.id]: whyAt(1), [changed.id]: whyAt(2) },
  };
  const base = { snapshot, observedAtMs: START_MS + 2 * MINUTE_MS };
  const head = { ready: true, cursor: log.head, ...base, onRestart: () => {} };
  const store = openSqliteHistoryStore(LIMITS);
  const killed = new AbortController();
  void writeHistory({ log, head, store, clock, signal: killed.signal, notify: expect.unreachable });
  await turn();
  expect([store.started(same.id), store.started(changed.id)]).toEqual([whyAt(1), undefined]);
  killed.abort();
  store.close();
});
