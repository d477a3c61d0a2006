import { expect, test } from "vitest";
import { pageLines, type TopPage } from "../../src/cli/top/top-page.ts";

const PAGE: TopPage = {
  host: "127.0.0.1:8080",
  connection: {
    ...{ state: "waiting", transport: "websocket", code: 503 },
    reason: "HTTP 503 no data yet: the market has no data yet; bsc has no data yet: no network",
  },
  ...{ freshness: undefined, cursor: undefined, started: 0, ended: 0, missed: 0 },
  flares: { list: "pro", rows: [], finished: 0 },
};

test("before the first data, top shows the whole reason in place of an empty table", () => {
  const form = {
    order: { by: "age", reversed: false },
    paint: (_color: string, text: string) => text,
  } as const;
  const lines = pageLines(PAGE, { ...form, width: 40, height: 12 });
  expect(lines).toHaveLength(12);
  expect(lines.filter((line) => line !== "").slice(1, -1)).toEqual([
    "no data yet",
    "waiting for the server: no data yet: the",
    "market has no data yet; bsc has no data",
    "yet: no network",
  ]);
});
