import { deflateRawSync, inflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { LOG_START } from "../../../src/scale/cluster/entry.ts";
import { seal } from "../../../src/scale/cluster/entry-text.ts";
import { RedisEngine } from "../../../src/scale/cluster/redis/redis-engine.ts";
import { eventually } from "../../support/time/waiters.ts";
import { ask, HAS_REDIS, type RedisServer } from "./redis-servers.ts";
import { endAfterEach, startServer } from "./started-servers.ts";

const [LOG, CHECKPOINT] = ["fw:{flarewire}:log", "fw:{flarewire}:checkpoint"];
const ends = endAfterEach();

/** Starts a gateway, which stops after the test. Its log lines go to `lines`. */
function startNode({ port }: RedisServer, lines: string[] = []): Promise<Gateway> {
  const over = new AbortController();
  const config = createConfig({
    port: 0,
    drain: "0",
    compression: false,
    cluster: `redis://127.0.0.1:${port}`,
    feed: "replay",
    warmup: "0s",
    speed: 300,
    heartbeat: "1s",
  });
  const logger = createLogger("info", { write: (line) => void lines.push(line) });
  const started = startGateway(config, { logger, signal: over.signal });
  ends.push(async () => {
    over.abort();
    await (await started).stop();
  });
  return started;
}

const readiness = async ({ url }: Gateway) => (await fetch(`${url}/readyz`)).status;

describe.skipIf(!HAS_REDIS)("nodes of several versions in one cluster", () => {
  test("a node that cannot read another version's stored state logs it and is unready, while the other node continues", async () => {
    const server = await startServer(ends);
    const first = await startNode(server);
    await expect.poll(() => ask(server.port, (redis) => redis.exists(CHECKPOINT))).toBe(1);
    await ask(server.port, async (redis) => {
      const stored = await redis.hgetBuffer(CHECKPOINT, "log");
      const text = inflateRawSync(stored ?? Buffer.alloc(0)).toString();
      await redis.hset(CHECKPOINT, "log", deflateRawSync(text.replace('"v":2', '"v":1')));
      // The leader, which has this version, cannot replace it.
      await redis.call("ACL", "SETUSER", "default", "-hset");
    });
    await expect.poll(() => ask(server.port, (redis) => redis.xlen(LOG))).toBeGreaterThan(2);
    await ask(server.port, (redis) => redis.xtrim(LOG, "MAXLEN", 1));
    const lines: string[] = [];
    const waiting = startNode(server, lines);
    const logged = () => lines.join("");
    await eventually(() => logged().includes("cannot use the cluster's stored state"), logged);
    expect(logged()).toContain("the cluster's state is of version 1; this node reads 2");
    const { seq, epoch } = first.head.cursor;
    await expect.poll(() => first.head.cursor.seq).toBeGreaterThan(seq);
    expect(first.head.cursor.epoch).toBe(epoch);
    const second = await waiting;
    expect([await readiness(first), await readiness(second)]).toEqual([200, 503]);
  });

  test.each([
    {
      what: "an event",
      reason: /^cannot read the cluster's log: event 1 is malformed$/,
      write: async (server: RedisServer, node: Gateway) => {
        const content = { report: { info: {}, freshness: {} }, batch: { observedAtMs: 1 } };
        const events = JSON.stringify([[1, 1, 1, "event-of-a-later-version", "flares.free"]]);
        const body = deflateRawSync(`${JSON.stringify(content)}\n${events}\n{}`);
        const engine = new RedisEngine({
          connection: { host: "127.0.0.1", port: server.port },
          name: "flarewire",
          acknowledgements: 0,
          retained: 1_000,
          clock: systemClock,
          notify: () => {},
        });
        ends.push(() => engine.close());
        const { signal } = new AbortController();
        for (let isIn = false; !isIn; ) {
          let head = LOG_START;
          for await (const news of engine.read(1, signal)) {
            if (news.kind === "idle") break;
            head = news.entry;
          }
          const { epoch } = node.head.cursor;
          const header = { kind: "batch", term: 9, by: "later", nonce: "1", committed: 0, epoch } as const;
          const entry = seal(head.offset + 1, { ...header, prev: head.hash }, body);
          isIn = (await engine.append(entry, signal)).kind === "appended";
          const { offset, hash } = entry;
          if (isIn) engine.notify({ kind: "commit", position: { offset, hash } });
        }
      },
    },
    {
      what: "a header",
      reason:
        /^cannot read the cluster's log: entry \d+: its version is 2; this node reads 1; update this node; or, /,
      write: ({ port }: RedisServer) =>
        ask(port, async (redis) => {
          const [last] = await redis.xrevrange(LOG, "+", "-", "COUNT", 1);
          const offset = Number.parseInt(last?.[0] ?? "0", 10) + 1_000;
          await redis.xadd(LOG, `${offset}-0`, "x", "abc", "h", '{"v":2}', "b", "", "more", "1");
        }),
    },
  ])(
    "a node that cannot read $what of another version logs it and becomes unready, but still serves REST",
    async ({ reason, write }) => {
      const server = await startServer(ends);
      const lines: string[] = [];
      const node = await startNode(server, lines);
      await expect.poll(() => node.head.ready).toBe(true);
      await write(server, node);
      await expect.poll(() => node.freshness().state).toBe("down");
      expect(node.freshness().reason).toMatch(reason);
      expect(lines.join("")).toMatch(/cannot read the cluster's log.*; update this node/);
      expect(await readiness(node)).toBe(503);
      expect((await fetch(`${node.url}/api/v1/snapshot`)).status).toBe(200);
    },
  );
});
