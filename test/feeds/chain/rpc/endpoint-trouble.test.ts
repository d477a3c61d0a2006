import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { createChainFeed } from "../../../../src/feeds/chain/chain-feed.ts";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";

test("a chain whose endpoints all fail reports the reason without their addresses and messages, and the log has no key that an endpoint repeats", async ({
  onTestFinished,
}) => {
  const replies = new Map([
    ["/first-key", { status: 503, body: {} }],
    ["/second-key", { status: 503, body: {} }],
    ["/third-key", { status: 200, body: { error: { code: -32_000, message: "key third-key expired" } } }],
  ]);
  const server = createServer((request, response) => {
    const { status, body } = replies.get(request.url ?? "") ?? { status: 404, body: {} };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  const failed = Promise.withResolvers<void>();
  const notices: string[] = [];
  const feed = createChainFeed({
    network: NETWORKS.bsc,
    urls: [...replies.keys()].map((path) => `http://127.0.0.1:${port}${path}`),
    clock: systemClock,
    notify: (_level, message, facts) => {
      notices.push(`${message} ${JSON.stringify(facts)}`);
      if (notices.length === replies.size) failed.resolve();
    },
  });
  const stop = new AbortController();
  const events = feed.events(stop.signal)[Symbol.asyncIterator]();
  const next = events.next();
  onTestFinished(async () => {
    stop.abort();
    await next;
  });
  expect(feed.trouble?.()).toBeUndefined();
  await failed.promise;
  const trouble = feed.trouble?.();
  expect(trouble).toBe(
    "none of the 3 endpoints of bsc can be used, because each of 2 returned 503 and one returned error -32000",
  );
  expect(trouble).not.toMatch(/key|127\.0/);
  expect(notices.join()).toMatch(/returned error -32000: key … expired/);
  expect(notices.join()).not.toMatch(/(first|second|third)-key/);
});
