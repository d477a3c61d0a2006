import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** Files that may use the runtime's clock, timers or randomness, and why. */
const OWN_CLOCK: Readonly<Record<string, string>> = {
  "clients/sdk/transport/platform.ts": "the SDK's own clock, which tests replace",
  "clients/dashboard/state/store.ts": "bundle for browsers",
  "clients/dashboard/state/pace.ts": "bundle for browsers",
  "clients/dashboard/state/follow.ts": "bundle for browsers",
  "clients/dashboard/parts/notices.tsx": "bundle for browsers",
  "clients/dashboard/parts/flare/gliding.tsx": "bundle for browsers",
  "clients/dashboard/parts/timeline/strip.tsx": "bundle for browsers",
  "clients/dashboard/state/alerts/page-alerts.ts": "bundle for browsers",
  "base/lib/time/clock.ts": "the clock itself",
  "clients/widget/shared-feed.ts": "bundle for browsers",
  "clients/widget/strip/flare-strip.ts": "bundle for browsers",
};

/** `Math.random` without a call may be the default of an argument. */
const RAW =
  /(?<![.\w])set(Timeout|Interval)\(|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\b/;

test("only the listed files use the runtime's clock, timers or randomness, so that tests control all others", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  expect(files.length).toBeGreaterThan(100);
  const raw = files.filter((file) =>
    RAW.test(readFileSync(SRC + file, "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")),
  );
  expect(raw.sort()).toEqual(Object.keys(OWN_CLOCK).sort());
});
