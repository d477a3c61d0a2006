import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { test as base, expect } from "vitest";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { createIntake } from "../../../../src/gateway/http/connections/intake.ts";

const [MANY, FEW] = ["127.0.0.2", "127.0.0.3"] as const;

/** A server whose connections are served once `gate.isOpen`. */
class Intake {
  readonly gate = { isOpen: false };
  readonly served: string[] = [];
  /** Called for each served connection. */
  serve = (socket: Socket): void => {
    socket.on("data", (data) => {
      this.served.push(`${socket.remoteAddress} ${data}`);
      this.#server.emit("served");
    });
  };
  readonly #sockets: Socket[] = [];
  readonly #accepted: Socket[] = [];
  readonly #server = createServer({ allowHalfOpen: true }, (socket) => {
    this.#accepted.push(socket);
    this.#take(socket, socket.remoteAddress ?? "");
  });
  readonly #take = createIntake(
    (socket) => this.serve(socket),
    systemClock,
    () => (this.gate.isOpen ? 4 : 0),
  );

  async open(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  /** Opens a connection that sends a text, or ends. Resolves with both ends once that arrived. */
  async send(localAddress: string, text: string): Promise<{ readonly ours: Socket; readonly its: Socket }> {
    const { port } = this.#server.address() as AddressInfo;
    const ours = connect({ host: "127.0.0.1", port, localAddress });
    this.#sockets.push(ours);
    const [its] = await once(this.#server, "connection");
    if (text === "") ours.end();
    else ours.write(text);
    await once(its, "readable");
    return { ours, its };
  }

  async untilServed(count: number): Promise<void> {
    while (this.served.length < count) await once(this.#server, "served");
  }

  async close(): Promise<void> {
    for (const socket of [...this.#sockets, ...this.#accepted]) socket.destroy();
    await once(this.#server.close(), "close");
  }
}

const test = base.extend<{ intake: Intake }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires the pattern.
  intake: async ({}, use) => {
    const intake = new Intake();
    await intake.open();
    await use(intake);
    await intake.close();
  },
});

test("addresses are served in turn, however many connections each has", async ({ intake }) => {
  for (const text of ["a", "b", "c", "d", "e", "f"]) await intake.send(MANY, text);
  await intake.send(FEW, "g");
  expect(intake.served).toEqual([]);
  intake.gate.isOpen = true;
  await intake.untilServed(7);
  expect(intake.served.slice(0, 2)).toEqual([`${MANY} a`, `${FEW} g`]);
  expect(intake.served.slice(2)).toEqual(["b", "c", "d", "e", "f"].map((text) => `${MANY} ${text}`));
});

test("a connection that its client ends without a request ends at once", async ({ intake }) => {
  intake.gate.isOpen = true;
  const { ours } = await intake.send(MANY, "");
  await once(ours.resume(), "close");
  expect(intake.served).toEqual([]);
});

test("a connection that its client resets while it waits is never served", async ({ intake }) => {
  const { ours, its } = await intake.send(MANY, "gone");
  ours.resetAndDestroy();
  await new Promise((resolve) => its.on("close", resolve));
  intake.gate.isOpen = true;
  await intake.send(MANY, "here");
  await intake.untilServed(1);
  expect(intake.served).toEqual([`${MANY} here`]);
});

test("all requests are answered that a client sends before its end", async ({ intake }) => {
  const http = createHttpServer((request, response) => response.end(`answer to ${request.url}.`));
  intake.serve = (socket) => http.emit("connection", socket);
  const requests = ["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const { ours, its } = await intake.send(MANY, requests.join(""));
  ours.end();
  while (!hasEnd(its)) await setImmediate();
  intake.gate.isOpen = true;
  expect(await text(ours)).toMatch(/answer to .1\..*answer to .2\..*answer to .3\./s);
});

/** Whether the other side's end has arrived. Node tells it only after all data has been read. */
function hasEnd(socket: Socket): boolean {
  return Reflect.get(Reflect.get(socket, "_readableState"), "ended");
}
