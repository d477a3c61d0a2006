import { z } from "zod";
import { DAY_MS } from "../base/lib/time/time.ts";
import { duration, type Kind, numberText, oneOf, setting } from "../base/settings/index.ts";
import type { FeedKind } from "./feed-kind.ts";

/** Returns the settings that every market has, and that which names one of these. */
export function marketSettings(kinds: readonly FeedKind[]) {
  const markets = kinds.flatMap(({ name, market }) => (market ? [{ name, ...market }] : []));
  const names = markets.map(({ name }) => name);
  const [first = "", second = first] = names;
  const implied = markets.flatMap(({ name, impliedBy }) =>
    impliedBy === undefined ? [] : [`, or ${name} if ${impliedBy} is given`],
  );
  const described = markets.map(({ name, about }) => (about === undefined ? name : `${name} (${about})`));
  return {
    feed: setting("feed", oneOf(names), {
      default: first,
      defaultText: `${first}${implied.join("")}`,
      example: second,
      description: `Market of the engine: ${described.slice(0, -1).join(", ")}, or ${described.at(-1)}`,
    }),
    speed: setting("speed", speed(0.001, 1_000_000), {
      default: "1",
      defaultText: "1 for the simulated market, 60 for a recorded one",
      example: "600",
      description: "Speed of the market as a multiple of real time; max is as fast as possible",
    }),
    warmup: setting("warmupMs", duration(0, 7 * DAY_MS), {
      default: "0",
      defaultText:
        "150m for the simulated market, 6h for exchanges, 8h for the shipped day, 10m for chain and live, otherwise 0",
      example: "30m",
      description:
        "Event time to process at full speed at startup, so that the first page is not empty. At most 12h for exchanges. chain and live start at the present and read this much of the past meanwhile, at least 1h of exchanges",
    }),
  };
}

/** The values of {@link marketSettings}. */
export type MarketSettings = {
  readonly feed: string;
  readonly speed: number;
  readonly warmupMs: number;
};

/** Describes a speed: `at ×60`. */
export function paceText(speed: number): string {
  return speed === Number.POSITIVE_INFINITY ? "at full speed" : `at ×${speed}`;
}

/** A multiple of real time. `max` is Infinity: as fast as possible. */
function speed(min: number, max: number): Kind<number> {
  const text = numberText(/^(0|[1-9]\d{0,14})(\.\d{1,9})?$/);
  const finite = z.union([z.number(), text]).pipe(z.number().min(min).max(max));
  return {
    schema: z.union([z.literal("max").transform(() => Number.POSITIVE_INFINITY), finite]),
    bound: `a number from ${min} to ${max}, or max`,
  };
}
