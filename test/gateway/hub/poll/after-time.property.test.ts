import fc from "fast-check";
import { expect, test } from "vitest";
import { LASTING_EVENTS } from "../../../../src/base/protocol/index.ts";
import { LongPoll } from "../../../../src/gateway/hub/index.ts";
import type { LogRecord } from "../../../../src/gateway/log/index.ts";
import { lawRuns } from "../../../support/law-runs.ts";
import { assertReaching } from "../../../support/random/assert-reaching.ts";
import { createHubUnderTest, type HubUnderTest } from "../hub-fixture.ts";
import { STEPS } from "../test-market.ts";

const MINUTE = 60_000;

/** Asks for the events after a time. Returns their seqs, or `lost`. */
async function seqsAfter({ log, head, hub, clock }: HubUnderTest, afterMs: number, names?: "lasting") {
  const polls = new LongPoll({ log, head, history: hub.history, clock, stopping: hub.stopping });
  const filter = names && { names: [...LASTING_EVENTS] };
  const seqs: number[] = [];
  let query = { channels: ["*"], filter, after: "", afterMs, limit: 7, waitMs: 0 };
  for (;;) {
    const page = await polls.take(query, new AbortController().signal);
    if (page.kind !== "page") return "lost";
    seqs.push(...JSON.parse(`[${page.bytes}]`).map(({ seq }: { seq: number }) => seq));
    if (!page.more) return seqs;
    const { epoch, seq } = page.cursor;
    query = { ...query, after: `${epoch}-${seq}`, afterMs: undefined as never };
  }
}

test("[P13] [L3] a poll after any time gets every later event, or learns that some may be lost", async () => {
  const operation = fc.record({
    steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 5 }),
    passMs: fc.nat(5 * MINUTE),
    /** The machine's clock is set back now and then. */
    backMs: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(10 * MINUTE)),
  });
  const totals = { found: 0, lost: 0, empty: 0, setBack: 0 };
  await assertReaching(
    fc.asyncProperty(
      fc.array(operation, { minLength: 4, maxLength: 20 }),
      fc.nat(1_000),
      async (operations, share) => {
        const sut = createHubUnderTest({
          log: { minCount: 5, maxAgeMs: 6 * MINUTE, lastingAgeMs: 20 * MINUTE },
        });
        const all: LogRecord[] = [];
        sut.log.onAppend((records) => void all.push(...records));
        const startMs = sut.clock.now();
        for (const { steps, passMs, backMs } of operations) {
          await sut.publish(...steps);
          sut.clock.advance(passMs);
          sut.clock.jumpWall(-backMs);
          totals.setBack += backMs > 0 ? 1 : 0;
        }
        const atMs = startMs + Math.floor(((sut.clock.now() - startMs) * share) / 1_000);
        for (const names of [undefined, "lasting"] as const) {
          const isOf = ({ name }: LogRecord) => names === undefined || LASTING_EVENTS.has(name);
          const first = all.find(({ emittedAtMs }) => emittedAtMs > atMs);
          const seqs = await seqsAfter(sut, atMs, names);
          if (seqs === "lost") {
            const kept = names ? sut.log.oldestLasting : sut.log.oldest;
            const known = all.filter((record) => isOf(record) && record.seq > kept.seq).slice(0, 1);
            for (const { seq } of known)
              expect(all.some((record) => record.seq <= seq && record.emittedAtMs > atMs)).toBe(true);
            totals.lost += 1;
            continue;
          }
          expect(seqs).toEqual(
            all.filter((record) => first && record.seq >= first.seq && isOf(record)).map(({ seq }) => seq),
          );
          if (seqs.length > 0) totals.found += 1;
          else totals.empty += 1;
        }
      },
    ),
    lawRuns(20, 40),
    totals,
    { found: 5, lost: 1, empty: 1, setBack: 5 },
  );
});
