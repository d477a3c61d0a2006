import { expect } from "vitest";
import { isInstalled } from "../../../scale/cluster/redis-servers.ts";
import { ManyPollers } from "../../../support/clients/many-pollers.ts";
import { IS_SOAK } from "../../../support/law-runs.ts";
import { newDirectory } from "../../../support/servers/edges.ts";
import { PollCache } from "../../../support/servers/poll-cache.ts";
import { findInstalled } from "../../../support/setup/debian-package.ts";
import { eventually } from "../../../support/time/waiters.ts";
import { test } from "./websocket-fixture.ts";

const HAS_NGINX = findInstalled(() => isInstalled("nginx", "-v"), "nginx-light");
const POLLERS = IS_SOAK ? 2_000 : 40;
const BATCHES = 3;

test.runIf(HAS_NGINX)(
  "[P14] [L3] behind the documented nginx, pollers share the server's responses, and none skips an event",
  async ({ wire, onTestFinished }) => {
    const asked: string[] = [];
    wire.app.server.on("request", ({ url }) => void asked.push(String(url)));
    await wire.publish("list");
    const cache = await PollCache.start(newDirectory(onTestFinished), wire.port);
    const pollers = new ManyPollers(cache.port);
    try {
      const [first = "", ...others] = await pollers.start(POLLERS);
      expect(new Set([first, ...others]).size).toBe(1);
      const last = wire.head.cursor.seq + 2 * BATCHES;
      const followed = Promise.all([first, ...others].map((cursor) => pollers.follow(cursor, last)));
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const { epoch, seq } = wire.head.cursor;
        const waits = `/api/v1/events?after=${epoch}-${seq}&wait=55`;
        await eventually(
          () => asked.includes(waits),
          () => asked,
          { what: waits },
        );
        await wire.publish("list", "flare");
      }
      const expected = Array.from({ length: 2 * BATCHES }, (_, index) => last - 2 * BATCHES + 1 + index);
      for (const seqs of await followed) expect(seqs).toEqual(expected);
      // Each batch is one wait, and another for each ten seconds in which someone asks. Starts
      // share a response for a second, in which a busy machine does not serve all pollers.
      expect(asked.filter((url) => url.includes("wait=")).length).toBeLessThan(POLLERS / 2);
    } finally {
      pollers.close();
      await cache.stop();
    }
  },
);
