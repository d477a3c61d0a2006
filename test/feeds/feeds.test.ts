import { fileURLToPath } from "node:url";
import { enrichFeed } from "../../src/feeds/enrich/enrich-feed.ts";
import { mergeFeeds } from "../../src/feeds/merge/merge-feeds.ts";
import { ReplayFeed } from "../../src/feeds/replay/replay-feed.ts";
import { createSimulatedFeed } from "../../src/feeds/simulated/simulated-feed.ts";
import { feedContract } from "../contract/feed-contract.ts";
import { LeapingClock } from "./replay/replay-kit.ts";

const START = Date.UTC(2026, 0, 1);
const DAY = fileURLToPath(new URL("../../examples/data/2017-11-12.csv.gz", import.meta.url));

const simulated = (seed: number) =>
  createSimulatedFeed({
    seed,
    startAtMs: START,
    warmupMs: 0,
    durationMs: 180_000,
    tokens: 30,
    speed: Number.POSITIVE_INFINITY,
    clock: new LeapingClock(),
  });
const merged = () =>
  mergeFeeds({
    name: "two",
    clock: new LeapingClock(),
    parts: [
      { name: "one", feed: simulated(1) },
      { name: "other", feed: simulated(2) },
    ],
  });

feedContract("the simulated market", () => simulated(1));
feedContract(
  "a recorded day",
  () => new ReplayFeed({ path: DAY, speed: Number.POSITIVE_INFINITY, clock: new LeapingClock() }),
);
feedContract("two markets as one", merged);
feedContract("two markets as one, without enrichers", () => enrichFeed(merged(), [], new LeapingClock()));
