import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { storedPath } from "../../../src/app/data/file-persistence.ts";
import { startGateway } from "../../../src/app/serve.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { alerts } from "../../../src/extensions/alerts/index.ts";
import type { SharedTasks } from "../../../src/gateway/start/shared-task.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { openExtension } from "../../support/servers/extension-context.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { webhookFile } from "./webhook-fixture.ts";

test.for(["push", "alerts"] as const)(
  "a damaged file of %s does not prevent the start: the server runs without it, and logs its path",
  async (what, { onTestFinished }) => {
    const lines: string[] = [];
    const logger = createLogger("warn", { write: (line: string) => void lines.push(line) });
    const config = createConfig({ data: newDirectory(onTestFinished), push: "mailto:ops@example.org" });
    const options = { config, clock: new ManualClock(), logger, identity: { name: "a test" } };
    const path = storedPath(options, what);
    writeFileSync(path, "no database".repeat(1_000));
    const opened = await openExtension(alerts, options);
    await opened.close?.();
    expect(lines.join()).toContain(`will not survive a restart: ${path} cannot be used (`);
  },
);

test("a start that fails on its alert file has begun no recording", async ({ onTestFinished }) => {
  const directory = newDirectory(onTestFinished);
  const alertFile = join(directory, "alerts.json");
  writeFileSync(alertFile, '{"webhooks": [{"id": "desk"}]}');
  const record = join(directory, "recordings");
  const given = { port: 0, data: "none", logLevel: "silent", record, alerts: alertFile } as const;
  await expect(startGateway(createConfig(given))).rejects.toThrow(/alerts\.json/);
  expect(existsSync(record)).toBe(false);
});

test("a node of a cluster counts its alerts only while it leads", async ({ onTestFinished }) => {
  const directory = newDirectory(onTestFinished);
  const alertFile = join(directory, "alerts.json");
  writeFileSync(alertFile, webhookFile({ url: "http://127.0.0.1:9/" }));
  const config = createConfig({ data: "none", alerts: alertFile });
  const tasks: SharedTasks = { run: (task) => task.start(task.openCopy(), async () => {}) };
  const options = {
    config,
    clock: new ManualClock(),
    logger: createLogger("silent"),
    identity: { name: "a test" },
  };
  const opened = await openExtension(alerts, { ...options, tasks });
  const waiting = opened.metrics?.flarewire_webhook_waiting;
  expect(waiting?.read()).toEqual({});
  opened.start?.(new AbortController().signal);
  expect(Object.values(Object(waiting?.read()))).toEqual([0]);
  await opened.finish?.();
  expect(waiting?.read()).toEqual({});
});
