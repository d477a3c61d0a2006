import type { Notify } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { flaresIn } from "../../base/model/index.ts";
import {
  type Cursor,
  type Epoch,
  type EventBody,
  formatCursor,
  LASTING_EVENTS,
  parseCursor,
  type Snapshot,
} from "../../base/protocol/index.ts";
import { type Head, keepFollowing } from "../../gateway/hub/index.ts";
import { decodeBody, type EventLog } from "../../gateway/log/index.ts";
import type { HistoryProgress } from "./history-progress.ts";
import type {
  FlareFinish,
  FlareOutcome,
  FlareStart,
  FollowedCandles,
  HistoryBatch,
} from "./history-records.ts";
import type { HistoryStore } from "./sqlite-history-store.ts";

interface HistoryWriting {
  readonly log: EventLog;
  readonly head: Pick<Head, "ready" | "cursor" | "snapshot" | "observedAtMs" | "onRestart">;
  readonly store: Pick<HistoryStore, "cursor" | "commit"> & Partial<Pick<HistoryStore, "isGenerated">>;
  readonly progress?: HistoryProgress | undefined;
  /**
   * Whether the market is simulated or recorded. If so, each epoch is a new market. Default: no.
   */
  readonly isGenerated?: (() => boolean) | undefined;
  /** Called when another market's history begins. */
  readonly onAnotherMarket?: ((epoch: Epoch) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly notify: Notify;
  readonly signal: AbortSignal;
}

const READ_RECORDS = 512;
const RESTART_POLL_MS = 200;
/** The error if a simulated or recorded market would replace a live one, perhaps by mistake. */
export const MIXED =
  "the stored history is of a live market, but this market is simulated or recorded; use another data directory for it";

/**
 * Writes starts, finishes, outcomes and candles from the log into the store, until the signal
 * aborts. Never rejects. It continues after the stored cursor, so a process that was killed loses
 * and repeats nothing. If the log no longer has all events after that cursor, the current lists
 * fill the gap.
 */
export async function writeHistory(writing: HistoryWriting): Promise<void> {
  const { log, head, store, progress, clock, notify, signal } = writing;
  let hasFailed = false;
  const commit = (batch: HistoryBatch) => {
    store.commit(batch);
    if (hasFailed) notify("info", "resumed writing the history of flares");
    hasFailed = false;
  };
  const appends = new Signal();
  const hasMoved = () => {
    progress?.fallBehind();
    appends.raise();
  };
  const stopListening = log.onAppend(hasMoved);
  // The new lists are a base, which comes without events.
  head.onRestart(hasMoved);
  signal.addEventListener("abort", () => appends.raise(), { once: true });
  const onFailure = (error: unknown) => {
    progress?.fail();
    // Logged only once: a line for each attempt would help to fill the disk.
    if (!hasFailed)
      notify("warn", `cannot write the history of flares; retrying: ${messageOf(error)}`, { err: error });
    hasFailed = true;
  };
  const followOnce = () => {
    const { cursor, isGenerated } = store;
    return follow({ ...writing, store: { cursor, isGenerated, commit } }, appends);
  };
  await keepFollowing(head, clock, signal, followOnce, onFailure);
  stopListening();
  progress?.fail();
}

async function follow(writing: HistoryWriting, appends: Signal): Promise<void> {
  const { log, head, store, progress, clock, signal } = writing;
  let at: Cursor | undefined = parseCursor(store.cursor ?? "");
  let wasGenerated = store.isGenerated;
  while (!signal.aborted) {
    const appended = appends.next();
    const result = at && !log.strayed(at) ? await readEvents(log, at) : undefined;
    if (!at || !result || result.kind === "lost") {
      if (log.strayed(head.cursor)) {
        // The log has started over (see `strayed`). The head follows soon.
        await clock.sleep(RESTART_POLL_MS, signal);
        continue;
      }
      const isGenerated = writing.isGenerated?.() ?? false;
      const isOtherEpoch = at !== undefined && at.epoch !== head.cursor.epoch;
      if (isOtherEpoch && isGenerated && wasGenerated === false) throw new Error(MIXED);
      const isAnotherMarket = isOtherEpoch && (wasGenerated ?? isGenerated);
      if (isAnotherMarket) {
        await writing.onAnotherMarket?.(head.cursor.epoch);
        if (log.strayed(head.cursor)) continue;
      }
      wasGenerated = isGenerated;
      // Continue from the log's oldest events: they have starts that the lists no longer show.
      at = log.oldestLasting;
      const { snapshot, observedAtMs } = head;
      const lists = { starts: begun(snapshot), finishes: listed(snapshot), outcomes: [] };
      const candles = shownCandles(snapshot);
      const cursor = formatCursor(at);
      store.commit({ cursor, nowMs: observedAtMs, isGenerated, isAnotherMarket, ...lists, candles });
      continue;
    }
    if (result.through === at.seq) {
      if (at.seq >= log.head.seq) progress?.catchUp();
      await appended;
      continue;
    }
    // The log may have started over during the read.
    at = log.strayed(at) ? { ...at, seq: result.through } : log.cursorAt(result.through);
    const wanted = result.records.filter(({ name }) => LASTING_EVENTS.has(name) || name === "candles-closed");
    const bodies = wanted.map(({ encoded }) => decodeBody(encoded));
    const starts = bodies.flatMap(startOf);
    const finishes = bodies.flatMap(finishOf);
    const outcomes = bodies.flatMap(outcomeOf);
    const candles = result.isWhole ? bodies.flatMap(candlesOf) : shownCandles(head.snapshot);
    if (starts.length + finishes.length + outcomes.length + candles.length === 0) continue;
    // Ignore status events: until the source has data, they have wall-clock times, even in a
    // recording.
    const last = bodies.findLast(({ channel }) => channel !== "status");
    const nowMs = last ? Date.parse(last.observed_at) : head.observedAtMs;
    const isGenerated = writing.isGenerated?.() ?? false;
    store.commit({ cursor: formatCursor(at), nowMs, isGenerated, starts, finishes, outcomes, candles });
  }
}

/** Reads all events, or the lasting ones if others are no longer stored. */
async function readEvents(log: EventLog, at: Cursor) {
  const all = await log.read(at, READ_RECORDS);
  if (all.kind === "lost") return { ...(await log.readLasting(at, READ_RECORDS)), isWhole: false };
  return { ...all, through: all.records.at(-1)?.seq ?? at.seq, isWhole: true };
}

function startOf({ name, data }: EventBody): readonly FlareStart[] {
  if (name !== "flare-started" || data.cause !== "detected") return [];
  const { flare, why } = data;
  return [{ id: flare.id, at: flare.started_trending_at, why }];
}

/** Reads a finish on any list: a flare that vanishes upstream is never on the finished list. */
function finishOf({ name, data, observed_at }: EventBody): readonly FlareFinish[] {
  if (name !== "flare-finished") return [];
  const { flare, why, cause, outcome } = data;
  return [{ flare, why, cause, outcome: outcome ?? null, atMs: Date.parse(observed_at) }];
}

function outcomeOf({ name, data, observed_at }: EventBody): readonly FlareOutcome[] {
  if (name !== "flare-outcome") return [];
  return [{ id: data.id, outcome: data.outcome, atMs: Date.parse(observed_at) }];
}

function candlesOf({ name, data, observed_at }: EventBody): readonly FollowedCandles[] {
  if (name !== "candles-closed") return [];
  const atMs = Date.parse(observed_at);
  return data.tokens.map(({ address, candles }) => ({ group: data.group, address, candles, atMs }));
}

function shownCandles({ candles }: Snapshot): readonly FollowedCandles[] {
  return Object.entries(candles.bsc).map(([address, own]) => ({ group: "bsc", address, candles: own }));
}

/** Returns the starts of running flares that still have their original explanation. */
function begun(snapshot: Snapshot): readonly FlareStart[] {
  return flaresIn(snapshot, "pro").flatMap(({ id, started_trending_at: at }) => {
    const why = snapshot.explanations[id];
    return why?.at === at ? [{ id, at, why }] : [];
  });
}

function listed(snapshot: Snapshot): readonly FlareFinish[] {
  return flaresIn(snapshot, "finished_trending").map((flare) => {
    const why = snapshot.explanations[flare.id] ?? null;
    const outcome = snapshot.outcomes[flare.id] ?? null;
    return { flare, why, cause: why?.finish_cause ?? "upstream", outcome };
  });
}

/** Resolves {@link next} at each {@link raise}. */
class Signal {
  #waiting = Promise.withResolvers<void>();

  next(): Promise<void> {
    return this.#waiting.promise;
  }

  raise(): void {
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }
}
