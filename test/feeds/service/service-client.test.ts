import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test as base, describe, expect } from "vitest";
import {
  ServiceClient,
  type ServiceOptions,
  UnexpectedAnswer,
} from "../../../src/feeds/service/service-client.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { type Mischief, misbehave } from "../exchange/mischief.ts";

const signal = new AbortController().signal;
const read = (body: unknown) => {
  if (typeof body === "object" && body !== null && "ok" in body) return body.ok;
  throw new UnexpectedAnswer("answered no ok");
};

/** A service that gives these answers, then good ones; its client, at a hundred times the pace. */
const test = base.extend<{
  service: (
    script: readonly (Mischief | "ok" | "404" | "405")[],
    options?: Partial<ServiceOptions>,
  ) => Promise<Service>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  service: async ({}, use) => {
    const closers: (() => Promise<unknown>)[] = [];
    await use(async (script, options = {}) => {
      const clock = new PacedClock(100, Date.UTC(2026, 0, 1));
      const asked: number[] = [];
      let underWay = 0;
      const queue = [...script];
      const most = { atOnce: 0 };
      const server = createServer((_request, response) => {
        asked.push(clock.monotonic());
        underWay += 1;
        most.atOnce = Math.max(most.atOnce, underWay);
        response.on("close", () => {
          underWay -= 1;
        });
        const next = queue.shift() ?? "ok";
        if (next === "ok")
          response.writeHead(200, { "content-type": "application/json", "x-left": "0" }).end('{"ok":1}');
        else if (next === "404" || next === "405")
          response.writeHead(Number(next), { "content-type": "application/json" }).end('{"ok":0}');
        else misbehave(next, response);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closers.push(() => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      });
      const health: (string | undefined)[] = [];
      const client = new ServiceClient({
        clock,
        pauseMs: 100,
        random: () => 0.5,
        onHealth: (trouble) => health.push(trouble),
        ...options,
      });
      return {
        client,
        asked,
        health,
        most,
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      };
    });
    for (const close of closers) await close();
  },
});

interface Service {
  readonly client: ServiceClient;
  readonly asked: readonly number[];
  readonly health: readonly (string | undefined)[];
  readonly most: { readonly atOnce: number };
  readonly url: string;
}

describe("a service", () => {
  test.for([
    ["429", "returned 429"],
    ["429 after", "returned 429"],
    ["500", "returned 500"],
    ["cut", "broke off the connection"],
  ] satisfies [Mischief, string][])(
    "that does not answer (%s) is retried",
    async ([mischief, reason], { service }) => {
      const { client, url, asked, health } = await service([mischief]);
      expect(await client.ask({ url, read }, signal)).toEqual({ kind: "ok", value: 1 });
      expect([asked.length, health]).toEqual([2, [reason, undefined]]);
      const waited = (asked[1] ?? 0) - (asked[0] ?? 0);
      expect(waited).toBeGreaterThanOrEqual(mischief === "429 after" ? 1_990 : 990);
    },
  );

  test.for([
    ["html", "returned text/html instead of JSON"],
    ["types", "answered no ok"],
    ["missing", "answered no ok"],
  ] satisfies [Mischief, string][])(
    "that sends an invalid answer (%s) is not retried at once",
    async ([mischief, reason], { service }) => {
      const { client, url, asked } = await service([mischief, mischief]);
      expect(await client.ask({ url, read }, signal)).toEqual({ kind: "failed", reason });
      expect(await client.ask({ url, read }, signal)).toEqual({ kind: "failed", reason });
      expect(client.trouble).toBe(reason);
      expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(990);
    },
  );

  test("that does not have the item is healthy", async ({ service }) => {
    const { client, url, health } = await service(["404"]);
    expect(await client.ask({ url, read }, signal)).toEqual({ kind: "absent", reason: "returned 404" });
    expect(health).toEqual([]);
  });

  test.for(["404", "405"] as const)(
    "that returns %s rejects a required request with it",
    async (status, { service }) => {
      const { client, url } = await service([status]);
      await expect(client.require({ url, read }, signal)).rejects.toThrow(`returned ${status}`);
    },
  );

  test("that is down gets one request while the others wait", async ({ service }) => {
    const { client, url, asked, most } = await service(["500", "500", "500", "500"], { pauseMs: 0 });
    await client.ask({ url, read, tries: 1 }, signal);
    const all = await Promise.all(Array.from({ length: 6 }, () => client.ask({ url, read }, signal)));
    expect(all.every(({ kind }) => kind === "ok")).toBe(true);
    expect(asked).toHaveLength(10);
    expect(most.atOnce).toBeLessThanOrEqual(6);
  });

  test("gets requests no faster than it allows, and pauses when its headers demand it", async ({
    service,
  }) => {
    const { client, url, asked } = await service([], {
      pauseMs: 200,
      quota: (headers) => (headers.has("x-left") ? 1_000 : undefined),
    });
    for (let index = 0; index < 3; index += 1) await client.ask({ url, read }, signal);
    expect(asked.slice(1).every((at, index) => at - (asked[index] ?? 0) >= 990)).toBe(true);
  });

  test("that hangs does not delay an abort", async ({ service }) => {
    const { client, url } = await service(["hang"]);
    const stop = new AbortController();
    const asked = client.ask({ url, read }, stop.signal);
    const waiting = client.ask({ url, read }, stop.signal);
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
    await expect(waiting).rejects.toThrow("enough");
  });
});
