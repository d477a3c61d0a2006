import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { Refusals } from "../../src/gateway/http/index.ts";
import { TicketTable } from "../../src/gateway/keys/index.ts";
import type { MetricsJson } from "../../src/gateway/metrics/index.ts";
import { encodeLists } from "../../src/gateway/persistence/restored-state.ts";
import { createLogger } from "../../src/gateway/start/create-logger.ts";
import { WorkersFrontend } from "../../src/workers/index.ts";
import type { Question } from "../../src/workers/messages.ts";
import { createHubUnderTest, FRESH, INFO } from "../gateway/hub/hub-fixture.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { test } from "../support/time/still-running.ts";
import { FakeChild } from "./fake-child.ts";

const KEY = "0a0a0a0a";

/** Creates a frontend whose worker processes the test drives. */
function createFrontend(port = 0) {
  const clock = new ManualClock();
  const { head, hub, log } = createHubUnderTest();
  const children: FakeChild[] = [];
  const front = new WorkersFrontend({
    ...{ workers: 2, host: "127.0.0.1", port, drainMs: 0, config: {}, head, hub, log, clock },
    spawn: () => {
      const child = new FakeChild(1_000 + children.length);
      children.push(child);
      return child;
    },
    report: () => ({ info: INFO, freshness: FRESH }),
    encode: encodeLists,
    tickets: new TicketTable(clock),
    used: () => {},
    keys: () => [],
    rates: { countElsewhere: () => {}, spent: [] },
    metrics: { json: async () => counted(1) },
    refusals: new Refusals(clock),
    logger: createLogger("silent"),
  });
  const child = (at: number) => {
    const found = children.at(at);
    if (!found) throw new Error(`process ${at} has not been started; there are ${children.length}`);
    return found;
  };
  const serve = async () => {
    const listening = front.listen();
    await expect.poll(() => children.length).toBe(2);
    for (const one of children) one.say({ type: "ready" });
    await listening;
  };
  const close = async () => {
    const closed = front.close();
    for (const one of children) one.end(0);
    await closed;
    await hub.close();
  };
  return { front, clock, child, children, serve, close, hub };
}

/** Returns the metrics of a process that counted `value` requests. */
function counted(value: number): MetricsJson {
  const metric = { name: "requests_total", help: "Requests.", type: "counter", aggregator: "sum" };
  return JSON.parse(JSON.stringify([{ ...metric, values: [{ value, labels: {} }] }]));
}

test("the sum of a counter over all processes never decreases when workers end", async () => {
  const { clock, child, children, serve, close } = createFrontend();
  await serve();
  /** Returns the total of a scrape at the first worker, with this count at each worker. */
  const scrape = async (...counts: readonly number[]) => {
    const alive = children.filter(({ connected }) => connected);
    alive[0]?.say({ type: "ask", id: 1, question: { kind: "metrics" } });
    alive.forEach((one, at) => {
      const asked = one.received.findLast((message) => message.type === "measure");
      if (asked) one.say({ type: "measured", id: asked.id, metrics: counted(counts[at] ?? 0) });
    });
    const answers = () => alive[0]?.received.filter(({ type }) => type === "answer") ?? [];
    const before = answers().length;
    await expect.poll(() => answers().length).toBe(before + 1);
    return /requests_total (\d+)/.exec(JSON.stringify(answers().at(-1)))?.[1];
  };
  expect(await scrape(10, 100)).toBe("111");
  for (const [end, total] of [
    [1, "121"],
    [2, "121"],
  ] as const) {
    child(end).end(1);
    clock.advance(1_000);
    await turn();
    child(-1).say({ type: "ready" });
    expect(await scrape(20, 0)).toBe(total);
  }
  await close();
});

test("[K7] each worker receives every removed or downgraded key, in order", async () => {
  const { front, child, serve, close } = createFrontend();
  await serve();
  front.keyEnded(KEY, "unauthorized");
  front.keyEnded("0b0b0b0b", "forbidden");
  for (const at of [0, 1])
    expect(child(at).received.filter(({ type }) => type === "ended")).toEqual([
      { type: "ended", keyId: KEY, reason: "unauthorized" },
      { type: "ended", keyId: "0b0b0b0b", reason: "forbidden" },
    ]);
  await close();
});

test("[K4] a ticket that one worker issued is known at another, and only one of them can redeem it", async () => {
  const { child, serve, close } = createFrontend();
  await serve();
  let id = 0;
  const ask = async (at: number, question: Question) => {
    id += 1;
    child(at).say({ type: "ask", id, question });
    await turn();
    const answers = child(at).received.flatMap((message) => (message.type === "answer" ? [message] : []));
    return answers.find((message) => message.id === id)?.answer;
  };
  const issued = await ask(0, { kind: "issue", keyId: KEY });
  const ticket = /fwt_[\w-]+/.exec(JSON.stringify(issued))?.[0] ?? "";
  expect(await ask(1, { kind: "holder", ticket })).toEqual({ value: KEY });
  expect(await ask(1, { kind: "spend", ticket })).toEqual({ value: true });
  expect(await ask(0, { kind: "spend", ticket })).toEqual({ value: false });
  expect(await ask(0, { kind: "holder", ticket })).toEqual({ value: undefined });
  await close();
});

test("a failed start leaves its port free and no process", async () => {
  const other = createServer();
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  await new Promise((resolve) => other.close(resolve));
  const { front, child, children, hub } = createFrontend(port);
  const listening = front.listen();
  await expect.poll(() => children.length).toBe(2);
  child(1).end(70);
  await expect(listening).rejects.toThrow("worker 2 ended during its start (exit code 70)");
  expect(children.map(({ connected }) => connected)).toEqual([false, false]);
  const late = connect(port, "127.0.0.1");
  await expect(once(late, "connect")).rejects.toThrow("ECONNREFUSED");
  await hub.close();
});
