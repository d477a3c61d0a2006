import { expect, test } from "vitest";
import { IS_SOAK } from "../support/law-runs.ts";
import { newDirectory } from "../support/servers/edges.ts";
import { LiveStart } from "./live-start.ts";
import { LiveWorld, WORLD_CHAINS, WORLD_PARTS } from "./live-world.ts";

/** Maximum requests for 90 seconds of blocks with receipts, a second endpoint, and new pools. */
const MAX_REQUESTS = { bsc: 2_000, polygon: 800, avalanche: 1_000 } as const;

/** Fewer trades per block, to save time. They do not affect the number of requests. */
const SPARSE = { pools: 12, swaps: 2, pairs: 40, others: 0 };

test("a live market starts at the present: every part is live after few requests, none of them rejected, and in the soak also after a restart", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  await using world = await LiveWorld.open(
    IS_SOAK ? {} : { density: { bsc: SPARSE, polygon: SPARSE, avalanche: SPARSE } },
  );
  await using first = await LiveStart.run(world, data);
  expect([...first.parts.keys()].toSorted()).toEqual(WORLD_PARTS.toSorted());
  expect(first.readyMs).toBeGreaterThan(0);
  for (const name of WORLD_CHAINS) {
    expect(first.parts.get(name)?.requests, name).toBeLessThan(MAX_REQUESTS[name]);
    expect(world.endpointsOf(name).filter(({ refused }) => refused > 0)).toEqual([]);
  }
  await first.stop();
  if (!IS_SOAK) return;
  await using second = await LiveStart.run(world, data);
  expect([...second.parts.keys()].toSorted()).toEqual(WORLD_PARTS.toSorted());
  for (const name of WORLD_CHAINS)
    expect(second.parts.get(name)?.requests, name).toBeLessThan(MAX_REQUESTS[name]);
});
