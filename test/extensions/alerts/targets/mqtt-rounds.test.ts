import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { MqttConnection } from "../../../../src/extensions/alerts/targets/mqtt/mqtt-connection.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";

/** MQTT 5: the connection is accepted, without properties. */
const ACCEPTED = Buffer.from([0x20, 3, 0, 0, 0]);
const [CONNECT, PUBLISH] = [1, 3];

/** Acknowledges a message at QoS 1, whose packet is short. */
function acknowledge(packet: Buffer): Buffer {
  const at = 4 + packet.readUInt16BE(2);
  return Buffer.from([0x40, 2, packet[at] ?? 0, packet[at + 1] ?? 0]);
}

/** A broker that accepts or cuts each connection, and acknowledges each message. */
async function startBroker() {
  const broker = { isUp: true, sockets: new Set<Socket>(), published: 0 };
  const server = createServer((socket) => {
    broker.sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => broker.sockets.delete(socket));
    socket.on("data", (packet: Buffer) => {
      const kind = (packet[0] ?? 0) >> 4;
      if (!broker.isUp) socket.destroy();
      else if (kind === CONNECT) socket.write(ACCEPTED);
      else if (kind === PUBLISH) {
        broker.published += 1;
        socket.write(acknowledge(packet));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const end = async () => {
    for (const socket of broker.sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  return { broker, url: `mqtt://127.0.0.1:${port}`, [Symbol.asyncDispose]: end };
}

test("each interruption of the broker is reported once, and its pauses start over", async () => {
  await using started = await startBroker();
  const { broker, url } = started;
  const clock = new ManualClock();
  const notices: string[] = [];
  const over = new AbortController();
  const login = { username: undefined, password: undefined };
  const connection = new MqttConnection({ url, ...login, clientId: "one", status: "state", clock });
  const running = connection.run((_level, message) => notices.push(message), over.signal);
  await expect.poll(() => broker.published).toBe(1);
  /** Cuts the connection until it has failed `failures` times. Returns the pauses. */
  const interrupt = async (failures: number) => {
    broker.isUp = false;
    const [slept, published] = [clock.slept.length, broker.published];
    for (const socket of broker.sockets) socket.destroy();
    for (let failure = 1; failure <= failures; failure++) {
      await expect.poll(() => clock.slept.length).toBe(slept + failure);
      if (failure === failures) broker.isUp = true;
      clock.advance(60_000);
    }
    await expect.poll(() => broker.published).toBe(published + 1);
    await expect.poll(() => notices.at(-1)).toMatch(/^connected/);
    return clock.slept.slice(slept);
  };
  for (let round = 0; round < 2; round++) {
    const pauses = await interrupt(3);
    const bounds = [2_000, 4_000, 8_000];
    expect(pauses.map((ms, index) => ms >= 1_000 && ms <= (bounds[index] ?? 0))).toEqual([true, true, true]);
  }
  const [down, up] = [
    /^not connected to the broker: .*; reconnecting$/,
    "connected to the broker again; failed attempts: 3",
  ];
  expect(notices).toEqual([expect.stringMatching(down), up, expect.stringMatching(down), up]);
  over.abort();
  await running;
  await expect(connection.publish("a", "b")).rejects.toThrow(/^not connected to the broker: stopping$/);
});
