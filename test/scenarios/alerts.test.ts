import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { LedMarket } from "../examples/led-gateway.ts";
import { Receiver, status, webhookFile } from "../extensions/alerts/webhook-fixture.ts";
import { type Finish, newDirectory } from "../support/servers/edges.ts";

/** Prepares a market, and gateways on it that send alerts to the receiver. */
function prepare(finish: Finish, receiver: Receiver) {
  const directory = newDirectory(finish);
  const alerts = join(directory, "alerts.json");
  const rules = [{ name: "starts", channels: ["flares.pro"] }];
  writeFileSync(alerts, webhookFile({ url: receiver.url, rules }));
  const market = new LedMarket();
  const config = { port: 0, drain: "0", logLevel: "silent", alerts } as const;
  const start = () =>
    startGateway(createConfig({ ...config, data: join(directory, "data") }), { source: market });
  const startEdge = ({ url }: Gateway) =>
    startGateway(createConfig({ ...config, data: join(directory, "edge"), source: `follow:${url}` }));
  return { market, start, startEdge };
}

const symbols = (deliveries: Receiver["taken"]) =>
  deliveries.map(({ type, data }) => {
    const { event } = data as { event: { data: { flare: { token: { symbol: string } } } } };
    return `${type} ${event.data.flare.token.symbol}`;
  });

test("[L3] after a rejection, an outage and a restart of the gateway, a receiver has accepted every start and finish once, in order", async ({
  onTestFinished,
}) => {
  await using receiver = new Receiver();
  await receiver.up();
  const { market, start } = prepare(onTestFinished, receiver);
  const first = await start();
  market.start("ONE");
  await receiver.until(() => receiver.taken.length === 1);
  receiver.answer = status(500);
  market.finish("ONE");
  await receiver.until(() => receiver.attempts.length === 2);
  await receiver.down();
  market.start("TWO");
  await expect.poll(() => first.head.snapshot.flares.pro.length).toBe(1);
  await first.stop();
  receiver.answer = status(200);
  await receiver.up();
  const second = await start();
  onTestFinished(() => second.stop());
  market.start("THREE");
  await receiver.until(() => receiver.taken.length >= 4);
  expect(symbols(receiver.taken)).toEqual([
    "flare-started ONE",
    "flare-finished ONE",
    "flare-started TWO",
    "flare-started THREE",
  ]);
  expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(4);
});

test("[L5] a receiver that never responds delays neither clients nor the gateway's stop", async ({
  onTestFinished,
}) => {
  await using receiver = new Receiver();
  await receiver.up();
  receiver.answer = () => {};
  const { market, start } = prepare(onTestFinished, receiver);
  const gateway = await start();
  market.start("ONE");
  await receiver.until(() => receiver.attempts.length === 1);
  market.start("TWO");
  await expect.poll(() => gateway.head.snapshot.flares.pro.length).toBe(2);
  expect(await (await fetch(`${gateway.url}/api/v1/flares`)).json()).toMatchObject({ pro: [{}, {}] });
  const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text();
  await expect.poll(metrics).toMatch(/^flarewire_webhook_waiting\{webhook="desk"\} 2$/m);
  await gateway.stop();
  expect(receiver.taken).toEqual([]);
});

test("a leader and an edge with the same alert file both send each message, with the same id", async ({
  onTestFinished,
}) => {
  await using receiver = new Receiver();
  await receiver.up();
  const { market, start, startEdge } = prepare(onTestFinished, receiver);
  const leader = await start();
  onTestFinished(() => leader.stop());
  const edge = await startEdge(leader);
  onTestFinished(() => edge.stop());
  await expect.poll(() => edge.head.ready).toBe(true);
  market.start("ONE");
  market.finish("ONE");
  await receiver.until(() => receiver.taken.length === 4);
  const [first, second] = [...new Set(receiver.taken.map(({ id }) => id))].map((id) =>
    receiver.taken.filter((delivery) => delivery.id === id),
  );
  expect([symbols(first ?? []), symbols(second ?? [])]).toEqual([
    ["flare-started ONE", "flare-started ONE"],
    ["flare-finished ONE", "flare-finished ONE"],
  ]);
});
