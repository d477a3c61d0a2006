import Fastify from "fastify";
import { expect, test } from "vitest";
import { createConfig } from "../../src/config/config.ts";
import { createAccess } from "../../src/gateway/open/open-keys.ts";
import { createLocalState } from "../../src/http/index.ts";
import { type Key, knownKeys, mintSecret } from "../../src/keys/index.ts";
import { FlarewireError } from "../../src/protocol/index.ts";
import { ManualClock } from "../support/manual-clock.ts";

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
