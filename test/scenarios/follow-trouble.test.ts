import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { hasty, newDirectory, seqOf, startEdge, startLeader } from "../support/servers/edges.ts";

const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port);

test("[F5] [F4] when a leader starts a new epoch, so do its edges, and their clients get a reset, on every transport", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished);
  const edge = await startEdge(leader, onTestFinished, { staleAfter: "1s" }, hasty());
  const client = new IndependentClient(edge.url);
  await client.connect();
  await client.until(() => client.received.events.length > 20);
  const before = edge.head.cursor;
  const stream = await fetch(`${edge.url}/api/v1/events?channels=status`, {
    headers: { accept: "text/event-stream" },
  });
  const streamed = stream.text();

  await leader.stop();
  const poll = fetch(`${edge.url}/api/v1/events?after=${before.epoch}-${seqOf(edge)}&wait=30`);
  await expect.poll(() => edge.freshness().state).toBe("down");
  expect(edge.freshness().reason).toMatch(/^the leader (is unreachable|dropped|closed|rejected)/);
  expect(edge.freshness().data_age_ms).toBeGreaterThan(1_000);
  expect((await fetch(`${edge.url}/readyz`)).status).toBe(503);
  const snapshot = await fetch(`${edge.url}/api/v1/snapshot`);
  expect([snapshot.status, snapshot.headers.get("flarewire-source-state")]).toEqual([200, "down"]);
  // Only the leader assigns seqs, so a disconnected edge has no events of its own.
  expect(client.seq).toBe(seqOf(edge));
  expect(client.closeCode).toBeUndefined();

  const again = await startLeader(onTestFinished, { port: portOf(leader) });
  await client.until(() => client.closeCode !== undefined);
  expect(client.closeCode).toBe(4204);
  expect(await streamed).toContain('"reason":"reset","code":4204,"action":"resume"');
  const lost = await poll;
  expect(lost.status).toBe(410);
  expect(await lost.json()).toMatchObject({ lost: { reason: "epoch-changed" } });
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({
    resumed: "reset",
    lost: { reason: "epoch-changed", events: null },
  });
  expect(edge.head.cursor.epoch).toBe(again.head.cursor.epoch);
  await client.until(() => client.seq > 20);
  await expectOneState(edge.url, client);
  expect(edge.freshness()).toMatchObject({ state: "live", reason: "" });
});

test("[F5] an edge that was down longer than the leader retains events starts over in the same epoch, and reports the number of lost events", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, { logBytes: "64KiB" });
  const data = newDirectory(onTestFinished);
  const edge = await startEdge(leader, onTestFinished, { data });
  const client = new IndependentClient(edge.url);
  await client.connect();
  await client.until(() => client.received.events.length > 5);
  await edge.stop();
  const left = client.seq;
  const oldest = async () => {
    const answer = await fetch(
      `${leader.url}/api/v1/events?after=${leader.head.cursor.epoch}-${left}&limit=1`,
    );
    return answer.status;
  };
  await expect.poll(oldest).toBe(410);
  const again = await startEdge(leader, onTestFinished, { data, port: portOf(edge) });
  // It serves its stored state until the leader responds.
  await expect.poll(() => seqOf(again)).toBeGreaterThan(left + 10);
  await client.connect();
  const answer = client.received.answers.at(-1);
  expect(answer).toMatchObject({ resumed: "reset", lost: { reason: "expired" } });
  expect(Number(Object(answer?.lost).events)).toBeGreaterThan(10);
  await client.until(() => client.seq > seqOf(leader) - 5);
  await expectOneState(again.url, client);
});

test("[F6] a server that follows itself, directly or in a ring, reports it and does not publish its own events again", async ({
  onTestFinished,
}) => {
  const now = AbortSignal.abort();
  const leader = await startLeader(onTestFinished);
  const data = newDirectory(onTestFinished);
  const edge = await startEdge(leader, onTestFinished, { data });
  await expect.poll(() => seqOf(edge)).toBeGreaterThan(10);
  await edge.stop();
  await leader.stop();
  const quiet = { logLevel: "silent", drain: "0", staleAfter: "1s" } as const;

  // The server follows its own address, with stored data to serve.
  const self = await startGateway(
    createConfig({ ...quiet, data, port: portOf(leader), source: `follow:${leader.url}` }),
    { signal: now },
  );
  onTestFinished(() => self.stop());
  expect((await fetch(`${self.url}/api/v1/snapshot`)).status).toBe(200);
  await expect
    .poll(() => self.freshness())
    .toMatchObject({
      state: "down",
      reason:
        "the leader rejected the connection with HTTP 503: this server mirrors another one and is disconnected from it; retry later",
    });
  // Clients are still served.
  const client = new IndependentClient(self.url);
  await client.connect();
  expect(client.received.answers).toHaveLength(1);
  client.send({ type: "subscribe", id: "m", channels: ["status"], mirror: true });
  await client.until(() => client.received.errors.length > 0);
  expect(client.received.errors[0]).toMatchObject({ id: "m", code: "not-ready" });
  await client.disconnect();

  const second = await startGateway(createConfig({ ...quiet, port: 0, source: `follow:${self.url}` }), {
    signal: now,
  });
  onTestFinished(() => second.stop());
  await expect.poll(() => second.freshness().reason).toMatch(/HTTP 503/);
  expect((await fetch(`${second.url}/api/v1/snapshot`)).status).toBe(503);
});
