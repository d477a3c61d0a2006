import { expect, test } from "vitest";
import { GatewayEvents } from "../../src/gateway/start/gateway-events.ts";
import { type Config, type EventBody, startGateway } from "../../src/index.ts";

const STATUS: EventBody = {
  name: "source-status",
  channel: "status",
  observed_at: "2026-11-21T09:00:00.000Z",
  data: { state: "live", reason: "" },
};

test("a listener that throws, synchronously or later, affects neither other listeners nor the process", async () => {
  const errors: unknown[] = [];
  const events = new GatewayEvents((error) => errors.push(error));
  const received: string[] = [];
  events.on("event", () => {
    throw new Error("at once");
  });
  events.on("event", async () => {
    await Promise.resolve();
    throw new Error("later");
  });
  events.on("event", ({ cursor }) => void received.push(`event ${cursor}`));
  events.on("source-status", ({ data }) => void received.push(data.state));
  events.emitBatch([STATUS], "abcd-7");
  expect(received).toEqual(["event abcd-7", "live"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors).toEqual([new Error("at once"), new Error("later")]);
});

test("a listener can be removed, is called once if added with `once`, and keeps its context", () => {
  const events = new GatewayEvents((error) => expect.fail(String(error)));
  const counts = { on: 0, once: 0 };
  const listener = function count(this: { on: number }) {
    this.on += 1;
  };
  events.on("event", listener, counts);
  events.once("source-status", () => {
    counts.once += 1;
  });
  events.emitBatch([STATUS, STATUS], "abcd-7");
  expect(counts).toEqual({ on: 2, once: 1 });
  events.off("event", listener, counts);
  const removed = () => expect.fail("called after its removal");
  events.once("event", removed).addListener("event", removed);
  events.removeListener("event", removed);
  events.emitBatch([STATUS], "abcd-8");
  expect([counts.on, events.listenerCount("event")]).toEqual([2, 0]);
});

test("plain settings instead of a Config are rejected with a hint how to create one", async () => {
  for (const given of [{ port: 0 }, {}]) {
    // Without types, a program can pass plain settings.
    await expect(startGateway(given as Config)).rejects.toThrow(
      "expected a Config; create one with createConfig(), for example startGateway(createConfig({ port: 0 }))",
    );
  }
});
