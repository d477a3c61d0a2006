import { expect, vi } from "vitest";
import { connect, type StreamItem } from "../../../src/clients/sdk/index.ts";
import { HASTY, range, test } from "./stream-kit.ts";

test("a reader gets a reset with the lists first, and then each event once and in order", async ({
  wire,
}) => {
  await wire.publish("list", "flare");
  const stream = connect(`http://127.0.0.1:${wire.port}`, { platform: HASTY });
  const reported: string[] = [];
  for await (const item of stream) {
    if (item.name === "reset") {
      reported.push(`${item.reason} ${item.lost} ${item.view?.newest?.bsc?.length}`);
      await wire.publish("list", "flare", "refresh");
    } else reported.push(`${item.seq}`);
    if (reported.length === 4) stream.close();
  }
  expect(reported).toEqual(["started 0 1", "3", "4", "5"]);
});

test("a slow reader never loses events: the stream pauses when the queue is full, and resumes from its cursor", async ({
  wire,
}) => {
  const stream = connect(`http://127.0.0.1:${wire.port}`, { platform: HASTY, queueLimit: 4 });
  const states = new Set<string>();
  stream.on("connection", ({ state, reason }) => states.add(`${state} ${reason}`));
  const seqs: number[] = [];
  for await (const item of stream) {
    if (item.name === "reset") {
      for (let at = 0; at < 10; at++) await wire.publish("list", "flare", "refresh");
      continue;
    }
    // Reads nothing until the queue is full.
    if (item.seq === 1) await vi.waitUntil(() => states.has("paused slow"), { timeout: 280_000 });
    seqs.push(item.seq);
    if (item.seq === 30) stream.close();
  }
  expect(seqs).toEqual(range(1, 30));
  expect(states).toContain("paused slow");
});

test("a reader that starts late gets the current lists first, and so does one that starts after it stopped", async ({
  wire,
  start,
}) => {
  const { stream, until, seqs } = start(`http://127.0.0.1:${wire.port}`);
  await until(() => stream.view !== undefined);
  await wire.publish("list", "list");
  await until(() => seqs().length === 2);
  for (const round of [1, 2]) {
    let first: StreamItem | undefined;
    for await (const item of stream) {
      first = item;
      break;
    }
    expect(first, `round ${round}`).toMatchObject({
      name: "reset",
      reason: "started",
      cursor: stream.cursor,
    });
    expect(first?.name === "reset" && first.view).toEqual(stream.view);
  }
});

test("a signal closes the stream whether it aborts before or after connect, and queued events are still read", async ({
  wire,
}) => {
  const stop = new AbortController();
  const stream = connect(`http://127.0.0.1:${wire.port}`, { platform: HASTY, signal: stop.signal });
  const seqs: number[] = [];
  for await (const item of stream) {
    if (item.name === "reset") {
      const both = new Promise<void>((resolve) => stream.on("event", ({ seq }) => seq === 2 && resolve()));
      await wire.publish("list", "list");
      await both;
      stop.abort();
    } else seqs.push(item.seq);
  }
  expect([seqs, stream.connection.state]).toEqual([[1, 2], "closed"]);
  const late = connect("http://127.0.0.1:9", { signal: stop.signal });
  for await (const _item of late) throw new Error("a closed stream returned an item");
  expect(late.connection.state).toBe("closed");
});

test("with `after` a stream continues where another ended, and has no view before a reset", async ({
  wire,
  start,
}) => {
  const url = `http://127.0.0.1:${wire.port}`;
  const one = start(url);
  await one.until(() => one.stream.view !== undefined);
  await wire.publish("list", "list");
  await one.until(() => one.seqs().length === 2);
  one.stream.close();
  await wire.publish("list");
  const two = start(url, { after: one.stream.cursor as string });
  await two.until(() => two.seqs().length === 1);
  expect([two.seqs(), two.resets(), two.stream.view]).toEqual([[3], [], undefined]);
});

test("[W29] with names in the filter only those events arrive, after a reset with what is running, and the stream has no view", async ({
  makeWire,
  start,
}) => {
  for (const transport of ["websocket", "sse", "poll"] as const) {
    const wire = await makeWire();
    await wire.publish("flare");
    const { stream, until, items } = start(`http://127.0.0.1:${wire.port}`, {
      filter: { names: ["flare-started"] },
      transport,
    });
    await until(() => stream.connection.state === "live");
    await wire.publish("list", "flare", "list");
    await until(() => items.length === 2);
    const running = wire.head.snapshot.flares.pro.slice(1);
    expect(items).toMatchObject([
      { name: "reset", lost: 0, view: { flares: { pro: running } } },
      { name: "flare-started" },
    ]);
    expect(running).toHaveLength(1);
    expect(stream.view).toBeUndefined();
    stream.close();
  }
});

test("with names in the filter, a reset over a loss and one after an update have what is running", async ({
  makeWire,
  start,
}) => {
  for (const transport of ["websocket", "sse", "poll"] as const) {
    const wire = await makeWire();
    await wire.publish("flare", "list");
    const { stream, until, items } = start(`http://127.0.0.1:${wire.port}`, {
      filter: { names: ["flare-finished"] },
      after: "another-7",
      transport,
    });
    const flares = { pro: wire.head.snapshot.flares.pro };
    await until(() => items.length === 1);
    expect(items).toMatchObject([{ reason: "epoch-changed", view: { flares } }]);
    stream.update({ channels: ["flares.pro"] });
    await until(() => items.length === 2);
    expect(items[1]).toMatchObject({ reason: "changed", view: { flares } });
    expect(stream.view).toBeUndefined();
    stream.close();
  }
});

test("a hidden page pauses after a delay, and resumes from its cursor when it becomes visible", async ({
  wire,
  start,
}) => {
  const document = Object.assign(new EventTarget(), { hidden: false });
  const window = new EventTarget();
  const platform = { ...HASTY, document, window };
  const { stream, until, seqs } = start(`http://127.0.0.1:${wire.port}`, { platform });
  await until(() => stream.connection.state === "live");
  const show = (hidden: boolean) => {
    document.hidden = hidden;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  show(true);
  show(false);
  show(true);
  await until(() => stream.connection.state === "paused");
  expect(stream.connection.reason).toBe("hidden");
  await wire.sessions(0);
  await wire.publish("list", "list");
  show(false);
  await until(() => seqs().length === 2);
  window.dispatchEvent(new Event("online"));
  expect(stream.connection.state).toBe("connecting");
  await wire.publish("list");
  await until(() => seqs().length === 3);
  expect(seqs()).toEqual([1, 2, 3]);
});
