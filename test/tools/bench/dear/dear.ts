import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as passing } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type BenchServer, startNodeServer } from "../harness/bench-server.ts";
import { LineProcess } from "../harness/line-process.ts";
import type { Row } from "../report.ts";
import { attacksOn, type DearRequest, type Known } from "./attacks.ts";

/** Connections of each attacker. */
const CONNECTIONS = 16;
/** Pause of a connection after a refusal. */
const REFUSED_MS = 20;
/** Time for what is left of one attack, before the next one. */
const SETTLE_MS = 1_000;
const WATCHED = "/api/v1/newest";
/** The statuses that are shown. */
const STATUSES = [200, 204, 429, 503];

interface DearOptions {
  /** Duration of each attack. */
  readonly seconds: number;
  /** Addresses that ask at once. */
  readonly attackers: number;
  /** Only attacks whose name contains this. Default: all. */
  readonly only?: string | undefined;
}

/**
 * Measures the latency of a list for one address while others repeat a dear request as fast as the
 * limits of an address allow: each request in turn, from fresh addresses, with runs without
 * attackers in between.
 */
export async function benchDear({ seconds, attackers, only = "" }: DearOptions): Promise<Row[]> {
  const data = mkdtempSync(join(tmpdir(), "flarewire-dear-"));
  let server: BenchServer | undefined;
  let bystander: LineProcess | undefined;
  try {
    server = await startNodeServer(new URL("market-server.ts", import.meta.url), [data]);
    const { port } = server;
    const file = fileURLToPath(new URL("bystander.ts", import.meta.url));
    bystander = new LineProcess("load", process.execPath, [file, `${port}`, WATCHED, "127.0.0.2"]);
    const attacks = Object.entries(attacksOn(await lookAround(port))).filter(([name]) => name.includes(only));
    const rows: Row[] = [];
    let address = 0;
    for (const [at, [name, attack]] of attacks.entries()) {
      const add = (row: Row) => {
        rows.push(row);
        process.stderr.write(`  ${row.what} ${row.value.toFixed(1)} ms\n`);
      };
      if (at % 5 === 0) add(rowOf("nobody else", await latencies(bystander, () => passing(seconds * 1_000))));
      const answers = new Map<number, number>();
      const sources = Array.from({ length: attackers }, () => addressOf(address++));
      const took = await latencies(bystander, () =>
        Promise.all(sources.map((source) => attackFrom(source, port, attack, seconds * 1_000, answers))),
      );
      add(rowOf(name, took, answers));
      await passing(SETTLE_MS);
    }
    return rows;
  } finally {
    await bystander?.stop();
    await server?.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Each attack has its own addresses, whose limits are not used yet. */
function addressOf(n: number): string {
  return `127.0.${1 + Math.floor(n / 250)}.${1 + (n % 250)}`;
}

/** Returns what an attacker can find out. */
export async function lookAround(port: number): Promise<Known> {
  const read = async (path: string) =>
    JSON.parse(await text((await once(request({ port, path }).end(), "response"))[0]));
  const { cursor, flares, newest, charts, leaderboards } = await read("/api/v1/snapshot");
  const history = await read("/api/v1/history?limit=200");
  const listed: readonly { readonly address?: string; readonly token?: { readonly address?: string } }[] = [
    ...flares.pro,
    ...newest.bsc,
    ...charts.bsc,
    ...leaderboards.bsc,
    ...history.flares.map(({ flare }: { readonly flare: object }) => flare),
  ];
  return {
    ...{ nowMs: Date.now(), cursor },
    flares: [...flares.pro, ...history.flares.map(({ flare }: { flare: object }) => flare)].map(
      ({ id }) => id,
    ),
    tokens: [...new Set(listed.flatMap(({ address, token }) => address ?? token?.address ?? []))],
  };
}

/** Returns the sorted latencies of the bystander during the work. */
async function latencies(bystander: LineProcess, work: () => Promise<unknown>): Promise<readonly number[]> {
  await bystander.ask("begin");
  await work();
  return JSON.parse(await bystander.ask("end"));
}

/** Asks over several connections until the time is over. */
async function attackFrom(
  localAddress: string,
  port: number,
  attack: (n: number) => DearRequest,
  ms: number,
  answers: Map<number, number>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const endsAtMs = performance.now() + ms;
  let n = 0;
  const connection = async () => {
    while (performance.now() < endsAtMs) {
      const { body, ...options } = attack(n++);
      const asked = request({ ...options, port, localAddress, agent, host: "127.0.0.1" }).end(body);
      const [response] = await once(asked, "response");
      response.resume();
      await once(response, "end");
      const { statusCode } = response;
      answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
      if (statusCode >= 400) await passing(REFUSED_MS);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  agent.destroy();
}

function rowOf(name: string, took: readonly number[], answers?: ReadonlyMap<number, number>): Row {
  const at = (share: number) =>
    took[Math.min(took.length - 1, Math.floor(share * took.length))] ?? Number.NaN;
  const others = [...(answers ?? [])].filter(([status]) => !STATUSES.includes(status));
  const counts = [...STATUSES.map((status) => [status, answers?.get(status) ?? 0] as const), ...others]
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} × ${status}`);
  const shown = answers ? `; ${counts.join(", ")}` : "";
  const what = `${name} (p50 ${at(0.5).toFixed(1)}, most ${at(1).toFixed(0)} ms${shown}): p99`;
  return { what, value: at(0.99), unit: "ms", aim: answers ? "≤ 250" : "shown" };
}
