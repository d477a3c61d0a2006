import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { storedPath } from "../../../src/app/data/file-persistence.ts";
import { EXTENSIONS } from "../../../src/app/extensions.ts";
import { startGateway } from "../../../src/app/serve.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { toEpoch } from "../../../src/base/protocol/index.ts";
import { history } from "../../../src/extensions/history/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { ROOMY } from "../../contract/event-log-contract.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { openExtension } from "../../support/servers/extension-context.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

const FACTS = { trades: true, liquidity: true, listings: true, profiles: true };

test("a history that cannot be written logs the reason and its file", async ({ onTestFinished }) => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const logger = createLogger("warn", { write: (line: string) => void lines.push(line) });
  const config = createConfig({ data: newDirectory(onTestFinished) });
  const options = { config, clock, logger, identity: { name: "a test" } };
  const log = new MemoryLog({ ...ROOMY, clock });
  const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: 1 } });
  const info = () => ({ name: "a test", origin: "live" as const, facts: FACTS });
  const opened = await openExtension(history, { ...options, log, head, info });
  await opened.close?.();
  const over = new AbortController();
  opened.start?.(over.signal);
  await expect.poll(() => lines.length).toBe(1);
  expect(await opened.provides?.minute(0)).toEqual({ minute: undefined, stored: undefined, hasFailed: true });
  over.abort();
  await opened.finish?.();
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    msg: "cannot write the history of flares; retrying: database is not open",
    path: storedPath(options, "history"),
  });
});

test("an unreadable past minute is a fault, not a missing minute, and is logged once with the file", async ({
  onTestFinished,
}) => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const logger = createLogger("warn", { write: (line: string) => void lines.push(line) });
  const config = createConfig({ data: newDirectory(onTestFinished) });
  const options = { config, clock, logger, identity: { name: "a test" } };
  const path = storedPath(options, "minutes");
  const log = new MemoryLog({ ...ROOMY, clock });
  const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: 0 } });
  const info = () => ({ name: "a test", origin: "live" as const, facts: FACTS });
  const start = async () => {
    const opened = await openExtension(history, { ...options, log, head, info });
    const over = new AbortController();
    opened.start?.(over.signal);
    const stop = async () => {
      over.abort();
      await opened.finish?.();
      await opened.close?.();
    };
    return { reader: opened.provides, stop };
  };
  const before = await start();
  await head.publish({ events: [], snapshot: EMPTY_SNAPSHOT, observedAtMs: 60_000 });
  expect(await before.reader?.minute(0)).toMatchObject({ minute: { firstMs: 0 } });
  await before.stop();
  const file = new DatabaseSync(path);
  file.exec("UPDATE minute SET body = x'00'");
  file.close();
  const { reader, stop } = await start();
  for (let read = 0; read < 2; read++)
    expect(await reader?.minute(0)).toEqual({ minute: undefined, stored: undefined, hasFailed: true });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      path,
      msg: expect.stringContaining("cannot read the states of past minutes: "),
    }),
  ]);
  await stop();
});

test("a simulated market that starts over in its directory has no past minutes of the previous one", async ({
  onTestFinished,
}) => {
  const clock = new ManualClock();
  const config = createConfig({ data: newDirectory(onTestFinished) });
  const logger = createLogger("silent", { write: () => {} });
  /** Serves for three minutes of event time. Returns the cursors at minutes 0, 2, 10, 12 and 20. */
  const serve = async (epoch: string, startMs: number, origin: "simulated" | "live") => {
    const log = new MemoryLog({ ...ROOMY, clock, epoch: toEpoch(epoch) });
    const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: startMs } });
    const over = new AbortController();
    const info = () => ({ name: "a test", origin, facts: FACTS });
    const options = { config, clock, logger, identity: { name: "a test" }, log, head, info };
    const opened = await openExtension(history, options);
    opened.start?.(over.signal);
    for (const minute of [1, 2, 3])
      await head.publish({ events: [], snapshot: EMPTY_SNAPSHOT, observedAtMs: startMs + minute * 60_000 });
    const minutes = await Promise.all(
      [0, 2, 10, 12, 20].map(
        async (minute) => (await opened.provides?.minute(minute * 60_000))?.minute?.cursor,
      ),
    );
    over.abort();
    await opened.finish?.();
    await opened.close?.();
    return minutes;
  };
  expect(await serve("first1", 0, "simulated")).toEqual([
    "first1-0",
    "first1-0",
    undefined,
    undefined,
    undefined,
  ]);
  expect(await serve("next1", 600_000, "simulated")).toEqual([
    undefined,
    undefined,
    "next1-0",
    "next1-0",
    undefined,
  ]);
  // A real market does not have the minutes of a simulated one either.
  expect(await serve("live1", 1_200_000, "live")).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    "live1-0",
  ]);
  // A market that is simulated by mistake deletes and replaces no minutes of a real one.
  expect(await serve("mistake1", 600_000, "simulated")).not.toContain("mistake1-0");
  expect(await serve("live2", 2_400_000, "live")).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    "live1-0",
  ]);
});

test("a simulated market is stored, without a word about a live one, where a live market ended before anything was stored", async ({
  onTestFinished,
}) => {
  const clock = new ManualClock();
  const config = createConfig({ data: newDirectory(onTestFinished) });
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => lines.push(line) });
  const serve = async (epoch: string, origin: "simulated" | "live", minutes: number) => {
    const log = new MemoryLog({ ...ROOMY, clock, epoch: toEpoch(epoch) });
    const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: 0 } });
    const over = new AbortController();
    const info = () => ({ name: "a test", origin, facts: FACTS });
    const options = { config, clock, logger, identity: { name: "a test" }, log, head, info };
    const opened = await openExtension(history, options);
    opened.start?.(over.signal);
    for (let minute = 1; minute <= minutes; minute++)
      await head.publish({ events: [], snapshot: EMPTY_SNAPSHOT, observedAtMs: minute * 60_000 });
    const stored = await opened.provides?.minute(0);
    over.abort();
    await opened.finish?.();
    await opened.close?.();
    return stored?.minute?.cursor;
  };
  expect(await serve("live1", "live", 0)).toBe(undefined);
  expect(await serve("next1", "simulated", 2)).toBe("next1-0");
  expect(lines).toEqual([]);
});

test("a gateway without a history creates no file for it, and rejects requests that need it", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", warmup: "0", data });
  const gateway = await startGateway(config, {
    extensions: EXTENSIONS.filter(({ name }) => name !== "history"),
  });
  onTestFinished(() => gateway.stop());
  const statusOf = async (path: string) => (await fetch(`${gateway.url}/api/v1/${path}`)).status;
  const paths = ["flares", "history", "record", "flares?at=2026-01-01T00:00:00Z"];
  expect(await Promise.all(paths.map(statusOf))).toEqual([200, 404, 404, 400]);
  expect(readdirSync(data).filter((name) => /^(history|minutes)-/.test(name))).toEqual([]);
});
