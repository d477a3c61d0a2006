import { describe, expect, test } from "vitest";
import { greet, send, startScriptedServer } from "../../app/cli/scripted-server.ts";
import { eventsOf, follow, followAll, hasPython, linesOf } from "./python-client.ts";
import { flareEvent, heartbeat, inserted, NOTHING, statusEvent } from "./scripted-events.ts";

/** No other transport is tried, so that every connection is a WebSocket. */
const WEBSOCKET = { transport: "websocket" };
const START = { cursor: "abcd-6", resumed: "reset", snapshot: NOTHING };
const FULL = { cursor: "abcd-6", resumed: "full" };

describe.skipIf(!hasPython)("the Python package over WebSocket", { concurrent: true }, () => {
  test("[W1] [W2] [W8] [W32] it subscribes in the URL, offers the protocol, sends no frame, and uses one client id for all connections", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, {
      ...WEBSOCKET,
      channels: ["flares.pro", "status"],
      filter: { symbols: ["A,B", "Ü"], min_price_change: 5, sticky: true },
      count: 1,
    });
    const first = await server.next();
    const sent: string[] = [];
    first.socket.on("message", (data) => sent.push(String(data)));
    expect(first.socket.protocol).toBe("flarewire.v1");
    greet(first.socket, START);
    await client.said("stdout", '"reset"');
    first.socket.close(4_201);
    const second = await server.next();
    greet(second.socket, FULL);
    send(second.socket, statusEvent(7));
    expect(await client.ended()).toBe(0);
    const { client: id = "", ...query } = Object.fromEntries(first.query);
    expect(query).toEqual({
      channels: "flares.pro,status",
      symbols: "A,B,Ü",
      min_price_change: "5",
      sticky: "true",
    });
    expect(id).toMatch(/^[A-Za-z0-9.~_-]{8,64}$/);
    expect([second.query.get("client"), second.query.get("after"), sent]).toEqual([id, "abcd-6", []]);
    expect(linesOf(client).find(({ reset }) => reset)).toEqual({
      reset: "started",
      lost: 0,
      cursor: "abcd-6",
      view: NOTHING,
    });
  });

  test("[W4] [W6] it ignores unknown fields and types, applies the changes of unknown events, and accepts a hello without protocol", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, { ...WEBSOCKET, count: 2 });
    const { socket } = await server.next();
    greet(socket, { ...START, new_field: [1] }, { protocol: undefined, new_field: {} });
    send(socket, { type: "new-type", cursor: "abcd-99", seq: 99 });
    send(socket, flareEvent(7, "flare-renamed", inserted("one")));
    send(socket, { ...statusEvent(8), channel: "new.channel", name: "new-event" });
    const set = { op: "set", id: "one", set: { recent_price_change: 3 }, new_field: 1 };
    send(socket, { ...flareEvent(9, "flare-updated", set), new_field: 1 });
    send(socket, statusEvent(10));
    expect(await client.ended(), client.stderr()).toBe(0);
    const events = eventsOf(client);
    expect(events.map(({ event, cursor }) => [event, cursor])).toEqual([
      ["flare-updated", "abcd-9"],
      ["source-status", "abcd-10"],
    ]);
    expect(events[1]?.view?.flares?.pro).toMatchObject([{ id: "one", recent_price_change: 3 }]);
  });

  test("[W13] [W14] [W16] it ignores repeated events, earlier positions, and all positions and events before the response", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, { ...WEBSOCKET, after: "abcd-6", count: 3 });
    const { socket } = await server.next();
    send(socket, { type: "hello", silence_limit_ms: 35_000, cursor: "abcd-9" });
    // Neither may move the client to 9, because events 7 to 9 are still to come.
    send(socket, heartbeat(9));
    send(socket, statusEvent(9, 6));
    send(socket, { type: "subscribed", ...FULL });
    for (const seq of [7, 7, 8]) send(socket, statusEvent(seq));
    send(socket, heartbeat(8));
    send(socket, heartbeat(6));
    send(socket, statusEvent(8));
    send(socket, statusEvent(9));
    expect(await client.ended()).toBe(0);
    const reported = eventsOf(client).map(({ seq, state }) => `${seq} ${state}`);
    expect(reported).toEqual(["7 null", "8 null", "9 stale"]);
  });

  test("[W14] [W15] an event after a gap ends the connection, unless a heartbeat's position covers the gap", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, { ...WEBSOCKET, after: "abcd-6", count: 2 });
    const first = await server.next();
    greet(first.socket, FULL);
    send(first.socket, heartbeat(8));
    send(first.socket, statusEvent(9));
    send(first.socket, statusEvent(12, 11));
    const second = await server.next();
    expect(second.query.get("after")).toBe("abcd-9");
    greet(second.socket, { ...FULL, cursor: "abcd-9" });
    send(second.socket, statusEvent(12, 9));
    expect(await client.ended()).toBe(0);
    expect(eventsOf(client).map(({ seq }) => seq)).toEqual([9, 12]);
    expect(client.stdout()).toContain("an event before abcd-12 is missing");
  });

  test("[W9] [W39] [F3] it reports each loss, as a mismatch if the server states none; after ahead it retries with its cursor", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, { ...WEBSOCKET, after: "abcd-6", count: 1 });
    const next = async (after: string | null, answer: object) => {
      const { socket, query } = await server.next();
      expect(query.get("after")).toBe(after);
      greet(socket, { ...START, ...answer });
      return socket;
    };
    await next("abcd-6", { cursor: "abcd-4", lost: { reason: "ahead", events: 0 } });
    let socket = await next("abcd-6", { cursor: "abcd-9", lost: { reason: "expired", events: 3 } });
    await client.said("stdout", '"expired"');
    socket.close(4_201);
    socket = await next("abcd-9", { cursor: "efgh-2", lost: { reason: "epoch-changed", events: null } });
    await client.said("stdout", '"epoch-changed"');
    socket.close(4_201);
    socket = await next("efgh-2", { cursor: "efgh-5" });
    await client.said("stdout", '"mismatch"');
    send(socket, { ...statusEvent(6), cursor: "efgh-6" });
    expect(await client.ended()).toBe(0);
    const resets = linesOf(client).filter(({ reset }) => reset);
    expect(resets.map(({ reset, lost, cursor }) => [reset, lost, cursor])).toEqual([
      ["expired", 3, "abcd-9"],
      ["epoch-changed", null, "efgh-2"],
      ["mismatch", null, "efgh-5"],
    ]);
  });

  test("[L1] after a change that does not fit its list it starts over without its cursor, and reports a mismatch", async () => {
    const changes = [
      inserted("one"),
      { ...inserted("two"), index: 3 },
      { op: "remove", id: "two", cause: "faded", flare: inserted("two").flare, why: null, outcome: null },
      { op: "set", id: "two", set: {} },
    ];
    await using server = await startScriptedServer();
    const channel = (at: number) => ({ ...WEBSOCKET, channels: [`${at}`] });
    await using client = followAll(changes.map((_, at) => [server.url, channel(at)]));
    const numbers = new Set<string | null>();
    for (const _ of [...changes, ...changes]) {
      const { socket, query } = await server.next();
      const number = query.get("channels");
      expect(query.get("after")).toBeNull();
      greet(socket, START);
      if (numbers.has(number)) continue;
      numbers.add(number);
      const change = changes[Number(number)] ?? expect.fail("an unknown stream");
      const name = { insert: "flare-started", remove: "flare-finished", set: "flare-updated" }[change.op];
      send(socket, flareEvent(7, "flare-started", inserted("one")));
      send(socket, flareEvent(8, name ?? "", change));
    }
    await client.said("stdout", /(?:"mismatch"[\s\S]*){4}/);
    for (const at of changes.keys()) {
      const own = linesOf(client).filter(({ stream, reset }) => stream === at && reset);
      expect(own).toMatchObject([
        { reset: "started", lost: 0 },
        { reset: "mismatch", lost: null },
      ]);
    }
  });

  test("[W29] [W27] with names in the filter it applies no change, and a reset has what is running", async () => {
    await using server = await startScriptedServer();
    const filter = { names: ["flare-updated"] };
    await using client = follow(server.url, { ...WEBSOCKET, filter, count: 1 });
    const { socket, query } = await server.next();
    expect([query.get("names"), query.get("snapshot")]).toEqual(["flare-updated", null]);
    greet(socket, { cursor: "abcd-6", resumed: "reset", snapshot: { ...NOTHING, flares: { pro: [] } } });
    send(socket, flareEvent(9, "flare-updated", { op: "set", id: "unknown", set: {} }, 6));
    expect(await client.ended()).toBe(0);
    expect(linesOf(client).find(({ reset }) => reset)).toMatchObject({ view: { flares: { pro: [] } } });
    expect(eventsOf(client)).toMatchObject([{ seq: 9, view: null }]);
  });

  test("[W34] [W35] it requests no mode, and ignores missed and conflated", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, { ...WEBSOCKET, after: "abcd-6", count: 1 });
    const { socket, query } = await server.next();
    expect(query.get("mode")).toBeNull();
    greet(socket, FULL);
    send(socket, { ...statusEvent(8), type: "missed" });
    send(socket, { type: "conflated", cursor: "abcd-8", channels: ["status"], snapshot: NOTHING });
    send(socket, statusEvent(7));
    expect(await client.ended()).toBe(0);
    expect(eventsOf(client).map(({ seq }) => seq)).toEqual([7]);
  });

  test("[W26] a frame that breaks the protocol ends the connection, and it resumes from its cursor", async () => {
    const wrong = [
      "[1]",
      "null",
      "7",
      "{",
      '{"type":"heartbeat","cursor":""}',
      '{"type":"heartbeat","cursor":7}',
      '{"type":"goaway"}',
      `${"[".repeat(100_000)}`,
      Buffer.from("binary"),
    ];
    await using server = await startScriptedServer();
    const options = { ...WEBSOCKET, after: "abcd-6", count: 1 };
    await using client = followAll(wrong.map((_, at) => [server.url, { ...options, channels: [`${at}`] }]));
    const numbers = new Set<string | null>();
    for (const _ of [...wrong, ...wrong]) {
      const { socket, query } = await server.next();
      const number = query.get("channels");
      expect(query.get("after")).toBe("abcd-6");
      greet(socket, FULL);
      if (numbers.has(number)) send(socket, statusEvent(7));
      else socket.send(wrong[Number(number)] ?? "");
      numbers.add(number);
    }
    expect(await client.ended(), client.stderr()).toBe(0);
    expect(eventsOf(client).map(({ seq }) => seq)).toEqual(wrong.map(() => 7));
  });
});
