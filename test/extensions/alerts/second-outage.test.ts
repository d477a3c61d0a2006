import { expect } from "vitest";
import { test } from "./sender-fixture.ts";
import { status } from "./webhook-fixture.ts";

test("a second outage is reported with its own attempts, drops and pauses, as if there had been no first one", async ({
  sut,
}) => {
  const { receiver, notices, clock } = sut;
  const outage = async () => {
    const told = notices.length;
    const [made, slept] = [receiver.attempts.length, clock.slept.length];
    receiver.answer = status(503);
    sut.enqueue(22);
    await sut.tried(made + 2);
    receiver.answer = status(200);
    await sut.tried(made + 2 + 1 + 20);
    await expect.poll(() => notices.slice(told).at(-1)).toMatch(/^the receiver accepts/);
    return { notices: notices.slice(told), pauses: clock.slept.slice(slept).filter((ms) => ms < 60_000) };
  };
  const first = await outage();
  expect(first.notices).toEqual([
    "dropped 2 undelivered messages: too old, or too many in the queue",
    "could not deliver: the receiver returned 503; retrying",
    "the receiver accepts messages again; failed attempts: 2; dropped messages: 2",
  ]);
  expect(first.pauses).toEqual([1_500, 2_500]);
  expect(await outage()).toEqual(first);
  expect(sut.sender.dropped).toBe(4);
  await expect.poll(() => sut.sender.attempts).toMatchObject({ failed: 4, delivered: 42 });
});
