import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { test as base } from "./worker-pool-fixture.ts";

/** `sut`: a ready worker and a connection for it. */
const test = base.extend("sut", async ({ startPool }) => {
  const created = await startPool(1);
  const [worker] = created.pool.processes;
  if (!worker) throw new Error("no worker");
  return { ...created, worker, child: created.child(0), socket: new Socket() };
});

test("a worker takes one connection at a time, and the next only after confirming the first", async ({
  sut,
}) => {
  const { worker, child, socket } = sut;
  for (const own of [socket, new Socket()]) {
    expect(worker.canTake).toBe(true);
    expect(worker.handOver(own)).toBe(true);
    expect([worker.canTake, own.destroyed]).toEqual([false, false]);
    child.say({ type: "taken" });
    expect([worker.canTake, own.destroyed]).toEqual([true, true]);
  }
  expect(worker.connections).toBe(2);
});

test("a worker counts as stuck after two checks without taking its connection, until it takes it", async ({
  sut,
}) => {
  const { clock, worker, child, socket } = sut;
  for (const own of [socket, new Socket()]) {
    worker.handOver(own);
    clock.advance(1_000);
    expect(worker.isStuck).toBe(false);
    clock.advance(1_000);
    expect(worker.isStuck).toBe(true);
    child.say({ type: "taken" });
    expect(worker.isStuck).toBe(false);
  }
});

test("the number of connections is the worker's last report, plus one in transit", async ({ sut }) => {
  const { worker, child, socket } = sut;
  worker.handOver(socket);
  child.alive(4);
  expect(worker.connections).toBe(5);
  child.say({ type: "taken" });
  child.alive(4);
  expect(worker.connections).toBe(4);
});

test("[L3] a connection that a worker had not taken when it died is returned once; one that it had taken is not", async ({
  sut,
}) => {
  const { worker, child, socket, returned } = sut;
  worker.handOver(new Socket());
  child.say({ type: "taken" });
  worker.handOver(socket);
  child.end(null, "SIGKILL");
  expect(returned).toEqual([socket]);
  expect(socket.destroyed).toBe(false);
  expect(worker.handOver(new Socket())).toBe(false);
  expect([worker.isReady, worker.canTake]).toEqual([false, false]);
});

test("[L3] a connection whose receipt is read only after the worker's exit is not returned; one without a receipt is", async ({
  startPool,
}) => {
  for (const isTaken of [true, false]) {
    const { pool, child, returned } = await startPool(1);
    pool.processes[0]?.handOver(new Socket());
    child(0).emit("exit", null, "SIGKILL");
    expect(returned).toEqual([]);
    if (isTaken) child(0).say({ type: "taken" });
    child(0).close();
    expect(returned).toHaveLength(isTaken ? 0 : 1);
  }
});

test("[L3] Node reports the end of a killed process and its channel while a handle is in transit, which stays open", async () => {
  const program = 'process.on("message", () => {}); process.send("ready")';
  const stdio = ["ignore", "inherit", "inherit", "ipc"] as const;
  const child = spawn(process.execPath, ["-e", program], { stdio: [...stdio], serialization: "advanced" });
  const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await Promise.all([once(child, "message"), once(server, "listening")]);
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await once(server, "connection")) as [Socket];
  child.kill("SIGSTOP");
  child.send("connection", socket, { keepOpen: true });
  const closed = once(child, "close");
  child.kill("SIGKILL");
  expect(await closed).toEqual([null, "SIGKILL"]);
  socket.end("still open");
  expect(String((await once(client, "data"))[0])).toBe("still open");
  for (const one of [client, socket]) one.destroy();
  server.close();
});

test("a response has its request's id, and an unexpected error of the primary hides its message", async ({
  sut,
}) => {
  const { child } = sut;
  child.say({ type: "ask", id: 7, question: { kind: "holder", ticket: "none" } });
  child.say({ type: "ask", id: 8, question: { kind: "issue", keyId: "0a0a0a0a" } });
  await turn();
  const answers = child.received.filter(({ type }) => type === "answer");
  expect(answers).toEqual([
    { type: "answer", id: 7, answer: { value: undefined } },
    {
      type: "answer",
      id: 8,
      answer: { error: { code: "internal", message: "the primary process failed" } },
    },
  ]);
});

test("for a worker that ends while its metrics are requested, the last ones are used", async ({ sut }) => {
  const { worker, child } = sut;
  const first = worker.measure(60_000);
  child.say({ type: "measured", id: 1, metrics: [{ name: "first" }] });
  expect(await first).toEqual([{ name: "first" }]);
  const second = worker.measure(60_000);
  child.end(1);
  expect(await second).toEqual([{ name: "first" }]);
  expect(await worker.measure(60_000)).toEqual([{ name: "first" }]);
});

test("for a worker that does not report its metrics in time, the last ones are used, at each scrape", async ({
  sut,
}) => {
  const { clock, worker, child } = sut;
  const first = worker.measure(60_000);
  child.say({ type: "measured", id: 1, metrics: [{ name: "first" }] });
  await first;
  for (let round = 0; round < 2; round += 1) {
    const late = worker.measure(500);
    clock.advance(500);
    expect(await late).toEqual([{ name: "first" }]);
  }
});

test("[L3] changes during a worker's start reach it after the snapshot, once and in order", async ({
  createPool,
}) => {
  const { pool, child, publish } = createPool(1);
  const started = pool.start();
  await publish("list");
  await publish("refresh");
  await turn();
  await publish("list");
  const types = child(0).types();
  expect(types.slice(types.indexOf("snapshot-end"))).toEqual(["snapshot-end", "batch", "batch", "batch"]);
  child(0).say({ type: "ready" });
  await started;
  const drained = pool.drain(0);
  child(0).end(0);
  await drained;
  await publish("list");
  expect(
    child(0)
      .types()
      .filter((type) => type === "batch"),
  ).toHaveLength(3);
});
