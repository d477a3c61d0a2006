import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { startCrew } from "./crew-fixture.ts";

/** A worker that serves, and a connection for it. */
async function oneWorker() {
  const made = await startCrew(1);
  const [worker] = made.crew.processes;
  if (!worker) throw new Error("no worker");
  return { ...made, worker, child: made.child(0), socket: new Socket() };
}

test("a worker takes one connection at a time: the next one after it said that it has the first", async () => {
  const { worker, child, socket } = await oneWorker();
  for (const own of [socket, new Socket()]) {
    expect(worker.hasRoom).toBe(true);
    expect(worker.hand(own)).toBe(true);
    expect([worker.hasRoom, own.destroyed]).toEqual([false, false]);
    child.say({ type: "taken" });
    expect([worker.hasRoom, own.destroyed]).toEqual([true, true]);
  }
  expect(worker.connections).toBe(2);
});

test("a worker counts as stuck after two looks without taking a connection, and not any more once it took it", async () => {
  const { clock, worker, child, socket } = await oneWorker();
  for (const own of [socket, new Socket()]) {
    worker.hand(own);
    clock.advance(1_000);
    expect(worker.isStuck).toBe(false);
    clock.advance(1_000);
    expect(worker.isStuck).toBe(true);
    child.say({ type: "taken" });
    expect(worker.isStuck).toBe(false);
  }
});

test("the number of connections is the worker's word, and one more while another is on its way", async () => {
  const { worker, child, socket } = await oneWorker();
  worker.hand(socket);
  child.alive(4);
  expect(worker.connections).toBe(5);
  child.say({ type: "taken" });
  child.alive(4);
  expect(worker.connections).toBe(4);
});

test("[L3] a connection that a worker had not taken when it died comes back once, and one that it had does not", async () => {
  const { worker, child, socket, leftOver } = await oneWorker();
  worker.hand(new Socket());
  child.say({ type: "taken" });
  worker.hand(socket);
  child.end(null, "SIGKILL");
  expect(leftOver).toEqual([socket]);
  expect(socket.destroyed).toBe(false);
  expect(worker.hand(new Socket())).toBe(false);
  expect([worker.isReady, worker.hasRoom]).toEqual([false, false]);
});

test("[W33] what a worker had is free when it is gone, that which was decided too late too", async () => {
  const { child, seats } = await oneWorker();
  const seat = (place: number) => ({ kind: "seat", place, address: "a", name: undefined }) as const;
  const ask = (id: number) =>
    child.say({ type: "ask", id, question: { ...seat(id), key: undefined, ticket: undefined } });
  ask(1);
  await turn();
  expect(seats.taken).toBe(1);
  ask(2);
  child.end(1);
  await turn();
  expect(seats.taken).toBe(0);
});

test("an answer goes to its question, and a fault of the primary's comes without its words", async () => {
  const { child, seats } = await oneWorker();
  child.say({ type: "ask", id: 7, question: { kind: "holder", ticket: "none" } });
  seats.take = () => {
    throw new Error("secret of the primary");
  };
  child.say({ type: "ask", id: 8, question: { kind: "sit", place: 1, address: "a", key: undefined } });
  await turn();
  const answers = child.received.filter(({ type }) => type === "answer");
  expect(answers).toEqual([
    { type: "answer", id: 7, answer: { value: undefined } },
    {
      type: "answer",
      id: 8,
      answer: { error: { code: "internal", message: "the process that has the source failed" } },
    },
  ]);
});

test("the numbers of a worker that ends while they are asked for are those that it gave before", async () => {
  const { worker, child } = await oneWorker();
  const first = worker.measure(60_000);
  child.say({ type: "measured", id: 1, metrics: [{ name: "first" }] });
  expect(await first).toEqual([{ name: "first" }]);
  const second = worker.measure(60_000);
  child.end(1);
  expect(await second).toEqual([{ name: "first" }]);
  expect(await worker.measure(60_000)).toEqual([{ name: "first" }]);
});
