import { setTimeout as passing } from "node:timers/promises";
import { LoadClient } from "../bench/harness/load-client.ts";
import { scrape, startProgram } from "./program.ts";

/** Number of client addresses. Several, because the server limits each address. */
const SOURCES = 20;
const MARKET = ["--feed", "replay", "--warmup", "0", "--max-sockets-per-ip", "1000", "--drain", "2s"];
/** Duration of the probes after the clients have connected. */
const WATCHED_MS = 5_000;

/** The results for one limit of open files. */
interface Outcome {
  readonly limit: number;
  readonly opened: number;
  readonly warnings: readonly string[];
  readonly refused: Readonly<Record<string, number>>;
  readonly mostOpen: number;
  readonly deliveries: number;
  /** Health checks and REST requests: failures and total. */
  readonly probes: { readonly failed: number; readonly all: number };
  readonly connections: number;
  readonly connectionsAfter: number;
  readonly exitCode: number | null;
}

/** Connects `clients` to the program with a limit of open files, and probes it meanwhile. */
async function run(limit: number, clients: number): Promise<Outcome> {
  await using program = await startProgram(MARKET, limit);
  const { port } = new URL(program.url);
  const paths = ["/api/v1/stream?channels=*"];
  const load = new LoadClient({
    kind: "ws",
    port: Number(port),
    paths,
    sources: SOURCES,
    prefix: '{"type":"event"',
  });
  const finished = new AbortController();
  const probes = { failed: 0, all: 0 };
  let mostOpen = 0;
  const probing = (async () => {
    while (!finished.signal.aborted) {
      for (const path of ["/healthz", "/readyz", "/api/v1/flares"]) {
        const headers = { connection: "close" };
        const answer = await fetch(program.url + path, { headers }).catch(() => undefined);
        await answer?.arrayBuffer();
        probes.all += 1;
        if (answer?.status !== 200) probes.failed += 1;
      }
      mostOpen = Math.max(mostOpen, (await scrape(program.url)).get("process_open_fds") ?? 0);
      await passing(100);
    }
  })();
  try {
    const { opened } = await load.open(clients, 200, true);
    const { deliveries } = await load.watch(WATCHED_MS);
    finished.abort();
    await probing;
    const metrics = await scrape(program.url);
    const refused = [...metrics].flatMap(([series, count]) => {
      const [, reason] = /^flarewire_refusals_total\{reason="(.*)"\}$/.exec(series) ?? [];
      return reason === undefined || count === 0 ? [] : [[reason, count] as const];
    });
    const openNow = async () =>
      (await scrape(program.url)).get('flarewire_connections{transport="websocket"}') ?? 0;
    const connections = await openNow();
    await load.close();
    let connectionsAfter = await openNow();
    for (let tries = 0; connectionsAfter > 0 && tries < 100; tries += 1) {
      await passing(100);
      connectionsAfter = await openNow();
    }
    const warnings = program
      .log()
      .split("\n")
      .filter((line) => line.includes("open files and the limit is"));
    const counted = { refused: Object.fromEntries(refused), connections, connectionsAfter };
    return {
      limit,
      opened,
      warnings,
      mostOpen,
      deliveries,
      probes,
      ...counted,
      exitCode: await program.stop(),
    };
  } finally {
    finished.abort();
    await load.stop();
  }
}

/**
 * Tests ten thousand clients with enough and too few open files. Resolves with true if both pass.
 */
export async function runOpenFiles(clients = 10_000): Promise<boolean> {
  const many = await run(12_000, clients);
  const few = await run(1_024, clients);
  for (const outcome of [many, few]) process.stdout.write(`${JSON.stringify(outcome)}\n`);
  const isHealthy = ({
    probes,
    mostOpen,
    limit,
    connections,
    opened,
    connectionsAfter,
    exitCode,
    deliveries,
  }: Outcome) =>
    probes.failed === 0 &&
    probes.all > 10 &&
    mostOpen < limit &&
    connections === opened &&
    connectionsAfter === 0 &&
    deliveries > 0 &&
    exitCode === 0;
  const refusals = Object.values(few.refused).reduce((sum, count) => sum + count, 0);
  return (
    [many, few].every(isHealthy) &&
    many.opened === clients &&
    many.warnings.length === 0 &&
    few.warnings.length === 1 &&
    few.opened > 500 &&
    few.opened + refusals >= clients
  );
}
