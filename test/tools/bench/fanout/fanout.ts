import type { Effort } from "../harness/field.ts";
import type { Row } from "../report.ts";
import { benchBursts } from "./bursts.ts";
import { benchMarket, benchShapes, withMarket } from "./market.ts";
import { benchUniform } from "./uniform.ts";

/**
 * `full` takes about thirteen minutes. `short` takes a few seconds and uses only peers that need no
 * network.
 */
type Extent = "full" | "short";

const SHORT: Effort = { rounds: 1, ms: 100, warmUpMs: 100 };

/** The parts of the suite, by name. */
const PARTS = {
  /** One event at a time, and batches. */
  uniform: async (extent: Extent): Promise<Row[]> => {
    if (extent === "short")
      return benchUniform(
        50,
        [
          [1, 600, {}],
          [8, 600, {}],
        ],
        SHORT,
        "at hand",
      );
    const thousand = await benchUniform(
      1_000,
      [
        [1, 600, { "@fastify/websocket": 0.7, "socket.io": 0.55, bun: 1.25 }],
        [4, 600, {}],
        [8, 600, { "@fastify/websocket": 0.15, bun: 1.1 }],
        [16, 600, {}],
        [1, 4_000, {}],
      ],
      { rounds: 5, ms: 300, warmUpMs: 700 },
    );
    const tenThousand = await benchUniform(
      10_000,
      [
        [1, 600, { "@fastify/websocket": 0.75, "socket.io": 0.55, bun: 1.35 }],
        [8, 600, { "@fastify/websocket": 0.15, bun: 1.1 }],
      ],
      { rounds: 5, ms: 500, warmUpMs: 1_000 },
    );
    return [...thousand, ...tenThousand];
  },
  /** Bursts of the market's sizes at equal rates, plain and compressed, against Bun. */
  bursts: (extent: Extent): Promise<Row[]> =>
    extent === "short"
      ? benchBursts(50, SHORT, "at hand")
      : benchBursts(1_000, { rounds: 5, ms: 1_500, warmUpMs: 1_000 }, "all"),
  /**
   * The simulated market's batches, at saturation and at their own pace; then clients with
   * different selections.
   */
  market: async (extent: Extent): Promise<Row[]> =>
    withMarket(extent === "short" ? 20 : 60, async (market, path) => {
      if (extent === "short") {
        const rows = await benchMarket(path, 50, SHORT, { turns: 1, seconds: 1 }, []);
        return [...rows, ...(await benchShapes(market, path, 50, SHORT))];
      }
      const effort = { rounds: 5, ms: 0, warmUpMs: 0 };
      const rows = await benchMarket(path, 10_000, effort, { turns: 3, seconds: 8 });
      return [...rows, ...(await benchShapes(market, path, 10_000, effort))];
    }),
} as const;

export type FanoutPart = keyof typeof PARTS;
export const FANOUT_PARTS = Object.keys(PARTS) as readonly FanoutPart[];

/**
 * Measures fan-out beside its peers: the server's CPU time per event and client. Prints why a peer
 * cannot take part.
 */
export async function benchFanout(
  extent: Extent,
  parts: readonly FanoutPart[] = FANOUT_PARTS,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const part of parts) rows.push(...(await PARTS[part](extent)));
  return rows;
}
