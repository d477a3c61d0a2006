import { expect, type TestContext } from "vitest";
import { RETRY_MS } from "../../../src/app/server/token-source.ts";
import { CLOSE_CODES } from "../../../src/base/protocol/index.ts";
import type { ConnectOptions, Platform, SocketClass, StreamError } from "../../../src/clients/sdk/index.ts";
import { test } from "../../gateway/http/access/keyed-fixture.ts";
import { serveJwks } from "../../support/servers/jwks-server.ts";
import { createIssuer, START_S } from "../../support/servers/token-issuer.ts";
import { HeldProxy } from "./held-proxy.ts";
import { follow, HASTY, range } from "./stream-kit.ts";

/**
 * The silence limits after and before the first message. Accelerated, they would be too short for
 * a busy machine.
 */
const SILENCE_MS = 35_000;
const FIRST_MESSAGE_MS = 1_000_000;

/** Follows two channels, and records requests, waits and errors. */
function followWatched(url: string, options: ConnectOptions, onTestFinished: TestContext["onTestFinished"]) {
  const asked: URL[] = [];
  const authorizations: (string | null)[] = [];
  const waits: number[] = [];
  const errors: StreamError[] = [];
  const platform: Partial<Platform> = {
    now: HASTY.now,
    after: (ms, fn) => {
      // The hub's clock stands still, so no heartbeat extends the limit.
      if (ms === SILENCE_MS || ms === FIRST_MESSAGE_MS) return () => {};
      waits.push(ms);
      return HASTY.after(ms, fn);
    },
    fetch: (address, init) => {
      asked.push(new URL(String(address)));
      authorizations.push(new Headers(init?.headers).get("authorization"));
      return fetch(address, init);
    },
    WebSocket: class extends (WebSocket as unknown as SocketClass) {
      constructor(address: string, protocol: string) {
        asked.push(new URL(address));
        super(address, protocol);
      }
    },
  };
  const given = { channels: ["flares.pro", "newest.bsc"], platform, firstMessageMs: FIRST_MESSAGE_MS };
  const followed = follow(url, { ...given, ...options });
  followed.stream.on("error", (error) => errors.push(error));
  onTestFinished(() => followed.stream.close());
  const tickets = () => asked.flatMap(({ searchParams }) => searchParams.get("ticket") ?? []);
  return { ...followed, asked, authorizations, waits, errors, tickets };
}

const TRANSPORTS = ["websocket", "sse", "poll"] as const;
const urlOf = (wire: { readonly port: number }) => `http://127.0.0.1:${wire.port}`;

