import Fastify from "fastify";
import { expect, test } from "vitest";
import { createConfig } from "../../src/config/config.ts";
import { createAccess } from "../../src/gateway/open/open-keys.ts";
import { createLocalState } from "../../src/http/index.ts";
import { type Key, knownKeys, mintSecret, type TokenSource, TokenVerifier } from "../../src/keys/index.ts";
import { parseTokenKeys } from "../../src/keys/token-keys.ts";
import { FlarewireError } from "../../src/protocol/index.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { AUDIENCE, createIssuer, ISSUER, START_S } from "../support/token-issuer.ts";

test("[K6] [K7] requests that a key made in other processes count here, until the key is revoked", async () => {
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
  expect(access.rates.spent).toEqual([{ keyId: id, requests: 3 }]);
  // What is refused is not counted.
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
  expect(counted).toEqual([id, id]);
  access.end(id, "forbidden");
  expect(access.rates.spent).toHaveLength(1);
  access.end(id, "unauthorized");
  expect(access.rates.spent).toEqual([]);
  await app.close();
});

test("[K4] [K8] a ticket for a token works in a process that never saw the token, until exp", async () => {
  const issuer = createIssuer("HS256");
  const clock = new ManualClock();
  const state = createLocalState(clock);
  const processes = [1, 2].map(() => {
    const source: TokenSource = {
      keys: parseTokenKeys(issuer.file, "secret"),
      trouble: undefined,
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
