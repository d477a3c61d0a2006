import { createHash, hash } from "node:crypto";
import { EngineSource } from "../../../src/app/engine-source.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import { toEpoch } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  createHistoryReader,
  HistoryProgress,
  MinuteWriter,
  openMinuteStore,
  openSqliteHistoryStore,
  writeHistory,
} from "../../../src/extensions/history/index.ts";
import { createHttpServer } from "../../../src/gateway/http/index.ts";
import { Head, Hub, websocketFraming } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { FRESH, INFO } from "../../gateway/hub/hub-fixture.ts";
import { MockSocket } from "../../gateway/hub/mock-socket.ts";
import { planByHeader } from "../../support/servers/plan-by-header.ts";
import { withExtensions } from "../../support/servers/with-extensions.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

/**
 * Fingerprint of all data that clients receive without naming a group: by event and channel, and by
 * plan and path, the number of texts and the hash of all of them in order.
 */
export interface Fingerprint {
  readonly events: Readonly<Record<string, string>>;
  readonly bodies: Readonly<Record<string, string>>;
}

const LIMITS = { maxAgeMs: 366 * DAY_MS, maxBytes: 2 ** 40 };
const LOG = { clock: systemClock, maxAgeMs: 0, minCount: 100_000, maxBytes: 2 ** 30, lastingAgeMs: 0 };
const PATHS = [
  ...["flares", "newest", "charts", "leaderboards", "snapshot", "candles", "history", "record"],
  ...["history?limit=3", "history?group=bsc", "record?window=7d&group=bsc"],
];
const PLANS = ["free", "pro"];
/** Subscriptions of clients that name no group. */
const SUBSCRIPTIONS = [["*"], ["flares.*"], ["candles"]];
/** Interval between requests to REST. */
const FETCH_EVERY_MS = 45 * MINUTE_MS;

/**
 * Plays a feed to its end as a gateway does. Hashes each body, entity tag and event that a client
 * without `group` receives, but no positions in the log, which other channels share.
 */
export async function fingerprintOf(feed: Feed): Promise<Fingerprint> {
  const store = openMinuteStore(LIMITS);
  const flares = openSqliteHistoryStore(LIMITS);
  const log = new MemoryLog({ ...LOG, epoch: toEpoch("without1") });
  const head = new Head({ log });
  const notify = (_level: string, message: string) => {
    throw new Error(message);
  };
  const writer = new MinuteWriter({ head, store, notify });
  const progress = new HistoryProgress();
  const stop = new AbortController();
  const { signal } = stop;
  const history = createHistoryReader(flares, {
    store,
    writer: () => writer,
    isComplete: () => progress.settled(),
  });
  const engine = new TrendEngine({ facts: feed.facts });
  const staleAfterMs = Number.POSITIVE_INFINITY;
  const source = new EngineSource({ feed, engine, clock: systemClock, staleAfterMs });
  const hub = new Hub({
    ...{ log, head, clock: new ManualClock(), info: () => INFO, freshness: () => FRESH },
    ...{ serverName: "flarewire/test", onError: (error) => notify("", String(error)) },
  });
  const app = await createHttpServer(
    withExtensions({
      ...{ head, history, policy: planByHeader, clock: systemClock },
      ...{ freshness: () => FRESH, info: () => INFO },
    }),
  );
  const events = new Prints();
  const bodies = new Prints();
  const fetchAll = async (at: string) => {
    await progress.settled();
    for (const plan of PLANS) {
      for (const path of [...PATHS, ...pathsOf(head)]) {
        const url = `/api/v1/${path}${at && `${path.includes("?") ? "&" : "?"}at=${at}`}`;
        const { statusCode, headers, body } = await app.inject({ url, headers: { authorization: plan } });
        const isSnapshot = path === "snapshot";
        const shown = isSnapshot ? body.replace(/"cursor":"[^"]*"/, "") : body;
        bodies.add(
          `${plan} /${kindOf(path)}${at && " at"}`,
          statusCode === 200 ? `${isSnapshot ? "" : headers.etag} ${shown}` : `${statusCode}`,
        );
      }
    }
  };
  try {
    let isWritten = false;
    let nextMs = 0;
    let lastAt = "";
    for (;;) {
      const poll = await source.poll(signal).catch(() => undefined);
      if (!poll) break;
      const { observedAtMs, snapshot } = poll;
      if (head.ready && observedAtMs >= nextMs) {
        nextMs = observedAtMs + FETCH_EVERY_MS;
        await fetchAll("");
        if (lastAt) await fetchAll(lastAt);
        lastAt = new Date(Math.floor(observedAtMs / MINUTE_MS - 5) * MINUTE_MS).toISOString();
      }
      const published = head.ready ? toEvents(head.snapshot, snapshot, observedAtMs) : [];
      const wasReady = head.ready;
      if (published.length > 0 || !wasReady)
        await head.publish({ observedAtMs, snapshot, events: published });
      if (isWritten) continue;
      isWritten = true;
      void writeHistory({ log, head, store: flares, progress, clock: systemClock, notify, signal });
      for (const channels of SUBSCRIPTIONS) subscribe(hub, channels, events);
    }
    await fetchAll("");
    return { events: events.all(), bodies: bodies.all() };
  } finally {
    stop.abort();
    await app.close();
    await writer.stop();
    store.close();
    flares.close();
  }
}

/** Returns the path with a placeholder for the flare or token. */
function kindOf(path: string): string {
  return path
    .replace(/[^/]*$/, (name) => (path.includes("/") ? "{…}" : name))
    .replace(/(address|symbol)=.*/, "$1={…}");
}

/** Returns paths of some listed flares and their tokens. */
function pathsOf({ snapshot }: Head): readonly string[] {
  const { pro, finished_trending } = snapshot.flares;
  const flares = [pro[0], pro.at(-1), finished_trending[0], finished_trending.at(-1)];
  const symbols = snapshot.charts.exchange.slice(0, 2).map(({ token }) => `tokens/exchange/${token.symbol}`);
  const others = flares.flatMap((flare) => {
    if (!flare) return [];
    const { id, token } = flare;
    return [`flares/${id}`, `tokens/bsc/${token.address}`, `history?address=${token.address}`];
  });
  const [last] = finished_trending;
  const bySymbol = last ? [`history?symbol=${encodeURIComponent(last.token.symbol)}`] : [];
  return [...symbols, ...others, ...bySymbol];
}

/** Hashes the events of a WebSocket subscription, without their positions. */
function subscribe(hub: Hub, channels: readonly string[], prints: Prints): void {
  const socket = new MockSocket();
  const name = channels.join();
  socket.onMessage = ({ type, name: event, channel, observed_at, data, snapshot }) => {
    if (type === "subscribed") prints.add(`${name} subscribed`, JSON.stringify(snapshot));
    else if (type === "event")
      prints.add(`${name} ${event} ${channel}`, JSON.stringify({ event, channel, observed_at, data }));
  };
  socket.session = hub.connect(socket, websocketFraming, { channels });
}

class Prints {
  readonly #hashes = new Map<string, { count: number; hash: ReturnType<typeof createHash> }>();

  add(kind: string, text: string): void {
    const entry = this.#hashes.get(kind) ?? { count: 0, hash: createHash("sha256") };
    this.#hashes.set(kind, entry);
    entry.count += 1;
    entry.hash.update(hash("sha256", text));
  }

  all(): Readonly<Record<string, string>> {
    const sorted = [...this.#hashes].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      sorted.map(([kind, { count, hash: running }]) => [
        kind,
        `${count} ${running.digest("hex").slice(0, 32)}`,
      ]),
    );
  }
}
