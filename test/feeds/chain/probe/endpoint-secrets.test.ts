import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { runProbe } from "../../../../src/app/cli/run-probe.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { endpointProbes } from "../../../../src/feeds/chain/probe/endpoint-probes.ts";

test("no part of a key that an endpoint repeats is shown, wherever the answer is truncated", async () => {
  const key = "0123456789abcdef0123456789abcdef";
  let padding = 0;
  const server = createServer((_request, response) => {
    const message = `${" ".repeat(padding)}no such key: ${key}. ${"!".repeat(1_000)}`;
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32_000, message } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/${key}`;
  const [probe] = endpointProbes({ network: NETWORKS.bsc, url, number: 1, clock: systemClock });
  if (!probe) throw new Error("nothing is tried");
  for (padding = 80; padding < 240; padding += 10) {
    const { detail } = await runProbe(probe, systemClock, new AbortController().signal);
    expect(detail).not.toContain(key.slice(0, 4));
    expect(detail.length).toBeLessThan(300);
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
