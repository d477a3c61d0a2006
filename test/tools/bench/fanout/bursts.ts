import {
  BUN,
  COMPRESSED,
  type Contender,
  FASTIFY_WEBSOCKET,
  floor,
  gateway,
  NODE_LOOP,
  PLAIN_WS,
} from "../harness/contender.ts";
import {
  clientRow,
  costRows,
  type Discipline,
  type Effort,
  enterAll,
  leaveAll,
  ratioRow,
  runField,
} from "../harness/field.ts";
import type { Row } from "../report.ts";

/** Size of an event's message: the middle of the simulated market's, 840 to 1,400. */
const BYTES = 1_120;

/**
 * Events per batch, and the time between two batches. A server that sends each event on its own
 * keeps up with the plain ones.
 */
const BURSTS = [
  { events: 1, everyUs: 25_000 },
  { events: 10, everyUs: 100_000 },
  { events: 24, everyUs: 250_000 },
] as const;

/** Servers of one form, the gateway first. `near`: those that need no network. */
const FORMS: Readonly<Record<string, { near: readonly Contender[]; far: readonly Contender[] }>> = {
  plain: { near: [gateway(), NODE_LOOP, floor(true), PLAIN_WS, FASTIFY_WEBSOCKET], far: [BUN] },
  compressed: { near: [COMPRESSED.gateway, COMPRESSED.ws, COMPRESSED.fastify], far: [COMPRESSED.bun] },
};

/**
 * Sends bursts of events at equal rates to all clients, plain and compressed. Compares the gateway
 * with each peer, and the loops without a gateway with Bun.
 */
export async function benchBursts(clients: number, effort: Effort, peers: "all" | "at hand"): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [form, { near, far }] of Object.entries(FORMS)) {
    const contenders = peers === "all" ? [...near, ...far] : near;
    const napping = contenders.map((one) => ({ ...one, load: { ...one.load, naps: true } }));
    const contestants = await enterAll(napping, clients);
    try {
      const disciplines = BURSTS.map(
        ({ events, everyUs }): Discipline => ({
          name: `${form}, bursts of ${events} to ${clients.toLocaleString("en-US")}`,
          load: { events, bytes: BYTES },
          everyUs,
        }),
      );
      const results = await runField(contestants, disciplines, effort);
      const ratios = disciplines.flatMap(({ name }) => [
        ...contestants
          .slice(1)
          .flatMap((peer) =>
            ratioRow(results, name, ["flarewire", peer.name], peer.name === BUN.name ? 1 : undefined),
          ),
        ...[NODE_LOOP, floor(true)].flatMap((loop) => ratioRow(results, name, [loop.name, BUN.name])),
      ]);
      rows.push(...costRows(results), ...ratios, clientRow(results, form));
    } finally {
      await leaveAll(contestants);
    }
  }
  return rows;
}
