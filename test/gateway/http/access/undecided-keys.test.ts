import { writeFileSync } from "node:fs";
import { expect } from "vitest";
import { RETRY_MS } from "../../../../src/app/server/token-source.ts";
import { serveJwks } from "../../../support/servers/jwks-server.ts";
import { createIssuer, START_S } from "../../../support/servers/token-issuer.ts";
import { HANDSHAKE } from "../stream/websocket-fixture.ts";
import { type Keyed, test } from "./keyed-fixture.ts";

const [a, b] = [createIssuer("ES256", "a"), createIssuer("ES256", "b")] as const;
const LATE = { exp: START_S + 1e6 };
const RETRY_S = RETRY_MS / 1_000;

/** A request of each kind that a key can make. */
const KINDS = [
  ["GET", "/api/v1/flares", {}],
  ["GET", "/api/v1/stream?channels=status", HANDSHAKE],
  ["GET", "/api/v1/events?channels=status", { accept: "text/event-stream" }],
  ["GET", "/api/v1/events?channels=status&wait=1&after=test1-0", {}],
  ["POST", "/api/v1/tickets", {}],
] as const;

/** Makes a request of each kind. Returns the statuses and the shortest `Retry-After`. */
async function askAll({ wire }: Keyed, text: string) {
  const asked = KINDS.map(([method, path, fields]) =>
    wire.ask(path, { ...fields, authorization: `Bearer ${text}` }, method),
  );
  const answers = await Promise.all(asked);
  return {
    statuses: answers.map(({ message }) => message.statusCode),
    retryS: Math.min(...answers.map(({ message }) => Number(message.headers["retry-after"]))),
  };
}

const all = (status: number) => KINDS.map(() => status);

const ask = async ({ wire }: Keyed, text: string) =>
  (await wire.ask("/api/v1/flares", { authorization: `Bearer ${text}` })).message.statusCode;

test("[K9] after the issuer's keys rotate, a valid token gets 503 on every transport until the keys may be fetched again, and works at the time of Retry-After, although a stranger just named an unknown key", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const { served, tokens } = await serveJwks(onTestFinished, a.jwk);
  const keyed = await makeKeyed({ tokens });
  expect(await ask(keyed, await a.sign(LATE))).toBe(200);
  keyed.clock.advance(RETRY_MS);
  expect(await ask(keyed, await createIssuer("ES256", "stranger").sign(LATE))).toBe(401);
  served.jwks = [a.jwk, b.jwk];
  keyed.clock.advance(5_000);
  const token = await b.sign(LATE);
  const { statuses, retryS } = await askAll(keyed, token);
  expect(statuses).toEqual(all(503));
  expect(retryS).toBeGreaterThanOrEqual(RETRY_S - 5);
  keyed.clock.advance(retryS * 1_000);
  expect(await ask(keyed, token)).toBe(200);
});

test("[K9] a stranger who names another unknown key each second causes one fetch in 30 s, and does not keep a new key from being found", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const { served, tokens } = await serveJwks(onTestFinished, a.jwk);
  const keyed = await makeKeyed({ tokens });
  expect(await ask(keyed, await a.sign(LATE))).toBe(200);
  const token = await b.sign(LATE);
  const statuses: unknown[] = [];
  for (let second = 0; second < 2 * RETRY_S; second++) {
    if (second === RETRY_S + 1) served.jwks = [b.jwk];
    await ask(keyed, await createIssuer("ES256", `stranger ${second}`).sign(LATE));
    if (second > RETRY_S) statuses.push(await ask(keyed, token));
    keyed.clock.advance(1_000);
  }
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect([await ask(keyed, token), served.requests]).toEqual([200, 3]);
});

test("[K9] a key that changes under its id is found on every transport, once the set may be fetched again", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const { served, tokens } = await serveJwks(onTestFinished, a.jwk);
  const keyed = await makeKeyed({ tokens });
  expect(await ask(keyed, await a.sign(LATE))).toBe(200);
  const changed = createIssuer("ES256", "a");
  served.jwks = [changed.jwk];
  keyed.clock.advance(1);
  const token = await changed.sign(LATE);
  expect((await askAll(keyed, token)).statuses).toEqual(all(503));
  keyed.clock.advance(RETRY_MS);
  expect(await ask(keyed, token)).toBe(200);
  keyed.clock.advance(1);
  // The server knows now that nothing signed this one.
  expect((await askAll(keyed, await createIssuer("ES256", "a").sign(LATE))).statuses).toEqual(all(503));
  keyed.clock.advance(RETRY_MS);
  expect((await askAll(keyed, await createIssuer("ES256", "a").sign(LATE))).statuses).toEqual(all(401));
});

test("[K9] while the key service is down, a token of an unknown key gets 503, and one of a known key is accepted", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const { served, tokens } = await serveJwks(onTestFinished, a.jwk);
  const keyed = await makeKeyed({ tokens });
  const known = await a.sign(LATE);
  const unknown = await b.sign(LATE);
  expect(await ask(keyed, known)).toBe(200);
  served.jwks = undefined;
  for (let round = 0; round < 3; round++) {
    keyed.clock.advance(RETRY_MS);
    expect((await askAll(keyed, unknown)).statuses).toEqual(all(503));
    expect(await ask(keyed, known)).toBe(200);
  }
  served.jwks = [a.jwk];
  keyed.clock.advance(RETRY_MS);
  expect((await askAll(keyed, unknown)).statuses).toEqual(all(401));
});

test("[K1] a key that was just added works at once; while the file cannot be read, an unknown key gets 503, and the known ones work", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ keys: { some: {} } });
  keyed.write({ some: {}, other: {} });
  expect(await ask(keyed, keyed.secret("other"))).toBe(200);
  writeFileSync(keyed.file, "{");
  const { statuses, retryS } = await askAll(keyed, keyed.secret("later"));
  expect(statuses).toEqual(all(503));
  expect(retryS).toBeGreaterThan(0);
  await keyed.pass(2);
  expect((await askAll(keyed, keyed.secret("later"))).statuses).toEqual(all(503));
  expect(await ask(keyed, keyed.secret("other"))).toBe(200);
  keyed.write({ some: {} });
  expect((await askAll(keyed, keyed.secret("later"))).statuses).toEqual(all(401));
});
