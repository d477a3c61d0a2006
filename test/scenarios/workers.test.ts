import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { expectAllStored } from "../support/expect/stored-seqs.ts";
import { checkedFetch } from "../support/expect/validate-response.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { childrenOf } from "../support/servers/children-of.ts";
import { isAlive, sharedWorkerGateway, twoWorkers } from "../support/servers/worker-gateway.ts";

const CLIENTS = 6;
/** How often a worker is killed under its clients. */
const KILLS = IS_SOAK ? 3 : 1;
const PATIENCE = { timeout: 60_000, interval: 20 };
/** How long a connection waits for a worker at least. */
const PATIENCE_MS = 4_900;
const FILTER: readonly [string, string][] = [
  ["channels", "charts.bsc"],
  ["min_price_change", "3"],
];

interface Page {
  readonly cursor: string;
  readonly events: readonly { readonly cursor: string; readonly seq: number }[];
}

async function page(ask: (path: string) => Promise<{ body: string }>, after: string): Promise<Page> {
  return JSON.parse((await ask(`/api/v1/events?after=${after}&limit=1000`)).body);
}

describe("a gateway with workers", () => {
  const gateway = sharedWorkerGateway("--speed", "600");

  test("one scrape covers all workers, and no counter goes back when one of them dies", {
    timeout: 120_000,
  }, async () => {
    const scrape = async () => {
      const text = await (await fetch(`${gateway().url}/metrics`)).text();
      return (name: string) => Number(text.split(`\n${name} `)[1]?.split("\n")[0]);
    };
    const clients = Array.from({ length: 4 }, () => new IndependentClient(gateway().url));
    await Promise.all(clients.map((client) => client.connect()));
    const atFirst = await scrape();
    expect(atFirst('flarewire_connections{transport="websocket"}')).toBe(4);
    expect(atFirst("flarewire_workers")).toBe(2);
    const target = (clients[0]?.seq ?? 0) + 30;
    await Promise.all(clients.map((client) => client.until(() => client.seq >= target)));
    const opened = 'flarewire_connections_opened_total{transport="websocket"}';
    const events = (await scrape())("flarewire_head_seq");
    expect(events).toBeGreaterThanOrEqual(target);
    const reported = await scrape();
    expect(reported("flarewire_deliveries_total")).toBeGreaterThanOrEqual(4 * 29);
    process.kill(gateway().pids()[0] ?? 0, "SIGKILL");
    await gateway().began(3);
    const atLast = await scrape();
    expect(atLast("flarewire_worker_ends_total")).toBe(1);
    // Connections that only asked count where they lie too, so a half of four need not be two.
    const open = () => clients.filter(({ closeCode }) => closeCode === undefined).length;
    await expect.poll(open).toBeLessThan(4);
    expect(atLast('flarewire_connections{transport="websocket"}')).toBe(open());
    expect(atLast(opened)).toBe(4);
    expect(atLast("flarewire_deliveries_total")).toBeGreaterThanOrEqual(
      reported("flarewire_deliveries_total"),
    );
    expect(atLast("flarewire_events_total")).toBeNaN();
    await Promise.all(clients.map((client) => client.disconnect()));
  });

  test("new connections go to the worker with the fewest until each has half, in a burst and a few at a time", {
    timeout: 120_000,
  }, async ({ onTestFinished }) => {
    const some = (count: number) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const socket = connect(Number(new URL(gateway().url).port), "127.0.0.1");
          onTestFinished(() => void socket.destroy());
          await once(socket, "connect");
          const answer = once(socket, "data");
          socket.write("GET /nothing HTTP/1.1\r\nHost: test\r\n\r\n");
          return /request:(\w+)-/.exec(String((await answer)[0]))?.[1] ?? "";
        }),
      );
    const names: string[] = [];
    const share = () => names.filter((name) => name === names[0]).length / names.length;
    for (const atOnce of [10, 200, 100]) {
      names.push(...(await some(atOnce)));
      // One that a busy machine keeps from its work is passed over, and has the fewest afterwards:
      // the next ones are its own.
      while (names.length < 1_500 && Math.abs(share() - 0.5) > 0.05) names.push(...(await some(10)));
      expect(share(), `${names.length} connections`).toBeCloseTo(0.5, 1);
      expect(new Set(names).size).toBe(2);
    }
  });

  test("[L3] [L2] clients of killed workers resume without a hole or a repeat, hold what REST serves, and keep their filters", {
    timeout: 180_000,
  }, async ({ onTestFinished }) => {
    const clients = Array.from({ length: CLIENTS }, () => new IndependentClient(gateway().url));
    const filtered = new IndependentClient(gateway().url);
    await Promise.all([...clients.map((client) => client.connect()), filtered.connect(FILTER)]);
    const cursor = String(clients[0]?.received.answers[0]?.cursor);
    let isOver = false;
    const resuming = [...clients, filtered].map(async (client) => {
      // Each message ends a wait: on a busy machine the test takes longer than one may last.
      const heard = () => client.received.events.length + client.received.heartbeats.length;
      while (!isOver) {
        const before = heard();
        await client.until(() => isOver || client.closeCode !== undefined || heard() > before);
        if (!isOver && client.closeCode !== undefined)
          await client.connect(client === filtered ? FILTER : []);
      }
    });
    const began = gateway().pids().length;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const target = Math.max(...clients.map(({ seq }) => seq)) + 30;
      await Promise.all(clients.map((client) => client.until(() => client.seq >= target)));
      process.kill(gateway().pids().slice(-2)[0] ?? 0, "SIGKILL");
      await gateway().began(began + kill);
    }
    // The clients throw at a hole, a repeat and a change that does not fit.
    for (const client of clients) {
      await expectOneState(gateway().url, client);
      expect(client.resets).toBe(1);
      await expectAllStored(gateway().url, client.received.events);
    }
    const more = filtered.received.events.length + 10;
    await filtered.until(() => filtered.received.events.length >= more);
    expect(filtered.resets).toBe(1);
    // Half of them were cut off by each kill, and resumed.
    const answers = [...clients, filtered].flatMap(({ received }) => received.answers.slice(1));
    expect(answers.length).toBeGreaterThanOrEqual(2 * KILLS);
    expect(answers).toEqual(answers.map(() => expect.objectContaining({ resumed: "full" })));
    isOver = true;
    await Promise.all([...clients, filtered].map((client) => client.disconnect()));
    await Promise.all(resuming);

    // Workers that began long after have the past too: the same bytes.
    const [one, other] = await twoWorkers(gateway().url, onTestFinished);
    for (const after of ["oldest", cursor]) {
      const [here, there] = [await page(one.ask, after), await page(other.ask, after)];
      expect(here.events.length).toBeGreaterThan(100);
      const shared = Math.min(here.events.length, there.events.length);
      expect(here.events.slice(0, shared)).toEqual(there.events.slice(0, shared));
    }
  });

  test("[L3] while all workers are gone, connections wait for the next one, which serves them", {
    timeout: 120_000,
  }, async () => {
    const began = gateway().pids().length;
    const client = new IndependentClient(gateway().url);
    await client.connect();
    for (const pid of gateway().pids().filter(isAlive)) process.kill(pid, "SIGKILL");
    await client.until(() => client.closeCode !== undefined);
    // A slow machine may need longer for a worker than a connection waits. It has to wait that
    // long.
    const served = async (ask: () => Promise<boolean>) => {
      for (let asked = performance.now(); !(await ask()); asked = performance.now())
        expect(performance.now() - asked).toBeGreaterThan(PATIENCE_MS);
    };
    await Promise.all([
      served(async () => {
        const { status } = await checkedFetch(`${gateway().url}/api/v1/snapshot`);
        expect([200, 503]).toContain(status);
        return status === 200;
      }),
      served(async () => {
        await client.connect();
        return client.closeCode === undefined;
      }),
    ]);
    expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
    await expectOneState(gateway().url, client);
    await client.disconnect();
    await gateway().began(began + 2);
  });

  test("[W25] workers whose primary was killed disconnect their clients and exit", {
    timeout: 120_000,
  }, async () => {
    const clients = Array.from({ length: 4 }, () => new IndependentClient(gateway().url));
    await Promise.all(clients.map((client) => client.connect()));
    gateway().cli.child.kill("SIGKILL");
    await Promise.all(clients.map((client) => client.until(() => client.closeCode !== undefined)));
    expect(clients.map(({ closeCode }) => closeCode)).toEqual([1001, 1001, 1001, 1001]);
    await expect.poll(() => gateway().pids().filter(isAlive)).toEqual([]);
  });
});

