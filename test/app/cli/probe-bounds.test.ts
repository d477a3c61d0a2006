import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { describe, expect } from "vitest";
import { WebSocketServer } from "ws";
import { type Finding, runProbe } from "../../../src/app/cli/run-probe.ts";
import type { Probe } from "../../../src/base/lib/probe.ts";
import type { Clock } from "../../../src/base/lib/time/clock.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";
import { endpointProbes } from "../../../src/feeds/chain/probe/endpoint-probes.ts";
import { enricherProbes } from "../../../src/feeds/enrich/enricher-probes.ts";
import { settle, until } from "../../feeds/exchange/scripted-venue.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { test } from "../../support/time/still-running.ts";

const MIB = 1024 * 1024;
const never = new AbortController().signal;

/** An endpoint on loopback, over HTTP and WebSockets, whose answers the test gives. */
class ScriptedEndpoint implements AsyncDisposable {
  /** The parts of each answer over HTTP, where they are more than a text should be. */
  parts: readonly Uint8Array[] | undefined;
  /** The result of a method, or the whole text of an answer. */
  answer: (method: string) => { readonly result: unknown } | string = () => ({ result: "0x38" });
  /** Status of each answer over HTTP. */
  status = 200;
  /** Closes each WebSocket with this code, without an answer. */
  closesWith: number | undefined;
  readonly #server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += String(part);
    response.writeHead(this.status, { "content-type": "application/json" });
    if (this.parts) Readable.from(this.parts).pipe(response);
    else response.end(text && this.#reply(text));
  });
  readonly #sockets = new WebSocketServer({ server: this.#server });

  async listen(): Promise<this> {
    this.#sockets.on("connection", (socket) => {
      socket.on("message", (data) => {
        if (this.closesWith !== undefined) socket.close(this.closesWith);
        else socket.send(this.#reply(String(data)));
      });
    });
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openSockets(): number {
    return this.#sockets.clients.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #reply(text: string): string {
    const { id, method } = JSON.parse(text);
    const answer = this.answer(method);
    return typeof answer === "string" ? answer : JSON.stringify({ jsonrpc: "2.0", id, ...answer });
  }
}

/** What trying this of an endpoint finds. */
async function finding(url: string, what: string, clock: Clock = new ManualClock()): Promise<Finding> {
  const probe = endpointProbes({ network: NETWORKS.bsc, url, number: 1, clock }).find(
    (one) => one.what === what,
  );
  if (!probe) throw new Error(`${what} is not tried`);
  let found: Finding | undefined;
  void runProbe(probe, clock, never).then((one) => {
    found = one;
  });
  await until(`${what} is tried`, () => found !== undefined);
  if (!found) throw new Error("nothing was found");
  return found;
}

describe("a tested endpoint", () => {
  test("has no open connection afterwards, whether it answers, rejects or closes", async () => {
    await using endpoint = await new ScriptedEndpoint().listen();
    const url = endpoint.url.replace("http", "ws");
    expect(await finding(url, "chain")).toMatchObject({ works: true, detail: "56, which is bsc" });
    await until("the connection is closed", () => endpoint.openSockets === 0);
    endpoint.answer = () => "no JSON";
    expect((await finding(url, "chain")).detail).toBe("sent something other than JSON over its WebSocket");
    await until("the connection is closed", () => endpoint.openSockets === 0);
    endpoint.closesWith = 1013;
    expect(await finding(url, "chain")).toMatchObject({
      works: false,
      detail: "closed its WebSocket (1013)",
    });
    await until("the connection is closed", () => endpoint.openSockets === 0);
  });

  test("fails if it serves another chain, and names that chain", async () => {
    await using endpoint = await new ScriptedEndpoint().listen();
    endpoint.answer = () => ({ result: "0x1" });
    expect(await finding(endpoint.url, "chain")).toMatchObject({
      works: false,
      detail: "serves chain 1, not 56; use an endpoint of bsc",
    });
  });

  test("passes if its newest block is at most a minute old or ahead", async () => {
    await using endpoint = await new ScriptedEndpoint().listen();
    const start = Date.UTC(2026, 0, 1);
    const timestamp = `0x${(start / 1_000).toString(16)}`;
    endpoint.answer = () => ({ result: { number: "0x7", hash: "0x1", timestamp } });
    const works: boolean[] = [];
    for (const aheadMs of [60_000, 60_001, -60_000, -60_001])
      works.push((await finding(endpoint.url, "block", new ManualClock(start + aheadMs))).works);
    expect(works).toEqual([true, false, true, false]);
  });

  test("fails if its answer is larger than 10 MiB", async () => {
    await using endpoint = await new ScriptedEndpoint().listen();
    const [head, tail] = ['{"jsonrpc":"2.0","id":1,"result":"0x38","more":"', '"}'];
    const middle = Buffer.alloc(MIB, "x");
    endpoint.parts = [Buffer.from(head), ...Array.from({ length: 10 }, () => middle), Buffer.from(tail)];
    expect(await finding(endpoint.url, "chain")).toMatchObject({
      works: false,
      detail: "returned more than 10485760 bytes",
    });
  });
});

test("CoinGecko fails if its list is not at the address", async () => {
  await using endpoint = await new ScriptedEndpoint().listen();
  endpoint.status = 404;
  const { url } = endpoint;
  const urls = { coingecko: url, sourcify: url, etherscan: url, dexscreener: url };
  const clock = new ManualClock();
  const [probe] = enricherProbes({ names: ["coingecko"], urls, keys: {}, clock, groups: [] });
  if (!probe) throw new Error("CoinGecko is not tried");
  const found = await runProbe(probe, clock, never);
  expect(found).toMatchObject({ works: false, detail: "returned 404" });
});

test("doctor asks about the wrapped coin of every followed chain, and of all chains if none is followed", async () => {
  await using endpoint = await new ScriptedEndpoint().listen();
  endpoint.parts = [Buffer.from("[]")];
  const { url } = endpoint;
  const urls = { coingecko: url, sourcify: url, etherscan: url, dexscreener: url };
  for (const [groups, coins] of [
    [
      ["matic", "avalanche", "exchange"],
      ["WPOL", "WAVAX"],
    ],
    [["exchange"], ["WBNB", "WPOL", "WAVAX"]],
  ] as const) {
    const clock = new PacedClock(100, 0);
    const [probe] = enricherProbes({ names: ["dexscreener"], urls, keys: {}, clock, groups });
    if (!probe) throw new Error("DexScreener is not tried");
    const detail = coins.map((coin) => `no facts about ${coin}`).join("; ");
    expect(await runProbe(probe, clock, never)).toMatchObject({ works: true, detail });
  }
});

test("every probe times out after 45 s, without leaking timers", async () => {
  const clock = new ManualClock();
  let isLeft = false;
  const probe: Probe = {
    service: "x",
    what: "y",
    host: "z",
    run: (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          isLeft = true;
          reject(signal.reason);
        });
      }),
  };
  let found: Finding | undefined;
  void runProbe(probe, clock, never).then((one) => {
    found = one;
  });
  clock.advance(44_999);
  await settle();
  expect([found, isLeft]).toEqual([undefined, false]);
  clock.advance(1);
  await until("it is given up", () => found !== undefined);
  expect(found).toMatchObject({ works: false, detail: "did not respond within 45 s", tookMs: 45_000 });
  expect(isLeft).toBe(true);
});
