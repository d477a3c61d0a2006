import { expect } from "vitest";
import { Hub, websocketFraming } from "../../src/hub/index.ts";
import { FRESH, INFO, settled, test } from "./hub-fixture.ts";
import { MockSocket } from "./mock-socket.ts";

test("[W28] [W9] where a log goes on that was kept, a filter begins anew: what its items were before is not known", async ({
  sut,
}) => {
  await sut.publish("list", "list", "flare");
  const { log, head, clock, errors } = sut;
  const again = new Hub({
    ...{ log, head, clock, info: () => INFO, freshness: () => FRESH, serverName: "flarewire/again" },
    onError: (error) => errors.push(error),
  });
  const answer = async (after: string, filter?: { min_liquidity: number }) => {
    const socket = new MockSocket();
    socket.session = again.connect(socket, websocketFraming, { channels: ["newest.bsc"], after, filter });
    await settled();
    await settled();
    socket.session.closed();
    return socket.of("subscribed").at(-1);
  };
  for (const seq of [1, 3])
    expect(await answer(`test1-${seq}`, { min_liquidity: 1 })).toMatchObject({
      resumed: "reset",
      lost: { reason: "expired", events: 3 - seq },
    });
  expect(await answer("test1-3")).toMatchObject({ resumed: "full" });
  expect(await answer("test1-1")).toMatchObject({ resumed: "full" });
  await sut.publish("list");
  expect(await answer("test1-4", { min_liquidity: 1 })).toMatchObject({ resumed: "full" });
  expect(again.size).toBe(0);
});
