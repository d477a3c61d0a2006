import { describe, expect, test } from "vitest";
import { createConfig, startGateway } from "../../../src/index.ts";
import { IndependentClient } from "../../support/clients/independent-client.ts";
import { BREAKAGES, KEYED_BREAKAGES } from "../../tools/conformance/breakages.ts";
import { type Breakage, BrokenServer, type Memory } from "../../tools/conformance/broken-server.ts";
import { isObject } from "../../tools/conformance/json.ts";
import { followAll, hasPython, linesOf, Truth } from "./python-client.ts";

const ALL = ["websocket", "sse", "poll"] as const;
const STREAMS = ["websocket", "sse"] as const;

/**
 * The result of the Python client with each broken server of the conformance kit.
 *
 * A list has the transports over which it still returns every event once, and exact lists. A text
 * says why no client can survive or notice this fault, or which test covers it.
 */
const EXPECTED: Readonly<Record<string, readonly (typeof ALL)[number][] | string>> = {
  "drops an event": ALL,
  "sends an event twice": ALL,
  "sends two events in the wrong order": ALL,
  "sends a prev of 0": ALL,
  "sends a prev before an event that it did not omit": ALL,
  "sends snapshots that are older than their cursor": "only a comparison with REST shows it",
  "drops a part of a snapshot": "the client asks for no parts",
  "claims a full resume, with a hole that prev hides": "a forged prev hides the gap",
  "resets without stating what is lost": "[W9] in websocket-rules.test.ts",
  "omits fields from its changes": "only a comparison with REST shows it",
  "does not state when candles closed": "[W43] in http-rules.test.ts",
  "never changes its ETags": "the client sends no entity tags",
  "answers 304 after every change": "the client sends no entity tags",
  "sends heartbeats without positions": STREAMS,
  "sends a heartbeat before its response": STREAMS,
  "moves clients back with heartbeats": STREAMS,
  "closes with the wrong code": "the client sends no message that could be too large",
  "ignores filters": "the client does not filter by itself",
  "does not state the active filter": STREAMS,
  "ignores unknown parameters": "the client sends known parameters only",
  "responds without the id": "the client sends no commands",
  "omits its limits": STREAMS,
  "streams events without ids": ["sse"],
  "ignores Last-Event-ID": ["sse"],
  "ends a wait without a cursor": "[P5] in http-rules.test.ts",
  "returns 410 without stating what is lost": "[P6] in http-rules.test.ts",
  "refuses methods without an Allow header": "the client sends GET only",
  "continues a channel after its last subscription has ended": "the client ends no subscription",
  "reports a client that is too fast under the wrong code": "the client sends no commands",
  "ignores client ids": STREAMS,
  "ends streams without a reason": ["sse"],
  "does not link to the next page": ["poll"],
  "omits batches": ALL,
  "sends a mirror no base": "the client is not a mirror",
  "accepts keys in the query": "the client sends keys in a header only: [K5] in stream.test.ts",
  "treats an unknown key as anonymous": "the plan in hello is the only sign",
  "does not state the plan": STREAMS,
  "lets caches mix plans": "the client has no cache",
  "ignores tickets": "the client sends keys in a header only: [K5] in stream.test.ts",
};

/** Applies a breakage of streams to the events of polls. All pages count as one connection. */
function overPolls({ message, ...breakage }: Breakage): Breakage {
  if (!message) return breakage;
  const memory: Memory = { events: 0, kept: undefined };
  return {
    answer: (answer) => {
      if (!answer.body.startsWith("{")) return answer;
      const { events, ...body } = JSON.parse(answer.body);
      if (!Array.isArray(events)) return answer;
      const spoiled = events.filter(isObject).flatMap((event) => {
        memory.events += 1;
        return message(event, memory);
      });
      return { ...answer, body: JSON.stringify({ ...body, events: spoiled }) };
    },
  };
}

test("the table has every breakage of the conformance kit, and no others", () => {
  const all = Object.keys({ ...BREAKAGES, ...KEYED_BREAKAGES });
  expect(Object.keys(EXPECTED).toSorted()).toEqual(all.toSorted());
});

describe.skipIf(!hasPython)("the Python package (python3-aiohttp)", () => {
  test("[L1] [L3] [W13] [W14] [W15] [P2] [S8] with each broken server that a client can survive, it returns every event once, and exact lists", async () => {
    const gateway = await startGateway(
      createConfig({ port: 0, logLevel: "silent", drain: "0", feed: "replay", warmup: "0s", speed: 300 }),
    );
    const direct = new IndependentClient(gateway.url);
    await direct.connect();
    const truth = new Truth(direct);
    const start = { seq: direct.seq, cursor: direct.cursor };
    const cases = Object.entries({ ...BREAKAGES, ...KEYED_BREAKAGES }).flatMap(([name, [, breakage]]) => {
      const transports = EXPECTED[name];
      if (!Array.isArray(transports)) return [];
      return transports.map((transport: (typeof ALL)[number]) => {
        const spoiled = transport === "poll" ? overPolls(breakage) : breakage;
        return { name, transport, server: new BrokenServer(gateway.url, spoiled) };
      });
    });
    try {
      const urls = await Promise.all(cases.map(({ server }) => server.listen()));
      // Await more than 7 events: a page that ended with the last one compared could hide its loss.
      await direct.until(() => direct.seq >= start.seq + 20);
      await using client = followAll(
        cases.map(({ transport }, at) => [
          urls[at] ?? "",
          transport === "poll" ? { transport, count: 7, after: start.cursor } : { transport, count: 7 },
        ]),
      );
      expect(await client.ended(), client.stderr()).toBe(0);
      const lines = linesOf(client);
      const last = Math.max(...lines.map(({ seq = 0 }) => seq));
      await direct.until(() => direct.seq >= last);
      for (const [at, { name, transport }] of cases.entries()) {
        const own = lines.filter(({ stream }) => stream === at);
        const views = transport === "poll" ? 0 : 2;
        expect(truth.compare(own), `${name}, over ${transport}`).toEqual({ events: 7, views });
      }
    } finally {
      for (const { server } of cases) await server[Symbol.asyncDispose]();
      await direct.disconnect();
      await gateway.stop();
    }
  });
});