// With simulated processes, `npm test` tries both in test/workers.
describe.runIf(IS_SOAK)("a gateway whose workers crash", () => {
  const gateway = sharedWorkerGateway("--drain", "5m");

  test("a worker that crashes repeatedly is replaced later each time, as the log and /readyz report", {
    timeout: 120_000,
  }, async () => {
    const crashes = () => gateway().logged("worker crashed; ");
    // A worker that lived for half a minute, as the first one may have, is replaced at once.
    const waits = () => crashes().flatMap(({ againInMs }) => (againInMs === 0 ? [] : [againInMs]));
    const [one] = gateway().pids();
    // Killed as soon as there is a process: a busy machine may take long to start its program.
    const next = () => childrenOf(gateway().cli.child.pid).find((pid) => pid !== one);
    for (let count = 1; waits().length < 3; count += 1) {
      const pid = await vi.waitUntil(next, PATIENCE);
      process.kill(pid, "SIGKILL");
      await expect.poll(() => crashes().length).toBe(count);
    }
    expect(new Set(crashes().map(({ worker }) => worker)).size).toBe(1);
    expect(waits()).toEqual([500, 1_000, 2_000]);
    const reason = async () => {
      const { status, json } = await checkedFetch(`${gateway().url}/readyz`);
      return `${status} ${(json as { reason: string }).reason}`;
    };
    await expect.poll(reason).toBe("200 1 of 2 workers crash repeatedly");
  });

  test("a second signal after a second ends all processes at once with exit code 75", {
    timeout: 120_000,
  }, async () => {
    await expect.poll(() => gateway().pids().filter(isAlive).length).toBe(2);
    const clients = Array.from({ length: 4 }, () => new IndependentClient(gateway().url));
    await Promise.all(clients.map((client) => client.connect()));
    gateway().cli.child.kill("SIGTERM");
    // The first client of each worker has its moment at once, the second one after minutes.
    await Promise.all(clients.map((client) => client.until(() => client.received.goaways.length > 0)));
    const { child } = gateway().cli;
    const again = () => {
      child.kill("SIGTERM");
      return child.exitCode;
    };
    await expect.poll(again).toBe(75);
    await expect.poll(() => gateway().pids().filter(isAlive)).toEqual([]);
  });
});

