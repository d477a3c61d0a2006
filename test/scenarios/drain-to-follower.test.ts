import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { formatHistogram, runDrain } from "../support/servers/drain-run.ts";
import { newDirectory, startEdge, startLeader } from "../support/servers/edges.ts";

const CLIENTS = IS_SOAK ? 200 : 60;
const WINDOW_MS = 2_000;

test(`[W31] [F3] [L3] ${CLIENTS} clients of a draining leader move to its follower, each at its assigned time, without a lost or repeated event`, async ({
  onTestFinished,
}) => {
  const limits = { maxSocketsPerIp: 1_000, speed: 300 } as const;
  const data = newDirectory(onTestFinished);
  // The drain includes the grace period for clients that do not respond to a close.
  const leader = await startLeader(onTestFinished, { ...limits, data, drain: "4s" });
  const edge = await startEdge(leader, onTestFinished, { maxSocketsPerIp: 1_000 });
  const result = await runDrain(
    {
      leaderUrl: leader.url,
      edgeUrl: edge.url,
      drainLeader: () => leader.stop(),
      restartLeader: async () => {
        const port = Number(new URL(leader.url).port);
        const settings = {
          logLevel: "silent",
          drain: "0",
          feed: "replay",
          warmup: "0s",
          data,
          port,
        } as const;
        const again = await startGateway(createConfig({ ...settings, ...limits }));
        onTestFinished(() => again.stop());
      },
    },
    CLIENTS,
  );
  const { assignedMs, lateMs } = result;
  expect(result, formatHistogram(result)).toMatchObject({
    windowMs: WINDOW_MS,
    resumedFull: CLIENTS,
    resets: 0,
    wrong: 0,
    viewsEqual: CLIENTS,
  });
  expect(result.eventsAfter).toBeGreaterThan(CLIENTS * 20);
  expect(lateMs).toHaveLength(CLIENTS);
  // The assigned times are spread over the window: each quarter has clients, and none most of them.
  const quarters = [0, 1, 2, 3].map(
    (quarter) => assignedMs.filter((ms) => Math.floor((ms / WINDOW_MS) * 4) === quarter).length,
  );
  expect(Math.max(...assignedMs)).toBeLessThanOrEqual(WINDOW_MS);
  for (const clients of quarters) {
    expect(clients, formatHistogram(result)).toBeGreaterThan(0);
    expect(clients, formatHistogram(result)).toBeLessThan(CLIENTS / 2);
  }
});
