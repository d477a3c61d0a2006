import fc from "fast-check";
import { expect } from "vitest";
import {
  type ConnectQuery,
  LongPoll,
  OLDEST,
  resolveChannels,
  websocketFraming,
} from "../../../src/gateway/hub/index.ts";
import { EPOCH, settled, test } from "./hub-fixture.ts";
import { MockSocket } from "./mock-socket.ts";
import { STEPS } from "./test-market.ts";

const FILTERS = [
  undefined,
  { min_liquidity: 20_000 },
  { symbols: ["T0", "T1"] },
  { names: ["flare-started", "flare-updated"] },
] as const satisfies readonly ConnectQuery["filter"][];

/** The query of a client that connects during the run. */
const clientQuery = fc.record({
  channels: fc.constantFrom(["*"], ["flares.*"], ["*", "newest.bsc"]),
  filter: fc.constantFrom(...FILTERS),
  mode: fc.constantFrom("events" as const, "latest" as const),
  back: fc.nat(20),
  frozen: fc.boolean(),
});

test("[K2] whatever a client of the plan free requests, it gets no event, list or id of flares.pro", async ({
  make,
}) => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 8 }), {
        minLength: 2,
        maxLength: 8,
      }),
      fc.array(clientQuery, { minLength: 1, maxLength: 4 }),
      async (polls, queries) => {
        const { hub, head, log, clock, publish, market } = make({ hub: { limits: { conflateFrom: 4 } } });
        const polling = new LongPoll({ log, head, clock, history: hub.history, stopping: hub.stopping });
        const sockets: MockSocket[] = [];
        const pages: string[] = [];
        for (const [at, steps] of polls.entries()) {
          await publish("flare", ...steps);
          const { channels, filter, mode, back, frozen } =
            queries[at % queries.length] ?? queries[0] ?? fail();
          const after = `${EPOCH}-${Math.max(0, head.cursor.seq - back)}`;
          const socket = new MockSocket();
          if (frozen) socket.highWater = 64;
          const query = { channels, filter, mode, ...(back > 15 ? {} : { after }) };
          socket.session = hub.connect(socket, websocketFraming, query, { plan: "free" });
          if (frozen) socket.freeze();
          sockets.push(socket);
          const page = {
            channels: resolveChannels(channels, { plan: "free" }),
            filter,
            limit: 100,
            waitMs: 0,
          };
          const answer = await polling.take({ ...page, after: OLDEST }, new AbortController().signal);
          if (answer.kind === "page") pages.push(answer.bytes.toString());
          await settled();
        }
        for (const socket of sockets) socket.thaw();
        await settled();
        clock.advance(15_000);
        const sent = [...sockets.flatMap(({ writes }) => writes.map(String)), ...pages].join("\n");
        for (const [, type = ""] of sent.matchAll(/"type":"([a-z]+)"/g)) seen.add(type);
        expect(sent).toContain("heartbeat");
        expect(sent).not.toContain("flares.pro");
        expect(sent).not.toContain('"pro":[{');
        expect(market.snapshot.flares.pro.length).toBeGreaterThan(0);
        for (const { id } of market.snapshot.flares.pro) expect(sent).not.toContain(id);
      },
    ),
    { numRuns: 60 },
  );
  for (const type of ["event", "subscribed", "conflated", "heartbeat"]) expect(seen).toContain(type);
});

function fail(): never {
  throw new RangeError("there are no queries");
}
