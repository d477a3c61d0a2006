import {
  COMPRESSED,
  type Contender,
  type Contestant,
  type Cost,
  enter,
  gateway,
  leave,
  measure,
} from "../harness/contender.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Load } from "../harness/uniform-events.ts";

import type { Row } from "../report.ts";
import { benchSizes } from "./sizes.ts";

type UniformLoad = Extract<Load, { bytes: number }>;

/** The servers that compress: the gateway, and peers that compress for each client. */
const CONTENDERS: readonly Contender[] = [
  { ...COMPRESSED.gateway, name: "flarewire, compressed" },
  { ...gateway(), name: "flarewire, plain" },
  { ...COMPRESSED.bun, name: "bun, compressed" },
  { ...COMPRESSED.ws, name: "ws, compressed" },
];
const [OURS = "", PLAIN = "", BUN = "", WS = ""] = CONTENDERS.map(({ name }) => name);

/** The batches to publish. `most`: maximum cost of the gateway as a share of a peer's. */
const LOADS: readonly (UniformLoad & { readonly most?: Readonly<Record<string, number>> })[] = [
  { events: 8, bytes: 600, most: { [BUN]: 0.3, [WS]: 0.08 } },
  { events: 8, bytes: 4_000, most: { [BUN]: 0.15, [WS]: 0.08 } },
  { events: 1, bytes: 600 },
];

/**
 * Number and length (in milliseconds) of the rounds, and minutes of the simulated market from which
 * sizes are measured.
 */
const EFFORTS = {
  full: { clients: 1_000, rounds: 5, ms: 2_000, minutes: 60 },
  short: { clients: 50, rounds: 1, ms: 200, minutes: 3 },
} as const;
type Effort = (typeof EFFORTS)[keyof typeof EFFORTS];

/**
 * Measures the bytes of events and snapshots in each form, and the server's cost of compressed
 * events beside plain ones and peers. All are measured in turns in each round.
 */
export async function benchCompression(size: keyof typeof EFFORTS): Promise<Row[]> {
  const effort = EFFORTS[size];
  const contestants = await enterAll(effort.clients);
  try {
    const costs: Row[] = [];
    for (const load of LOADS) costs.push(...(await compare(contestants, load, effort)));
    return [...benchSizes(effort.minutes), ...costs];
  } finally {
    for (const contestant of contestants) await leave(contestant);
  }
}

/** Starts the contenders that are available here. Throws if the gateway cannot start. */
async function enterAll(clients: number): Promise<readonly Contestant[]> {
  const contestants: Contestant[] = [];
  for (const contender of CONTENDERS) {
    try {
      contestants.push(await enter(contender, clients));
    } catch (error) {
      if (contender === CONTENDERS[0]) throw error;
      process.stderr.write(`  ${contender.name} is left out: ${error}\n`);
    }
  }
  return contestants;
}

async function compare(
  contestants: readonly Contestant[],
  load: (typeof LOADS)[number],
  { clients, rounds, ms }: Effort,
): Promise<Row[]> {
  const costs = new Map<string, Cost[]>(contestants.map(({ name }) => [name, []]));
  const { events, bytes: each } = load;
  for (const { server } of contestants) await server.order({ events, bytes: each });
  for (let round = -1; round < rounds; round += 1) {
    for (const contestant of contestants) {
      const cost = await measure(contestant, { ms: round < 0 ? ms / 2 : ms });
      if (round >= 0) costs.get(contestant.name)?.push(cost);
    }
  }
  const of = `${events} × ${each} B to ${clients}`;
  const rows = [...costs].map(([name, values]): Row => {
    const { median, spreadPct } = spreadOf(values.map(({ perDeliveryUs }) => perDeliveryUs));
    const bytes = spreadOf(values.map((cost) => cost.bytes / cost.deliveries)).median;
    const aim = `±${spreadPct.toFixed(0)} %, ${bytes.toFixed(0)} bytes`;
    return { what: `${of}: ${name}`, value: median, unit: "µs/delivery", aim };
  });
  const ratios = [PLAIN, BUN, WS].flatMap((name) => ratioRow(of, costs, name, load.most?.[name]));
  return [...rows, ...ratios];
}

/** Returns our cost as a share of the other's: the median over the rounds. */
function ratioRow(
  of: string,
  costs: ReadonlyMap<string, readonly Cost[]>,
  other: string,
  most?: number,
): Row[] {
  const theirs = costs.get(other) ?? [];
  const ratios = (costs.get(OURS) ?? []).flatMap(({ perDeliveryUs }, round) => {
    const cost = theirs[round];
    return cost ? [perDeliveryUs / cost.perDeliveryUs] : [];
  });
  if (ratios.length === 0) return [];
  const { median, spreadPct } = spreadOf(ratios);
  const aim = `${most === undefined ? "" : `≤ ${most}, `}±${spreadPct.toFixed(0)} %`;
  return [{ what: `${of}: ${OURS} of ${other}`, value: median, unit: "×", aim }];
}
