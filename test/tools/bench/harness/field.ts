import { readFileSync } from "node:fs";
import type { Row } from "../report.ts";
import { type Contender, type Contestant, type Cost, enter, leave, measure, prepare } from "./contender.ts";
import { spreadOf } from "./spread.ts";
import type { Load } from "./uniform-events.ts";

/** One load for all contestants. */
export interface Discipline {
  readonly name: string;
  readonly load: Load;
  /**
   * Number of batches per measurement, the same for all contestants, instead of a time. Used if
   * batches differ.
   */
  readonly batches?: number;
  /** Minimum time between two batches, if the server keeps up. Default 0: as fast as it can. */
  readonly everyUs?: number;
}

/** Number and length of measurements. */
export interface Effort {
  readonly rounds: number;
  /** Time of each measurement, and of the warm-up before the first of each kind. */
  readonly ms: number;
  readonly warmUpMs: number;
}

/** Ends a measurement by batches on a machine that is far too slow for it. */
const MAX_MS = 20_000;

/** Costs for each contender, discipline and round. */
type Results = ReadonlyMap<string, ReadonlyMap<string, readonly Cost[]>>;

/** Throws if the limit of open files is too low for this many connections in one process. */
export function checkOpenFiles(connections: number): void {
  const [, most = "0"] =
    /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  // Each process has its own limit, and Node raises the soft limit to the hard one.
  if (Number(most) < connections + 200)
    throw new Error(`${connections} connections need \`ulimit -Hn\` of ${connections + 200}; it is ${most}`);
}

/**
 * Starts all contenders that can run here, each with this many clients. Prints why others cannot.
 */
export async function enterAll(contenders: readonly Contender[], clients: number): Promise<Contestant[]> {
  checkOpenFiles(clients);
  const contestants: Contestant[] = [];
  try {
    for (const contender of contenders) {
      try {
        contestants.push(await enter(contender, clients));
      } catch (error) {
        if (contender === contenders[0]) throw error;
        process.stderr.write(`  ${contender.name} is left out: ${reasonOf(error)}\n`);
      }
    }
    return contestants;
  } catch (error) {
    await leaveAll(contestants);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export async function leaveAll(contestants: readonly Contestant[]): Promise<void> {
  for (const contestant of contestants) await leave(contestant);
}

/**
 * Measures all contestants in every discipline, in turns, so that other load on the machine affects
 * all of them. Each round begins with a different one.
 */
export async function runField(
  contestants: readonly Contestant[],
  disciplines: readonly Discipline[],
  { rounds, ms, warmUpMs }: Effort,
): Promise<Results> {
  const results = new Map(contestants.map(({ name }) => [name, new Map<string, Cost[]>()]));
  for (const { name, load, batches, everyUs = 0 } of disciplines) {
    for (let round = -1; round < rounds; round += 1) {
      for (const [at] of contestants.entries()) {
        const contestant = contestants[(at + round + 1) % contestants.length];
        if (!contestant) continue;
        const drive = await prepare(contestant, load);
        const extent = batches === undefined ? { ms: round < 0 ? warmUpMs : ms } : { ms: MAX_MS, batches };
        // A warm-up at full speed, because V8 optimizes code by how often it ran.
        const pace = { everyUs: round < 0 ? 0 : everyUs };
        const cost = await measure(contestant, { ...drive, ...extent, ...pace });
        if (round < 0) continue;
        const costs = results.get(contestant.name);
        costs?.set(name, [...(costs.get(name) ?? []), cost]);
      }
    }
  }
  return results;
}

function costsOf(results: Results, contender: string, discipline: string): readonly Cost[] {
  return results.get(contender)?.get(discipline) ?? [];
}

/**
 * Returns the cost of each contender in each discipline, the bytes of a delivery and the number of
 * batches a second.
 */
export function costRows(results: Results, unit = "µs/delivery"): Row[] {
  return [...results].flatMap(([contender, disciplines]) =>
    [...disciplines].map(([discipline, costs]) => {
      const { median, spreadPct } = spreadOf(costs.map(({ perDeliveryUs }) => perDeliveryUs));
      const bytes = spreadOf(costs.map((cost) => cost.bytes / cost.deliveries)).median;
      const rate = spreadOf(costs.map((cost) => (cost.batches / cost.wallUs) * 1_000_000)).median;
      const aim = `±${spreadPct.toFixed(0)} %, ${bytes.toFixed(0)} B, ${rate.toPrecision(3)} batches/s`;
      return { what: `${discipline}: ${contender}`, value: median, unit, aim };
    }),
  );
}

/**
 * Returns the first one's cost as a share of the other's: the median over the rounds, in each of
 * which both were measured within a short time.
 */
export function ratioRow(
  results: Results,
  discipline: string,
  [ours, theirs]: readonly [string, string],
  atMost?: number,
): Row[] {
  const others = costsOf(results, theirs, discipline);
  const ratios = costsOf(results, ours, discipline).flatMap(({ perDeliveryUs }, round) => {
    const other = others[round];
    return other ? [perDeliveryUs / other.perDeliveryUs] : [];
  });
  if (ratios.length === 0) return [];
  const { median, spreadPct } = spreadOf(ratios);
  const aim = `${atMost === undefined ? "" : `≤ ${atMost}, `}±${spreadPct.toFixed(0)} %`;
  return [{ what: `${discipline}: ${ours} of ${theirs}`, value: median, unit: "×", aim }];
}

/**
 * Returns the maximum load of the clients' core. Near 100 %, the figures would describe the client
 * instead of the server.
 */
export function clientRow(results: Results, of: string): Row {
  const shares = [...results.values()].flatMap((one) =>
    [...one.values()].flat().map(({ clientShare }) => clientShare),
  );
  return {
    what: `${of}: busiest that the client was`,
    value: Math.max(...shares) * 100,
    unit: "%",
    aim: "< 90",
  };
}
