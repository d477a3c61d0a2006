import { expect } from "vitest";
import { HOUR, idsOf, test } from "./sender-fixture.ts";
import { type Receiver, status } from "./webhook-fixture.ts";

/** Lets a receiver refuse some messages, and accept all others. */
function refuse(receiver: Receiver, bad: readonly { readonly id: string }[], code = 422): void {
  const ids = new Set(idsOf(bad));
  receiver.answer = (response, delivery) => status(ids.has(delivery.id) ? code : 200)(response, delivery);
}

test.for([400, 413, 422])(
  "a message that a receiver refuses with %i holds the next ones back for seconds, and is then dropped, logged and counted",
  async (code, { sut }) => {
    const { receiver, clock, notices, sender } = sut;
    receiver.answer = status(code);
    const alerts = sut.enqueue(4);
    refuse(receiver, alerts.slice(0, 1), code);
    await sut.tried(7);
    await receiver.until(() => receiver.taken.length === 3);
    expect(idsOf(receiver.attempts)).toEqual([0, 0, 0, 1, 0, 2, 3].map((at) => alerts[at]?.id));
    expect(clock.monotonic()).toBeLessThan(10_000);
    const reason = `the receiver returned ${code}`;
    expect(notices).toEqual([
      `could not deliver: ${reason}; retrying`,
      `set aside a message that the receiver refuses: ${reason}; trying the next`,
      "the receiver accepts messages again; failed attempts: 3",
      `dropped a message that the receiver refuses: ${reason}`,
    ]);
    await expect.poll(() => sender.attempts).toEqual({ delivered: 3, failed: 0, refused: 4, gone: 0 });
    expect([sender.refused, sender.dropped, sut.store.waiting("desk").count]).toEqual([1, 0, 0]);
  },
);

test("earlier refusals of a message that was then accepted do not count for the next message", async ({
  sut,
}) => {
  const { receiver } = sut;
  const answers = [400, 400, 200, 400].map((code) => status(code));
  receiver.answer = (response, delivery) => (answers.shift() ?? status(200))(response, delivery);
  const alerts = sut.enqueue(3);
  await sut.tried(5);
  expect(idsOf(receiver.attempts.slice(0, 5))).toEqual([0, 0, 0, 1, 1].map((at) => alerts[at]?.id));
});

test("a message that is set aside is logged each time that the queue had none", async ({ sut }) => {
  const { receiver, notices, store } = sut;
  for (const round of [1, 2]) {
    refuse(receiver, sut.enqueue(2).slice(0, 1));
    await sut.tried(5 * round);
    await expect.poll(() => store.waiting("desk").count).toBe(0);
    expect(notices.filter((notice) => notice.startsWith("set aside"))).toHaveLength(round);
  }
});

test("a receiver that refuses every message for hours, and then accepts them, gets each one", async ({
  sut,
}) => {
  const { receiver, clock, sender, notices } = sut;
  receiver.answer = status(400);
  const alerts = [...sut.enqueue(5)];
  await sut.tried(40);
  expect(clock.monotonic()).toBeGreaterThan(HOUR);
  expect(sut.store.waiting("desk").count).toBe(5);
  receiver.answer = status(200);
  await sut.tried(45);
  await receiver.until(() => receiver.taken.length === 5);
  expect(idsOf(receiver.taken).toSorted()).toEqual(idsOf(alerts).toSorted());
  expect([sender.refused, notices.length]).toEqual([0, 3]);
});

test("a new message is sent within seconds although the only other one has been refused for half an hour", async ({
  sut,
}) => {
  const { receiver, clock } = sut;
  const bad = sut.enqueue(1);
  refuse(receiver, bad);
  await sut.tried(26);
  await expect.poll(() => clock.slept.at(-1)).toBe(1_500);
  clock.advance(1_500);
  await expect.poll(() => clock.slept.at(-1)).toBe(60_000);
  const beforeMs = clock.monotonic();
  expect(beforeMs).toBeGreaterThan(HOUR / 2);
  const [good] = sut.enqueue(1);
  await receiver.until(() => receiver.taken.length === 1);
  expect([idsOf(receiver.taken), clock.monotonic() - beforeMs]).toEqual([[good?.id], 0]);
});

