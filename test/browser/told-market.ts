import type { Snapshot } from "../../src/base/model/index.ts";
import type { SourceInfo } from "../../src/base/protocol/index.ts";
import { SAMPLE_SNAPSHOT } from "../support/world/samples.ts";
import { ToldSource } from "../support/world/told-source.ts";

/** A source with one snapshot, until the test sets another. */
export class ToldMarket extends ToldSource {
  readonly info: SourceInfo = {
    name: "told",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  };
  #observedAtMs = Date.parse("2017-11-12T09:00:00.000Z");

  constructor(snapshot: Snapshot) {
    super();
    this.show(snapshot);
  }

  /** Sets this snapshot, observed a second after the previous one. */
  show(snapshot: Snapshot): void {
    this.tell({ observedAtMs: this.#observedAtMs, snapshot });
    this.#observedAtMs += 1_000;
  }
}

/** Hostile texts, one for each field. */
export const NASTY = [
  '<img src=x onerror="globalThis.hacked=1">',
  "<script>globalThis.hacked=1</script>",
  "javascript:globalThis.hacked=1",
  "\u202Ereversed\u202C\u2066inside",
  "x".repeat(10_000),
  "👩‍👩‍👧‍👦🔥".repeat(200),
  "null\u0000byte",
  '"><b><i>out</i></b>',
  "Z\u0300\u0301\u0302\u0303".repeat(100),
];

/** All lists, with a hostile text in every text field. */
export const HOSTILE: Snapshot = poison(SAMPLE_SNAPSHOT);

function poison(snapshot: Snapshot): Snapshot {
  let at = 0;
  const isFree = (key: string) => /^(name|symbol|title|url|image_url|market_id|.*_url|warnings)$/.test(key);
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return isFree(key) ? NASTY[at++ % NASTY.length] : value;
    if (Array.isArray(value)) return value.map((item) => walk(item, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, name)]));
  };
  const { explanations, ...lists } = snapshot;
  const poisoned = walk(lists, "") as Omit<Snapshot, "explanations">;
  const warned = Object.entries(explanations).map(([id, why]) => [
    id,
    { ...why, warnings: NASTY.slice(0, 3) },
  ]);
  return { ...poisoned, explanations: Object.fromEntries(warned) };
}
