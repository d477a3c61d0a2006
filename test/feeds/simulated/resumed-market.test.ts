import { pino } from "pino";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { startGateway } from "../../../src/app/serve.ts";
import { type Clock, systemClock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import type { Freshness } from "../../../src/base/protocol/index.ts";
import { reportStart } from "../../../src/gateway/start/report-source.ts";
import { FRESH, INFO } from "../../gateway/hub/hub-fixture.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { eventually } from "../../support/time/waiters.ts";

test("a simulated market that resumes after 20 minutes is stale and as old as its lists until it has caught up, and its time never goes back", async ({
  onTestFinished,
}) => {
  const config = createConfig({
    port: 0,
    data: newDirectory(onTestFinished),
    warmup: "10m",
    drain: "0",
    logLevel: "silent",
  });
  const first = await startGateway(config);
  // A start does not wait for a warm-up of over 5 seconds.
  await eventually(() => first.head.ready, first.freshness);
  const leftMs = first.head.observedAtMs;
  await first.stop();

  const logged: string[] = [];
  const later: Clock = {
    ...systemClock,
    now: () => systemClock.now() + 20 * MINUTE_MS,
    // A busy machine needs over 30 seconds, after which a market that still catches up is reported.
    sleep: (ms, signal) => systemClock.sleep(ms < 5_000 ? ms : HOUR_MS, signal),
  };
  const logger = pino({ level: "info" }, { write: (line: string) => logged.push(line) });
  const second = await startGateway(config, { clock: later, logger });
  onTestFinished(() => second.stop());
  const seen: Freshness[] = [second.freshness()];
  second.head.onChange(() => seen.push(second.freshness()));
  await eventually(() => second.freshness().state === "live", second.freshness);
  seen.push(second.freshness());

  const times = seen.map(({ observed_at }) => Date.parse(observed_at ?? ""));
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(times[0]).toBeGreaterThanOrEqual(leftMs);
  const catchingUp = seen.filter(({ reason }) => reason.includes("catching up"));
  expect(catchingUp.length).toBeGreaterThan(0);
  for (const { state, data_age_ms, observed_at } of catchingUp) {
    expect(state).toBe("stale");
    const ageMs = later.now() - Date.parse(observed_at ?? "");
    expect(data_age_ms).toBeGreaterThan((2 / 3) * config.staleAfterMs);
    expect(data_age_ms).toBeLessThanOrEqual(ageMs);
  }
  const { status, headers } = await fetch(`${second.url}/readyz`);
  expect(status).toBe(200);
  expect(Number(headers.get("flarewire-data-age") ?? "x")).toBeLessThanOrEqual(config.staleAfterMs / 1_000);
  await eventually(
    () => logged.some((line) => line.includes("source is live")),
    () => logged,
  );
  expect(logged.filter((line) => line.includes("source is stale"))).toEqual([]);
});

test("a market that still catches up 30 seconds after the start is reported then, and one that has caught up is not", async () => {
  for (const isSlow of [true, false]) {
    const clock = new ManualClock();
    let isCatchingUp = true;
    const freshness = (): Freshness => ({ ...FRESH, state: isCatchingUp ? "stale" : "live" });
    const source = { info: INFO, freshness, poll: async () => undefined };
    const opened = { kind: "snapshots", source, isCatchingUp: () => isCatchingUp } as const;
    const reports: number[] = [];
    const report = () => reports.push(clock.monotonic());
    const reporting = reportStart(opened, report, clock, new AbortController().signal);
    const nextSleep = clock.nextSleep();
    clock.advance(5_000);
    await nextSleep;
    isCatchingUp = isSlow;
    expect(reports).toEqual([]);
    clock.advance(25_000);
    await reporting;
    expect(reports).toEqual(isSlow ? [30_000] : []);
  }
});

test("a market that warms up is not reported in its first 30 seconds", async () => {
  const clock = new ManualClock();
  let warmedUp: number | undefined = 0.5;
  const freshness = (): Freshness => ({ ...FRESH, state: warmedUp === undefined ? "live" : "stale" });
  const source = { info: INFO, freshness, poll: async () => undefined };
  const opened = { kind: "snapshots", source, warmedUp: () => warmedUp } as const;
  let reports = 0;
  const report = () => {
    reports += 1;
  };
  const reporting = reportStart(opened, report, clock, new AbortController().signal);
  const nextSleep = clock.nextSleep();
  clock.advance(5_000);
  await nextSleep;
  expect(reports).toBe(0);
  warmedUp = undefined;
  clock.advance(25_000);
  await reporting;
  expect(reports).toBe(0);
});
