import { once } from "node:events";
import { expect, test as plain } from "vitest";
import { CLOSE_CODES } from "../../../../src/base/protocol/index.ts";
import { clientOf } from "../../../../src/gateway/http/access/client-address.ts";
import { eventually } from "../../../support/time/waiters.ts";
import { HANDSHAKE, test, type WireClient } from "./websocket-fixture.ts";

const ADDRESS = "?channels=newest.bsc&client=bot-7f3a9c";

test("[W32] a client that reconnects replaces its dead connection, even if no slot is free", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { limits: { maxSockets: 1 } } });
  const dead = await wire.raw(ADDRESS);
  await wire.sessions(1);
  const back = wire.client(ADDRESS);
  await back.answer("subscribed");
  await wire.publish("list");
  await back.until(() => back.seqs.length === 1);
  expect(
    (await wire.ask(`/api/v1/stream${ADDRESS.replace("bot-", "foe-")}`, HANDSHAKE)).message.statusCode,
  ).toBe(503);
  // It does not answer the close frame, so it is terminated after the grace period. Its end does
  // not free a second slot.
  wire.clock.advance(2_000);
  await wire.sessions(1);
  expect((await wire.ask("/api/v1/stream", HANDSHAKE)).message.statusCode).toBe(503);
  dead.destroy();
  back.ws.close();
  await back.ended;
});

test("[W32] [W26] a live connection is closed with superseded", async ({ wire }) => {
  const first = wire.client(ADDRESS);
  await first.answer("subscribed");
  const second = wire.client(ADDRESS);
  await second.answer("subscribed");
  expect(await first.ended).toEqual({ code: CLOSE_CODES.superseded.code, reason: "superseded" });
  await wire.sessions(1);
  second.send({ type: "ping", id: "alive" });
  await second.answer("pong", "alive");
});

test("[W32] of the handshakes of one client that arrive at once, all but the last are closed with superseded", async ({
  makeWire,
}) => {
  const gate = { isOpen: false };
  const wire = await makeWire({ perTurn: () => (gate.isOpen ? 4 : 0) });
  const clients: WireClient[] = [];
  for (let made = 1; made <= 4; made++) {
    clients.push(wire.client(ADDRESS));
    const arrived = () => wire.sockets().filter(({ bytesRead }) => bytesRead > 0).length;
    await eventually(() => arrived() === made, arrived);
  }
  gate.isOpen = true;
  const last = clients.pop();
  const ends = await Promise.all(clients.map(({ ended }) => ended));
  const { code } = CLOSE_CODES.superseded;
  expect(ends).toEqual(clients.map(() => ({ code, reason: "superseded" })));
  await last?.answer("subscribed");
});

test("[W32] a refused connection replaces nothing; connections without an id, or with another id, stay", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { limits: { maxSocketsPerIp: 2 } } });
  const [first, other] = [wire.client(ADDRESS), wire.client("?channels=status")];
  await Promise.all([first.answer("subscribed"), other.answer("subscribed")]);
  const refused = await wire.ask(`/api/v1/stream${ADDRESS}&after=nonsense`, HANDSHAKE);
  expect(refused.message.statusCode).toBe(400);
  for (const client of [first, other]) {
    client.send({ type: "ping", id: "alive" });
    await client.answer("pong", "alive");
  }
});

test("[W32] the id of a client replaces no connection of another address", async ({ makeWire }) => {
  const wire = await makeWire({ trustProxy: ["127.0.0.1"] });
  const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
  const first = wire.client(ADDRESS, [], from("203.0.113.9"));
  await first.answer("subscribed");
  const thief = wire.client(ADDRESS, [], from("203.0.113.10"));
  await thief.answer("subscribed");
  await wire.sessions(2);
  first.send({ type: "ping", id: "alive" });
  await first.answer("pong", "alive");
  const again = wire.client(ADDRESS, [], from("203.0.113.9"));
  await again.answer("subscribed");
  expect(await first.ended).toMatchObject({ reason: "superseded" });
  thief.send({ type: "ping", id: "alive" });
  await thief.answer("pong", "alive");
});

test("[W32] of the superseded connections that are still closing, each client has at most one", async ({
  makeWire,
}) => {
  const wire = await makeWire({ stream: { limits: { maxSockets: 1 } } });
  const dead = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    const socket = await wire.raw(ADDRESS);
    dead.push({ socket, closed: once(socket, "close") });
    await wire.sessions(attempt === 0 ? 1 : 2);
  }
  for (const { socket } of dead)
    socket
      .on("error", () => {})
      .resume()
      .end();
  await Promise.all(dead.slice(0, 2).map(({ closed }) => closed));
  for (const { socket } of dead) socket.destroy();
  await wire.sessions(0);
});

plain(
  "[W33] the first 64 bits of an IPv6 address are one client; an IPv4 address is one client in any spelling",
  () => {
    const same = [
      "2001:db8:0:1::1",
      "2001:0db8:0000:0001:ffff::2",
      "2001:DB8:0:1:1:2:3:4",
      "2001:db8:0:1::1%eth0",
    ];
    expect(new Set(same.map(clientOf))).toEqual(new Set(["2001:db8:0:1::/64"]));
    expect(clientOf("2001:db8:0:2::1")).toBe("2001:db8:0:2::/64");
    expect([clientOf("::1"), clientOf("fe80::1"), clientOf("1::")]).toEqual([
      "0:0:0:0::/64",
      "fe80:0:0:0::/64",
      "1:0:0:0::/64",
    ]);
    expect(clientOf("64:ff9b::192.0.2.33")).toBe("64:ff9b:0:0::/64");
    expect(["192.0.2.1", "::ffff:192.0.2.1"].map(clientOf)).toEqual(["192.0.2.1", "192.0.2.1"]);
    expect(clientOf("unknown")).toBe("unknown");
  },
);

test("[W33] connections of one IPv6 network share their slots", async ({ makeWire }) => {
  const wire = await makeWire({ stream: { limits: { maxSocketsPerIp: 1 } }, trustProxy: ["127.0.0.1"] });
  const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
  await wire.client("", [], from("2001:db8::1")).answer("hello");
  const refused = await wire.ask("/api/v1/stream", { ...HANDSHAKE, "x-forwarded-for": "2001:db8::2" });
  expect(refused.message.statusCode).toBe(503);
  await wire.client("", [], from("2001:db8:0:1::1")).answer("hello");
});
