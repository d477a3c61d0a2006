import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { newDirectory } from "../support/servers/edges.ts";
import { freePort } from "../support/servers/free-port.ts";
import { writePumpedMarket } from "../support/world/pumped-market.ts";

const quiet = { port: 0, logLevel: "error", drain: "200ms", compression: false } as const;

async function lists(url: string): Promise<Record<string, unknown>> {
  const {
    cursor: _cursor,
    observed_at: _at,
    ...rest
  } = (await (await fetch(`${url}/api/v1/snapshot`)).json()) as Record<string, unknown>;
  return rest;
}

/** Resolves when the recording has ended. Rejects if event time stops advancing before that. */
async function endOf({ freshness, head }: Gateway): Promise<void> {
  while (!/has ended/.test(freshness().reason)) {
    const { observedAtMs } = head;
    await expect
      .poll(() => head.observedAtMs > observedAtMs || /has ended/.test(freshness().reason))
      .toBe(true);
  }
}

test("[L2] a gateway whose upstream is another Flarewire converges to its state, also after the upstream's restart", {
  // Only a hang takes this long: each wait below fails by itself without progress.
  timeout: 600_000,
}, async ({ onTestFinished }) => {
  const file = writePumpedMarket(join(newDirectory(onTestFinished), "market.csv"), 3);
  // Played to the end at full speed, so that the upstream stops changing and can be compared.
  const played = { feed: "replay", warmup: "0s", speed: "max", loop: false } as const;
  const recording = { ...quiet, ...played, port: await freePort(), file, group: "bsc" } as const;
  const upstream = await startGateway(createConfig(recording));
  onTestFinished(() => upstream.stop());
  await endOf(upstream);
  const edge = await startGateway(
    createConfig({ ...quiet, source: upstream.url, pollInterval: "100ms", staleAfter: "2s" }),
  );
  onTestFinished(() => edge.stop());
  const client = new IndependentClient(edge.url);
  await client.connect();

  const first = await lists(upstream.url);
  expect((first.flares as { finished_trending: unknown[] }).finished_trending.length).toBeGreaterThan(0);
  await expect.poll(() => lists(edge.url)).toEqual(first);
  await expectOneState(edge.url, client);

  await upstream.stop();
  await expect.poll(() => edge.freshness().state).toBe("down");
  expect((await fetch(`${edge.url}/readyz`)).status).toBe(503);
  expect(await lists(edge.url)).toEqual(first);

  const reported = (state: string) =>
    client.received.events.some(
      ({ name, data }) => name === "source-status" && (data as { state: string }).state === state,
    );
  await client.until(() => reported("down"));

  const again = await startGateway(createConfig(recording));
  onTestFinished(() => again.stop());
  await endOf(again);
  await expect.poll(() => lists(edge.url)).toEqual(await lists(again.url));
  await expectOneState(edge.url, client);
});
