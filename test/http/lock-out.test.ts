import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { describe, expect } from "vitest";
import { systemClock } from "../../src/lib/time/clock.ts";
import { EPOCH } from "../hub/hub-fixture.ts";
import type { Step } from "../hub/test-market.ts";
import { type ConnectionHandle, test, type WireFactory } from "./websocket-fixture.ts";

const STEPS: readonly Step[] = ["list", "flare", "refresh", "list", "refresh", "unlist"];
const POLLERS = 40;

/** A gateway with a log of 2,400 events, whose turns take the machine's time. */
async function longLog(makeWire: WireFactory): Promise<ConnectionHandle> {
  const wire = await makeWire({ hub: { clock: systemClock } });
  for (let round = 0; round < 40; round++) await wire.publish(...Array(10).fill(STEPS).flat());
  return wire;
}

/**
 * As many requests from one address for pages that search the log for a token that is not there.
 */
function pollers(wire: ConnectionHandle): readonly ClientRequest[] {
  return Array.from({ length: POLLERS }, (_, at) => {
    const path = `/api/v1/events?after=oldest&limit=1000&symbols=zz${at}`;
    return request({ port: wire.port, path, localAddress: "127.0.0.2", agent: false }).end();
  });
}

describe("[W38] a client that keeps the server busy with searches does not keep another out", () => {
  test("a handshake from another address is answered before the searches that came first", async ({
    makeWire,
  }) => {
    const wire = await longLog(makeWire);
    let [arrived, answered] = [0, 0];
    const allArrived = Promise.withResolvers<void>();
    wire.app.server.on("request", (_request, response) => {
      response.once("finish", () => (answered += 1));
      arrived += 1;
      if (arrived === POLLERS) allArrived.resolve();
    });
    const answers = pollers(wire).map((asked) => once(asked, "response"));
    await allArrived.promise;
    const client = wire.client("?channels=status", [], { localAddress: "127.0.0.3" });
    await wire.sessions(1);
    expect(answered).toBeLessThan(POLLERS / 2);
    await client.answer("subscribed");
    const all = (await Promise.all(answers)) as [IncomingMessage][];
    for (const [message] of all) {
      expect(message.statusCode).toBe(200);
      message.resume();
    }
    client.ws.close();
    await client.ended;
  });

  test("[P4] a page with a filter examines a thousand events, and says that there are more", async ({
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
