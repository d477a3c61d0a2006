import { expect, test } from "vitest";
import { runInProcess, startInProcess } from "../run-in-process.ts";
import { flareStarted, greet, send, startScriptedServer } from "../scripted-server.ts";

test("--group follows those default channels of a group that the key includes, and prints pairs; an unknown group, or --channels too, is rejected", async () => {
  await using server = await startScriptedServer();
  server.refuse = {
    status: 403,
    headers: { "Content-Type": "application/problem+json" },
    body: JSON.stringify({ detail: "the plan free does not include flares.exchange.pro" }),
    channel: "flares.exchange.pro",
  };
  await using tail = startInProcess(["tail", server.url, "--group", "exchange"]);
  const { socket, query } = await server.next();
  expect(query.get("channels")).toBe("flares.exchange.free,status");
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  const started = flareStarted(7, "BTC");
  const flare = { ...started.data.flare, pair: "BTC/USDT" };
  send(socket, { ...started, channel: "flares.exchange.free", data: { ...started.data, flare } });
  await tail.said("stdout", / {2}flare-started {7}flares\.exchange\.free BTC\/USDT {6}/);
  expect(tail.stderr()).toContain(
    "the server does not send flares.exchange.pro: following flares.exchange.free",
  );
  const detail = 'the key does not allow channel "status"; leave it out';
  server.refuse = { ...server.refuse, body: JSON.stringify({ detail }), channel: "status" };
  await using limited = startInProcess(["tail", server.url, "--group", "exchange"]);
  const only = await server.next();
  expect(only.query.get("channels")).toBe("flares.exchange.pro");
  expect(limited.stderr()).toBe("");
  greet(only.socket, { cursor: "abcd-6", resumed: "reset" });
  await limited.said("stderr", "does not send status: following flares.exchange.pro\n");
  server.refuse = { ...server.refuse, channel: "flares.exchange.pro" };
  const named = ["--channels", "flares.exchange.pro,status"];
  const refused = await runInProcess(["tail", server.url, ...named]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(detail)]);
  expect(refused.stderr).not.toContain("following");
  const wrong = await runInProcess(["tail", server.url, "--group", "exchnge", "--channels", "status"]);
  const polygon = await runInProcess(["tail", "--group", "polygon"]);
  expect(polygon.stderr).toContain("robinhood (did you mean matic?)");
  expect(wrong.stderr).toContain('--group "exchnge" must be one of bsc, exchange, matic, avalanche, solana');
  expect(wrong.stderr).toContain("--group chooses the default channels");
});

test.for([503, 429, 403])(
  "tail without a key follows flares.free of a server that states the plan with status %i",
  async (status) => {
    await using server = await startScriptedServer();
    // Refuses only the request for the plan.
    server.refuse = { status, headers: { "Flarewire-Plan": "free" }, body: "", channel: "*" };
    await using _tail = startInProcess(["tail", server.url]);
    expect((await server.next()).query.get("channels")).toBe("flares.free,newest.bsc,status");
  },
);
