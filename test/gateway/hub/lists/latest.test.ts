import { expect } from "vitest";
import { projectSnapshot } from "../../../../src/base/protocol/index.ts";
import { settled, test } from "../hub-fixture.ts";
import type { Step } from "../test-market.ts";

/** A hundred events: two flares start, a status changes, the rest are listings and refreshes. */
const BURST: readonly Step[] = [
  "flare",
  "status",
  "flare",
  ...Array.from({ length: 97 }, (_, at): Step => (at % 2 ? "refresh" : "list")),
];
const FOLLOWED = ["flares.pro", "newest.bsc", "status"];

test("[W34] [W35] a client that fell behind gets the starts and status that it missed, the lists at the head, then events again", async ({
  sut,
}) => {
  const socket = sut.open({ channels: FOLLOWED, mode: "latest" }, (made) => {
    made.highWater = 1;
  });
  socket.readOnce();
  socket.freeze();
  await sut.publish("list");
  await sut.publish(...BURST);
  socket.thaw();
  for (let turn = 0; turn < 20; turn++) {
    await settled();
    socket.readOnce();
  }
  const after = socket.messages.slice(socket.messages.findIndex(({ type }) => type === "event") + 1);
  expect(after.map(({ type, name }) => name ?? type)).toEqual([
    "flare-started",
    "source-status",
    "flare-started",
    "conflated",
  ]);
  expect(after.slice(0, 3).map(({ type, cursor }) => [type, cursor])).toEqual(
    Array(3).fill(["missed", undefined]),
  );
  expect(after[3]).toMatchObject({ cursor: "test1-101", channels: ["flares.pro", "newest.bsc", "status"] });
  expect(after[3]?.snapshot).toEqual(projectSnapshot(sut.head.snapshot, ["flares.pro", "newest.bsc"]));
  await sut.publish("list");
  expect(socket.of("event").at(-1)).toMatchObject({ seq: 102, prev: 101 });
});

test("[W34] a client that resumes 100 events back is conflated; one 50 events back, or in mode events, gets every event", async ({
  sut,
}) => {
  await sut.publish(...BURST);
  const far = sut.open({ channels: FOLLOWED, mode: "latest", after: "test1-0" });
  const near = sut.open({ channels: FOLLOWED, mode: "latest", after: "test1-50" });
  const whole = sut.open({ channels: FOLLOWED, mode: "events", after: "test1-0" });
  await settled();
  expect([far, near, whole].map((socket) => socket.of("event").length)).toEqual([0, 50, 100]);
  expect([far, near, whole].map((socket) => socket.of("conflated").length)).toEqual([1, 0, 0]);
  expect(far.of("subscribed")[0]).toMatchObject({ resumed: "full" });
});

test("[W34] a client is conflated from exactly as many events as the limit, each time that it falls behind, and gets every event otherwise", async ({
  make,
}) => {
  const sut = make({ hub: { limits: { conflateFrom: 5 } } });
  const socket = sut.open({ channels: ["newest.bsc"], mode: "latest" }, (made) => {
    made.highWater = 1;
  });
  const readAll = async () => {
    const before = socket.messages.length;
    socket.thaw();
    for (let turn = 0; turn < 12; turn++) {
      await settled();
      socket.readOnce();
    }
    return socket.messages.slice(before).map(({ type, snapshot }) => (snapshot ? `${type} lists` : type));
  };
  await readAll();
  for (const missed of [5, 4, 5, 4]) {
    socket.freeze();
    // The first fills the socket. The client falls behind by the others.
    await sut.publish("list");
    await sut.publish(...Array.from({ length: missed }, () => "list" as const));
    const lists = missed === 5 ? ["conflated lists"] : Array(4).fill("event");
    expect(await readAll(), `${missed}`).toEqual(["event", ...lists]);
  }
});

