import type { Snapshot } from "../../../src/base/model/index.ts";
import { type Cursor, type EventBody, toEpoch, toRun, toSeq } from "../../../src/base/protocol/index.ts";
import {
  createHistoryReader,
  type HistoryStore,
  MinuteWriter,
  openMinuteStore,
  openSqliteHistoryStore,
} from "../../../src/extensions/history/index.ts";
import { HandHead, type Rest, test as restTest } from "../../gateway/http/rest/rest-fixture.ts";
import type { ServerOptions } from "../../support/servers/with-extensions.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { MINUTE_MS, START_MS } from "./flare-records.ts";

export const LIMITS = { maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 };

/** A head that a test moves, and that reports each move. */
export class Market extends HandHead {
  override observedAtMs = START_MS;
  override cursor: Cursor = { epoch: toEpoch("test1"), seq: toSeq(0) };
  #listen: (events: readonly EventBody[]) => void = () => {};
  #run = 0;

  onChange(listener: (records: readonly never[], head: never, events: readonly EventBody[]) => void) {
    this.#listen = (events) => listener([], this as never, events);
    return () => {};
  }

  onRestart(): void {}
  pauseFor(): void {}

  /** Observes other flares, `seconds` after the start of the first minute. */
  observe(seconds: number, parts: Partial<Snapshot> = SAMPLE_SNAPSHOT): void {
    this.move(parts);
    this.observedAtMs = START_MS + seconds * 1_000;
    this.#listen([]);
  }

  status(state: "live" | "stale" | "down", seconds: number): void {
    this.move({});
    const observed_at = iso(seconds);
    this.observedAtMs -= 1_000;
    this.#listen([{ name: "source-status", channel: "status", observed_at, data: { state, reason: "" } }]);
  }

  /** Simulates that another process appends to the log from now on. */
  begin(): void {
    this.#run += 1;
    this.cursor = { ...this.cursor, run: toRun(`r${this.#run}`) };
  }
}

interface World {
  readonly market: Market;
  readonly rest: Rest;
  readonly flares: HistoryStore;
  readonly notices: string[];
  /** Returns the response for this number of seconds after the first minute. */
  at(seconds: number, path?: string, query?: string): ReturnType<Rest["ask"]>;
  settled(): Promise<void>;
}

type Limits = Partial<typeof LIMITS>;
type WorldFactory = (
  limits?: Limits,
  flareLimits?: Limits,
  options?: Partial<ServerOptions>,
) => Promise<World>;

/** {@link restTest} with a server of past minutes and of flares, which a test fills. */
export const test = restTest.extend<{ makeWorld: WorldFactory }>({
  makeWorld: async ({ makeRest }, use) => {
    const opened: { close(): void }[] = [];
    await use(async (limits = {}, flareLimits = {}, options = {}) => {
      const store = openMinuteStore({ ...LIMITS, ...limits });
      const flares = openSqliteHistoryStore({ ...LIMITS, ...flareLimits });
      opened.push(store, flares);
      const market = new Market();
      const notices: string[] = [];
      market.move(SAMPLE_SNAPSHOT);
      market.observedAtMs = START_MS;
      const writer = new MinuteWriter({
        head: market,
        store,
        notify: (level, message) => notices.push(`${level}: ${message}`),
      });
      const settled = (atMs?: number) => writer.settled(atMs);
      const history = createHistoryReader(flares, { store, writer: () => writer });
      const rest = await makeRest({ head: market, history, ...options });
      const at = (seconds: number, path = "/api/v1/flares", query = "") =>
        rest.ask("GET", `${path}?at=${iso(seconds)}&${query}`.replace(/&$/, ""));
      return { market, rest, flares, notices, at, settled };
    });
    for (const store of opened) store.close();
  },
});

export const iso = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();
export const EMPTY_FLARES = { flares: { free: [], pro: [], finished_trending: [] } };
