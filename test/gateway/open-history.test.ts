import { expect, test } from "vitest";
import { createConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/gateway/create-logger.ts";
import { openHistory } from "../../src/gateway/open/open-history.ts";
import { storedPath } from "../../src/gateway/persistence/persistence.ts";
import { Head } from "../../src/hub/index.ts";
import { createMemoryLog } from "../../src/log/index.ts";
import { EMPTY_SNAPSHOT } from "../../src/model/index.ts";
import { ROOMY } from "../contract/event-log-contract.ts";
import { newDirectory } from "../support/edges.ts";
import { ManualClock } from "../support/manual-clock.ts";

test("a history that cannot be written reports why, and its file", async ({ onTestFinished }) => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const logger = createLogger("warn", { write: (line: string) => void lines.push(line) });
  const config = createConfig({ data: newDirectory(onTestFinished) });
  const options = { config, clock, logger, sourceName: "a test" };
  const history = openHistory(config, options);
  await history.close();
  const log = createMemoryLog({ ...ROOMY, clock });
  const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: 1 } });
  const over = new AbortController();
  const recorded = history.record({ log, head, signal: over.signal });
  await expect.poll(() => lines.length).toBe(1);
  over.abort();
  await recorded;
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    msg: "cannot write the history of flares; retrying: database is not open",
    path: storedPath(options, "history"),
  });
});
