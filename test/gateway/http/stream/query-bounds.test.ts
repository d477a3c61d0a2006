import { expect, test } from "vitest";
import { FlarewireError } from "../../../../src/base/protocol/index.ts";
import { readPollQuery, readSseQuery } from "../../../../src/gateway/http/stream/events-query.ts";
import { readClientId, readStreamQuery } from "../../../../src/gateway/http/stream/stream-query.ts";

const OPEN = { plan: undefined };

/** Returns what is read, or the code and field of the refusal. */
function outcome<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof FlarewireError) return `${error.code} ${error.field}`;
    throw error;
  }
}
const poll = (query: object, rights: Parameters<typeof readPollQuery>[1] = OPEN) =>
  outcome(() => readPollQuery(query, rights));

test("a poll has its defaults, and a wait that ends before a proxy's", () => {
  expect(poll({ channels: "status" })).toEqual({
    channels: ["status"],
    after: undefined,
    filter: undefined,
    snapshot: undefined,
    limit: 100,
    waitMs: 0,
  });
  expect(["0", "1", "55", "56", "60"].map((wait) => poll({ wait }))).toMatchObject(
    [0, 1_000, 55_000, 55_000, 55_000].map((waitMs) => ({ waitMs })),
  );
  expect(["1", "1000"].map((limit) => poll({ limit }))).toMatchObject([{ limit: 1 }, { limit: 1_000 }]);
  expect(poll({ after: "oldest" })).toMatchObject({ after: "oldest" });
  expect(poll({ after: "k3f9-7", snapshot: "true" })).toMatchObject({ after: "k3f9-7", snapshot: true });
  const all = poll({});
  expect(typeof all === "object" && all.channels).not.toContain("candles");
  expect(typeof all === "object" && all.channels).toContain("flares.pro");
});

const REFUSED: readonly (readonly [query: object, refusal: string])[] = [
  [{ wait: "61" }, "invalid-parameter wait"],
  [{ wait: "-1" }, "invalid-parameter wait"],
  [{ wait: "0.5" }, "invalid-parameter wait"],
  [{ limit: "0" }, "invalid-parameter limit"],
  [{ limit: "1001" }, "invalid-parameter limit"],
  [{ mode: "events" }, "invalid-parameter mode"],
  [{ max_message: "9000" }, "invalid-parameter max_message"],
  [{ after: "x" }, "invalid-parameter after"],
  [{ snapshot: "yes" }, "invalid-parameter snapshot"],
  [{ channels: "none.such" }, "unknown-channel channels"],
  [{ channels: Array(65).fill("status").join(",") }, "invalid-parameter channels"],
  [{ min_locked: "2" }, "invalid-parameter min_locked"],
];

test.each(REFUSED)("a poll with %j is refused with its field", (query, refusal) => {
  expect(poll(query)).toBe(refusal);
});

test("64 channels are accepted, a ticket only opens streams, and a plan's channels are its own", () => {
  expect(poll({ channels: Array(64).fill("status").join(",") })).toMatchObject({ channels: ["status"] });
  expect(poll({ ticket: "t" }, { plan: "pro" })).toBe("invalid-parameter ticket");
  expect(poll({ ticket: "t" })).toMatchObject({ limit: 100 });
  expect(poll({ channels: "flares.pro" }, { plan: "free" })).toMatch(/^forbidden /);
});

test("server-sent events continue after the browser's last event, if it names one, and refuse the parameters of polls", () => {
  const sse = (query: object, last?: string) => outcome(() => readSseQuery(query, last, OPEN));
  expect(sse({ after: "k3f9-1" }, "k3f9-7")).toMatchObject({ after: "k3f9-7", channels: ["*"] });
  for (const none of [undefined, ""])
    expect(sse({ after: "k3f9-1" }, none)).toMatchObject({ after: "k3f9-1" });
  expect([sse({ wait: "1" }), sse({ limit: "1" }), sse({ after: "oldest" })]).toEqual([
    "invalid-parameter wait",
    "invalid-parameter limit",
    "invalid-parameter after",
  ]);
  expect(sse({ mode: "latest", max_message: "8192", channels: "status" })).toMatchObject({
    mode: "latest",
    max_message: 8_192,
    channels: ["status"],
  });
});

test("a stream's messages have at least 8 KiB and at most 512, and a client's id is read by itself", () => {
  const stream = (query: object) => outcome(() => readStreamQuery(query, OPEN));
  expect([stream({ max_message: "524288", channels: "status" }), stream({})]).toMatchObject([
    { max_message: 524_288 },
    {},
  ]);
  expect(["8191", "524289"].map((max_message) => stream({ max_message, channels: "status" }))).toEqual(
    Array(2).fill("invalid-parameter max_message"),
  );
  const client = (text: string) => outcome(() => readClientId({ client: text }));
  expect(readClientId({})).toBeUndefined();
  for (const text of ["a-._~B12", "x".repeat(64)]) expect(client(text)).toBe(text);
  for (const text of ["x".repeat(7), "x".repeat(65), "abcdefg!"])
    expect(client(text)).toBe("invalid-parameter client");
});
