import { expect } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { CHANNELS } from "../../../src/base/protocol/index.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { shownLists } from "../../support/expect/shown-lists.ts";
import { type Finish, newDirectory, startEdge, startLeader } from "../../support/servers/edges.ts";
import { HeldProxy } from "./held-proxy.ts";
import type { Member, Report, StreamGroup } from "./stream-group.ts";

const ASKED = ["websocket", "sse", "poll", "auto"] as const;
/** Browsers allow six streams per port. */
const STREAMS_PER_PORT = ASKED.length;
/** Includes two seconds for clients that do not answer a close. */
const DRAIN_MS = 3_000;
/** Number of events to await before the drain, and after it. */
const EVENTS = 20;

/**
 * Follows a leader with `count` streams. The leader drains while its edge takes over at the same
 * addresses, and starts again later. Checks that no stream has a gap, a repeat or a second reset,
 * that each reconnected, and that all views equal what the edge serves.
 */
export async function takeOver(
  count: number,
  onTestFinished: Finish,
  start: (members: readonly Member[]) => Promise<StreamGroup>,
): Promise<void> {
  const data = newDirectory(onTestFinished);
  const limits = { maxSocketsPerIp: 1_000 } as const;
  const market = { ...limits, data, speed: 300 } as const;
  const leader = await startLeader(onTestFinished, { ...market, drain: `${DRAIN_MS}ms` });
  const edge = await startEdge(leader, onTestFinished, limits);
  const portOf = (gateway: Gateway) => Number(new URL(gateway.url).port);
  const proxies = await Promise.all(
    Array.from({ length: Math.ceil(count / STREAMS_PER_PORT) }, () => HeldProxy.open(portOf(leader))),
  );
  onTestFinished(async () => {
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  });
  const group = await start(
    Array.from({ length: count }, (_, at) => ({
      url: proxies[Math.floor(at / STREAMS_PER_PORT)]?.url ?? "",
      // All channels, so that the seqs have no gaps.
      options: { transport: ASKED[at % ASKED.length] ?? "auto", channels: CHANNELS },
    })),
  );
  onTestFinished(() => group.close());
  await group.reach(leader.head.cursor.seq + EVENTS);
  const before = await group.report();

  for (const proxy of proxies) proxy.port = portOf(edge);
  await leader.stop();
  const { seq } = leader.head.cursor;
  await group.reach(seq);
  const again = await startGateway(
    createConfig({
      port: portOf(leader),
      logLevel: "silent",
      drain: "0",
      feed: "replay",
      warmup: "0s",
      compression: false,
      ...market,
    }),
  );
  onTestFinished(() => again.stop());
  await group.reach(seq + EVENTS);
  await expectOneState(edge.url, group);
  const after = await group.report();
  for (const { wrong, resets } of after) expect([wrong, resets]).toEqual([[], ["started"]]);
  expectMoved(before, after);
}

/** Checks law L2 for all views at the cursor of one REST response. */
async function expectOneState(url: string, group: StreamGroup): Promise<void> {
  await group.note();
  const response = await fetch(`${url}/api/v1/snapshot`);
  const { cursor, observed_at: _observed, ...lists } = (await response.json()) as Record<string, unknown>;
  for (const view of await group.viewsAt(Number(String(cursor).split("-")[1])))
    expect(shownLists(view as Snapshot)).toEqual(lists);
}

/** Checks that each stream connected again. Polls have no connection that ends. */
function expectMoved(before: readonly Report[], after: readonly Report[]): void {
  for (const [at, { asked, lives }] of after.entries()) {
    if (lives[0] === "poll") continue;
    expect(lives.length, `${asked} connected again`).toBeGreaterThan(before[at]?.lives.length ?? 0);
  }
}
