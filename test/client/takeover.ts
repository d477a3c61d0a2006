import { expect } from "vitest";
import type { Transport } from "../../src/client/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { type Finish, newDirectory, startEdge, startLeader } from "../support/edges.ts";
import type { Company, Member, Report } from "./company.ts";
import { HeldProxy } from "./held-proxy.ts";

const ASKED = ["websocket", "sse", "poll", "auto"] as const;
/** A browser has room for six streams a port. */
const STREAMS_A_PORT = ASKED.length;
/** What the server leaves of its drain for those who answer no close. */
const GRACE_MS = 2_000;
const WINDOW_MS = 2_000;
const BINS = 10;
/** This many are waited for before the drain, and behind it. */
const EVENTS = 20;

/**
 * Lets this many streams follow a leader that drains while an edge of it takes over at the same
 * addresses, and that comes back later. Sees to it that each continued with no hole, no repeat and
 * no reset, that they came to the edge spread over the drain, and hold what it serves.
 */
export async function takeOver(
  count: number,
  onTestFinished: Finish,
  start: (members: readonly Member[]) => Promise<Company>,
): Promise<void> {
  const data = newDirectory(onTestFinished);
  const room = { maxSocketsPerIp: 1_000 } as const;
  const market = { ...room, data, speed: 300 } as const;
  const leader = await startLeader(onTestFinished, { ...market, drain: `${WINDOW_MS + GRACE_MS}ms` });
  const edge = await startEdge(leader, onTestFinished, room);
  const portOf = (gateway: Gateway) => Number(new URL(gateway.url).port);
  const proxies = await Promise.all(
    Array.from({ length: Math.ceil(count / STREAMS_A_PORT) }, () => HeldProxy.open(portOf(leader))),
  );
  onTestFinished(async () => {
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  });
  const company = await start(
    Array.from({ length: count }, (_, at) => ({
      url: proxies[Math.floor(at / STREAMS_A_PORT)]?.url ?? "",
      options: { transport: ASKED[at % ASKED.length] ?? "auto" },
    })),
  );
  onTestFinished(() => company.close());
  await company.reach(leader.head.cursor.seq + EVENTS);
  const before = await company.report();

  for (const proxy of proxies) proxy.port = portOf(edge);
  await leader.stop();
  const { seq } = leader.head.cursor;
  await company.reach(seq);
  const again = await startGateway(
    createConfig({
      ...{ port: portOf(leader), logLevel: "silent", drain: "0", feed: "replay", warmup: "0s" },
      compression: false,
      ...market,
    }),
  );
  onTestFinished(() => again.stop());
  await company.reach(seq + EVENTS);
  await expectOneState(edge.url, company);
  const after = await company.report();
  for (const { wrong, resets } of after) expect([wrong, resets]).toEqual([[], ["started"]]);
  expectSpread(before, after);
}

/** Law L2 for all of them at one cursor. */
async function expectOneState(url: string, company: Company): Promise<void> {
  await company.note();
  const response = await fetch(`${url}/api/v1/snapshot`);
  const { cursor, observed_at: _observed, ...lists } = (await response.json()) as Record<string, unknown>;
  for (const view of await company.viewsAt(Number(String(cursor).split("-")[1]))) expect(view).toEqual(lists);
}

/**
 * Anyone who holds a stream connected again, once, and not all at the same time. A poll just asks
 * again.
 */
function expectSpread(before: readonly Report[], after: readonly Report[]): void {
  const arrivals = after.flatMap(({ lives }, at) => {
    const [first] = lives.slice(before[at]?.lives.length);
    const transport: Transport | undefined = lives[0]?.transport;
    if (transport === "poll") return [];
    expect(first, `${transport} came again`).toBeDefined();
    return first ? [first.atMs] : [];
  });
  const beginMs = Math.min(...arrivals);
  const bins = new Array<number>(BINS).fill(0);
  for (const atMs of arrivals) {
    const bin = Math.min(BINS - 1, Math.floor(((atMs - beginMs) / WINDOW_MS) * BINS));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  // A busy machine lets some come later than at their moment.
  expect(Math.max(...arrivals) - beginMs).toBeLessThan(WINDOW_MS * 2);
  expect(Math.max(...bins), `arrivals: ${bins.join()}`).toBeLessThan(arrivals.length / 2);
}
