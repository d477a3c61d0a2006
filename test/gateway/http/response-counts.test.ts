import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { ResponseCounts } from "../../../src/gateway/http/index.ts";
import { test } from "./rest/rest-fixture.ts";

test("responses count by route and status, whether prepared bytes or the framework answer, and no client can invent a route", async ({
  makeRest,
}) => {
  const responses = new ResponseCounts();
  const { app } = await makeRest({ responses, settings: { anonymousRequests: 7 } });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const statusOf = async (path: string, method = "GET", close = false) => {
    const sent = request({ agent: close ? false : agent, port, host: "127.0.0.1", path, method });
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await response.resume().toArray();
    return response.statusCode;
  };
  try {
    expect(await statusOf("/api/v1/flares")).toBe(200);
    expect(await statusOf("/api/v1/flares", "HEAD")).toBe(200);
    // Node closes the connection, so the framework answers.
    expect(await statusOf("/api/v1/flares", "GET", true)).toBe(200);
    expect(await statusOf("/api/v1/flares?colour=red")).toBe(400);
    expect(await statusOf("/api/v1/flares", "DELETE")).toBe(405);
    expect(await statusOf("/made/up")).toBe(404);
    expect(await statusOf("/healthz")).toBe(200);
    expect(await statusOf("/api/v1/charts")).toBe(200);
    expect(await statusOf("/api/v1/charts")).toBe(429);
    const counted = () => responses.all.map(([{ route, status }, count]) => [route, status, count]).sort();
    await expect.poll(counted).toEqual([
      ["/api/v1/charts", "200", 1],
      ["/api/v1/charts", "429", 1],
      ["/api/v1/flares", "200", 3],
      ["/api/v1/flares", "400", 1],
      ["/healthz", "200", 1],
      ["unknown", "404", 1],
      ["unknown", "405", 1],
    ]);
  } finally {
    agent.destroy();
  }
});
