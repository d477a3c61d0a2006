import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningCli, spawnCli } from "../app/cli/spawn-cli.ts";
import { checkedFetch } from "../support/expect/validate-response.ts";
import { NoNetwork } from "./no-network.ts";

/** Each of the three WebSocket endpoints is tried at the start, and again after failures. */
const TRIES = 12;

let network: NoNetwork;
let server: RunningCli;
let url = "";
beforeAll(async () => {
  network = await NoNetwork.open();
  server = spawnCli(["serve", "--port", "0", "--drain", "0", ...network.flags]);
  await server.said("stdout", /serves http.*\n/);
  url = /http:\/\/[\d.]+:\d+/.exec(server.stdout())?.[0] ?? "";
  await network.sockets.triedTimes(TRIES);
  await server.said("stderr", /flarewire -- doctor/);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await network?.[Symbol.asyncDispose]();
});

/** Stops the server. Resolves with the messages of its log; rejects if a line is not JSON. */
async function messagesOf({ child, ended, stderr }: RunningCli): Promise<readonly string[]> {
  child.kill("SIGTERM");
  expect(await ended()).toBe(0);
  return stderr()
    .trimEnd()
    .split("\n")
    .map((line) => String(JSON.parse(line).msg));
}

test("without a network, /readyz describes the failure of each part", async () => {
  const lost = "broke off the connection";
  const reasons = [
    `exchange has no data yet: each of binance, kucoin, and gate ${lost}`,
    `aggregator has no data yet: GeckoTerminal ${lost}`,
    ...["bsc", "polygon", "avalanche"].map(
      (name) =>
        `${name} has no data yet: none of the 2 endpoints of ${name} can be used, because one ${lost} and one is unreachable over its WebSocket`,
    ),
  ];
  const read = async () => {
    const { status, json } = await checkedFetch(`${url}/readyz`);
    const { detail, parts } = json as { detail: string; parts: readonly { reason: string }[] };
    return { status, detail, reasons: parts.map(({ reason }) => reason) };
  };
  const detail = `the source is stale: the market has no data yet; ${reasons.join("; ")}; coingecko ${lost}`;
  await expect.poll(read).toEqual({ status: 503, detail, reasons });
});

test("without a network, REST, tail and top report why there is no data, and wait for it", async () => {
  const reason =
    /no data yet: the market has no data yet; exchange has no data yet: .*GeckoTerminal broke off/;
  const { status, json } = await checkedFetch(`${url}/api/v1/flares`);
  expect([status, (json as { detail: string }).detail]).toEqual([503, expect.stringMatching(reason)]);
  await using tail = spawnCli(["tail", url]);
  await using top = spawnCli(["top", url]);
  await Promise.all([tail.said("stderr", reason), top.said("stderr", reason)]);
  await tail.said("stderr", /; retrying\n/);
  expect(top.stderr()).toMatch(/^flarewire top: waiting for the server: no data yet: /);
  for (const command of [tail, top]) {
    expect(command.child.exitCode).toBeNull();
    command.child.kill("SIGTERM");
    expect(await command.ended()).toBe(0);
  }
});

// This test must be the last, because it stops the gateway.
test("without a network, serve --feed live logs only JSON lines, with a suggestion within seconds", async () => {
  const { address: host } = network.sockets;
  await server.said(
    "stderr",
    /"service":"(wss?:\/\/)?[\w.:]+.*no service has returned data yet, retrying; try npm run flarewire -- doctor, which/,
  );
  const messages = await messagesOf(server);
  expect(messages).toContain(`ws://${host} is unreachable over its WebSocket`);
  expect(messages.join("\n")).not.toMatch(/\(object\)|in step/);
});
