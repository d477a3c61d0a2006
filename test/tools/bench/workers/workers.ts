import { startNodeServer } from "../harness/bench-server.ts";
import { type Contestant, enter, gateway, leave } from "../harness/contender.ts";
import { cpuMicros } from "../harness/process-cost.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Row } from "../report.ts";

const SERVER = new URL("workers-server.ts", import.meta.url);
const WORKERS = 2;
const ROUNDS = 11;
const RUN_MS = 1_500;
const LOADS = [
  { events: 1, bytes: 600 },
  { events: 8, bytes: 600 },
] as const;

interface WorkersReport {
  readonly pids?: readonly number[];
  readonly descriptors?: readonly number[];
}

/**
 * Measures the cost of an event per client in one process, and in all processes together with
 * workers, and how evenly the workers share the clients.
 */
export async function benchWorkers(clients: number): Promise<Row[]> {
  const alone = await enter(gateway(), clients);
  const start = () => startNodeServer(SERVER, [`${WORKERS}`, `${clients}`]);
  const { load } = gateway();
  const together = await enter({ name: "workers", start, ...(load ? { load } : {}) }, clients);
  try {
    const rows: Row[] = [];
    for (const order of LOADS) rows.push(...(await compare(alone, together, order)));
    const reported = (await together.server.order(LOADS[0])) as WorkersReport;
    const all = (reported.descriptors ?? []).reduce((sum, count) => sum + count, 0);
    // Besides its connections, a process has about two dozen descriptors.
    const share = (Math.max(...(reported.descriptors ?? [])) / all) * 100;
    return [...rows, { what: "larger share of the clients", value: share, unit: "%", aim: "45 to 55" }];
  } finally {
    await leave(alone);
    await leave(together);
  }
}

async function compare(
  alone: Contestant,
  together: Contestant,
  order: (typeof LOADS)[number],
): Promise<readonly Row[]> {
  await alone.server.order(order);
  const { pids = [] } = (await together.server.order(order)) as WorkersReport;
  const one: number[] = [];
  const many: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    one.push(await costOf(alone, [alone.server.pid]));
    many.push(await costOf(together, [together.server.pid, ...pids]));
    ratios.push((many.at(-1) ?? 0) / (one.at(-1) ?? 1));
  }
  const what = `${order.events} × ${order.bytes} B`;
  const ratio = spreadOf(ratios);
  return [
    { what: `${what}, one process`, value: spreadOf(one).median, unit: "µs/delivery", aim: "" },
    {
      what: `${what}, ${WORKERS} workers, all processes`,
      value: spreadOf(many).median,
      unit: "µs/delivery",
      aim: "",
    },
    {
      what: `${what}, ratio (spread ${ratio.spreadPct.toFixed(0)} %)`,
      value: ratio.median,
      unit: "×",
      aim: "≤ 1.15",
    },
  ];
}

/** Returns the microseconds of all these processes per event and client. */
async function costOf({ client }: Contestant, pids: readonly number[]): Promise<number> {
  const used = () => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const before = used();
  const { deliveries } = await client.drive({ ms: RUN_MS });
  return (used() - before) / deliveries;
}
