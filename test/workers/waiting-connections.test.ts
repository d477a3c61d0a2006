import { once } from "node:events";
import { connect, Socket } from "node:net";
import { expect } from "vitest";
import { Refusals } from "../../src/http/index.ts";
import { ConnectionHandoff } from "../../src/workers/primary/connection-handoff.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { test as base } from "../support/still-running.ts";

const MAX_WAITING = 2_048;

/**
 * A reception in front of one worker that has no room until the test says so. Fails when a timer or
 * a socket outlives the test.
 */
const test = base.extend<{ sut: Awaited<ReturnType<typeof receive>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  sut: async ({}, use) => {
    const sut = await receive();
    await use(sut);
    sut.reception.close();
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
  const reception = new ConnectionHandoff({
    ...{ host: "127.0.0.1", port: 0, clock, refusals },
    receivers: () => [worker],
  });
  const port = Number(new URL(await reception.listen()).port);
  /** A client that waits from now on. */
  const come = async () => {
    const before = reception.waiting;
    const socket = connect(port, "127.0.0.1");
    clients.push(socket);
    await expect.poll(() => reception.waiting, { interval: 1 }).toBe(before + 1);
    return socket;
  };
  const answerTo = async (socket: Socket) => {
    let answer = "";
    socket.on("data", (bytes) => {
      answer += String(bytes);
    });
    await once(socket, "close");
    return answer;
  };
  return { clock, handed, clients, worker, refusals, reception, port, come, answerTo };
}

test("[W33] while 2,048 connections wait, the next one gets 503 and is counted", async ({ sut }) => {
  const { reception, refusals, clients, port, answerTo, worker, handed } = sut;
  for (let n = 0; n < MAX_WAITING; n += 1) reception.takeBack(new Socket());
  expect([reception.waiting, refusals.counts]).toEqual([MAX_WAITING, {}]);
  const late = connect(port, "127.0.0.1");
  clients.push(late);
  expect(await answerTo(late)).toMatch(/^HTTP\/1\.1 503 /);
  expect([reception.waiting, refusals.counts]).toEqual([MAX_WAITING, { "no-worker": 1 }]);
  worker.canTake = true;
  reception.pump();
  expect([reception.waiting, handed.length]).toEqual([0, MAX_WAITING]);
});

test("[L3] a connection that a crashed worker had not taken is served next", async ({ sut }) => {
  const { reception, worker, handed, come } = sut;
  await come();
  await come();
  const [first, second] = [new Socket(), new Socket()];
  reception.takeBack(second);
  reception.takeBack(first);
  worker.canTake = true;
  reception.pump();
  expect(handed.length).toBe(4);
  expect(handed.slice(0, 2)).toEqual([first, second]);
});

test("a connection that closed while it waited goes to no worker", async ({ sut }) => {
  const { reception, worker, handed, come } = sut;
  const [gone, stays] = [await come(), await come()];
  const back = new Socket();
  reception.takeBack(back);
  back.destroy();
  gone.destroy();
  worker.canTake = true;
  await expect
    .poll(() => {
      reception.pump();
      return reception.waiting;
    })
    .toBe(0);
  expect(handed).not.toContain(back);
  expect(handed.map(({ remotePort }) => remotePort)).toContain(stays.localPort);
});

test("closing refuses the connections that wait and those that come back, and stops the timer", async ({
  sut,
}) => {
  const { reception, clock, refusals, come, answerTo } = sut;
  const answers = [answerTo(await come()), answerTo(await come())];
  reception.close();
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  const back = new Socket();
  reception.takeBack(back);
  expect([reception.waiting, refusals.counts]).toEqual([0, { "no-worker": 3 }]);
  clock.advance(60_000);
});
