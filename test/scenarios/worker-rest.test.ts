import { expect, test } from "vitest";
import type { Finish } from "../support/servers/edges.ts";
import { type KeptConnection, startWorkerGateway, twoWorkers } from "../support/servers/worker-gateway.ts";

const PATHS = ["flares", "newest", "charts", "leaderboards", "snapshot"].map((name) => `/api/v1/${name}`);
/** Header fields that must be equal at two workers at one cursor. */
const EQUAL_FIELDS = [
  "etag",
  "vary",
  "cache-control",
  "link",
  "flarewire-origin",
  "flarewire-facts",
] as const;
/** Header fields that change with the market. */
const CHANGING_FIELDS = ["flarewire-cursor", "flarewire-source-state"] as const;

type Response = Awaited<ReturnType<KeptConnection["ask"]>>;

/**
 * Requests both until they respond at the same cursor and state of the source. The market advances
 * meanwhile, and on a busy machine it is sometimes stale.
 */
async function atOneCursor(
  ask: readonly (() => Promise<Response>)[],
): Promise<readonly [Response, Response]> {
  for (;;) {
    const [one, other] = await Promise.all(ask.map((one) => one()));
    if (one && other && CHANGING_FIELDS.every((field) => one.headers[field] === other.headers[field]))
      return [one, other];
  }
}

async function expectOneServer(url: string, onTestFinished: Finish): Promise<readonly string[]> {
  const workers = await twoWorkers(url, onTestFinished);
  for (const path of PATHS) {
    for (const coding of ["identity", "br"]) {
      const accept = { "accept-encoding": coding };
      const [one, other] = await atOneCursor(workers.map((at) => () => at.ask(path, accept)));
      for (const field of EQUAL_FIELDS)
        expect(other.headers[field], `${path} ${field}`).toBe(one.headers[field]);
      const ages = [one, other].map(({ headers }) => Number(headers["flarewire-data-age"]));
      expect(Math.abs((ages[0] ?? Number.NaN) - (ages[1] ?? 0))).toBeLessThanOrEqual(1);
      if (coding === "identity") expect(other.body).toBe(one.body);
    }
  }
  return Promise.all(workers.map((at) => at.worker()));
}

/**
 * Expects that one worker responds 304 to the other's entity tag of each resource. Retries if the
 * resource changed in between.
 */
async function expectUnmodified(from: KeptConnection, to: KeptConnection): Promise<void> {
  for (const path of PATHS) {
    await expect
      .poll(
        async () => {
          const response = await from.ask(path);
          const { status } = await to.ask(path, { "if-none-match": String(response.headers.etag) });
          return status;
        },
        { interval: 5, timeout: 10_000 },
      )
      .toBe(304);
  }
}

test("[L2] a state has the same entity tag at all workers, including one that has just started, so a client that alternates between them gets 304", {
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
  const [stayed, replaced] = await twoWorkers(gateway.url, onTestFinished);
  await expectUnmodified(stayed, replaced);
  await expectUnmodified(replaced, stayed);
});
