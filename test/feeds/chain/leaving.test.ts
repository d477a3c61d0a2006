import { expect } from "vitest";
import { createChainFeed } from "../../../src/feeds/chain/chain-feed.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { stillRunning, test } from "../../support/time/still-running.ts";
import { Market } from "./market/market.ts";
import { describeOnAnvil } from "./nodes/anvil.ts";

describeOnAnvil("a chain that is followed no longer", () => {
  test("gets no more requests, even if nobody aborts", async () => {
    await using market = await Market.open();
    await market.trade();
    await market.settle();
    const clock = new PacedClock(1, market.untilMs);
    const feed = createChainFeed({ network: market.exchange.network, clock });
    for await (const event of feed.events(new AbortController().signal)) {
      expect(event.kind).toBe("clock");
      // Between two requests, while the feed waits for the next.
      await expect.poll(() => stillRunning().join(), { interval: 1 }).toContain("endpoint-pool.ts");
      break;
    }
    await expect.poll(() => stillRunning(), { interval: 5 }).toEqual([]);
  });
});