test("several refused messages in a row delay the next ones for less than two minutes, and each is dropped", async ({
  sut,
}) => {
  const { receiver, clock, sender } = sut;
  receiver.answer = status(400);
  const alerts = sut.enqueue(9);
  refuse(receiver, alerts.slice(0, 5));
  await sut.tried(16);
  await expect.poll(() => sender.refused).toBe(4);
  expect(idsOf(receiver.taken)).toEqual(idsOf(alerts.slice(5)));
  expect(clock.monotonic()).toBeLessThan(120_000);
  sut.enqueue(1);
  await sut.tried(18);
  await expect.poll(() => sender.refused).toBe(5);
  expect(sut.store.waiting("desk").count).toBe(0);
});

test("a wrong token, a removed chat or an overload holds messages back in order, and drops none", async ({
  sut,
}) => {
  const { receiver, sender } = sut;
  const answers = [401, 403, 404, 401, 403, 404, 429, 503].map((code) => status(code));
  receiver.answer = (response, delivery) => (answers.shift() ?? status(200))(response, delivery);
  const alerts = sut.enqueue(3);
  await sut.tried(11);
  await receiver.until(() => receiver.taken.length === 3);
  expect(idsOf(receiver.attempts)).toEqual([...Array(9).fill(0), 1, 2].map((at) => alerts[at]?.id));
  expect([sender.refused, sender.attempts.refused]).toEqual([0, 0]);
});

test("a refused notice about dropped messages does not hold back the others", async ({ sut }) => {
  const { receiver, notices } = sut;
  receiver.answer = (response, delivery) =>
    status(delivery.type === "alerts-expired" ? 400 : 200)(response, delivery);
  sut.store.announce({ id: "msg_x", target: "desk", madeAtMs: 0, body: noticeBody });
  const alerts = sut.enqueue(2);
  await receiver.until(() => receiver.attempts.length > 0);
  await sut.tried(6);
  await receiver.until(() => receiver.taken.length === 2);
  expect(idsOf(receiver.taken)).toEqual(idsOf(alerts));
  expect(notices.at(-1)).toBe("dropped a message that the receiver refuses: the receiver returned 400");
});

test("while a receiver is down for days, drops are logged once, and their number when it is back", async ({
  sut,
}) => {
  const { receiver, clock, notices } = sut;
  receiver.answer = status(503);
  for (let day = 1; day <= 4; day += 1) {
    sut.enqueue(2);
    await sut.tried(day);
    await clock.nextSleep();
    clock.advance(25 * HOUR);
  }
  sut.enqueue(1);
  await sut.tried(5);
  receiver.answer = status(200);
  await sut.tried(6);
  await receiver.until(() => receiver.taken.length > 0);
  await expect
    .poll(() => notices)
    .toEqual([
      "could not deliver: the receiver returned 503; retrying",
      "dropped 2 undelivered messages: too old, or too many in the queue",
      expect.stringMatching(
        /^the receiver accepts messages again; failed attempts: \d+; dropped messages: 8$/,
      ),
    ]);
});

test("a target that is set up again while it fails is neither tried sooner nor logged again", async ({
  sut,
}) => {
  const { receiver, clock, notices } = sut;
  receiver.answer = status(503);
  sut.enqueue(1);
  await sut.tried(5);
  await expect.poll(() => clock.slept.at(-1)).toBe(16_500);
  for (const _ of Array(3)) {
    const slept = clock.nextSleep();
    sut.replace();
    await slept;
    expect(clock.slept.at(-1)).toBeGreaterThan(15_000);
  }
  expect(receiver.attempts).toHaveLength(5);
  await sut.tried(6);
  expect(notices).toHaveLength(1);
});

const noticeBody = JSON.stringify({
  type: "alerts-expired",
  timestamp: "1970-01-01T00:00:00.000Z",
  data: { rule: "", count: 1, first: "1970-01-01T00:00:00.000Z", last: "1970-01-01T00:00:00.000Z" },
});
