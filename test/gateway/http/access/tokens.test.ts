import { createHmac, generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { CLOSE_CODES } from "../../../../src/base/protocol/index.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { type Finish, newDirectory } from "../../../support/servers/edges.ts";
import {
  AUDIENCE,
  claimsOf,
  createIssuer,
  forge,
  ISSUER,
  START_S,
} from "../../../support/servers/token-issuer.ts";
import { HANDSHAKE } from "../stream/websocket-fixture.ts";
import { type Keyed, test } from "./keyed-fixture.ts";

const SSE = { accept: "text/event-stream" };
const END = { code: CLOSE_CODES.unauthorized.code, reason: "unauthorized" };

/** Returns settings with a file of issuer keys that has this text. */
function tokensOf(text: string, onTestFinished: Finish) {
  const jwtKey = join(newDirectory(onTestFinished), "issuer");
  writeFileSync(jwtKey, text, { mode: 0o600 });
  return { jwtKey, jwtIssuer: ISSUER, jwtAudience: AUDIENCE };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Opens one connection of each transport with the token, at the head and following. */
async function follow({ wire }: Keyed, token: string) {
  const headers = bearer(token);
  const client = wire.client("?channels=flares.pro", [], { headers });
  const path = "/api/v1/events?channels=flares.pro";
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}${path}`, headers);
  const hello = await client.answer("hello");
  await client.answer("subscribed");
  const waiting = wire.ask(`${path}&wait=60&after=test1-${wire.head.cursor.seq}`, headers);
  return { client, stream, waiting, hello };
}

for (const algorithm of ["HS256", "RS256", "ES256"] as const) {
  test(`[K8] a token signed with ${algorithm} grants its plan on every transport, and its connections end at exp`, async ({
    makeKeyed,
    onTestFinished,
  }) => {
    const issuer = createIssuer(algorithm);
    const keyed = await makeKeyed({ tokens: tokensOf(issuer.file, onTestFinished) });
    const token = await issuer.sign();
    const { message } = await keyed.wire.ask("/api/v1/flares", bearer(token));
    expect([message.statusCode, message.headers["flarewire-plan"]]).toEqual([200, "pro"]);
    const { client, stream, waiting, hello } = await follow(keyed, token);
    expect(hello).toMatchObject({ plan: "pro" });
    const posted = await keyed.wire.ask("/api/v1/tickets", bearer(token), "POST");
    const byTicket = keyed.wire.client(`?channels=flares.pro&ticket=${JSON.parse(posted.body).ticket}`);
    await byTicket.answer("subscribed");
    await keyed.holdsSlot(4);
    await keyed.pass(59);
    client.send({ type: "ping", id: "alive" });
    await client.answer("pong", "alive");
    await keyed.pass(1);
    expect([await client.ended, await byTicket.ended]).toEqual([END, END]);
    await stream.ended;
    expect(stream.messages("close")).toEqual([{ type: "close", action: "stop", ...END }]);
    expect((await waiting).message.statusCode).toBe(401);
    expect(keyed.lines.join()).not.toContain(token);
  });
}

const rsa = createIssuer("RS256");
const own = generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** Returns an HS256 token whose secret is the text of the public key, which anyone may have. */
function confused(): string {
  const unsigned = forge({ alg: "HS256" }, claimsOf()).slice(0, -1);
  return `${unsigned}.${createHmac("sha256", rsa.file).update(unsigned).digest("base64url")}`;
}

const INVALID: readonly (readonly [string, () => string | Promise<string>, string])[] = [
  ["has expired", () => rsa.sign({ exp: START_S - 6 }), "it has expired"],
  ["expired within the clock tolerance", () => rsa.sign({ exp: START_S - 1 }), "the key expired at"],
  ["is not yet valid", () => rsa.sign({ nbf: START_S + 6 }), "it is not yet valid (nbf)"],
  ["is for another audience", () => rsa.sign({ aud: "other" }), "its claim aud does not match this server"],
  ["is of another issuer", () => rsa.sign({ iss: "other" }), "its claim iss does not match this server"],
  ["ends at a text", () => rsa.sign({ exp: "tomorrow" as unknown as number }), "its claim exp is invalid"],
  ["has no end", () => rsa.sign({ exp: undefined }), "its claim exp is missing"],
  ["has no subject", () => rsa.sign({ sub: undefined }), "its claim sub is missing"],
  ["names an unknown plan", () => rsa.sign({ plan: "gold" }), "its claim plan is invalid"],
  ["is unsigned", () => forge({ alg: "none" }, claimsOf()), "no key that matches its alg and kid"],
  ["uses the public key as a secret", confused, "no key that matches its alg and kid"],
  ["is signed with another key", () => createIssuer("RS256").sign(), "its signature matches none"],
  [
    "contains its own key",
    () => createIssuer("RS256").sign({}, { jwk: own.publicKey.export({ format: "jwk" }) }),
    "its signature matches none",
  ],
  [
    "names its own key set",
    () => createIssuer("ES256").sign({}, { jku: "http://127.0.0.1/" }),
    "no key that matches",
  ],
  ["is no token", () => "a.b.c", "it is malformed"],
];

test("[K8] a token that is invalid for any reason is rejected on every transport, with the reason", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const keyed = await makeKeyed({ tokens: tokensOf(rsa.file, onTestFinished) });
  const seen: unknown[] = [];
  for (const [what, make] of INVALID) {
    const fields = bearer(await make());
    for (const [path, more] of [
      ["/api/v1/flares", {}],
      ["/api/v1/stream", HANDSHAKE],
      ["/api/v1/events", SSE],
      ["/api/v1/events", {}],
    ] as const) {
      const { message, body } = await keyed.wire.ask(path, { ...fields, ...more });
      const { type, detail } = JSON.parse(body);
      const isRight = message.statusCode === 401 && type === "urn:flarewire:problem:unauthorized";
      const isNamed = message.headers["www-authenticate"] !== undefined;
      seen.push([what, path, isRight && isNamed, detail]);
    }
  }
  expect(seen).toEqual(
    INVALID.flatMap(([what, , reason]) =>
      ["/api/v1/flares", "/api/v1/stream", "/api/v1/events", "/api/v1/events"].map((path) => [
        what,
        path,
        true,
        expect.stringContaining(reason),
      ]),
    ),
  );
});

test("[K8] tokens of one subject share its limits, independent of other subjects", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const issuer = createIssuer("HS256");
  const keyed = await makeKeyed({ tokens: tokensOf(issuer.file, onTestFinished) });
  const limits = { connections: 1, requests_per_minute: 3 };
  const [first, second, other] = await Promise.all([
    issuer.sign(limits),
    issuer.sign({ ...limits, jti: "another" }),
    issuer.sign({ ...limits, sub: "desk-8" }),
  ]);
  const ask = async (token: string, path = "/api/v1/events?wait=1&after=test1-0") =>
    (await keyed.wire.ask(path, bearer(token))).message.statusCode;
  const client = keyed.wire.client("?channels=flares.pro", [], { headers: bearer(first) });
  await client.answer("subscribed");
  expect([
    await ask(second),
    await ask(second, "/api/v1/flares"),
    await ask(second, "/api/v1/flares"),
  ]).toEqual([503, 200, 429]);
  expect(await ask(other, "/api/v1/flares")).toBe(200);
});

test("[K8] tokens of one subject with different limits share what is used", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const issuer = createIssuer("HS256");
  const keyed = await makeKeyed({ tokens: tokensOf(issuer.file, onTestFinished) });
  const tokens = await Promise.all([5, 6].map((rate) => issuer.sign({ requests_per_minute: rate })));
  const statuses: (number | undefined)[] = [];
  for (const token of Array.from({ length: 6 }, () => tokens).flat())
    statuses.push((await keyed.wire.ask("/api/v1/flares", bearer(token))).message.statusCode);
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6);
  expect(statuses.at(-1)).toBe(429);
});

test("[K5] a token in the URL is rejected", async ({ keyed }) => {
  const token = await createIssuer("HS256").sign();
  const { message, body } = await keyed.wire.ask(`/api/v1/flares?auth=${token}`);
  expect([message.statusCode, body.includes(token)]).toEqual([400, false]);
});

test("[K9] while the issuer's keys are not available, tokens get 503 with Retry-After, and keys still count", async ({
  makeKeyed,
}) => {
  // A request to this port fails at once.
  const tokens = { jwksUrl: "http://127.0.0.1:9/jwks", jwtIssuer: ISSUER, jwtAudience: AUDIENCE };
  const keyed = await makeKeyed({ tokens });
  const headers = bearer(await rsa.sign());
  for (const [path, more] of [
    ["/api/v1/flares", {}],
    ["/api/v1/stream", HANDSHAKE],
    ["/api/v1/events", SSE],
  ] as const) {
    const { message, body } = await keyed.wire.ask(path, { ...headers, ...more });
    expect([path, message.statusCode, JSON.parse(body).type]).toEqual([
      path,
      503,
      "urn:flarewire:problem:not-ready",
    ]);
    expect(message.headers).toHaveProperty("retry-after");
  }
  const { message, body } = await keyed.wire.ask("/api/v1/tickets", headers, "POST");
  const refused = { status: message.statusCode ?? 0, headers: message.headers, body: Buffer.from(body) };
  expect(validateResponse("POST", "/api/v1/tickets", refused)).toMatchObject({
    type: "urn:flarewire:problem:not-ready",
  });
  expect((await keyed.wire.ask("/api/v1/flares", keyed.bearer("pro"))).message.statusCode).toBe(200);
  expect(keyed.trouble()).toBe("the JWK set is unavailable or has no usable key; tokens are rejected");
  expect(keyed.lines.join()).toContain(
    "the JWK set is unavailable or has no usable key; tokens are rejected",
  );
});

test("[K9] when the key that signed a token is removed, the token's connections end", async ({
  makeKeyed,
  onTestFinished,
}) => {
  const [before, after] = [createIssuer("ES256", "a"), createIssuer("ES256", "b")];
  const set = (...keys: readonly object[]) => JSON.stringify({ keys });
  const tokens = tokensOf(set(before.jwk), onTestFinished);
  const keyed = await makeKeyed({ tokens });
  const reloaded = async (keys: number) => {
    while (!keyed.lines.join().includes(`"keys":${keys},"msg":"reloaded the token keys"`))
      await keyed.pass(1);
  };
  const late = { exp: START_S + 1e6 };
  const old = await before.sign(late);
  const { client, stream, waiting } = await follow(keyed, old);
  await keyed.holdsSlot(3);
  writeFileSync(tokens.jwtKey, set(before.jwk, after.jwk));
  await reloaded(2);
  const fresh = keyed.wire.client("?channels=flares.pro", [], { headers: bearer(await after.sign(late)) });
  await fresh.answer("subscribed");
  client.send({ type: "ping", id: "alive" });
  await client.answer("pong", "alive");
  writeFileSync(tokens.jwtKey, set(after.jwk));
  await reloaded(1);
  await keyed.pass(1);
  expect(await client.ended).toEqual(END);
  await stream.ended;
  expect((await waiting).message.statusCode).toBe(401);
  fresh.send({ type: "ping", id: "alive" });
  await fresh.answer("pong", "alive");
  expect((await keyed.wire.ask("/api/v1/flares", bearer(old))).message.statusCode).toBe(401);
});