for (const transport of TRANSPORTS) {
  test(`[K1] [K4] over ${transport} a key gives its plan's channels, also after a cut, and appears in no URL`, async ({
    keyed,
    onTestFinished,
  }) => {
    await using proxy = await HeldProxy.open(keyed.wire.port);
    const key = keyed.secret("pro");
    const { stream, until, seqs, resets, asked, authorizations, tickets } = followWatched(
      proxy.url,
      { key, transport },
      onTestFinished,
    );
    await until(() => stream.connection.state === "live");
    expect(stream.view?.flares?.pro).toEqual([]);
    await keyed.wire.publish("list");
    await until(() => seqs().length === 1);
    proxy.cut();
    await until(() => stream.connection.state !== "live");
    await keyed.wire.publish("list");
    await until(() => seqs().length === 2);
    expect([seqs(), resets()]).toEqual([range(seqs()[0] ?? 0, (seqs()[0] ?? 0) + 1), ["started"]]);
    for (const { href } of asked) expect(href).not.toContain(key.slice(0, 12));
    expect(new Set(authorizations)).toEqual(new Set([`Bearer ${key}`]));
    // A WebSocket cannot send headers, so each connection has its own ticket.
    if (transport !== "websocket") expect(tickets()).toEqual([]);
    else expect(new Set(tickets()).size).toBe(tickets().length);
    expect(tickets().length >= 2).toBe(transport === "websocket");
  });

  for (const [what, after, reason] of [
    ["is revoked", {}, "unauthorized"],
    ["has a lower plan", { some: { plan: "free" } }, "forbidden"],
  ] as const) {
    test(`[K7] over ${transport}, when the key ${what}, the stream ends with the server's reason`, async ({
      makeKeyed,
      onTestFinished,
    }) => {
      const keyed = await makeKeyed({ keys: { some: {}, other: {} } });
      const { stream, until, errors, asked } = followWatched(
        urlOf(keyed.wire),
        { key: keyed.secret("some"), transport },
        onTestFinished,
      );
      await until(() => stream.connection.state === "live");
      await keyed.holdsSlot(1);
      const before = asked.length;
      keyed.write({ ...after, other: {} });
      await keyed.pass(1);
      await until(() => stream.connection.state === "closed");
      const { code, meaning } = CLOSE_CODES[reason];
      const closed = `close code ${code} ${reason}${code === 4003 ? `: ${meaning}` : ""}`;
      const status = { unauthorized: 401, forbidden: 403 }[reason];
      expect(stream.connection.reason).toMatch(
        transport === "poll" ? new RegExp(`^HTTP ${status} .*key`) : closed,
      );
      expect(errors.map((error) => error.message)).toEqual([
        `the server refused the stream: ${stream.connection.reason}; change the request or the key`,
      ]);
      expect(asked.length).toBe(before);
    });
  }
}

test("[K1] an unknown key ends the stream with the server's reason", async ({ keyed, onTestFinished }) => {
  const key = `fw_00000000_${"0".repeat(43)}`;
  for (const transport of TRANSPORTS) {
    const { until, stream, asked } = followWatched(urlOf(keyed.wire), { key, transport }, onTestFinished);
    await until(() => stream.connection.state === "closed");
    expect(stream.connection.reason).toMatch(/^HTTP 401 .*key/);
    expect(asked).toHaveLength(1);
  }
});

test("an uncaught refusal has the server's reason once, and a stack with the reader's line", async ({
  keyed,
  onTestFinished,
}) => {
  const { stream } = followWatched(urlOf(keyed.wire), { key: "wrong" }, onTestFinished);
  const read = async () => {
    for await (const _ of stream);
  };
  const error = await read().catch((thrown: unknown) => thrown);
  const { message, stack } = error as Error;
  expect(message).toBe(
    "the server refused the stream: HTTP 401 invalid API key: unknown or revoked; change the request or the key",
  );
  expect(stack).toMatch(/^StreamError: .*\n(?: +at .*\n){1,4} +at async read .*keys\.test\.ts/);
});

test("[K2] a channel outside the key's plan ends the stream with the server's reason", async ({
  keyed,
  onTestFinished,
}) => {
  for (const transport of TRANSPORTS) {
    const options = { key: keyed.secret("free"), transport, channels: ["flares.pro"] };
    const { until, stream } = followWatched(urlOf(keyed.wire), options, onTestFinished);
    await until(() => stream.connection.state === "closed");
    expect(stream.connection.reason).toMatch(/^HTTP 403 .*plan/);
  }
});

test("[K4] a client with a key connects without a ticket to a server that has no keys", async ({
  wire,
  onTestFinished,
}) => {
  const { until, stream, tickets } = followWatched(urlOf(wire), { key: "some-key" }, onTestFinished);
  await until(() => stream.connection.state === "live");
  expect([stream.connection.transport, tickets()]).toEqual(["websocket", []]);
});

