import Fastify from "fastify";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { parseTokenKeys } from "../../../src/app/server/token-keys.ts";
import { FlarewireError } from "../../../src/base/protocol/index.ts";
import type { Access } from "../../../src/gateway/http/access/access.ts";
import { createLocalState } from "../../../src/gateway/http/index.ts";
import {
  type Key,
  knownKeys,
  mintSecret,
  type TokenSource,
  TokenVerifier,
} from "../../../src/gateway/keys/index.ts";
import { createAccess } from "../../../src/gateway/start/keyed-access.ts";
import { AUDIENCE, createIssuer, ISSUER, START_S } from "../../support/servers/token-issuer.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

test("[K6] [K7] a key's requests in other processes count here until the key is revoked", async () => {
  const { text, id, digest } = mintSecret("fw");
  const key: Key = { id, plan: "pro", sha256: digest.toString("hex"), requests_per_minute: 5 };
  const clock = new ManualClock();
  const counted: string[] = [];
  let elsewhere: (keyId: string, requests: number) => void = () => {};
  const access = createAccess(createConfig({}), {
    clock,
    ring: knownKeys([key]),
    state: {
      ...createLocalState(clock),
      count: (keyId) => void counted.push(keyId),
      onCounted: (listener) => {
        elsewhere = listener;
      },
    },
  });
  const app = Fastify();
  app.setErrorHandler((error, _request, reply) => {
    const isLimited = error instanceof FlarewireError && error.code === "rate-limited";
    return reply.code(isLimited ? 429 : 500).send("");
  });
  app.get("/", (request, reply) => void reply.send(access.policy.admit(request, reply).plan));
  const ask = async () =>
    (await app.inject({ url: "/", headers: { authorization: `Bearer ${text}` } })).statusCode;
  elsewhere(id, 3);
  // The rejected request is not counted.
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
  expect(counted).toEqual([id, id]);
  access.end(id, "forbidden");
  expect(await ask()).toBe(429);
  access.end(id, "unauthorized");
  expect(await ask()).toBe(200);
  await app.close();
});

test("[K6] a key that may make one request a minute makes one, although time passes within it", async () => {
  const { text, id, digest } = mintSecret("fw");
  const key: Key = { id, plan: "pro", sha256: digest.toString("hex"), requests_per_minute: 1 };
  const clock = new (class extends ManualClock {
    override monotonic() {
      this.advance(0.001);
      return super.monotonic();
    }
  })();
  const state = createLocalState(clock);
  const { policy, stop } = createAccess(createConfig({}), { clock, ring: knownKeys([key]), state });
  const app = Fastify();
  app.get("/", (request, reply) => void reply.send(policy.admit(request, reply).plan));
  const ask = () => app.inject({ url: "/", headers: { authorization: `Bearer ${text}` } });
  expect((await ask()).body).toBe("pro");
  expect((await ask()).body).toContain("1 requests a minute");
  stop();
  await app.close();
});

test("[K4] [K8] a ticket for a token works in a process that never saw the token, until the token's exp", async () => {
  const issuer = createIssuer("HS256");
  const clock = new ManualClock();
  const state = createLocalState(clock);
  const processes = [1, 2].map(() => {
    const source: TokenSource = {
      keys: parseTokenKeys(issuer.file, "secret"),
      trouble: undefined,
      ...{ readMs: 0, retryMs: 0 },
      loaded: async () => {},
      refresh: async () => {},
      stop: () => {},
    };
    const tokens = new TokenVerifier({ source, issuer: ISSUER, audience: AUDIENCE, clock });
    return createAccess(createConfig({}), { clock, tokens, ring: undefined, state });
  });
  const app = Fastify();
  app.setErrorHandler((error, _request, reply) => reply.code(401).send(String(error)));
  const [issuing, other] = processes.map(({ policy }) => policy);
  app.post("/", async (request, reply) => {
    await issuing?.verify(request);
    return (await issuing?.issueTicket(request, reply))?.text;
  });
  app.get("/", async (request, reply) => other?.admitStream(request, reply));
  const headers = { authorization: `Bearer ${await issuer.sign({ exp: START_S + 20, connections: 2 })}` };
  const ticket = (await app.inject({ method: "POST", url: "/", headers })).body;
  const enter = async () => (await app.inject({ url: "/", query: { ticket } })).body;
  expect(JSON.parse(await enter())).toMatchObject({ plan: "pro", key: { name: "desk-7", connections: 2 } });
  clock.advance(20_000);
  expect(await enter()).toContain("expired");
  for (const { stop } of processes) stop();
  await app.close();
});

