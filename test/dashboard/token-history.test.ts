import { once } from "node:events";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { fetchEpisodes } from "../../src/dashboard/state/token-history.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../support/samples.ts";

const ADDRESS = SAMPLE_FLARE.token.address.toLowerCase();

/**
 * A server with this many pages of history, each with one flare's start. `asked`: the requested
 * cursors.
 */
async function historyOf(pages: number) {
  const asked: (string | null)[] = [];
  const server = createServer((request, response) => {
    const after = new URL(request.url ?? "/", "http://x").searchParams.get("after");
    asked.push(after);
    const page = after === "oldest" ? 1 : Number(after?.split("-")[1]) + 1;
    const flare = {
      ...SAMPLE_FLARE,
      id: `${page}`,
      started_trending_at: `2026-01-${9 + page}T00:00:00.000Z`,
    };
    const data = { op: "insert", index: 0, flare, why: SAMPLE_EXPLANATION, cause: "detected" };
    const event = { type: "event", name: "flare-started", channel: "flares.pro", data };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ cursor: `test1-${page}`, events: [event], more: page < pages }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = new URL(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`);
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, asked, close };
}

test.each([
  [1, 1],
  [3, 3],
  // The page limit.
  [50, 20],
])("of a history of %i pages %i are read, one behind the other, newest flare first", async (pages, read) => {
  const { url, asked, close } = await historyOf(pages);
  const episodes = await fetchEpisodes(url, ADDRESS, undefined, new AbortController().signal);
  close();
  const cursors = Array.from({ length: read - 1 }, (_, n) => `test1-${n + 1}`);
  expect(asked).toEqual(["oldest", ...cursors]);
  expect(episodes.map(({ id }) => Number(id))).toEqual(Array.from({ length: read }, (_, n) => read - n));
});