test("[K9] a client whose token the server cannot verify yet waits as long as the server asks, and then follows", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const before = createIssuer("ES256", "before");
  const { served, tokens } = await serveJwks(onTestFinished, before.jwk);
  const keyed = await makeKeyed({ tokens });
  const claims = { exp: START_S + 1e6 };
  await keyed.wire.ask("/api/v1/flares", { authorization: `Bearer ${await before.sign(claims)}` });
  for (const transport of TRANSPORTS) {
    const rotated = createIssuer("ES256", transport);
    served.jwks = [rotated.jwk];
    const options = { key: await rotated.sign(claims), transport };
    const { until, stream, waits, errors } = followWatched(urlOf(keyed.wire), options, onTestFinished);
    keyed.clock.advance(1);
    await until(() => stream.connection.reason !== "");
    expect(stream.connection.reason).toMatch(/^HTTP 503 the token cannot be verified yet/);
    expect(waits.at(-1)).toBeGreaterThan(RETRY_MS - 1_000);
    keyed.clock.advance(RETRY_MS);
    await until(() => stream.connection.state === "live");
    expect(errors).toEqual([]);
  }
});

for (const [what, requests_per_minute] of [
  ["for a ticket", 1],
  ["to connect", 2],
] as const) {
  test(`[K6] a request ${what} above the key's rate is retried after Retry-After`, async ({
    makeKeyed,
    onTestFinished,
  }) => {
    const keyed = await makeKeyed({ keys: { some: { requests_per_minute } } });
    await keyed.wire.ask("/api/v1/events", keyed.bearer("some"));
    const options = { key: keyed.secret("some"), transport: "websocket" } as const;
    const { until, stream, waits, seqs } = followWatched(urlOf(keyed.wire), options, onTestFinished);
    await until(() => stream.connection.reason !== "");
    expect(stream.connection.reason).toMatch(/^HTTP 429 /);
    const wait = waits.at(-1) ?? 0;
    expect(wait).toBeGreaterThanOrEqual(20_000);
    expect(wait).toBeLessThanOrEqual(61_000);
    keyed.write({ some: {} });
    await keyed.pass(60);
    await until(() => stream.connection.state === "live");
    await keyed.wire.publish("list");
    await until(() => seqs().length === 1);
  });
}

for (const transport of TRANSPORTS) {
  test(`[K1] [K7] over ${transport} a key function is called for each connection, and once more after a refusal`, async ({
    makeKeyed,
    onTestFinished,
  }) => {
    const keyed = await makeKeyed({ keys: { old: {}, fresh: {} } });
    let name: "old" | "fresh" = "old";
    let calls = 0;
    const key = async () => {
      calls += 1;
      return keyed.secret(name);
    };
    const options = { key, transport };
    const { stream, until, errors, seqs } = followWatched(urlOf(keyed.wire), options, onTestFinished);
    await until(() => stream.connection.state === "live");
    await keyed.holdsSlot(1);
    expect(calls).toBe(1);
    name = "fresh";
    keyed.write({ fresh: {} });
    await keyed.pass(1);
    await until(() => stream.connection.state !== "live");
    await until(() => stream.connection.state === "live");
    expect(calls).toBe(2);
    await keyed.wire.publish("list");
    await until(() => seqs().length === 1);
    // The function returns the refused key again, so it is called once more, then never again.
    keyed.write({});
    await keyed.pass(1);
    await until(() => stream.connection.state === "closed");
    expect(calls).toBe(3);
    expect(errors).toHaveLength(1);
  });
}

test("a key function that throws or returns an invalid key is called again later, and the reason omits the key", async ({
  keyed,
  onTestFinished,
}) => {
  const answers = [
    () => Promise.reject(new Error("not logged in")),
    () => "two words",
    () => keyed.secret("pro"),
  ];
  const key = () => answers.shift()?.() ?? "";
  const { stream, until } = followWatched(urlOf(keyed.wire), { key }, onTestFinished);
  const reasons = new Set<string>();
  stream.on("connection", ({ reason }) => reasons.add(reason));
  await until(() => stream.connection.state === "live");
  expect([...reasons]).toEqual([
    "",
    "no key: Error: not logged in",
    "no key: StreamError: invalid key: use one from flarewire keys add",
  ]);
});
