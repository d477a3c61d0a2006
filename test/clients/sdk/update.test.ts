import { expect } from "vitest";
import { EPOCH } from "../../gateway/hub/hub-fixture.ts";
import { HASTY, test } from "./stream-kit.ts";

test("[W14] if the server is behind when the selection changes, the stream retries and never moves back", async ({
  wire,
  start,
}) => {
  await wire.publish("list", "list", "flare");
  let isBehind = true;
  const platform = {
    ...HASTY,
    fetch: async (url: string | URL | Request, init?: RequestInit) => {
      const response = await fetch(url, init);
      if (!isBehind || !String(url).includes("snapshot=true")) return response;
      isBehind = false;
      const headers = { ...Object.fromEntries(response.headers), "flarewire-cursor": `${EPOCH}-1` };
      return Response.json(await response.json(), { headers });
    },
  };
  const url = `http://127.0.0.1:${wire.port}`;
  const { stream, items, until, resets } = start(url, { transport: "sse", platform });
  await until(() => items.length === 1);
  const reasons = new Set<string>();
  stream.on("connection", ({ reason }) => reasons.add(reason));
  stream.update({ channels: ["newest.bsc"] });
  await until(() => items.length === 2);
  expect(resets()).toEqual(["started", "changed"]);
  expect(items[1]?.cursor).toBe(`${EPOCH}-3`);
  expect(reasons).toContain("the server is behind another");
});

test("an invalid selection throws an error that says what to do, and changes nothing", async ({
  wire,
  start,
}) => {
  const { stream, until, seqs, resets } = start(`http://127.0.0.1:${wire.port}`, {
    channels: ["newest.bsc"],
  });
  await until(() => stream.connection.state === "live");
  const wrong: object = { filters: {} };
  expect(() => stream.update(wrong)).toThrow('option "filters" is unknown: use channels, filter');
  const text = { channels: "flares.*" } as never;
  expect(() => stream.update(text)).toThrow('channels "flares.*": use an array');
  stream.update({ filter: { min_liquidity: 1 } });
  await until(() => resets().length === 2);
  await wire.publish("flare", "list");
  await until(() => seqs().length > 0);
  expect(seqs()).toEqual([2]);
  stream.close();
  expect(() => stream.update({})).toThrow("the stream is closed: connect again");
});
