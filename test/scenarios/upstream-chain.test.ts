import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { expectOneState } from "../support/one-state.ts";

const quiet = { port: 0, logLevel: "error", drain: "200ms" } as const;

async function lists(url: string): Promise<Record<string, unknown>> {
  const {
    cursor: _cursor,
    observed_at: _at,
    ...rest
  } = (await (await fetch(`${url}/api/v1/snapshot`)).json()) as Record<string, unknown>;
  return rest;
}

test("[L2] a gateway whose upstream is another Flarewire converges to the same state, and survives its upstream's restart", {
  timeout: 60_000,
}, async ({ onTestFinished }) => {
  // At full speed to its end: then the upstream stands still, and the two can be compared.
  const recording = { ...quiet, feed: "replay", warmup: "0s", speed: "max", loop: false } as const;
  const upstream = await startGateway(createConfig(recording));
  onTestFinished(() => upstream.stop());
  const hasEnded = (gateway: typeof upstream) => () => gateway.freshness().reason;
  await expect.poll(hasEnded(upstream), { timeout: 30_000 }).toMatch(/has ended/);
  const edge = await startGateway(createConfig({ ...quiet, source: upstream.url, pollInterval: "100ms" }));
  onTestFinished(() => edge.stop());
  const client = new IndependentClient(edge.url);
  await client.connect();

  const first = await lists(upstream.url);
  expect((first.flares as { finished_trending: unknown[] }).finished_trending.length).toBeGreaterThan(0);
  await expect.poll(() => lists(edge.url), { timeout: 10_000 }).toEqual(first);
  await expectOneState(edge.url, client);

  const { port } = new URL(upstream.url);
  await upstream.stop();
  await expect.poll(() => edge.freshness().state, { timeout: 20_000 }).toBe("down");
  expect((await fetch(`${edge.url}/readyz`)).status).toBe(503);
  expect(await lists(edge.url)).toEqual(first);

  const told = (state: string) =>
    client.received.events.some(
      ({ name, data }) => name === "source-status" && (data as { state: string }).state === state,
    );
  await client.until(() => told("down"));

  const again = await startGateway(createConfig({ ...recording, port }));
  onTestFinished(() => again.stop());
  await expect.poll(hasEnded(again), { timeout: 30_000 }).toMatch(/has ended/);
  await expect.poll(() => lists(edge.url), { timeout: 30_000 }).toEqual(await lists(again.url));
  await expectOneState(edge.url, client);
});
