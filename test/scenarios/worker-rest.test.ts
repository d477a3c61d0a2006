import { expect, test } from "vitest";
import type { Finish } from "../support/edges.ts";
import { type KeptConnection, startWorkerGateway, twoWorkers } from "../support/worker-gateway.ts";

const PATHS = ["flares", "newest", "charts", "leaderboards", "snapshot"].map((name) => `/api/v1/${name}`);
/** How the answers of two workers at one cursor have to be alike. */
const ALIKE = ["etag", "vary", "cache-control", "link", "flarewire-origin", "flarewire-facts"] as const;
/** Fields that change with the market. */
const MOVING = ["flarewire-cursor", "flarewire-source-state"] as const;

type Answer = Awaited<ReturnType<KeptConnection["ask"]>>;

/**
 * Asks both until they answer at one cursor and in one state of the source: the market continues
 * meanwhile, and on a busy machine it is stale at times.
 */
async function atOneCursor(ask: readonly (() => Promise<Answer>)[]): Promise<readonly [Answer, Answer]> {
  for (;;) {
    const [one, other] = await Promise.all(ask.map((one) => one()));
    if (one && other && MOVING.every((field) => one.headers[field] === other.headers[field]))
      return [one, other];
  }
}

async function expectOneServer(url: string, onTestFinished: Finish): Promise<readonly string[]> {
  const workers = await twoWorkers(url, onTestFinished);
  for (const path of PATHS) {
    for (const coding of ["identity", "br"]) {
      const accept = { "accept-encoding": coding };
      const [one, other] = await atOneCursor(workers.map((at) => () => at.ask(path, accept)));
      for (const field of ALIKE) expect(other.headers[field], `${path} ${field}`).toBe(one.headers[field]);
      const ages = [one, other].map(({ headers }) => Number(headers["flarewire-data-age"]));
      expect(Math.abs((ages[0] ?? Number.NaN) - (ages[1] ?? 0))).toBeLessThanOrEqual(1);
      if (coding === "identity") expect(other.body).toBe(one.body);
    }
  }
  return Promise.all(workers.map((at) => at.worker()));
}

/**
 * What one worker said of each resource the other answers 304 to, while it is so: the tag is tried
 * until nothing came between.
 */
async function expectUnmodified(from: KeptConnection, to: KeptConnection): Promise<void> {
  for (const path of PATHS) {
    await expect
      .poll(
        async () => {
          const reported = await from.ask(path);
          const { status } = await to.ask(path, { "if-none-match": String(reported.headers.etag) });
          return status;
        },
        { interval: 5, timeout: 10_000 },
      )
      .toBe(304);
  }
}

test("[L2] a state has the same entity tag at all workers, also at one that has just started, so a client that alternates gets its 304", {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const gateway = await startWorkerGateway(onTestFinished);
  const before = await expectOneServer(gateway.url, onTestFinished);
  const [one, other] = await twoWorkers(gateway.url, onTestFinished);
  await expectUnmodified(one, other);
  process.kill(gateway.pids()[0] ?? 0, "SIGKILL");
  await gateway.began(3);
  const after = await expectOneServer(gateway.url, onTestFinished);
  expect(after.filter((name) => before.includes(name))).toHaveLength(1);
  const [stayed, begun] = await twoWorkers(gateway.url, onTestFinished);
  await expectUnmodified(stayed, begun);
  await expectUnmodified(begun, stayed);
});
