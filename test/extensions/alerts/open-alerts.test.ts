import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { storedPath } from "../../../src/app/data/file-persistence.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { alerts } from "../../../src/extensions/alerts/index.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { openExtension } from "../../support/servers/extension-context.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

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
