import { once } from "node:events";
import { WebSocket } from "ws";
import { type BenchServer, startNodeServer } from "../harness/bench-server.ts";
import { ALL_CHANNELS } from "../harness/contender.ts";
import { checkOpenFiles } from "../harness/field.ts";
import { LoadClient, type Opened, type Run } from "../harness/load-client.ts";
import { peakRssBytes, rssBytes } from "../harness/process-cost.ts";
import type { Row } from "../report.ts";

/** Clients that stay connected, whose delays are measured. */
const HEALTHY = 200;
/** A batch of this many events of this many bytes each, twenty times a second. */
const LOAD = { events: 4, bytes: 600 };
const EVERY_US = 50_000;
/** Batches that the reconnecting clients have missed. */
const MISSED = 4;
const MIB = 2 ** 20;

interface Storm {
  readonly alone: Run;
  readonly during: Run;
  readonly opened: Opened;
  /** From the first handshake until no client was behind any more. */
  readonly ms: number;
  readonly resumed: number;
  /** Share of their core that all clients together used meanwhile. */
  readonly clientShare: number;
  readonly rss: number;
  readonly peak: number;
}

/** The server's report during a storm. */
interface StormReport {
  readonly behind: number;
  readonly resumed: number;
}

/**
 * Lets `clients` reconnect at once, each with a cursor some events behind, while 200 others
 * continue: with capacity for all of them, and for half. The delay is from before the append to the
 * receipt, by the machine's clock. With capacity for all, refused clients retry as `Retry-After`
 * says. All clients share one core, the server has the other.
 */
export async function benchStorm(clients: number): Promise<Row[]> {
  checkOpenFiles(clients + HEALTHY);
  const roomy = await storm(clients, 4 * clients, true);
  const half = await storm(clients, HEALTHY + Math.ceil(clients / 2), false);
  return [...rowsOf("room for all", roomy, clients), ...rowsOf("room for half", half, clients)];
}

async function storm(clients: number, room: number, patient: boolean): Promise<Storm> {
  const file = new URL("../harness/gateway-server.ts", import.meta.url);
  const server = await startNodeServer(file, [String(room)]);
  const ports = { port: server.port, drivePort: server.control };
  const healthy = new LoadClient({ kind: "ws", paths: [ALL_CHANNELS], prefix: '{"type":"event"', ...ports });
  let returning: LoadClient | undefined;
  try {
    await server.order({ ...LOAD, reported: HEALTHY * LOAD.events });
    const cursor = await cursorOf(server);
    await healthy.open(HEALTHY);
    await healthy.drive({ ms: (MISSED * EVERY_US) / 1_000, everyUs: EVERY_US });
    const alone = await healthy.drive({ ms: 4_000, everyUs: EVERY_US });
    const rss = rssBytes(server.pid);
    const paths = [`${ALL_CHANNELS}&after=${cursor}`];
    returning = new LoadClient({ kind: "ws", paths, port: server.port, patient });
    const began = performance.now();
    let opened: Opened | undefined;
    const opening = returning.open(clients, clients, true).then((all) => {
      opened = all;
    });
    const runs: Run[] = [];
    let reported: StormReport = { behind: 1, resumed: 0 };
    // In short runs, so that only the last one extends beyond the end of the storm.
    while (!opened || reported.behind > 0) {
      runs.push(await healthy.drive({ ms: 500, everyUs: EVERY_US }));
      reported = (await server.order({ tell: "storm" })) as StormReport;
    }
    const ms = performance.now() - began;
    await opening;
    // Rejects if a reconnected client lost its connection again.
    await returning.watch(500);
    const cpuUs = runs.reduce((sum, run) => sum + run.cpuUs, opened.cpuUs);
    const { resumed } = reported;
    const facts = { ms, resumed, clientShare: cpuUs / 1_000 / ms, rss, peak: peakRssBytes(server.pid) };
    return { alone, during: worst(runs), opened, ...facts };
  } finally {
    await returning?.stop();
    await healthy.stop();
    await server.stop();
  }
}

/** Returns the cursor in a client's first message. */
async function cursorOf({ port }: BenchServer): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/stream`);
  const [hello] = await once(socket, "message");
  socket.terminate();
  return JSON.parse(String(hello)).cursor;
}

/** Returns the run with the highest p99. */
function worst(runs: readonly Run[]): Run {
  const [run] = runs.toSorted((a, b) => b.p99Us - a.p99Us);
  if (!run) throw new Error("the storm was over before it could be looked at; take more clients");
  return run;
}

function rowsOf(what: string, storm: Storm, clients: number): Row[] {
  const { alone, during, opened, ms, resumed, clientShare, rss, peak } = storm;
  const row = (name: string, value: number, unit: string, aim: string): Row => ({
    ...{ what: `${what}: ${name}`, value, unit, aim },
  });
  return [
    row(
      `${clients} come back; taken, with their cursors`,
      opened.opened,
      "clients",
      "as many as there is room for",
    ),
    row("left outside", opened.failed, "clients", "the others"),
    row("told to come again", opened.refusals, "times", "shown"),
    row("answered in a second", (clients / opened.ms) * 1_000, "handshakes/s", "shown"),
    row("at the head again in a second", (resumed / ms) * 1_000, "resumes/s", "shown"),
    row("until one is in, median", opened.p50Us / 1_000, "ms", "shown"),
    row("until one is in, p99", opened.p99Us / 1_000, "ms", "shown"),
    row("until one is in, slowest", opened.maxUs / 1_000, "ms", "shown"),
    row(`delay of ${HEALTHY} others before, median`, alone.p50Us / 1_000, "ms", "shown"),
    row("before, p99", alone.p99Us / 1_000, "ms", "shown"),
    row("in the worst half second of the storm, median", during.p50Us / 1_000, "ms", "shown"),
    row("in the worst half second of the storm, p99", during.p99Us / 1_000, "ms", "< 250"),
    row("what all clients took of their core", clientShare * 100, "%", "< 90"),
    row("server's memory before", rss / MIB, "MiB", "resident"),
    row("server's memory at most", peak / MIB, "MiB", "resident, garbage included"),
  ];
}
