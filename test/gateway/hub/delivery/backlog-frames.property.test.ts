import fc from "fast-check";
import { expect, test } from "vitest";
import { toEpoch, toSeq } from "../../../../src/base/protocol/index.ts";
import { maskOf, resolveChannels } from "../../../../src/gateway/hub/channel-mask.ts";
import { BacklogFrameCache } from "../../../../src/gateway/hub/delivery/backlog-frame-cache.ts";
import { EventHeadCache, frameEvents } from "../../../../src/gateway/hub/delivery/event-frames.ts";
import { sseFraming } from "../../../../src/gateway/hub/delivery/sse-framing.ts";
import { websocketFraming } from "../../../../src/gateway/hub/delivery/websocket-framing.ts";
import { selectionOf } from "../../../../src/gateway/hub/session/selection.ts";
import { createShape } from "../../../../src/gateway/hub/session/stream-shape.ts";
import { createHubUnderTest, EPOCH } from "../hub-fixture.ts";

const epoch = toEpoch(EPOCH);
const LENGTH = 60;

/** Returns records 1 to 60 of a test market. */
async function manyRecords() {
  const { log, publish } = createHubUnderTest();
  for (let batch = 0; batch < LENGTH / 2; batch++) await publish("list", "unlist");
  const result = await log.read({ epoch, seq: toSeq(0) }, LENGTH);
  return result.kind === "records" ? result.records : [];
}

const shapes = ["*", "newest.*", "charts.*"].flatMap((channels) =>
  [websocketFraming, sseFraming].map((framing) => {
    const part = { mask: maskOf(resolveChannels([channels])), filter: undefined };
    return createShape(selectionOf([part]), framing);
  }),
);

test("[L6] [W13] cached frames equal fresh ones, whatever was requested before and however little is cached", async () => {
  const records = await manyRecords();
  expect(records).toHaveLength(LENGTH);
  const requests = fc.array(
    fc.record({
      shape: fc.constantFrom(...shapes),
      through: fc.nat(8),
      length: fc.integer({ min: 1, max: LENGTH - 8 }),
      prev: fc.nat(2),
      maxBytes: fc.constantFrom(1, 2_000, 8_000, 1_000_000),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(requests, fc.constantFrom(0, 3_000, 100_000), (requested, cacheBytes) => {
      const frames = new Map<number, BacklogFrameCache>();
      for (const { shape, through, length, prev, maxBytes } of requested) {
        // A hub always uses its cache with the same maxBytes.
        const cache = frames.get(maxBytes) ?? new BacklogFrameCache(cacheBytes);
        frames.set(maxBytes, cache);
        const part = records.slice(through, through + length);
        const from = { prev: toSeq(Math.max(0, through - prev)), through: toSeq(through) };
        const fresh = frameEvents(
          part,
          shape,
          { ...from, heads: new EventHeadCache(epoch) },
          undefined,
          maxBytes,
        );
        expect(cache.frame(part, shape, { ...from, epoch }, maxBytes)).toEqual(fresh);
      }
    }),
  );
});

test("[L6] clients at the same position get the same buffer, even if there are more events than fit", async () => {
  const records = await manyRecords();
  const [shape] = shapes;
  if (!shape) throw new Error("there is no shape");
  const frames = new BacklogFrameCache();
  const from = { epoch, prev: toSeq(0), through: toSeq(0) };
  const first = frames.frame(records.slice(0, 40), shape, from, 2_000);
  expect(first.through).toBeLessThan(40);
  expect(frames.frame(records, shape, from, 2_000).bytes).toBe(first.bytes);
});

test("[L5] the cache of frames is bounded: the oldest are dropped, and encoded again when needed", async () => {
  const records = await manyRecords();
  const [shape] = shapes;
  if (!shape) throw new Error("there is no shape");
  const frames = new BacklogFrameCache(20_000);
  const at = (through: number) =>
    frames.frame(
      records.slice(through, through + 5),
      shape,
      { epoch, prev: toSeq(through), through: toSeq(through) },
      1_000_000,
    ).bytes;
  const first = at(0);
  expect(at(0)).toBe(first);
  for (let through = 1; through < 50; through += 1) at(through);
  expect(at(0)).not.toBe(first);
  expect(at(0)).toEqual(first);
});

test("[L3] frames that ended at the newest event are encoded again when more events have arrived", async () => {
  const records = await manyRecords();
  const [shape] = shapes;
  if (!shape) throw new Error("there is no shape");
  const frames = new BacklogFrameCache();
  const from = { epoch, prev: toSeq(0), through: toSeq(0) };
  const throughs = [10, 10, 20, 60].map(
    (length) => frames.frame(records.slice(0, length), shape, from, 1_000_000).through,
  );
  expect(throughs).toEqual([10, 10, 20, 60]);
});

test("cached frames hold no more memory than their own bytes", async () => {
  const records = (await manyRecords()).slice(0, 2);
  const cache = new BacklogFrameCache();
  for (const shape of shapes) {
    const from = { epoch, prev: toSeq(0), through: toSeq(0) };
    cache.frame(records, shape, from, 1_000_000);
    const { bytes } = cache.frame(records, shape, from, 1_000_000);
    expect(bytes?.buffer.byteLength).toBe(bytes?.length);
  }
});