test("[W34] a client that reads its lists late gets the events after them, not the lists again", async ({
  sut,
}) => {
  const socket = sut.open({ channels: FOLLOWED, mode: "latest" }, (made) => {
    made.highWater = 1;
  });
  socket.freeze();
  await sut.publish("list");
  await sut.publish(...BURST);
  const hasLists = () => socket.writes.some((bytes) => bytes.includes("conflated"));
  // Each write fills the socket again, also that of the lists.
  for (let turn = 0; turn < 20 && !hasLists(); turn++) {
    socket.readOnce();
    await settled();
  }
  await sut.publish("list");
  for (let turn = 0; turn < 4; turn++) {
    socket.readOnce();
    await settled();
  }
  const last = socket.messages.slice(-2).map(({ type, seq }) => [type, seq]);
  expect(last).toEqual([
    ["conflated", undefined],
    ["event", 102],
  ]);
});

test("[W34] [W36] a client that already skips one channel gets every list, if the log drops events meanwhile", async ({
  make,
}) => {
  const limits = { conflateFrom: 5, catchUpBytes: 1 };
  const sut = make({ hub: { limits }, log: { minCount: 5, maxAgeMs: 0, lastingAgeMs: 3_600_000 } });
  const socket = sut.open({ channels: FOLLOWED, mode: "latest" }, (made) => {
    made.highWater = 1;
  });
  socket.readOnce();
  socket.freeze();
  await sut.publish("list");
  await sut.publish(...Array<Step>(8).fill("status"));
  for (let turn = 0; turn < 3; turn++) {
    socket.readOnce();
    await settled();
  }
  expect(socket.of("missed").length).toBeGreaterThan(0);
  for (let count = 0; count < 20; count++) {
    sut.clock.advance(10);
    await sut.publish("list");
  }
  for (let turn = 0; turn < 40; turn++) {
    socket.readOnce();
    await settled();
  }
  expect(socket.of("missed")).toHaveLength(8);
  expect(socket.of("conflated")).toMatchObject([{ channels: FOLLOWED }]);
});

test("[W34] the first subscription sets the mode; a later one that names another mode is rejected", ({
  sut,
}) => {
  const socket = sut.open({ channels: ["status"], mode: "latest" });
  const subscribe = (id: string, mode?: string) =>
    socket.session?.receiveText(JSON.stringify({ type: "subscribe", id, channels: ["newest.bsc"], mode }));
  subscribe("other", "events");
  subscribe("wrong", "newest");
  subscribe("same", "latest");
  subscribe("none");
  expect(socket.of("error").map(({ id, code, field }) => [id, code, field])).toEqual([
    ["other", "invalid-parameter", "mode"],
    ["wrong", "invalid-parameter", "mode"],
  ]);
  expect(socket.of("subscribed").map(({ id }) => id)).toEqual(["url", "same", "none"]);
});

test("[W35] if a subscribed flare channel had events, conflated has every subscribed flare channel; otherwise it has none", async ({
  sut,
}) => {
  await sut.publish(...BURST);
  const channels = ["flares.free", "flares.pro", "status"];
  const socket = sut.open({ channels, mode: "latest", after: "test1-0" });
  await settled();
  expect(socket.of("conflated")).toMatchObject([{ channels }]);
  const alone = sut.open({ channels: ["flares.free", "newest.bsc"], mode: "latest", after: "test1-0" });
  await settled();
  expect(alone.of("conflated")).toMatchObject([{ channels: ["newest.bsc"] }]);
});

test("[W23] [W34] missed events are written in parts of a bounded size, and none is lost", async ({
  make,
}) => {
  const sut = make({ hub: { limits: { catchUpBytes: 2_000 } } });
  for (let poll = 0; poll < 10; poll += 1) await sut.publish(...Array<Step>(20).fill("status"));
  const socket = sut.open({ channels: ["status"], mode: "latest", after: "test1-0" }, (made) => {
    made.highWater = 2 ** 20;
  });
  await expect.poll(() => socket.of("missed").length).toBe(200);
  expect(Math.max(...socket.writes.map(({ length }) => length))).toBeLessThan(3_000);
});
