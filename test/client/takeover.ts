import { expect } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import type { Snapshot } from "../../src/model/index.ts";
import { CHANNELS } from "../../src/protocol/index.ts";
import { shownLists } from "../support/expect/shown-lists.ts";
import { type Finish, newDirectory, startEdge, startLeader } from "../support/servers/edges.ts";
import type { Company, Member, Report } from "./company.ts";
import { HeldProxy } from "./held-proxy.ts";

const ASKED = ["websocket", "sse", "poll", "auto"] as const;
/** A browser has room for six streams a port. */
const STREAMS_A_PORT = ASKED.length;
/** Two seconds of it are for clients that answer no close. */
const DRAIN_MS = 3_000;
/** This many are waited for before the drain, and behind it. */
const EVENTS = 20;

/**
 * Lets this many streams follow a leader that drains while an edge of it takes over at the same
 * addresses, and that comes back later. Sees to it that each continued with no hole, no repeat and
 * no reset, that each stream connected again, and that all hold what the edge serves.
 */
export async function takeOver(
  count: number,
  onTestFinished: Finish,
  start: (members: readonly Member[]) => Promise<Company>,
): Promise<void> {
  const data = newDirectory(onTestFinished);
  const room = { maxSocketsPerIp: 1_000 } as const;
  const market = { ...room, data, speed: 300 } as const;
  const leader = await startLeader(onTestFinished, { ...market, drain: `${DRAIN_MS}ms` });
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
      // All channels, so that the seqs have no gaps.
      options: { transport: ASKED[at % ASKED.length] ?? "auto", channels: CHANNELS },
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
  expectMoved(before, after);
}

/** Law L2 for all of them at one cursor. */
async function expectOneState(url: string, company: Company): Promise<void> {
  await company.note();
  const response = await fetch(`${url}/api/v1/snapshot`);
  const { cursor, observed_at: _observed, ...lists } = (await response.json()) as Record<string, unknown>;
  for (const view of await company.viewsAt(Number(String(cursor).split("-")[1])))
    expect(shownLists(view as Snapshot)).toEqual(lists);
}

/** Every open stream connected again. A poll just requests again. */
function expectMoved(before: readonly Report[], after: readonly Report[]): void {
  for (const [at, { asked, lives }] of after.entries()) {
    if (lives[0] === "poll") continue;
    expect(lives.length, `${asked} connected again`).toBeGreaterThan(before[at]?.lives.length ?? 0);
  }
}
