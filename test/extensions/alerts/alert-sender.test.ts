import { setImmediate as turn } from "node:timers/promises";
import { expect, vi } from "vitest";
import { RETRY, retryDelayMs } from "../../../src/extensions/alerts/delivery/delivery-plan.ts";
import { HOUR, idsOf, test } from "./sender-fixture.ts";
import { status } from "./webhook-fixture.ts";

test("messages arrive once each, in order, signed", async ({ sut }) => {
  const alerts = sut.enqueue(5);
  await sut.receiver.until(() => sut.receiver.taken.length === 5);
  expect(idsOf(sut.receiver.taken)).toEqual(idsOf(alerts));
  expect(sut.receiver.taken[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "user-agent": "flarewire",
  });
});

test("after a 500, a cut connection or a redirect, the sender retries with growing delays until the receiver has everything", async ({
  sut,
}) => {
  const { receiver } = sut;
  const answers = [
    status(500),
    status(404),
    status(302, { location: "http://169.254.169.254/latest/meta-data" }),
    (response: Parameters<ReturnType<typeof status>>[0]) => response.destroy(),
  ];
  receiver.answer = (response, delivery) => (answers.shift() ?? status(200))(response, delivery);
  const alerts = sut.enqueue(3);
  await sut.tried(7);
  await receiver.until(() => receiver.taken.length === 3);
  expect(idsOf(receiver.attempts)).toEqual([0, 0, 0, 0, 0, 1, 2].map((at) => alerts[at]?.id));
  expect(sut.clock.slept.filter((ms) => ms !== 60_000).slice(0, 4)).toEqual([1_500, 2_500, 4_500, 8_500]);
  expect(sut.notices).toEqual([
    expect.stringMatching(/could not deliver: the receiver returned 500; retrying/),
    "the receiver accepts messages again; failed attempts: 4",
  ]);
  await expect.poll(() => sut.sender.attempts).toEqual({ delivered: 3, failed: 4, refused: 0, gone: 0 });
});

test("a receiver that was down for 23 hours gets all messages", async ({ sut }) => {
  const { receiver, clock } = sut;
  await receiver.down();
  const alerts = [];
  for (let hour = 0; hour < 20; hour++) {
    alerts.push(...sut.enqueue(1));
    clock.advance((23 * HOUR) / 20);
    await clock.nextSleep();
  }
  await receiver.up();
  clock.advance(RETRY.ceilingMs);
  await receiver.until(() => receiver.taken.length === 20);
  expect(idsOf(receiver.taken)).toEqual(idsOf(alerts));
});

test("messages that are too old or too many are dropped, and the receiver first gets their number", async ({
  sut,
}) => {
  const { receiver, clock } = sut;
  receiver.answer = status(503);
  sut.enqueue(2);
  await sut.tried(1);
  clock.advance(25 * HOUR);
  const kept = sut.enqueue(23).slice(3);
  await sut.tried(2);
  receiver.answer = status(200);
  await sut.tried(3);
  await receiver.until(() => receiver.taken.length === 21);
  expect(receiver.taken[0]).toMatchObject({
    type: "alerts-expired",
    data: { count: 5, first: "1970-01-01T00:00:00.000Z" },
  });
  expect(idsOf(receiver.taken.slice(1))).toEqual(idsOf(kept));
  expect(sut.sender.dropped).toBe(5);
});

test("an unacknowledged alerts-expired is repeated unchanged, also after a restart, and later drops get another", async ({
  sut,
}) => {
  const { receiver } = sut;
  receiver.answer = status(503);
  sut.enqueue(25);
  await sut.tried(2);
  sut.enqueue(3);
  await sut.tried(3);
  sut.restart();
  await sut.tried(4);
  const notices = receiver.attempts.filter(({ type }) => type === "alerts-expired");
  expect(notices.length).toBeGreaterThan(2);
  expect(new Set(idsOf(notices)).size).toBe(1);
  for (const { data } of notices) expect(data).toMatchObject({ count: 5 });
  receiver.answer = status(200);
  await sut.tried(6);
  await receiver.until(() => receiver.taken.length >= 2);
  expect(receiver.taken.slice(0, 2)).toMatchObject([
    { type: "alerts-expired", data: { count: 5 } },
    { type: "alerts-expired", data: { count: 3 } },
  ]);
  expect(receiver.taken[1]?.id).not.toBe(receiver.taken[0]?.id);
});

test("a wall clock that jumps by a week expires nothing", async ({ sut }) => {
  const { receiver, clock } = sut;
  receiver.answer = status(503);
  const alerts = sut.enqueue(2);
  await sut.tried(1);
  clock.jumpWall(168 * HOUR);
  receiver.answer = status(200);
  await sut.tried(3);
  await receiver.until(() => receiver.taken.length === 2);
  expect(idsOf(receiver.taken)).toEqual(idsOf(alerts));
});

test("410 disables the target, also after a restart, until its url or secret changes", async ({ sut }) => {
  const { receiver } = sut;
  receiver.answer = status(410);
  sut.enqueue(3);
  await receiver.until(() => receiver.attempts.length === 1);
  await expect.poll(() => sut.sender.isDisabled).toBe(true);
  sut.restart();
  sut.enqueue(1);
  expect(sut.sender.isDisabled).toBe(true);
  expect(sut.notices).toEqual([
    expect.stringMatching(/disabled: the receiver returned 410 Gone/),
    expect.stringMatching(/change its url or secret to enable them/),
  ]);
  receiver.answer = status(200);
  sut.restart({ url: `${receiver.url}2` });
  const [alert] = sut.enqueue(1);
  await receiver.until(() => receiver.taken.length === 1);
  expect(receiver.taken[0]?.id).toBe(alert?.id);
});

