import { aggregator } from "../feeds/aggregator/index.ts";
import { chain } from "../feeds/chain/index.ts";
import { enrich } from "../feeds/enrich/index.ts";
import { exchange } from "../feeds/exchange/index.ts";
import { type FeedKind, marketSettings } from "../feeds/index.ts";
import { live } from "../feeds/live/index.ts";
import { record } from "../feeds/record/index.ts";
import { replay } from "../feeds/replay/index.ts";
import { simulated } from "../feeds/simulated/index.ts";
import { upstream } from "../feeds/upstream/index.ts";
import { mergeTables } from "./config/merge-tables.ts";

/**
 * All kinds of feeds. To remove one, remove its line, its import and its folder. The first market
 * is the default. An event passes the layers in this order. A function gets the other kinds.
 */
const LIST = [
  simulated,
  replay,
  exchange,
  aggregator,
  chain,
  live,
  enrich,
  record,
  upstream,
] as const satisfies readonly Entry[];

type Entry = FeedKind | ((kinds: readonly FeedKind[]) => FeedKind);
type KindOf<E> = E extends (kinds: never) => infer K ? K : E;

const ENTRIES: readonly Entry[] = LIST;
const PLAIN = ENTRIES.flatMap((entry) => (typeof entry === "function" ? [] : [entry]));

export const FEEDS: readonly FeedKind[] = ENTRIES.map((entry) =>
  typeof entry === "function" ? entry(PLAIN) : entry,
);

/** The settings of every market. */
export const MARKET_SETTINGS = marketSettings(FEEDS);

/** The settings of all kinds. */
export const FEED_SETTINGS = mergeTables<KindOf<(typeof LIST)[number]>>(FEEDS);
