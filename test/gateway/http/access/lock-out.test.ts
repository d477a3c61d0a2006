import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from "node:http";
import { describe, expect } from "vitest";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import type { Step } from "../../hub/test-market.ts";
import { type ConnectionHandle, test, type WireFactory } from "../stream/websocket-fixture.ts";

const STEPS: readonly Step[] = ["list", "flare", "refresh", "list", "refresh", "unlist"];
const POLLERS = 40;

/** Starts a gateway with a log of 2,400 events, whose turns take real time. */
async function longLog(makeWire: WireFactory): Promise<ConnectionHandle> {
  const wire = await makeWire({ hub: { clock: systemClock } });
  for (let round = 0; round < 40; round++) await wire.publish(...Array(10).fill(STEPS).flat());
  return wire;
}

/** Sends requests from one address for pages that search the log for a missing token. */
function pollers(wire: ConnectionHandle): readonly ClientRequest[] {
  return Array.from({ length: POLLERS }, (_, at) => {
    const path = `/api/v1/events?after=oldest&limit=1000&symbols=zz${at}`;
    return request({ port: wire.port, path, localAddress: "127.0.0.2", agent: false }).end();
  });
}

/**
 * Sends searches and then a handshake. Returns how many searches waited when the handshake arrived,
 * and how many of those were answered before it.
 */
async function raceHandshake(wire: ConnectionHandle): Promise<{ waiting: number; overtaken: number }> {
  let [arrived, answered, before] = [0, 0, 0];
  const allArrived = Promise.withResolvers<void>();
  const onRequest = (_request: IncomingMessage, response: ServerResponse) => {
    response.once("finish", () => (answered += 1));
    arrived += 1;
    if (arrived === POLLERS) allArrived.resolve();
  };
  const onUpgrade = () => (before = answered);
  wire.app.server.on("request", onRequest).on("upgrade", onUpgrade);
  const answers = pollers(wire).map((asked) => once(asked, "response"));
  await allArrived.promise;
  const client = wire.client("?channels=status", [], { localAddress: "127.0.0.3" });
  await wire.sessions(1);
  const overtaken = answered - before;
  await client.answer("subscribed");
  for (const [message] of (await Promise.all(answers)) as [IncomingMessage][]) {
    expect(message.statusCode).toBe(200);
    message.resume();
  }
  client.ws.close();
  await client.ended;
  await wire.sessions(0);
  wire.app.server.off("request", onRequest).off("upgrade", onUpgrade);
  return { waiting: POLLERS - before, overtaken };
}

describe("[W38] a client that keeps the server busy with searches does not lock out others", () => {
  test("a handshake from another address is answered before earlier searches", async ({ makeWire }) => {
    const wire = await longLog(makeWire);
    // On a fast machine, most searches are answered before the handshake arrives, which proves
    // nothing. If searches had precedence, the handshake would never overtake half of the waiting
    // ones.
    let isFair = false;
    for (let attempt = 0; attempt < 50 && !isFair; attempt++) {
      const { waiting, overtaken } = await raceHandshake(wire);
      isFair = waiting >= POLLERS / 4 && overtaken < waiting / 2;
    }
    expect(isFair).toBe(true);
  });

  test("[P4] a page with a filter examines at most a thousand events, and states that there are more", async ({
    makeWire,
  }) => {
    const wire = await longLog(makeWire);
    const cursors: string[] = [];
    let after = `${EPOCH}-0`;
    for (let more = true; more; ) {
      const { body } = await wire.ask(`/api/v1/events?after=${after}&symbols=nobody&wait=0`);
      ({ cursor: after, more } = JSON.parse(body));
      cursors.push(after);
    }
    expect(cursors).toEqual([`${EPOCH}-1000`, `${EPOCH}-2000`, `${EPOCH}-2400`]);
  });
});
