import { once } from "node:events";
import { connect, Socket } from "node:net";
import { expect } from "vitest";
import { Refusals } from "../../src/gateway/http/index.ts";
import { ConnectionHandoff } from "../../src/workers/primary/connection-handoff.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { test as base } from "../support/time/still-running.ts";

const MAX_WAITING = 2_048;

/**
 * A primary in front of one worker, which takes no connection until the test permits it. Fails if a
 * timer or a socket outlives the test.
 */
const test = base.extend<{ sut: Awaited<ReturnType<typeof receive>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  sut: async ({}, use) => {
    const sut = await receive();
    await use(sut);
    sut.handoff.close();
    for (const socket of [...sut.clients, ...sut.handed]) socket.destroy();
  },
});

async function receive() {
  const clock = new ManualClock();
  const handed: Socket[] = [];
  const clients: Socket[] = [];
  const worker = {
    ...{ isReady: true, canTake: false, isStuck: false, isLeaving: false, connections: 0 },
    handOver: (socket: Socket) => {
      handed.push(socket);
      return true;
    },
  };
  const refusals = new Refusals(clock);
  const handoff = new ConnectionHandoff({
    ...{ host: "127.0.0.1", port: 0, clock, refusals },
    receivers: () => [worker],
  });
  const port = Number(new URL(await handoff.listen()).port);
  /** Connects a client, whose connection waits from now on. */
  const connectWaiting = async () => {
    const before = handoff.waiting;
    const socket = connect(port, "127.0.0.1");
    clients.push(socket);
    await expect.poll(() => handoff.waiting, { interval: 1 }).toBe(before + 1);
    return socket;
  };
  const responseTo = async (socket: Socket) => {
    let answer = "";
    socket.on("data", (bytes) => {
      answer += String(bytes);
    });
    await once(socket, "close");
    return answer;
  };
  return { clock, handed, clients, worker, refusals, handoff, port, connectWaiting, responseTo };
}

test("[W33] while 2,048 connections wait, the next one gets 503 and is counted", async ({ sut }) => {
  const { handoff, refusals, clients, port, responseTo, worker, handed } = sut;
  for (let n = 0; n < MAX_WAITING; n += 1) handoff.takeBack(new Socket());
  expect([handoff.waiting, refusals.counts]).toEqual([MAX_WAITING, {}]);
  const late = connect(port, "127.0.0.1");
  clients.push(late);
  expect(await responseTo(late)).toMatch(/^HTTP\/1\.1 503 /);
  expect([handoff.waiting, refusals.counts]).toEqual([MAX_WAITING, { "no-worker": 1 }]);
  worker.canTake = true;
  handoff.pump();
  expect([handoff.waiting, handed.length]).toEqual([0, MAX_WAITING]);
});

test("[L3] a connection that a crashed worker had not taken is served next", async ({ sut }) => {
  const { handoff, worker, handed, connectWaiting } = sut;
  await connectWaiting();
  await connectWaiting();
  const [first, second] = [new Socket(), new Socket()];
  handoff.takeBack(second);
  handoff.takeBack(first);
  worker.canTake = true;
  handoff.pump();
  expect(handed.length).toBe(4);
  expect(handed.slice(0, 2)).toEqual([first, second]);
});

test("a connection that closed while it waited goes to no worker", async ({ sut }) => {
  const { handoff, worker, handed, connectWaiting } = sut;
  const [gone, open] = [await connectWaiting(), await connectWaiting()];
  const returned = new Socket();
  handoff.takeBack(returned);
  returned.destroy();
  gone.destroy();
  worker.canTake = true;
  await expect
    .poll(() => {
      handoff.pump();
      return handoff.waiting;
    })
    .toBe(0);
  expect(handed).not.toContain(returned);
  expect(handed.map(({ remotePort }) => remotePort)).toContain(open.localPort);
});

test("close rejects waiting and returned connections, and stops the timer", async ({ sut }) => {
  const { handoff, clock, refusals, connectWaiting, responseTo } = sut;
  const answers = [responseTo(await connectWaiting()), responseTo(await connectWaiting())];
  handoff.close();
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  const returned = new Socket();
  handoff.takeBack(returned);
  expect([handoff.waiting, refusals.counts]).toEqual([0, { "no-worker": 3 }]);
  clock.advance(60_000);
});
