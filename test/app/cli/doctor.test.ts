import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { doctor } from "../../../src/app/cli/doctor.ts";
import { hostsWithoutDns } from "../../../src/app/cli/run-probe.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { Receiver, status, webhookFile } from "../../extensions/alerts/webhook-fixture.ts";
import { COIN_KEY, KEY, StandInServices } from "../../feeds/enrich/stand-in-services.ts";
import { StandIn, type StandInPair } from "../../feeds/exchange/stand-in.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { runInProcess } from "./run-in-process.ts";

const PAIRS: readonly StandInPair[] = (["binance", "kucoin", "gate"] as const).map((venue) => ({
  venue,
  base: "BTC",
  quoteVolume: 1e9,
}));

test("doctor reports whether each endpoint works, and its exit code whether all needed ones do", async () => {
  await using exchanges = await new StandIn(systemClock, PAIRS).listen();
  await using services = await new StandInServices().listen();
  const { url, streamUrl } = exchanges;
  const { urls } = services;
  const flags = [
    ...[
      "--binance-url",
      url,
      "--binance-stream-url",
      streamUrl,
      "--kucoin-url",
      url,
      "--gate-url",
      url,
      "--gate-stream-url",
      streamUrl,
    ],
    ...[
      "--coingecko-url",
      urls.coingecko,
      "--sourcify-url",
      urls.sourcify,
      "--etherscan-url",
      urls.etherscan,
    ],
    ...["--dexscreener-url", urls.dexscreener, "--enrich", "coingecko,sourcify,etherscan,dexscreener"],
  ];
  const environment = { FLAREWIRE_ETHERSCAN_KEY: KEY, FLAREWIRE_COINGECKO_KEY: COIN_KEY };
  const good = await runInProcess(["doctor", "--feed", "exchange", ...flags], environment);
  expect([good.code, good.stderr]).toEqual([0, "16 checks of 7 services: all work\n"]);
  const lines = good.stdout.trimEnd().split("\n");
  expect(lines.every((line) => /^works {2}\w+ +\w+ +\d+ ms {2}\S/.test(line))).toBe(true);
  for (const service of ["binance", "kucoin", "gate"])
    expect(lines.filter((line) => line.includes(`${service} `))).toHaveLength(4);

  exchanges.mischief.set("kucoin", "html");
  services.mischief.set("etherscan", "bad key");
  const bad = await runInProcess(["doctor", "--feed", "exchange", ...flags], environment);
  expect([bad.code, bad.stderr]).toEqual([75, "16 checks of 7 services: 11 work, 5 fail\n"]);
  expect(bad.stdout).toMatch(
    /^fails {2}kucoin returned text\/html instead of JSON \(4 checks: markets, volumes, candles, stream\)$/m,
  );
  expect(bad.stdout).toMatch(/^fails {2}etherscan +token .*returned NOTOK \(Invalid API Key/m);
  expect(bad.stdout).toMatch(/^works {2}gate +stream /m);
  expect(good.stdout + bad.stdout + bad.stderr).not.toMatch(new RegExp(`${KEY}|${COIN_KEY}`));
  expect(services.asked.find(({ name }) => name === "coingecko")?.key).toBe(COIN_KEY);

  exchanges.mischief.clear();
  services.mischief.set("etherscan", "free key");
  const freeKey = await runInProcess(["doctor", "--feed", "exchange", ...flags], environment);
  expect(freeKey.code).toBe(0);
  const partly = "contractSource of WPOL; refuses bsc, avalanche: this key's plan lacks the chain";
  expect(freeKey.stdout).toMatch(new RegExp(`^works  etherscan +token .*  ${partly}; a paid plan`, "m"));
  const onlyBsc = ["doctor", "--live", "bsc", "--enrich", "etherscan", "--bsc-rpc", "http://127.0.0.1:9"];
  const useless = await runInProcess([...onlyBsc, "--etherscan-url", urls.etherscan], environment);
  expect(useless.stdout).toMatch(
    /^fails {2}etherscan +token .* {2}refuses bsc: this key's plan lacks the chain; a paid plan/m,
  );
  services.mischief.clear();
  // A dead endpoint of one chain; the other parts of the live market are left out.
  const live = ["--live", "bsc,exchange", "--bsc-rpc", "http://127.0.0.1:9/v1/SECRETKEY123"];
  const json = await runInProcess(["doctor", "--json", ...live, ...flags], environment);
  expect([json.code, json.stderr]).toEqual([
    75,
    "24 checks of 8 services: 16 work, 5 fail, 3 optional checks fail\n",
  ]);
  const found = json.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(found.filter(({ service }) => service === "bsc 127.0.0.1:9")).toHaveLength(8);
  expect(found).toContainEqual({
    service: "bsc 127.0.0.1:9",
    what: "logs",
    works: false,
    needed: false,
    detail: expect.stringContaining("is unreachable"),
    took_ms: expect.any(Number),
  });
  expect(found).toContainEqual(
    expect.objectContaining({
      service: "bsc 127.0.0.1:9",
      what: "second host",
      works: false,
      needed: false,
      detail: expect.stringMatching(/^is the only host: nothing confirms decimals/),
    }),
  );
  expect(found).toContainEqual(expect.objectContaining({ service: "gate", what: "stream", works: true }));
  expect(json.stdout).not.toContain(KEY);
});

test("doctor has nothing to try for a market without external services", async () => {
  const { code, stderr } = await runInProcess(["doctor", "--feed", "simulated"]);
  expect([code, stderr]).toEqual([
    0,
    "nothing to try: the simulated market and enrich use no external service\n",
  ]);
});

test("--test-alerts sends each target of the file a message that says that it is a test, and reports who refused it", async ({
  onTestFinished,
}) => {
  await using good = new Receiver();
  await using bad = new Receiver();
  await Promise.all([good.up(), bad.up()]);
  bad.answer = status(404);
  const file = join(newDirectory(onTestFinished), "alerts.json");
  const [desk, old] = [good, bad].map(({ url }, index) => {
    const [webhook] = JSON.parse(webhookFile({ id: index === 0 ? "desk" : "old", url })).webhooks;
    return webhook;
  });
  const chat = { id: "chat", bot_token: "123:abcdefghij", chat_id: 1, api_url: good.url, rules: desk.rules };
  const mqtt = [{ id: "home", url: "mqtt://127.0.0.1:9", rules: desk.rules }];
  writeFileSync(file, JSON.stringify({ webhooks: [desk, old], mqtt }));
  const flags = ["--feed", "simulated", "--test-alerts", file];
  const { code, stdout, stderr } = await runInProcess(["doctor", ...flags]);
  expect([code, stderr]).toEqual([75, "2 checks of 2 services: 1 work, 1 fail\n"]);
  expect(stdout).toMatch(/^works {2}desk +message +\d+ ms {2}accepted a test message$/m);
  expect(stdout).toMatch(
    /^fails {2}old +message +\d+ ms {2}did not accept a test message: the receiver returned 404$/m,
  );
  expect(good.taken.map(({ type, data }) => [type, data])).toEqual([["test", { rule: "doctor" }]]);
  writeFileSync(file, JSON.stringify({ mqtt }));
  const none = await runInProcess(["doctor", ...flags]);
  expect(none.stderr).toMatch(
    /^nothing to try: .*, and the alert file has only MQTT brokers, which are not tested$/m,
  );
  writeFileSync(file, JSON.stringify({ telegram: [{ ...chat, chat_id: true }] }));
  const invalid = await runInProcess(["doctor", ...flags]);
  expect([invalid.code, invalid.stderr]).toEqual([1, expect.stringContaining("chat_id")]);
});

test("if nothing responds, doctor first says what to check, and groups equal failures", async () => {
  const nobody = ["--live", "bsc", "--bsc-rpc", "http://127.0.0.1:9", "--enrich", "none"];
  const { code, stdout, stderr } = await runInProcess(["doctor", ...nobody]);
  expect(code).toBe(75);
  expect(stderr).toMatch(
    /^nothing works: check this machine's network.*\n8 checks of 1 service: 0 work, 5 fail, 3 optional checks fail\n$/,
  );
  const reason = "is unreachable";
  expect(stdout).toBe(
    `fails  bsc 127.0.0.1:9 ${reason} (5 checks: chain, block, receipts, code, call)\n` +
      `fails (optional)  bsc 127.0.0.1:9 ${reason} (2 checks: logs, traffic)\n` +
      stdout.slice(stdout.lastIndexOf("fails (optional)")),
  );
});

test("without a network, doctor reports that first, and names all services in one line", async () => {
  const lookedUp: string[] = [];
  const written: string[] = [];
  const output = () => new Writable({ write: (text, _, done) => done(void written.push(String(text))) });
  const terminal = { environment: {}, stdout: output(), stderr: output() };
  const noDns = (name: string) => {
    lookedUp.push(name);
    return Promise.reject(Object.assign(new Error("getaddrinfo"), { code: "EAI_AGAIN" }));
  };
  expect(await doctor(["--live", "exchange", "--enrich", "coingecko"], terminal, noDns)).toBe(75);
  expect(lookedUp).toHaveLength(4);
  expect(written).toEqual([
    "no host name can be resolved: this machine has no network or no DNS; fix that first, then run doctor again\n",
    "fails  each of 4 services has a host name that does not resolve (13 checks of binance, kucoin, gate, coingecko)\n",
    "13 checks of 4 services: 0 work, 13 fail\n",
  ]);
});

test("a name that does not resolve counts as a missing network only if no other name resolves", async () => {
  const probe = { what: "list", run: () => Promise.resolve("") };
  const probes = ["a.example", "b.example", "127.0.0.1", "[::1]", "localhost"].map((host) => ({
    ...probe,
    host,
    service: host,
  }));
  const unresolved = (gone: readonly string[]) => {
    const lookUp = (name: string) =>
      gone.includes(name) ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve();
    return hostsWithoutDns(probes, lookUp, systemClock, new AbortController().signal);
  };
  expect(await unresolved(["b.example"])).toEqual(new Set());
  expect(await unresolved(["a.example", "b.example"])).toEqual(new Set(["a.example", "b.example"]));
});
