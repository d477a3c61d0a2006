import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfig, type Gateway, type GatewayOptions, startGateway } from "../../../src/index.ts";
import type { IndependentClient } from "../clients/independent-client.ts";
import { PacedClock } from "../time/paced-clock.ts";
import { eventually } from "../time/waiters.ts";
import { freePort } from "./free-port.ts";

/** Runs something when the test is over, whatever came of it. */
export type Finish = (fn: () => void | Promise<void>) => void;

/**
 * Uncompressed: on a busy machine Node's own WebSocket at times stops reading while it inflates.
 * Other tests read what is compressed.
 */
const QUIET = { logLevel: "silent", drain: "0", compression: false } as const;
/** The recorded day, fast: dozens of batches a second. */
const RECORDING = { ...QUIET, feed: "replay", warmup: "0s", speed: 600 } as const;

/** A gateway with a market of its own, and a port that stays free when it has stopped. */
export async function startLeader(onTestFinished: Finish, more: object = {}): Promise<Gateway> {
  const config = createConfig({ ...RECORDING, port: await freePort(), ...more });
  return untilReady(await startGateway(config), onTestFinished);
}

/** A gateway that follows `leader`, with a port that stays free when it has stopped. */
export async function startEdge(
  leader: { readonly url: string },
  onTestFinished: Finish,
  more: object = {},
  parts: GatewayOptions = {},
): Promise<Gateway> {
  const own = { port: await freePort(), source: `follow:${leader.url}` };
  const config = createConfig({ ...QUIET, ...own, ...more });
  return untilReady(await startGateway(config, parts), onTestFinished);
}

/** On a busy machine, the first snapshot may take longer than a start waits for it. */
async function untilReady(gateway: Gateway, onTestFinished: Finish): Promise<Gateway> {
  onTestFinished(() => gateway.stop());
  await eventually(
    () => gateway.head.ready,
    () => gateway.freshness(),
  );
  return gateway;
}

/** For an edge that waits a third of the usual time before it asks its leader again. */
export const hasty = (): GatewayOptions => ({ clock: new PacedClock(3, Date.now()) });

/** A directory that is gone after the test. */
export function newDirectory(onTestFinished: Finish): string {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-follow-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Where this gateway is in its epoch. */
export const seqOf = (gateway: Gateway) => gateway.head.cursor.seq;

/** Gives `to` what `from` holds: one client that continues at another server. */
export function handOver(from: IndependentClient, to: IndependentClient): void {
  to.state = structuredClone(from.state);
  to.cursor = from.cursor;
  to.seq = from.seq;
}
