import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startNodeServer } from "../harness/bench-server.ts";
import { ALL_CHANNELS, type Contender, gateway } from "../harness/contender.ts";
import { enterAll, leaveAll, ratioRow, runField } from "../harness/field.ts";
import { LoadClient } from "../harness/load-client.ts";
import { spreadOf } from "../harness/spread.ts";
import type { Held } from "../memory/memory-control.ts";
import type { Row } from "../report.ts";
import { microsPerAnswer, wrkProgram } from "../rest/rest.ts";

/** Clients of the fan-out, and idle connections of the memory. */
const CLIENTS = 1_000;
const IDLE = 2_000;
/** Connections opened and closed before memory is measured: see `memory.ts`. */
const FIRST = 500;

const DISCIPLINES = [
  { name: "1 × 600 B", load: { events: 1, bytes: 600 } },
  { name: "8 × 600 B", load: { events: 8, bytes: 600 } },
] as const;

/**
 * Compares this checkout with another one in one run, turn by turn: the other's cost of a delivery,
 * of a REST response and of an idle connection, divided by ours. Above 1: ours is cheaper. `other`:
 * the root of a checkout with its packages installed.
 */
export async function benchAgainst(other: string, rounds: number): Promise<Row[]> {
  return [
    ...(await fanoutRows(other, rounds)),
    ...(await restRows(other, rounds)),
    ...(await memoryRows(other, rounds)),
  ];
}

/** Returns a file of the other checkout's benches, which were in `test/bench` before. */
function benchFile(root: string, file: string): URL {
  const found = ["test/tools/bench", "test/bench"]
    .map((folder) => join(root, folder, file))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${root} has no bench ${file}`);
  return pathToFileURL(found);
}

async function fanoutRows(other: string, rounds: number): Promise<Row[]> {
  const before: Contender = {
    name: "other",
    start: () => startNodeServer(benchFile(other, "harness/gateway-server.ts")),
    load: { paths: [ALL_CHANNELS] },
  };
  const contestants = await enterAll([gateway(), before], CLIENTS);
  try {
    const results = await runField(contestants, DISCIPLINES, { rounds, ms: 300, warmUpMs: 700 });
    return DISCIPLINES.flatMap(({ name }) => ratioRow(results, name, ["other", "flarewire"]));
  } finally {
    await leaveAll(contestants);
  }
}

async function restRows(other: string, rounds: number): Promise<Row[]> {
  const wrk = wrkProgram();
  const file = "rest/gateway-rest-server.ts";
  const ours = await startNodeServer(new URL(`../${file}`, import.meta.url));
  const before = await startNodeServer(benchFile(other, file));
  try {
    const rows: Row[] = [];
    for (const asked of ["plain", "framework"] as const) {
      const ratios: number[] = [];
      for (const server of [ours, before]) await microsPerAnswer(wrk, server, asked);
      for (let round = 0; round < rounds; round += 1) {
        const own = await microsPerAnswer(wrk, ours, asked);
        ratios.push((await microsPerAnswer(wrk, before, asked)) / own);
      }
      rows.push(ratioOf(`REST ${asked}, CPU of a response`, ratios));
    }
    return rows;
  } finally {
    await ours.stop();
    await before.stop();
  }
}

async function memoryRows(other: string, rounds: number): Promise<Row[]> {
  const file = "memory/gateway-memory-server.ts";
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const own = await memoryOf(new URL(`../${file}`, import.meta.url));
    ratios.push((await memoryOf(benchFile(other, file))) / own);
  }
  return [ratioOf("memory of an idle WebSocket", ratios)];
}

/** Returns the resident memory of an idle connection, in bytes. */
async function memoryOf(file: URL): Promise<number> {
  const server = await startNodeServer(file, [], ["--expose-gc"]);
  const client = new LoadClient({ kind: "ws", paths: [ALL_CHANNELS], port: server.port });
  const held = async () => ((await server.order({ do: "held" })) as Held).rss;
  try {
    await client.open(FIRST);
    await client.close();
    const before = await held();
    await client.open(IDLE);
    return ((await held()) - before) / IDLE;
  } finally {
    await client.stop();
    await server.stop();
  }
}

function ratioOf(what: string, ratios: readonly number[]): Row {
  const { median, spreadPct, runs } = spreadOf(ratios);
  const aim = `≥ 0.97; median of ${runs} ± ${spreadPct.toFixed(0)} %`;
  return { what: `${what}, other against ours`, value: median, unit: "×", aim };
}
