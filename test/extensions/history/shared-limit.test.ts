import { pino } from "pino";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { history } from "../../../src/extensions/history/index.ts";
import type { ExtensionContext } from "../../../src/gateway/start/extension.ts";
import { createHubUnderTest, FRESH, INFO } from "../../gateway/hub/hub-fixture.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

interface Store {
  readonly size: { readonly bytes: number };
  readonly insert?: (minute: object) => unknown;
  readonly commit?: (batch: object) => unknown;
}

test("flares and past minutes together take at most the set number of bytes, half of it each", async () => {
  const { hub, log, head } = createHubUnderTest();
  const settings = createConfig({ historyBytes: "64KiB" });
  const stores = new Map<string, Store>();
  const openStore = (name: string, _what: string, open: (path?: string) => readonly unknown[]) => {
    const opened = open();
    stores.set(name, opened[0] as Store);
    return opened;
  };
  const context = {
    settings,
    hub,
    log,
    head,
    clock: new ManualClock(),
    logger: pino({ enabled: false }),
    openStore,
    info: () => INFO,
    freshness: () => FRESH,
    of: () => undefined,
    policy: undefined,
    tasks: undefined,
  };
  const opened = await history.open(context as unknown as ExtensionContext<never>);
  const minutes = stores.get("minutes");
  for (let minute = 0; minute < 60; minute++) {
    const times = { firstMs: minute * 60_000, lastMs: minute * 60_000, observedAtMs: 0, aliveMs: 0 };
    const state = { ...times, sourceState: "live", cursor: "test-1" };
    minutes?.insert?.({ state, body: new Uint8Array(2_000), keyframe: new Uint8Array(10) });
  }
  const bytes = minutes?.size.bytes ?? 0;
  expect(bytes).toBeGreaterThan(30_000);
  expect(bytes).toBeLessThanOrEqual(32_768);
  const why = { at: "2026-03-02T12:00:00.000Z", text: "x".repeat(2_000) };
  const flares = stores.get("history");
  for (let n = 1; n <= 60; n++)
    flares?.commit?.({
      cursor: `test-${n}`,
      nowMs: n * 1_000,
      starts: [{ id: `f${n}`, at: why.at, why }],
      finishes: [],
      outcomes: [],
    });
  expect(flares?.size.bytes).toBeGreaterThan(28_000);
  expect(flares?.size.bytes).toBeLessThanOrEqual(32_768);
  await opened?.close?.();
});
