import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createConfig, type GivenSettings, startGateway } from "../../../../src/index.ts";
import { ToldMarket } from "../../../browser/told-market.ts";
import type { Finish } from "../../../support/servers/edges.ts";
import { HOSTILE_HOSTS, HOSTILE_PROTOCOLS } from "../../../support/servers/hostile-hosts.ts";
import { SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";

type Fields = Readonly<Record<string, string>>;

/** Starts a gateway. Returns a function that reads the addresses which its documents name. */
async function serve(finish: Finish, settings: GivenSettings) {
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", data: "none", ...settings });
  const gateway = await startGateway(config, { source: new ToldMarket(SAMPLE_SNAPSHOT) });
  finish(() => gateway.stop());
  const read = async (path: string, headers: Fields) => {
    const asked = request(`${gateway.url}${config.basePath}${path}`, { headers });
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    asked.on("response", (response) => resolve(json(response))).on("error", reject);
    asked.end();
    return Object(await promise);
  };
  const toldTo = async (headers: Fields = {}) => {
    const { servers } = await read("/openapi.json", headers);
    const { websocket, http } = (await read("/asyncapi.json", headers)).servers;
    return [
      ...servers.map((one: { readonly url: string }) => one.url),
      ...[websocket, http].map(({ protocol, host, pathname }) => `${protocol}://${host}${pathname}`),
    ];
  };
  return { url: gateway.url, toldTo };
}

test("the documents name the address under which they were requested, with the base path", async ({
  onTestFinished,
}) => {
  const { url, toldTo } = await serve(onTestFinished, { basePath: "/fw" });
  const { host } = new URL(url);
  expect(await toldTo()).toEqual([`${url}/fw`, `ws://${host}/fw`, `http://${host}/fw`]);
});

test("with publicUrl, the documents name it, whatever the request says", async ({ onTestFinished }) => {
  const { toldTo } = await serve(onTestFinished, { publicUrl: "https://flares.example.org/fw" });
  const told = [
    "https://flares.example.org/fw",
    "wss://flares.example.org/fw",
    "https://flares.example.org/fw",
  ];
  expect(await toldTo({ host: "localhost" })).toEqual(told);
});

test("behind a trusted proxy, the documents name the address that its visitors use", async ({
  onTestFinished,
}) => {
  const proxy = { "x-forwarded-host": "flares.example.org", "x-forwarded-proto": "https" };
  const names = { allowedHosts: ["flares.example.org"] };
  const trusting = await serve(onTestFinished, { ...names, trustProxy: ["127.0.0.1"] });
  const told = ["https://flares.example.org", "wss://flares.example.org/", "https://flares.example.org/"];
  expect(await trusting.toldTo(proxy)).toEqual(told);
  const wary = await serve(onTestFinished, names);
  expect((await wary.toldTo(proxy))[0]).toBe(wary.url);
});

const UNKNOWN = ["/", "ws://{host}/", "http://{host}/"];

test("the documents repeat no name that a stranger invents", async ({ onTestFinished }) => {
  const { url, toldTo } = await serve(onTestFinished, { allowedHosts: ["*"] });
  for (const host of ["evil.example", ...HOSTILE_HOSTS])
    expect([host, await toldTo({ host })]).toEqual([host, UNKNOWN]);
  expect((await toldTo())[0]).toBe(url);
});

test("the documents repeat neither host nor protocol that a trusted proxy forwards if they form no address", async ({
  onTestFinished,
}) => {
  const { toldTo } = await serve(onTestFinished, { trustProxy: ["loopback"] });
  const forwarded = (host: string, protocol: string) =>
    toldTo({ "x-forwarded-host": host, "x-forwarded-proto": protocol });
  expect((await forwarded("app.localhost", "https"))[0]).toBe("https://app.localhost");
  // A proxy's list of hosts ends with the one that counts.
  for (const host of HOSTILE_HOSTS.filter((one) => !one.includes(",")))
    expect([host, await forwarded(host, "https")]).toEqual([host, UNKNOWN]);
  for (const protocol of HOSTILE_PROTOCOLS)
    expect([protocol, await forwarded("app.localhost", protocol)]).toEqual([protocol, UNKNOWN]);
});

test("however many addresses a stranger uses, the documents name the address of each request", async ({
  onTestFinished,
}) => {
  const { url, toldTo } = await serve(onTestFinished, {});
  for (let port = 1; port <= 20; port += 1) {
    const address = `http://localhost:${port}`;
    const told = [address, `ws://localhost:${port}/`, `${address}/`];
    expect(await toldTo({ host: `localhost:${port}` })).toEqual(told);
  }
  expect((await toldTo())[0]).toBe(url);
});

test("the documents of two addresses have different entity tags, and each is known by its own", async ({
  onTestFinished,
}) => {
  const { url } = await serve(onTestFinished, { allowedHosts: ["*"] });
  const ask = async (path: string, headers: Fields) => {
    const asked = request(url + path, { headers: { "accept-encoding": "br", ...headers } }).end();
    const [answer]: IncomingMessage[] = await once(asked, "response");
    answer?.resume();
    return { status: answer?.statusCode, tag: String(answer?.headers.etag) };
  };
  for (const path of ["/openapi.json", "/asyncapi.json"]) {
    const hosts = ["evil.example", ...Array.from({ length: 12 }, (_, at) => `localhost:${at + 1}`)];
    const tags = new Map<string, string>();
    for (const host of hosts) tags.set(host, (await ask(path, { host })).tag);
    expect(new Set(tags.values()).size).toBe(hosts.length);
    for (const [host, tag] of tags)
      expect(await ask(path, { host, "if-none-match": tag })).toEqual({ status: 304, tag });
  }
});
