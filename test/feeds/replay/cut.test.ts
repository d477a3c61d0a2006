import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { InputError } from "../../../src/base/lib/input-error.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { HEADER, line, only, replay, test } from "./replay-kit.ts";

const ROWS = 3_000;
/** Many pairs, so few minutes, because each second between the lines adds an event. */
const PAIRS = 200;
/** All different, and hard to compress: of the first 16 kB, zlib emits all or nothing. */
const CLOSES = Array.from({ length: ROWS }, (_, row) => (1.2 + Math.sin(row) / 10).toFixed(9));
const LINES = [
  HEADER,
  ...CLOSES.map((close, row) => line(Math.floor(row / PAIRS), `BTC_${row % PAIRS}`, close)),
];
const PACKED = gzipSync(`${LINES.join("\n")}\n`);
const MEMBERS = Buffer.concat(
  [LINES.slice(0, 1_200), LINES.slice(1_200)].map((part) => gzipSync(`${part.join("\n")}\n`)),
);

async function check(path: string, closes = CLOSES) {
  let reported: Awaited<ReturnType<typeof replay>>;
  try {
    reported = await replay(path);
  } catch (error) {
    // Refused before the first event.
    reported = { events: [], skipped: [], totals: {}, error };
  }
  const rows = only("candle", reported.events).map(({ close }) => close);
  expect(reported.error).toBeInstanceOf(InputError);
  expect(rows).toEqual(closes.slice(0, rows.length));
  expect(reported.totals).toEqual({});
  return { rows: rows.length, error: reported.error instanceof InputError ? reported.error : undefined };
}

describe("a truncated recording", () => {
  test.for([
    ["one member", PACKED],
    ["two members", MEMBERS],
  ] as const)(
    "all complete lines before the truncation are emitted, then the error names the last (%s)",
    async ([, packed], { expect, write }) => {
      const firstMember = gzipSync(`${LINES.slice(0, 1_200).join("\n")}\n`).length;
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 2, max: packed.length - 1 }), async (length) => {
          // A file that ends exactly between two members is a whole file of one member.
          fc.pre(packed === PACKED || length !== firstMember);
          const { rows, error } = await check(write(packed.subarray(0, length)));
          const line = rows === 0 ? [0, 1] : [rows + 1];
          expect(line).toContain(error?.line);
          expect(error?.reason).toMatch(/is truncated after line \d+/);
        }),
        {
          ...lawRuns(12, 20),
          examples: [
            [2],
            [9],
            [10],
            [11],
            [12],
            [packed.length - 1],
            [packed.length - 8],
            [packed.length - 9],
          ],
        },
      );
    },
  );

  test("everything before the truncation is emitted, and everything if only the checksum is missing", async ({
    write,
  }) => {
    const counts: number[] = [];
    for (const missing of [PACKED.length - 2_000, 9_000, 4_000, 500, 8, 1]) {
      counts.push((await check(write(PACKED.subarray(0, PACKED.length - missing)))).rows);
    }
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts.at(-1)).toBe(ROWS);
  });

  test("packed data damaged in the middle is reported as such", async ({ write }) => {
    const damaged = Buffer.from(PACKED);
    damaged.fill(0xff, 16_500, 16_550);
    const { rows, error } = await check(write(damaged));
    expect(rows).toBeGreaterThan(0);
    expect(error?.reason).toContain(`damaged after line ${rows + 1}`);
  });

  test("anything but padding after a complete packed file is reported as damage", async ({ write }) => {
    const { rows, error } = await check(write(Buffer.concat([PACKED, Buffer.from("and more")])));
    expect(rows).toBeGreaterThan(ROWS / 2);
    expect(error?.reason).toContain(`damaged after line ${rows + 1}`);
  });

  test("lines after a gap of 40 days are emitted although the file is truncated after them", async ({
    write,
  }) => {
    const far = [57_600, 57_601].map((minute) => line(minute, "BTC_0", "1.5"));
    const packed = gzipSync(`${[...LINES, ...far].join("\n")}\n`);
    const { rows, error } = await check(write(Buffer.concat([packed, PACKED.subarray(0, 100)])), [
      ...CLOSES,
      "1.5",
      "1.5",
    ]);
    expect(rows).toBe(ROWS + 2);
    expect(error?.reason).toContain(`truncated after line ${rows + 1}`);
  });

  test("a plain file that ends within a line loses only that line", async ({ write }) => {
    const text = LINES.slice(0, 4).join("\n");
    const { events, totals } = await replay(write(text.slice(0, -12)));
    expect(only("candle", events).map(({ close }) => close)).toEqual(CLOSES.slice(0, 2));
    expect(totals).toEqual({ "bad-columns": 1 });
  });
});
