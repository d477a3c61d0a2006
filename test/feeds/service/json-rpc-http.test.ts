import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test as base, expect } from "vitest";
import { requestRpc } from "../../../src/feeds/service/json-rpc-http.ts";

type Respond = (response: ServerResponse, authorization: string | undefined) => void;

const TIMEOUT_MS = 10_000;
const send =
  (status: number, body: string, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Sends one request to a server that responds so, and returns what came of it. */
const test = base.extend<{
  outcomeOf: (respond: Respond, timeoutMs?: number, user?: string) => Promise<unknown>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires an object pattern.
  outcomeOf: async ({}, use) => {
    let answer: Respond = send(500, "");
    const server = createServer(({ headers }, response) => answer(response, headers.authorization));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await use(async (respond, timeoutMs = TIMEOUT_MS, user = "") => {
      answer = respond;
      const url = `http://${user}127.0.0.1:${port}/`;
      return await requestRpc("eth_chainId", [], { url, timeoutMs }).catch((error) => error);
    });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});

test("a result is returned, whatever the content type; a response without one has none", async ({
  outcomeOf,
}) => {
  expect(await outcomeOf(send(200, '{"id":1,"result":"0x38","error":null}'))).toEqual({ result: "0x38" });
  expect(await outcomeOf(send(200, '{"id":1}', { "content-type": "text/plain" }))).toEqual({});
});

test("an error of JSON-RPC is returned with any status, and also without a code", async ({ outcomeOf }) => {
  const error = { code: -32_005, message: "slow down" };
  for (const status of [200, 400, 429, 500])
    expect(await outcomeOf(send(status, JSON.stringify({ error })))).toEqual({ error });
  expect(await outcomeOf(send(200, '{"error":"slow down"}'))).toEqual({ error: { ...error, code: 0 } });
  expect(await outcomeOf(send(200, '{"error":{}}'))).toEqual({ error: { code: 0, message: "" } });
});

test("a refusal has the status, the pause that it demands and the endpoint's words", async ({
  outcomeOf,
}) => {
  expect(await outcomeOf(send(429, "too many requests", { "retry-after": "7" }))).toMatchObject({
    message: "returned 429",
    status: 429,
    retryAfter: "7",
    detail: "too many requests",
  });
  expect(await outcomeOf(send(403, '{"error":"quota used up"}'))).toMatchObject({
    message: "returned 403",
    detail: '"quota used up"',
  });
});

test("a redirect is not followed", async ({ outcomeOf }) => {
  const moved = send(307, "", { location: "http://127.0.0.1:1/" });
  expect(await outcomeOf(moved)).toMatchObject({ message: "returned 307", status: 307 });
});

test("a response that is no JSON-RPC, breaks off, or stops before its end fails", async ({ outcomeOf }) => {
  const words = "returned something other than JSON";
  expect(await outcomeOf(send(200, "<html>"))).toMatchObject({ message: words, status: undefined });
  expect(await outcomeOf(send(200, "7"))).toMatchObject({ name: "ZodError" });
  const broken: Respond = (response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"result":', () => response.destroy());
  };
  expect(await outcomeOf(broken)).toMatchObject({ message: "broke off the connection" });
  const stalled: Respond = (response) => void response.writeHead(200).write('{"result":');
  expect(await outcomeOf(stalled, 50)).toMatchObject({ name: "TimeoutError" });
});

test("user and password of the address are sent as Basic authentication", async ({ outcomeOf }) => {
  const echo: Respond = (response, authorization) =>
    response.end(JSON.stringify({ result: authorization ?? "none" }));
  const basic = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
  expect(await outcomeOf(echo, TIMEOUT_MS, "me:p%40ss@")).toEqual({ result: basic });
  expect(await outcomeOf(echo)).toEqual({ result: "none" });
  const onlyPassword = `Basic ${Buffer.from(":50%").toString("base64")}`;
  expect(await outcomeOf(echo, TIMEOUT_MS, ":50%@")).toEqual({ result: onlyPassword });
});
