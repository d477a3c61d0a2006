import { type Snapshot, TERM_NAMES, TERM_UNITS } from "../../src/base/model/index.ts";
import { SAMPLE_EXPLANATION, SAMPLE_SNAPSHOT } from "../support/world/samples.ts";

/** Numbers with the maximum width of their formats. */
const WIDEST: Readonly<Record<string, string | number>> = {
  recent_price_change: -987_654_321,
  previous_price_change: 987_654_321,
  latest_buy_count: 888_888_888,
  latest_sell_count: 888_888_888,
  price_change_from_average: 888_888.8,
  streak: 9_999,
  liquidity: "888888888.88",
  price: "0.00008888",
  most_recent_price: "0.00008888",
  time_trended: 20_999,
  average_position: 10,
};

/** All lists, with numbers of maximum width and names longer than their columns. */
export const WIDE: Snapshot = widen(SAMPLE_SNAPSHOT);

function widen(snapshot: Snapshot): Snapshot {
  const walk = (value: unknown, key: string): unknown => {
    if (key === "name" || key === "symbol") return `${"Moon".repeat(8)} ${"Inu".repeat(5)}`;
    if (key in WIDEST) return WIDEST[key];
    if (Array.isArray(value)) return value.map((item) => walk(item, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, name)]));
  };
  const { explanations, ...lists } = snapshot;
  const widened = walk(lists, "") as Omit<Snapshot, "explanations">;
  const why = {
    ...SAMPLE_EXPLANATION,
    score: 6,
    text: "1000+ times the usual buyers, buys outweigh sells at least 20:1, price 1000+ % above normal, 1000+ times the usual volume; under $100 liquidity is thin; warning: liquidity removed and 1 more",
    terms: TERM_NAMES.map((name) => ({
      name,
      unit: TERM_UNITS[name],
      raw: 123_456_789,
      usual: 1,
      z: 1_234_567.89,
      weight: 0.25,
    })),
    warnings: ["liquidity-removed", "price-collapsed", "unverified-source"],
  };
  const ended = snapshot.flares.finished_trending.map(({ id }) => id);
  const explained = [...Object.keys(explanations), ...ended].map((id) => [id, why]);
  return { ...widened, explanations: Object.fromEntries(explained) };
}