test.for([
  ["expire", 0],
  ["remove", 1],
] as const)(
  "a store whose %s throws is retried after a minute, even if woken before, with %i messages sent until then",
  async ([name, sent], { sut }) => {
    const { receiver, clock, store, notices } = sut;
    vi.spyOn(store, name).mockImplementationOnce(() => {
      sut.sender.wake();
      throw new Error("disk I/O error");
    });
    const [alert] = sut.enqueue(1);
    await clock.nextSleep();
    expect(clock.slept.at(-1)).toBe(60_000);
    expect(receiver.attempts).toHaveLength(sent);
    expect(notices).toEqual([expect.stringMatching(/could not read or update the queue: disk I\/O error/)]);
    clock.advance(60_000);
    await expect.poll(() => store.first("desk")).toBeUndefined();
    // An accepted message that could not be removed from the queue is not sent again.
    expect(idsOf(receiver.taken)).toEqual([alert?.id]);
  },
);

test("[L5] a store that cannot be read or written at the start, as on a full disk, is retried", async ({
  sut,
}) => {
  const { receiver, clock, store } = sut;
  receiver.answer = status(410);
  sut.enqueue(1);
  await expect.poll(() => sut.sender.isDisabled).toBe(true);
  const disable = store.disable.bind(store);
  store.disable = () => {
    throw new Error("database or disk is full");
  };
  const slept = clock.nextSleep();
  sut.restart({ url: `${receiver.url}2` });
  await slept;
  store.disable = disable;
  receiver.answer = status(200);
  clock.advance(60_000);
  await expect.poll(() => store.disabled("desk")).toBeUndefined();
  const [alert] = sut.enqueue(1);
  await receiver.until(() => receiver.taken.length === 1);
  expect(receiver.taken[0]?.id).toBe(alert?.id);
});

test("the sender obeys a Retry-After in seconds, up to an hour, also when new messages arrive", async ({
  sut,
}) => {
  const { receiver, clock } = sut;
  receiver.answer = status(429, { "retry-after": "120" });
  sut.enqueue(1);
  await receiver.until(() => receiver.attempts.length === 1);
  await expect.poll(() => clock.slept.at(-1)).toBe(120_000);
  sut.enqueue(1);
  receiver.answer = status(429, { "retry-after": "999999" });
  clock.advance(120_000);
  await receiver.until(() => receiver.attempts.length === 2);
  await expect.poll(() => clock.slept.at(-1)).toBe(3_600_000);
});

test("a new message never shortens the pause after a failure: it waits behind the failed one", async ({
  sut,
}) => {
  const { receiver, clock, store } = sut;
  receiver.answer = status(500);
  const alerts = [...sut.enqueue(1)];
  const looked = vi.spyOn(store, "first");
  const pass = () => clock.advance(clock.slept.at(-1) ?? 0);
  for (const attempts of [1, 2, 3]) {
    if (attempts > 1) pass();
    await receiver.until(() => receiver.attempts.length === attempts);
    await expect.poll(() => clock.slept.filter((ms) => ms !== 60_000)).toHaveLength(attempts);
    looked.mockClear();
    alerts.push(...sut.enqueue(1));
    await turn();
    // The sender does not even read the queue.
    expect([looked.mock.calls.length, receiver.attempts.length]).toEqual([0, attempts]);
  }
  receiver.answer = status(200);
  pass();
  await receiver.until(() => receiver.taken.length === 4);
  expect(idsOf(receiver.taken)).toEqual(idsOf(alerts));
});

test("a message in flight when the sender stops counts as neither delivered nor failed, and the next process sends it", async ({
  sut,
}) => {
  const { receiver, sender, notices } = sut;
  receiver.answer = () => {};
  const [alert] = sut.enqueue(1);
  await receiver.until(() => receiver.attempts.length === 1);
  receiver.answer = status(200);
  sut.restart();
  await receiver.until(() => receiver.taken.length === 1);
  expect(idsOf(receiver.taken)).toEqual([alert?.id]);
  expect([sender.attempts, notices]).toEqual([{ delivered: 0, failed: 0, refused: 0, gone: 0 }, []]);
});

test.for(["0", "-1", "1e9", "Wed, 21 Oct 2015 07:28:00 GMT", ""])(
  "a Retry-After of %j causes no tight loop: the delays grow as without one",
  async (retryAfter, { sut }) => {
    const { receiver, clock } = sut;
    receiver.answer = status(503, { "retry-after": retryAfter });
    sut.enqueue(1);
    await sut.tried(4);
    await expect.poll(() => clock.slept.filter((ms) => ms !== 60_000)).toHaveLength(4);
    expect(clock.slept.filter((ms) => ms !== 60_000)).toEqual([1_500, 2_500, 4_500, 8_500]);
  },
);

test("the failures of one message do not delay the next one's first retry", async ({ sut }) => {
  const { receiver, clock } = sut;
  for (const round of [1, 2]) {
    receiver.answer = status(500);
    sut.enqueue(1);
    await sut.tried(3 * round - 1);
    receiver.answer = status(200);
    await sut.tried(3 * round);
    await receiver.until(() => receiver.taken.length === round);
    await expect.poll(() => clock.slept.at(-1)).toBe(60_000);
  }
  const waits = clock.slept.filter((ms) => ms !== 60_000);
  expect(waits).toEqual([1_500, 2_500, 1_500, 2_500]);
});

test("the wait doubles from 2 seconds to 5 minutes, with full jitter above a second", () => {
  const longest = [1, 2, 3, 8, 9, 100].map((failures) => retryDelayMs(failures, undefined, () => 0.999_999));
  expect(longest.map((ms) => Math.round(ms / 1_000))).toEqual([2, 4, 8, 256, 300, 300]);
  expect(retryDelayMs(100, undefined, () => 0)).toBe(1_000);
});
