import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect } from "vitest";
import { clientOf } from "../../../../src/gateway/http/access/client-address.ts";
import { createAddressReader, createTrust } from "../../../../src/gateway/http/access/trusted-peers.ts";
import type { RouteScope } from "../../../../src/gateway/http/server.ts";
import { test } from "../rest/rest-fixture.ts";
import { HANDSHAKE, test as wireTest } from "../stream/websocket-fixture.ts";

const tellAddress = ({ app }: RouteScope) => {
  app.get("/ip", async ({ ip }) => ({ ip }));
};

test.for([
  ["203.0.113.9", "203.0.113.9"],
  ["203.0.113.9:51234", "203.0.113.9"],
  ["2001:db8::7", "2001:db8::7"],
  ["[2001:db8::7]", "2001:db8::7"],
  ["[2001:db8::7]:51234", "2001:db8::7"],
  ["198.51.100.1, 203.0.113.9:1", "203.0.113.9"],
  ["203.0.113.9:51234, 10.0.0.2:443", "203.0.113.9"],
  ["198.51.100.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
  ["198.51.100.1, 10.0.0.3, 203.0.113.9", "203.0.113.9"],
  ["10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["unknown", "127.0.0.1"],
  ["_hidden:1", "127.0.0.1"],
  ["", "127.0.0.1"],
  ["203.0.113.9:", "127.0.0.1"],
  ["203.0.113.9:123456", "127.0.0.1"],
  ["203.0.113.999", "127.0.0.1"],
  ["[203.0.113.9]:1", "127.0.0.1"],
  ["<script>", "127.0.0.1"],
  // Text to the left of garbage comes from the client, so it is not used either.
  ["203.0.113.9, garbage", "127.0.0.1"],
  ["203.0.113.9, garbage, 10.0.0.2", "10.0.0.2"],
] as const)("behind a proxy X-Forwarded-For %j is the client %s", async ([field, ip], { makeRest }) => {
  const settings = { trustProxy: ["127.0.0.1", "10.0.0.0/8"] };
  const rest = await makeRest({ settings, register: tellAddress });
  const headers = { "x-forwarded-for": field };
  const { json } = await rest.ask("GET", "/ip", headers);
  expect(json).toEqual({ ip });
  // The limits count the same client as the routes.
  const read = createAddressReader(createTrust(settings.trustProxy));
  const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: "127.0.0.1" });
  expect(read(Object.assign(new IncomingMessage(socket), { headers }))).toBe(ip);
  expect(clientOf(ip)).not.toBe("");
});

wireTest(
  "[W33] connections whose proxy sends a port, or garbage, count as one address",
  async ({ makeWire }) => {
    const wire = await makeWire({ stream: { limits: { maxSocketsPerIp: 1 } }, trustProxy: ["127.0.0.1"] });
    const from = (field: string) => ({ headers: { "x-forwarded-for": field } });
    const ask = async (field: string) =>
      (await wire.ask("/api/v1/stream", { ...HANDSHAKE, "x-forwarded-for": field })).message.statusCode;
    await wire.client("", [], from("203.0.113.9:1001")).answer("hello");
    expect(await ask("203.0.113.9:1002")).toBe(503);
    await wire.client("", [], from("nobody-1")).answer("hello");
    expect(await ask("nobody-2")).toBe(503);
  },
);