test("[K4] [K9] a ticket whose token has a key that this process does not know yet is not refused as invalid, nor are open connections closed while it has no keys", async () => {
  const [old, fresh] = ["a", "b"].map((kid) => createIssuer("ES256", kid));
  const clock = new ManualClock();
  const state = createLocalState(clock);
  const parse = (...issuers: readonly (typeof old)[]) =>
    parseTokenKeys(JSON.stringify({ keys: issuers.map((issuer) => issuer?.jwk) }), "set");
  const accessWith = (source: TokenSource) => {
    const tokens = new TokenVerifier({ source, issuer: ISSUER, audience: AUDIENCE, clock });
    return createAccess(createConfig({}), { clock, tokens, ring: undefined, state });
  };
  const fixed = { trouble: undefined, loaded: async () => {}, stop: () => {} };
  const other = {
    keys: parse(old) as TokenSource["keys"],
    readMs: Number.NEGATIVE_INFINITY,
    retryMs: 20_000,
  };
  const issuing = accessWith({
    ...{ ...fixed, keys: parse(fresh), readMs: 0, retryMs: 0 },
    refresh: async () => {},
  });
  const entering = accessWith(Object.assign(other, fixed, { refresh: async () => {} }));
  const app = Fastify();
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof FlarewireError && error.code === "not-ready" ? 503 : 401).send(""),
  );
  app.post("/", async (request, reply) => {
    await issuing.policy.verify(request);
    return (await issuing.policy.issueTicket(request, reply)).text;
  });
  let seen: Access["key"];
  app.get("/", async (request, reply) => {
    seen = (await entering.policy.admitStream(request, reply)).key;
    return "";
  });
  const headers = { authorization: `Bearer ${await fresh?.sign({ exp: START_S + 1_000 })}` };
  const ticket = (await app.inject({ method: "POST", url: "/", headers })).body;
  clock.advance(1);
  const enter = () => app.inject({ url: "/", query: { ticket } });
  const held = await enter();
  expect([held.statusCode, Number(held.headers["retry-after"]) > 20]).toEqual([503, true]);
  Object.assign(other, { keys: parse(old, fresh), readMs: 1 });
  expect((await enter()).statusCode).toBe(200);
  const ends: string[] = [];
  const holder = { address: "192.0.2.1", key: seen, end: (reason: string) => void ends.push(reason) };
  entering.registry.limiter.acquire(holder);
  Object.assign(other, { keys: undefined, readMs: Number.NEGATIVE_INFINITY });
  clock.advance(2_000);
  expect([ends, (await enter()).statusCode]).toEqual([[], 503]);
  Object.assign(other, { keys: parse(old), readMs: clock.monotonic() });
  clock.advance(1_000);
  expect([ends, (await enter()).statusCode]).toEqual([["unauthorized"], 401]);
  issuing.stop();
  entering.stop();
  await app.close();
});

test("[K8] a stored holder is admitted while its key or token is valid; without the issuer's keys, a valid token is undecided", async () => {
  const issuer = createIssuer("HS256");
  const clock = new ManualClock();
  let keys: TokenSource["keys"] = parseTokenKeys(issuer.file, "secret");
  const source: TokenSource = {
    get keys() {
      return keys;
    },
    trouble: undefined,
    ...{ readMs: 0, retryMs: 0 },
    loaded: async () => {},
    refresh: async () => {},
    stop: () => {},
  };
  const accessOf = (ring: Key[] | undefined, anonymous: "free" | "off" = "free") => {
    const tokens = new TokenVerifier({ source, issuer: ISSUER, audience: AUDIENCE, clock });
    const state = createLocalState(clock);
    return createAccess(
      { ...createConfig({}), anonymous },
      {
        ...{ clock, tokens, state },
        ring: ring && knownKeys(ring),
      },
    );
  };
  const secret = mintSecret("fw");
  const key: Key = { id: secret.id, plan: "pro", name: "desk", sha256: secret.digest.toString("hex") };
  const { policy } = accessOf([key]);
  const app = Fastify();
  app.get("/", async (request, reply) => {
    await policy.verify(request);
    return reply.send(policy.holderOf(policy.admit(request, reply)) ?? "");
  });
  const holderOf = async (text: string) =>
    (await app.inject({ url: "/", headers: { authorization: `Bearer ${text}` } })).body;
  const token = await holderOf(
    await issuer.sign({ exp: START_S + 20, name: "Ada Lovelace", sub: "lovelace" }),
  );
  const held = await holderOf(secret.text);
  expect(`${token} ${held}`).not.toMatch(/lovelace|desk/i);
  const flares = ["flares.*"];
  // Decides in another process, as after a restart.
  const isAdmitted = (holder: string | undefined, ring?: Key[], anonymous?: "off") =>
    accessOf(ring, anonymous).policy.isAdmitted(holder, flares);
  expect([isAdmitted(token), isAdmitted(held, [key]), isAdmitted(undefined)]).toEqual([true, true, true]);
  expect(isAdmitted(undefined, [key], "off")).toBe(false);
  for (const damaged of ["", "{", "{}", '["id"]', '["id|{",null]'])
    expect(isAdmitted(damaged, [key]), damaged).toBe(false);
  const other = { ...key, sha256: "0".repeat(64) };
  expect([isAdmitted(held, []), isAdmitted(held), isAdmitted(held, [other])]).toEqual([false, false, false]);
  expect(isAdmitted(held, [{ ...key, channels: ["charts.bsc"] }])).toBe(false);
  expect(isAdmitted(held, [{ ...key, expires_at: new Date(clock.now()).toISOString() }])).toBe(false);
  keys = undefined;
  expect(isAdmitted(token)).toBe(undefined);
  keys = parseTokenKeys(createIssuer("HS256").file, "secret");
  expect(isAdmitted(token)).toBe(false);
  keys = undefined;
  clock.advance(20_000);
  expect(isAdmitted(token)).toBe(false);
  await app.close();
});
