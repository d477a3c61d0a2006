import { isDeepStrictEqual } from "node:util";
import type { View } from "../../src/protocol/index.ts";
import { type Move, MovingClient, SharedViews } from "./moving-client.ts";

/** What a run needs of the servers. */
export interface DrainServers {
  readonly leaderUrl: string;
  readonly edgeUrl: string;
  /** Starts the leader's drain; resolves when it is gone. */
  drainLeader(): Promise<void>;
  /** Starts the leader again, in its epoch, where it was. */
  restartLeader(): Promise<void>;
}

/** What came of a run. */
interface DrainResult {
  readonly windowMs: number;
  readonly clients: number;
  /** Arrivals at the other server by twentieth of the window, up to the last one. */
  readonly histogram: readonly number[];
  /** Milliseconds from each client's own moment to its subscription at the other server, sorted. */
  readonly lateMs: readonly number[];
  /** Milliseconds from the drain's begin to the last arrival. */
  readonly lastArrivalMs: number;
  readonly resumedFull: number;
  readonly resets: number;
  /** Events that came twice or behind a hole, over all clients. */
  readonly wrong: number;
  /** Events that all clients got behind the move, from the leader that was started again. */
  readonly eventsAfter: number;
  /** Clients whose view is, at its cursor, what REST served there. */
  readonly viewsEqual: number;
}

/** Twentieths of the window. */
export const BINS = 20;
const CONNECTING_AT_ONCE = 40;
const PATIENCE_MS = 60_000;
const LOOK_MS = 50;

/** Lets this many clients follow the leader, drains it, and sees where they are afterwards. */
export async function runDrain(servers: DrainServers, count: number): Promise<DrainResult> {
  const views = new SharedViews();
  const clients = Array.from({ length: count }, () => new MovingClient(views, servers.edgeUrl));
  try {
    await connectAll(clients, servers.leaderUrl);
    const startMs = performance.now();
    const gone = servers.drainLeader();
    await until(() => clients.every(({ move }) => move !== undefined), "all have moved");
    await gone;
    const moves = clients.flatMap(({ move }) => move ?? []);
    const before = clients.map(({ events }) => events);
    await servers.restartLeader();
    await until(() => clients.every(({ events }, at) => events > (before[at] ?? 0) + 20), "events continue");
    const viewsEqual = await countEqual(clients, servers.edgeUrl);
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

/** The histogram as lines of text. */
export function formatHistogram({ histogram, windowMs }: DrainResult): string {
  return histogram
    .map((arrivals, bin) => {
      const fromS = (((bin * windowMs) / BINS) * 1e-3).toFixed(1).padStart(5);
      return `  ${fromS} s ${String(arrivals).padStart(5)} ${"#".repeat(Math.round(arrivals / 2))}\n`;
    })
    .join("");
}

async function connectAll(clients: readonly MovingClient[], url: string): Promise<void> {
  for (let at = 0; at < clients.length; at += CONNECTING_AT_ONCE) {
    await Promise.all(clients.slice(at, at + CONNECTING_AT_ONCE).map((client) => client.connect(url)));
  }
}

function spread(
  moves: readonly Move[],
  startMs: number,
): Pick<DrainResult, "windowMs" | "histogram" | "lateMs" | "lastArrivalMs"> {
  const windowMs = moves[0]?.windowMs ?? 0;
  // The first moment of all is the drain's begin, as the clients see it.
  const beginMs = Math.min(...moves.map(({ slotAtMs }) => slotAtMs));
  const binOf = (atMs: number) => Math.max(0, Math.floor(((atMs - beginMs) / windowMs) * BINS));
  const bins = moves.map(({ arrivedAtMs }) => binOf(arrivedAtMs));
  const histogram = new Array<number>(Math.max(BINS, ...bins.map((bin) => bin + 1))).fill(0);
  for (const bin of bins) histogram[bin] = (histogram[bin] ?? 0) + 1;
  const lateMs = moves.map(({ arrivedAtMs, slotAtMs }) => arrivedAtMs - slotAtMs).sort((a, b) => a - b);
  const lastArrivalMs = Math.max(...moves.map(({ arrivedAtMs }) => arrivedAtMs)) - startMs;
  return { windowMs, histogram, lateMs, lastArrivalMs };
}

/** Holds each client's view against REST at the same cursor. */
async function countEqual(clients: readonly MovingClient[], url: string): Promise<number> {
  for (const client of clients) client.history = new Map([[client.seq, client.view]]);
  const answer = (await (await fetch(`${url}/api/v1/snapshot`)).json()) as Record<string, unknown>;
  const { cursor, observed_at: _at, ...state } = answer;
  const seq = Number(String(cursor).split("-")[1]);
  await until(() => clients.every((client) => client.seq >= seq), "all reach what REST serves");
  const verdicts = new Map<View | undefined, boolean>();
  const isEqual = (view: View | undefined) => {
    const verdict = verdicts.get(view) ?? isDeepStrictEqual({ ...view }, state);
    verdicts.set(view, verdict);
    return verdict;
  };
  return clients.filter(({ history }) => isEqual(history?.get(seq))).length;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
