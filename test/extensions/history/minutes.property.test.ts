import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import {
  createHistoryReader,
  type HistoryReader,
  MinuteWriter,
  openMinuteStore,
  openSqliteHistoryStore,
} from "../../../src/extensions/history/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { ROOMY as ROOMY_LOG } from "../../contract/event-log-contract.ts";
import { type Rest, test } from "../../gateway/http/rest/rest-fixture.ts";
import { IS_SOAK, lawRuns } from "../../support/law-runs.ts";
import { arbitrarySnapshot } from "../../support/random/arbitraries.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { planByHeader } from "../../support/servers/plan-by-header.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { MINUTE_MS, START_MS } from "./flare-records.ts";

const LIMITS = { maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 };
const PATHS = ["flares", "newest", "charts", "leaderboards", "snapshot"].map((name) => `/api/v1/${name}`);

const FLARES = openSqliteHistoryStore(LIMITS);

/** The log and head of a gateway, and a store that is reused by several writers. */
class Gateway {
  readonly log = new MemoryLog({ ...ROOMY_LOG, clock: new ManualClock() });
  readonly head = new Head({
    log: this.log,
    initial: { snapshot: SAMPLE_SNAPSHOT, observedAtMs: START_MS },
  });
  readonly notices: string[] = [];
  readonly path: string;
  store;
  writer;
  #restarts = 0;

  constructor(path: string, maxBytes = LIMITS.maxBytes) {
    this.path = path;
    this.store = openMinuteStore({ ...LIMITS, maxBytes }, path);
    this.writer = this.#write();
  }

  /** Reads the current store. */
  get reader(): HistoryReader {
    const now = () => createHistoryReader(FLARES, { store: this.store, writer: () => this.writer });
    const minutesVersion = () => this.#restarts * 1e6 + this.store.version + this.writer.replacements;
    return {
      ...now(),
      flaresVersion: 0,
      minute: (atMs) => now().minute(atMs),
      get minutesVersion() {
        return minutesVersion();
      },
    };
  }

  #write(): MinuteWriter {
    const { head, store } = this;
    return new MinuteWriter({ head, store, notify: (_level, message) => this.notices.push(message) });
  }

  /** Stops the writer and reopens the file, as a restart does. */
  async restart(): Promise<void> {
    await this.writer.stop();
    this.store.close();
    this.store = openMinuteStore(LIMITS, this.path);
    this.#restarts += 1;
    this.writer = this.#write();
  }

  async publish(observedAtMs: number, snapshot: Snapshot): Promise<void> {
    await this.head.publish({
      events: toEvents(this.head.snapshot, snapshot, observedAtMs),
      snapshot,
      observedAtMs,
    });
  }

  async status(state: "live" | "stale", observedAtMs: number): Promise<void> {
    const observed_at = new Date(observedAtMs).toISOString();
    const data = { state, reason: "" };
    await this.head.publish({ events: [{ name: "source-status", channel: "status", observed_at, data }] });
  }
}

const iso = (atMs: number) => new Date(atMs).toISOString();

interface Live {
  readonly observedAtMs: number;
  readonly cursor: unknown;
  /** By plan and path. */
  readonly bodies: ReadonlyMap<string, string>;
}

const PLANS = ["free", "pro"] as const;

async function ask({ app }: Rest, url: string, plan = "pro", headers = {}) {
  return await app.inject({ url, headers: { authorization: plan, ...headers } });
}

async function recordLive(rest: Rest, { head }: Gateway): Promise<Live> {
  const bodies = new Map<string, string>();
  let cursor: unknown;
  for (const plan of PLANS) {
    for (const path of PATHS) {
      const { body, headers } = await ask(rest, path, plan);
      bodies.set(`${plan} ${path}`, body);
      cursor = headers["flarewire-cursor"];
    }
  }
  return { observedAtMs: head.observedAtMs, cursor, bodies };
}

/** Seconds of event time between two observations. Time sometimes stands still or goes back. */
const seconds = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 90 }) },
  { weight: 2, arbitrary: fc.integer({ min: 60, max: 600 }) },
  { weight: 1, arbitrary: fc.integer({ min: -300, max: 0 }) },
);
const ops = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ seconds, snapshot: arbitrarySnapshot }) },
    { weight: 1, arbitrary: fc.constant("status" as const) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
  ),
  { minLength: 5, maxLength: 40, size: "max" },
);

test("[T1] a past minute has the same bytes as the live response, for each plan", async ({
  makeRest,
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  let files = 0;
  await fc.assert(
    fc.asyncProperty(ops, async (todo) => {
      files += 1;
      const gateway = new Gateway(join(directory, `minutes-${files}`));
      const rest = await makeRest({ head: gateway.head, history: gateway.reader, policy: planByHeader });
      const served = [await recordLive(rest, gateway)];
      for (const op of todo) {
        if (op === "restart") {
          await gateway.restart();
          continue;
        }
        // The state stays the same, but its cursor advances.
        if (op === "status") {
          await gateway.status("live", gateway.head.observedAtMs);
          served.pop();
        } else await gateway.publish(gateway.head.observedAtMs + op.seconds * 1_000, op.snapshot);
        served.push(await recordLive(rest, gateway));
        // Requests minutes that may be replaced later, when time goes back, because they must not
        // stay cached.
        for (const ago of [1, 2, 3])
          await ask(rest, `${PATHS[0]}?at=${iso(gateway.head.observedAtMs - ago * MINUTE_MS)}`);
      }
      const startMs = Math.min(...served.map(({ observedAtMs }) => observedAtMs));
      const nowMs = gateway.head.observedAtMs;
      for (let atMs = Math.ceil(startMs / MINUTE_MS) * MINUTE_MS; atMs < nowMs; atMs += MINUTE_MS) {
        const then = served.findLast(({ observedAtMs }) => observedAtMs <= atMs);
        const seen = new Map<string, string>();
        for (const plan of PLANS) {
          for (const path of PATHS) {
            const { statusCode, headers, body } = await ask(rest, `${path}?at=${iso(atMs)}`, plan);
            expect([statusCode, headers["flarewire-at"]]).toEqual([200, iso(atMs)]);
            expect(headers["flarewire-cursor"]).toBe(then?.cursor);
            seen.set(`${plan} ${path}`, body);
          }
        }
        expect(seen).toEqual(then?.bodies);
      }
      const { statusCode } = await ask(
        rest,
        `${PATHS[0]}?at=${iso(Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS)}`,
      );
      expect(statusCode).toBe(400);
      expect(gateway.notices).toEqual([]);
      gateway.store.close();
    }),
    // Unbiased, because the first biased runs would be short.
    { ...lawRuns(1, 3), unbiased: !IS_SOAK },
  );
});
