import { request } from "node:http";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createConfig, type GivenSettings, startGateway } from "../../../../src/index.ts";
import { ToldMarket } from "../../../browser/told-market.ts";
import type { Finish } from "../../../support/servers/edges.ts";
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

test("the documents repeat no name that a stranger invents, and few local ones", async ({
  onTestFinished,
}) => {
  const { url, toldTo } = await serve(onTestFinished, { allowedHosts: ["*"] });
  expect(await toldTo({ host: "evil.example" })).toEqual(["/", "ws://{host}/", "http://{host}/"]);
  expect((await toldTo())[0]).toBe(url);
  const told = new Set<string>();
  for (let port = 1; port <= 20; port += 1) told.add((await toldTo({ host: `localhost:${port}` }))[0]);
  expect(told.size).toBe(8);
  expect(told).toContain("/");
  expect((await toldTo())[0]).toBe(url);
});
