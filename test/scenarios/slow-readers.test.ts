import { expect, vi } from "vitest";
import { CLOSE_CODES } from "../../src/base/protocol/index.ts";
import { DEFAULT_HUB_LIMITS } from "../../src/gateway/hub/hub-limits.ts";
import { type ConnectionHandle, test, type WireClient } from "../gateway/http/stream/websocket-fixture.ts";
import type { Step } from "../gateway/hub/test-market.ts";

const EACH = 3;
const BATCH: readonly Step[] = Array.from({ length: 500 }, (_, index) => (index % 2 ? "unlist" : "list"));
/** A socket's high-water mark, above which Node reports it as full. */
const HIGH_WATER_BYTES = 65_536;
/** Long enough that the limit for slow consumers closes the frozen readers. */
const SECONDS = 11;
const LOG_BYTES = 3_000_000;

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const waiting = (wire: ConnectionHandle) => wire.sockets().map(({ writableLength }) => writableLength);

async function open(wire: ConnectionHandle, count: number): Promise<readonly WireClient[]> {
  const clients = Array.from({ length: count }, () => wire.client("?channels=*"));
  await Promise.all(clients.map((client) => client.answer("subscribed")));
  return clients;
}

/** Publishes a batch and waits until these clients have received it. */
async function publish(wire: ConnectionHandle, healthy: readonly WireClient[]): Promise<void> {
  await wire.publish(...BATCH);
  const { seq } = wire.head.cursor;
  await Promise.all(healthy.map((client) => client.until(() => client.messages.at(-1)?.seq === seq)));
}

test("[L5] [W23] next to frozen and throttled readers, healthy ones receive everything, frozen ones are closed and can resume, throttled ones catch up, and buffered bytes are bounded", async ({
  makeWire,
}) => {
  const wire = await makeWire({ log: { maxBytes: 200_000_000 } });
  const [healthy, throttled, frozen] = await Promise.all([
    open(wire, EACH),
    open(wire, EACH),
    open(wire, EACH),
  ]);
  for (const { ws } of [...throttled, ...frozen]) ws.pause();
  const isFull = () => waiting(wire).filter((bytes) => bytes >= HIGH_WATER_BYTES).length >= 2 * EACH;
  let most = 0;
  for (let batch = 0; batch < 100 && !isFull(); batch++) {
    await publish(wire, healthy);
    most = Math.max(most, ...waiting(wire));
  }
  expect(isFull()).toBe(true);
  // Per connection, less than the mark is buffered, plus the write that crossed it: a batch or one
  // catch-up write.
  const { catchUpBytes, catchUpRecords } = DEFAULT_HUB_LIMITS;
  const eventBytes = 20 + Math.max(...(healthy[0]?.messages ?? []).map((one) => JSON.stringify(one).length));
  const bound = HIGH_WATER_BYTES + Math.max(BATCH.length * eventBytes, catchUpBytes + eventBytes);
  expect(most).toBeLessThanOrEqual(bound);
  for (let second = 0; second < SECONDS; second++) {
    // Each throttled reader reads a part of what it lacks, so that its socket makes progress within
    // the limit on a busy machine, too. The frozen ones do not read.
    const part = (wire.head.cursor.seq * (second + 1)) / (SECONDS + 1);
    for (const { ws } of throttled) ws.resume();
    await publish(wire, healthy);
    await Promise.all(
      throttled.map((client) => client.until(() => Number(client.messages.at(-1)?.seq) >= part)),
    );
    for (const { ws } of throttled) ws.pause();
    wire.clock.advance(1_000);
  }
  expect(Math.max(...waiting(wire))).toBeLessThanOrEqual(bound);
  for (const { ws } of [...throttled, ...frozen]) ws.resume();
  const last = wire.head.cursor.seq;
  const read = vi.spyOn(wire.log, "read");
  for (const client of frozen) {
    expect(await client.ended).toEqual({ code: CLOSE_CODES["slow-consumer"].code, reason: "slow-consumer" });
    const cursor = client.messages.findLast(({ type }) => type === "event")?.cursor;
    const back = wire.client(`?channels=*&after=${cursor}`);
    expect(await back.answer("subscribed")).toMatchObject({ resumed: "full" });
    await back.until(() => back.messages.at(-1)?.seq === last);
    expect([...client.seqs, ...back.seqs]).toEqual(upTo(last));
  }
  await Promise.all(throttled.map((client) => client.until(() => client.messages.at(-1)?.seq === last)));
  for (const client of [...throttled, ...healthy]) expect(client.seqs).toEqual(upTo(last));
  expect(read.mock.calls.length).toBeGreaterThan(last / catchUpRecords);
  expect(new Set(read.mock.calls.map(([, limit]) => limit))).toEqual(new Set([catchUpRecords]));
});

test("[L5] the log stays within its byte limit even if no client reads", async ({ makeWire }) => {
  const wire = await makeWire({ log: { maxBytes: LOG_BYTES } });
  const frozen = await open(wire, EACH);
  for (const { ws } of frozen) ws.pause();
  for (let batch = 0; batch < 20; batch++) {
    await wire.publish(...BATCH);
    await new Promise((resolve) => setImmediate(resolve));
    expect(wire.log.bytes).toBeLessThanOrEqual(LOG_BYTES);
  }
  expect(wire.log.oldest.seq).toBeGreaterThan(0);
});
