import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { LineProcess } from "../harness/line-process.ts";
import { LoadClient, type LoadOptions, type Run } from "../harness/load-client.ts";
import { cpuMicros } from "../harness/process-cost.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Row } from "../report.ts";
import { type Paces, pacesSince, startOf } from "./pace.ts";

/** Clients of each kind. */
const CLIENTS = 300;
/** The clients' addresses, among which the server divides its turns. */
const ADDRESSES = 250;
/** Time between the last connection and the measurement. */
const SETTLE_MS = 5_000;
const SERVE = `serve --feed simulated --speed 60 --port 0 --drain 0s --log-level error
  --max-sockets 10000 --max-sockets-per-ip 10000 --anonymous-requests none --anonymous-streams none`.split(
  /\s+/,
);

const KINDS = [
  { name: "WebSocket", load: { kind: "ws", paths: [ALL_CHANNELS] } },
  { name: "SSE", load: { kind: "sse", paths: ["/api/v1/events"] } },
  { name: "long poll", load: { kind: "poll", paths: ["/api/v1/events?limit=1000"] } },
] as const satisfies readonly { name: string; load: Pick<LoadOptions, "kind" | "paths"> }[];

/** Number and length of the measurements. */
interface MixedEffort {
  readonly rounds: number;
  readonly ms: number;
}

interface Measured {
  /** In the order of {@link KINDS}. */
  readonly runs: readonly Run[];
  readonly paces: Paces;
  /** CPU time of the server. Other jobs on the machine hardly change it. */
  readonly cpuUs: number;
  /** Share of a core that the server, and all clients together, used. */
  readonly serverShare: number;
  readonly clientShare: number;
}

/**
 * Measures the delay of each event from its append to its receipt, with WebSockets, server-sent
 * events and long polls together. All of them follow all channels of the real `serve`, whose
 * simulated market runs at ×60. The server has a core of its own. `other`: the root of another
 * checkout, which takes turns with this one.
 */
export async function benchMixed(effort: MixedEffort, other?: string): Promise<Row[]> {
  const own = new URL("../../../../", import.meta.url).pathname;
  const measured: { readonly name: string; readonly root: string; readonly all: Measured[] }[] = [
    ...(other === undefined ? [] : [{ name: "other: ", root: other, all: [] }]),
    { name: "", root: own, all: [] },
  ];
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const { name, root, all } of measured) {
      const one = await measureOnce(root, effort.ms);
      const p99s = one.runs.map(({ p99Us }) => Math.round(p99Us / 1_000)).join(", ");
      process.stderr.write(`  ${name}round ${round + 1} of ${effort.rounds}: p99 ${p99s} ms\n`);
      all.push(one);
    }
  }
  const [before, now] = measured.map(({ all }) => all);
  return [
    ...measured.flatMap(({ name, all }) => rowsOf(name, all)),
    ...(before && now ? ratioRows(before, now) : []),
  ];
}

async function measureOnce(root: string, ms: number): Promise<Measured> {
  const data = mkdtempSync(join(tmpdir(), "flarewire-mixed-"));
  const server = new LineProcess("server", process.execPath, [
    ...[join(root, "src/main.ts"), ...SERVE],
    ...["--data", data],
  ]);
  const clients: LoadClient[] = [];
  try {
    const port = Number(/:(\d+)/.exec(await server.line())?.[1]);
    const base = `http://127.0.0.1:${port}`;
    while (!(await fetch(`${base}/readyz`)).ok) await sleep(100);
    for (const { load } of KINDS) {
      const client = new LoadClient({
        ...{ ...load, port, prefix: '{"type":"event"', emitted: true, sources: ADDRESSES },
      });
      clients.push(client);
      await client.open(CLIENTS);
    }
    await sleep(SETTLE_MS);
    const pids = clients.map(({ pid }) => pid);
    const start = await startOf(base);
    const before = { server: cpuMicros(server.pid), clients: sumOf(pids) };
    const runs = await Promise.all(clients.map((client) => client.watch(ms)));
    const used = { server: cpuMicros(server.pid) - before.server, clients: sumOf(pids) - before.clients };
    const wallUs = Math.max(...runs.map((run) => run.wallUs));
    for (const client of clients) await client.stop();
    return {
      runs,
      paces: await pacesSince(base, start),
      cpuUs: used.server,
      serverShare: used.server / wallUs,
      clientShare: used.clients / wallUs,
    };
  } finally {
    for (const client of clients) await client.stop();
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

function sumOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
}

function rowsOf(name: string, all: readonly Measured[]): Row[] {
  const row = (what: string, pick: (one: Measured) => number, unit: string, aim = ""): Row => {
    const { median, spreadPct } = spreadOf(all.map(pick));
    const spread = all.length > 1 ? `±${spreadPct.toFixed(0)} %` : "";
    return { what: `${name}${what}`, value: median, unit, aim: [aim, spread].filter(Boolean).join(", ") };
  };
  const kinds = KINDS.flatMap((kind, at) => {
    const ms = (what: string, field: keyof Run, aim = "") =>
      row(`${kind.name}: ${what}`, ({ runs }) => Number(runs[at]?.[field]) / 1_000, "ms", aim);
    return [
      ms("delay, p50", "p50Us"),
      ms("delay, p99", "p99Us", "≤ 100"),
      ms("delay, longest", "maxUs"),
      ms("from the append to the write, p50", "turnP50Us"),
      ms("from the append to the write, p99", "turnP99Us"),
      ms("from the write to the client, p50", "socketP50Us"),
      ms("from the write to the client, p99", "socketP99Us"),
      row(`${kind.name}: deliveries`, ({ runs }) => runs[at]?.deliveries ?? 0, "events"),
    ];
  });
  return [
    ...kinds,
    row("batches", ({ paces }) => paces.batches, ""),
    row("events of a batch", ({ paces }) => paces.events / paces.batches, ""),
    row("from the market's second to the append, p50", ({ paces }) => paces.p50Ms, "ms"),
    row("from the market's second to the append, p99", ({ paces }) => paces.p99Ms, "ms"),
    row("of it comparing, appending and writing to streams, mean", ({ paces }) => paces.workMs, "ms"),
    row("server's CPU for a batch", batchMs, "ms"),
    row("server's core", ({ serverShare }) => serverShare * 100, "%"),
    row("clients' core", ({ clientShare }) => clientShare * 100, "%", "< 90"),
  ];
}

const batchMs = ({ cpuUs, paces }: Measured) => cpuUs / 1_000 / paces.batches;

function ratioRows(before: readonly Measured[], now: readonly Measured[]): Row[] {
  const row = (what: string, pick: (one: Measured) => number): Row => {
    const ratios = now.flatMap((one, round) => {
      const other = before[round];
      return other ? [pick(one) / pick(other)] : [];
    });
    const { median, spreadPct } = spreadOf(ratios);
    return {
      what: `${what}: ours of the other's`,
      value: median,
      unit: "×",
      aim: `±${spreadPct.toFixed(0)} %`,
    };
  };
  return [
    ...KINDS.map(({ name }, at) => row(`${name}, p99`, ({ runs }) => runs[at]?.p99Us ?? Number.NaN)),
    row("server's CPU for a batch", batchMs),
  ];
}