describe("a gateway that disconnects over some seconds", () => {
  const gateway = sharedWorkerGateway("--drain", "4s", "--speed", "300");

  test("[W31] SIGTERM to one worker gives each of its clients its own moment; new clients go to the others, and it is replaced at once", {
    timeout: 120_000,
  }, async () => {
    const clients = Array.from({ length: CLIENTS }, () => new IndependentClient(gateway().url));
    await Promise.all(clients.map((client) => client.connect()));
    process.kill(gateway().pids()[0] ?? 0, "SIGTERM");
    const gone = () => clients.filter(({ closeCode }) => closeCode !== undefined);
    await Promise.race(clients.map((client) => client.until(() => client.closeCode !== undefined)));
    // It has the fewest now, and would refuse them.
    const others = Array.from({ length: 6 }, () => new IndependentClient(gateway().url));
    await Promise.all(others.map((client) => client.connect()));
    expect(others.map(({ received }) => received.answers.length)).toEqual([1, 1, 1, 1, 1, 1]);
    for (const client of gone()) await client.connect();
    await gateway().began(3);
    await expect
      .poll(() => gateway().logged("worker stopped; starting a replacement"))
      .toMatchObject([{ code: 0, againInMs: 0 }]);
    for (const client of gone()) await client.connect();
    const target = Math.max(...clients.map(({ seq }) => seq)) + 10;
    await Promise.all(clients.map((client) => client.until(() => client.seq >= target)));
    // The clients throw at a hole and at a repeat.
    expect(clients.map(({ resets }) => resets)).toEqual(clients.map(() => 1));
    await Promise.all([...clients, ...others].map((client) => client.disconnect()));
  });

  test("[W25] [W31] SIGTERM disconnects the clients of all workers, each at its own moment of one window, and exits with code 0", {
    timeout: 120_000,
  }, async () => {
    const clients = Array.from({ length: CLIENTS }, () => new IndependentClient(gateway().url));
    await Promise.all(clients.map((client) => client.connect()));
    gateway().cli.child.kill("SIGTERM");
    await Promise.all(clients.map((client) => client.until(() => client.closeCode !== undefined)));
    expect(clients.map(({ closeCode }) => closeCode)).toEqual(clients.map(() => 4200));
    const slots = clients.map(({ received }) => Number(received.goaways[0]?.reconnect_after_ms)).sort();
    // Each of two workers has moments for its own; one of them has half of the clients at least.
    expect(new Set(slots).size).toBeGreaterThanOrEqual(CLIENTS / 2);
    expect(await gateway().cli.ended()).toBe(0);
    expect(gateway().pids().filter(isAlive)).toEqual([]);
  });
});
