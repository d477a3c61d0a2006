import { expect } from "vitest";
import { flareStarted, greet, send, startScriptedServer } from "../../app/cli/scripted-server.ts";
import { test } from "./stream-kit.ts";

/** A busy machine may delay the first message beyond the limit of the accelerated client. */
const OPTIONS = { transport: "websocket", channels: ["flares.pro"], firstMessageMs: 1_000_000 } as const;
const EMPTY = { flares: { pro: [] }, explanations: {} };

test("[W15] after a gap the stream reconnects with its cursor, and delivers each event once", async ({
  start,
}) => {
  await using server = await startScriptedServer();
  const { until, seqs, resets } = start(server.url, OPTIONS);
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset", snapshot: EMPTY });
  send(first.socket, flareStarted(7, "ONE"));
  send(first.socket, flareStarted(7, "ONE"));
  send(first.socket, flareStarted(9, "THREE"));
  const second = await server.next();
  expect(second.query.get("after")).toBe("abcd-7");
  greet(second.socket, { cursor: "abcd-7", resumed: "full" });
  send(second.socket, flareStarted(8, "TWO"));
  send(second.socket, flareStarted(9, "THREE"));
  await until(() => seqs().length === 3);
  expect([seqs(), resets()]).toEqual([[7, 8, 9], ["started"]]);
});

test("[W15] an event without prev after a missing seq counts as a gap", async ({ start }) => {
  await using server = await startScriptedServer();
  const { stream, seqs } = start(server.url, OPTIONS);
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset", snapshot: EMPTY });
  send(first.socket, { ...flareStarted(9, "ONE"), prev: undefined });
  const second = await server.next();
  expect([second.query.get("after"), stream.cursor, seqs()]).toEqual(["abcd-6", "abcd-6", []]);
});

test("after an event that does not fit the lists, the stream loads new lists and emits a reset with reason mismatch", async ({
  start,
}) => {
  await using server = await startScriptedServer();
  const { stream, until, items } = start(server.url, OPTIONS);
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset", snapshot: EMPTY });
  const left = { ...flareStarted(7, "ONE"), name: "flare-finished", data: { op: "remove", id: "nobody" } };
  send(first.socket, left);
  const second = await server.next();
  expect(second.query.has("after")).toBe(false);
  greet(second.socket, { cursor: "abcd-7", resumed: "reset", snapshot: EMPTY });
  await until(() => items.length === 2);
  expect(items[1]).toMatchObject({ name: "reset", reason: "mismatch", lost: null, cursor: "abcd-7" });
  expect(stream.view).toEqual(EMPTY);
});

test("a new epoch is reported as a reset, and an invalid message ends only the connection", async ({
  start,
}) => {
  await using server = await startScriptedServer();
  const { until, items } = start(server.url, OPTIONS);
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset", snapshot: EMPTY });
  first.socket.send("{]");
  const second = await server.next();
  const lost = { reason: "epoch-changed", events: null };
  greet(second.socket, { cursor: "efgh-2", resumed: "reset", lost, snapshot: EMPTY });
  second.socket.send("null");
  const third = await server.next();
  expect(third.query.get("after")).toBe("efgh-2");
  greet(third.socket, { cursor: "efgh-2", resumed: "full" });
  send(third.socket, { ...flareStarted(3, "ONE"), cursor: "efgh-3" });
  await until(() => items.length === 3);
  expect(items.map((item) => (item.name === "reset" ? [item.reason, item.lost] : item.seq))).toEqual([
    ["started", 0],
    ["epoch-changed", null],
    3,
  ]);
});

test("[W26] a close code with action stop ends the stream with the reason, and one with action resume does not", async ({
  start,
}) => {
  await using server = await startScriptedServer();
  const { stream, until } = start(server.url, OPTIONS);
  const reported: string[] = [];
  stream.on("error", ({ message }) => reported.push(message));
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset", snapshot: EMPTY });
  first.socket.close(4_203);
  const second = await server.next();
  greet(second.socket, { cursor: "abcd-6", resumed: "full" });
  second.socket.close(4_000, "bad-request");
  await until(() => stream.connection.state === "closed");
  expect(reported).toEqual([
    "the server refused the stream: close code 4000 bad-request; change the request or the key",
  ]);
});
