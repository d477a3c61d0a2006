import { expect, test } from "vitest";
import { startInProcess } from "../app/cli/run-in-process.ts";
import { HeldProxy } from "../clients/sdk/held-proxy.ts";
import { SseClient } from "../support/clients/sse-client.ts";
import { type Finish, hasty, seqOf, startEdge, startLeader } from "../support/servers/edges.ts";

/** A distance that no server here covers while a client waits. */
const BEYOND = 10_000_000;
/** A port on which nothing listens. */
const CLOSED_PORT = 9;

/** Expects no cursor from a server for clients that are ahead of it, until their response. */
async function expectNoEarlyCursor(url: string, onTestFinished: Finish) {
  const snapshot = await fetch(`${url}/api/v1/snapshot`);
  const [epoch, seq] = (snapshot.headers.get("flarewire-cursor") ?? "").split("-");
  const after = `${epoch}-${Number(seq) + BEYOND}`;
  const byWebSocket = async () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/v1/stream?channels=*&after=${after}`);
    onTestFinished(() => socket.close());
    const types: string[] = [];
    const subscribed = Promise.withResolvers<void>();
    socket.onmessage = ({ data }) => {
      types.push(JSON.parse(String(data)).type);
      if (types.includes("subscribed")) subscribed.resolve();
    };
    await subscribed.promise;
    expect(types.slice(0, 2), "over a WebSocket").toEqual(["hello", "subscribed"]);
  };
  const bySse = async () => {
    const sse = await SseClient.open(`${url}/api/v1/events`, { "last-event-id": after });
    onTestFinished(() => sse.cut());
    await sse.until(() => sse.events.length > 1);
    const ids = sse.events.map(({ event, lastEventId }) => [event, lastEventId]);
    expect(ids.slice(0, 2), "as server-sent events").toEqual([
      ["hello", ""],
      ["reset", sse.events[1]?.message.cursor],
    ]);
  };
  await Promise.all(Array.from({ length: 4 }, () => [byWebSocket(), bySse()]).flat());
}

test("[F3] [W14] an edge sends a client that is ahead of it no cursor before the response, however long it waits", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished);
  const edge = await startEdge(leader, onTestFinished, { heartbeat: "1s" }, hasty());
  await expectNoEarlyCursor(edge.url, onTestFinished);
});

test("[F3] [L3] tail connects to an edge that is far behind, and prints each event once", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished);
  const port = Number(new URL(leader.url).port);
  await using proxy = await HeldProxy.open(port);
  const edge = await startEdge(proxy, onTestFinished, { heartbeat: "1s" }, hasty());
  await expect.poll(() => edge.head.ready).toBe(true);
  proxy.freeze();
  // On a busy machine, the edge may give up the silent connection before the end of the test.
  proxy.port = CLOSED_PORT;
  const behind = seqOf(edge);
  await expect.poll(() => seqOf(leader)).toBeGreaterThan(behind + 50);
  const { epoch, seq } = leader.head.cursor;
  await using tail = startInProcess([
    "tail",
    edge.url,
    "--json",
    "--channels",
    "*",
    "--after",
    `${epoch}-${seq}`,
  ]);
  await tail.said("stderr", /the server is at \S+, and this client at \S+; retrying/);
  proxy.port = port;
  proxy.cut();
  const printed = () => tail.stdout().split("\n").slice(0, -1);
  await expect.poll(() => printed().length).toBeGreaterThan(20);
  const lines = printed();
  const seqs = lines.map((line) => Number(JSON.parse(line).seq));
  expect(seqs).toEqual(seqs.map((_, at) => seq + 1 + at));
});
