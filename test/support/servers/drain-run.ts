import { isDeepStrictEqual } from "node:util";
import type { View } from "../../../src/base/protocol/index.ts";
import { type Move, MovingClient, SharedViews } from "../clients/moving-client.ts";

/** The servers of a run. */
export interface DrainServers {
  readonly leaderUrl: string;
  readonly edgeUrl: string;
  /** Starts the leader's drain. Resolves when the leader has ended. */
  drainLeader(): Promise<void>;
  /** Starts the leader again. It resumes its epoch. */
  restartLeader(): Promise<void>;
}

/** The measurements of a run. */
interface DrainResult {
  readonly windowMs: number;
  readonly clients: number;
  /** Arrivals at the other server in each twentieth of the window, up to the last arrival. */
  readonly histogram: readonly number[];
  /** The wait that the server assigned to each client, sorted. */
  readonly assignedMs: readonly number[];
  /** Milliseconds from each client's assigned reconnect time to its new subscription, sorted. */
  readonly lateMs: readonly number[];
  /** Milliseconds from the start of the drain to the last arrival. */
  readonly lastArrivalMs: number;
  readonly resumedFull: number;
  readonly resets: number;
  /** Repeated events and gaps, over all clients. */
  readonly wrong: number;
  /** Events that all clients received after the move, from the restarted leader. */
  readonly eventsAfter: number;
  /** Clients whose view equals the REST snapshot at the same cursor. */
  readonly viewsEqual: number;
}

/** Number of bins of the histogram over the window. */
export const BINS = 20;
const CONCURRENT_CONNECTS = 40;
const MAX_WAIT_MS = 280_000;
const CHECK_EVERY_MS = 50;

/** Connects `count` clients to the leader, drains it, and measures the clients' move. */
export async function runDrain(servers: DrainServers, count: number): Promise<DrainResult> {
  const views = new SharedViews();
  const clients = Array.from({ length: count }, () => new MovingClient(views, servers.edgeUrl));
  try {
    await connectAll(clients, servers.leaderUrl);
    const startMs = performance.now();
    const gone = servers.drainLeader();
    await until(() => clients.every(({ move }) => move !== undefined), "all clients have moved");
    await gone;
    const moves = clients.flatMap(({ move }) => move ?? []);
    const before = clients.map(({ events }) => events);
    await servers.restartLeader();
    await until(
      () => clients.every(({ events }, at) => events > (before[at] ?? 0) + 20),
      "all clients receive events again",
    );
    const viewsEqual = await countEqualViews(clients, servers.edgeUrl);
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return {
      ...spread(moves, startMs),
      clients: count,
      resumedFull: moves.filter(({ resumed }) => resumed === "full").length,
      resets: sum(clients.map(({ resets }) => resets - 1)),
      wrong: sum(clients.map(({ wrong }) => wrong)),
      eventsAfter: sum(clients.map(({ events }, at) => events - (before[at] ?? 0))),
      viewsEqual,
    };
  } finally {
    for (const client of clients) client.end();
  }
}

/** Formats the histogram as lines of text. */
export function formatHistogram({ histogram, windowMs }: DrainResult): string {
  return histogram
    .map((arrivals, bin) => {
      const fromS = (((bin * windowMs) / BINS) * 1e-3).toFixed(1).padStart(5);
      return `  ${fromS} s ${String(arrivals).padStart(5)} ${"#".repeat(Math.round(arrivals / 2))}\n`;
    })
    .join("");
}

async function connectAll(clients: readonly MovingClient[], url: string): Promise<void> {
  for (let at = 0; at < clients.length; at += CONCURRENT_CONNECTS) {
    await Promise.all(clients.slice(at, at + CONCURRENT_CONNECTS).map((client) => client.connect(url)));
  }
}

function spread(
  moves: readonly Move[],
  startMs: number,
): Pick<DrainResult, "windowMs" | "histogram" | "assignedMs" | "lateMs" | "lastArrivalMs"> {
  const windowMs = moves[0]?.windowMs ?? 0;
  // The earliest reconnect time is the start of the drain, as seen by the clients.
  const beginMs = Math.min(...moves.map(({ slotAtMs }) => slotAtMs));
  const binOf = (atMs: number) => Math.max(0, Math.floor(((atMs - beginMs) / windowMs) * BINS));
  const bins = moves.map(({ arrivedAtMs }) => binOf(arrivedAtMs));
  const histogram = new Array<number>(Math.max(BINS, ...bins.map((bin) => bin + 1))).fill(0);
  for (const bin of bins) histogram[bin] = (histogram[bin] ?? 0) + 1;
  const assignedMs = moves.map(({ afterMs }) => afterMs).sort((a, b) => a - b);
  const lateMs = moves.map(({ arrivedAtMs, slotAtMs }) => arrivedAtMs - slotAtMs).sort((a, b) => a - b);
  const lastArrivalMs = Math.max(...moves.map(({ arrivedAtMs }) => arrivedAtMs)) - startMs;
  return { windowMs, histogram, assignedMs, lateMs, lastArrivalMs };
}

/** Counts the clients whose view equals the REST snapshot at the same cursor. */
async function countEqualViews(clients: readonly MovingClient[], url: string): Promise<number> {
  for (const client of clients) client.history = new Map([[client.seq, client.view]]);
  const snapshot = (await (await fetch(`${url}/api/v1/snapshot`)).json()) as Record<string, unknown>;
  const { cursor, observed_at: _at, ...state } = snapshot;
  const seq = Number(String(cursor).split("-")[1]);
  await until(() => clients.every((client) => client.seq >= seq), "all clients reach the snapshot's cursor");
  const verdicts = new Map<View | undefined, boolean>();
  const isEqual = (view: View | undefined) => {
    const verdict = verdicts.get(view) ?? isDeepStrictEqual({ ...view }, state);
    verdicts.set(view, verdict);
    return verdict;
  };
  return clients.filter(({ history }) => isEqual(history?.get(seq))).length;
}

async function until(holds: () => boolean, condition: string): Promise<void> {
  const deadlineMs = performance.now() + MAX_WAIT_MS;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`waited ${MAX_WAIT_MS} ms until ${condition}`);
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
}
