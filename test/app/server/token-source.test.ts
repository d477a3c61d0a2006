import { expect, test } from "vitest";
import { MAX_AGE_MS, REFRESH_MS, RETRY_MS, TokenKeySet } from "../../../src/app/server/token-source.ts";
import { TokenVerifier } from "../../../src/gateway/keys/index.ts";
import { AUDIENCE, createIssuer, ISSUER, START_S } from "../../support/servers/token-issuer.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { eventually } from "../../support/time/waiters.ts";

const [a, b] = [createIssuer("ES256", "a"), createIssuer("RS256", "b")] as const;
const secret = { kty: "oct", k: "a".repeat(43), kid: "s" };

type Reply = { readonly keys: readonly unknown[] } | number;

/** Creates a verifier whose key set's URL replies as the test decides, and collects its reports. */
function watched(first: Reply) {
  const clock = new ManualClock();
  const reports: string[] = [];
  const served = { reply: first, requests: 0 };
  const request: typeof fetch = async () => {
    served.requests += 1;
    if (typeof served.reply === "number") return new Response(null, { status: served.reply });
    return Response.json(served.reply);
  };
  const notify = (level: string, message: string) => void reports.push(`${level}: ${message}`);
  const source = new TokenKeySet("https://login.example.org/jwks", { clock, notify }, request);
  const verifier = new TokenVerifier({ source, issuer: ISSUER, audience: AUDIENCE, clock });
  const token = (by = a) => by.sign({ exp: START_S + 1e6 });
  const verify = async (text: string) => (await verifier.verify(text))?.code ?? "valid";
  /** Advances the clock. Resolves once `count` requests were made in total. */
  const pass = async (ms: number, count = served.requests) => {
    clock.advance(ms);
    await eventually(
      () => served.requests === count,
      () => served.requests,
      { what: `${count} requests` },
    );
  };
  return { clock, reports, served, source, verifier, token, verify, pass };
}

test("[K9] keys are fetched once for many tokens, and again after five minutes", async () => {
  const { served, source, token, verify, pass } = watched({ keys: [a.jwk] });
  expect(await Promise.all([verify(await token()), verify(await token()), verify(await token())])).toEqual([
    "valid",
    "valid",
    "valid",
  ]);
  expect(served.requests).toBe(1);
  await pass(REFRESH_MS - 1);
  await pass(RETRY_MS, 2);
  source.stop();
});

test("[K9] an unknown key's token fetches the set again, but not too soon; a key that the set drops becomes invalid", async () => {
  const { clock, served, source, verifier, token, verify } = watched({ keys: [a.jwk] });
  const old = await token();
  const grant = async () => {
    expect(await verify(old)).toBe("valid");
    return verifier.find(old);
  };
  expect(await grant()).toMatchObject({ plan: "pro", name: "desk-7" });
  served.reply = { keys: [a.jwk, b.jwk] };
  clock.advance(RETRY_MS - 1);
  // Too early for another fetch. Otherwise a client could cause one with each request.
  expect(await verify(await token(b))).toBe("not-ready");
  clock.advance(1);
  expect([await verify(await token(b)), await grant()]).toEqual(["valid", expect.anything()]);
  served.reply = { keys: [b.jwk] };
  clock.advance(RETRY_MS);
  expect(await verify(await token(createIssuer("ES256", "c")))).toBe("unauthorized");
  expect([await verify(old), verifier.find(old)]).toEqual(["unauthorized", undefined]);
  expect(await verify(await token(b))).toBe("valid");
  source.stop();
});

test("[K9] while the set cannot be fetched, its previous keys stay valid for a day, and each change is reported once", async () => {
  const { clock, reports, served, source, token, verify, pass } = watched({ keys: [a.jwk] });
  expect(await verify(await token())).toBe("valid");
  served.reply = 500;
  await pass(REFRESH_MS, 2);
  await eventually(
    () => source.trouble === "the JWK set is unavailable or has no usable key; the previous keys stay in use",
    () => source.trouble,
    { what: "the trouble" },
  );
  expect(await verify(await token())).toBe("valid");
  clock.advance(MAX_AGE_MS);
  await eventually(
    () => reports.length === 2,
    () => reports,
    { what: "the second report" },
  );
  expect(await verify(await token())).toBe("not-ready");
  served.reply = { keys: [a.jwk] };
  clock.advance(RETRY_MS);
  await source.refresh();
  expect([await verify(await token()), source.trouble]).toEqual(["valid", undefined]);
  expect(reports).toEqual([
    "error: the JWK set is unavailable or has no usable key; the previous keys stay in use",
    "error: the JWK set is unavailable or has no usable key; tokens are rejected",
    "info: the JWK set is available",
  ]);
  source.stop();
});

test.each([
  ["a secret, which anyone could read there", { keys: [secret] }],
  ["no usable key", { keys: [{ kty: "OKP" }] }],
  ["another document", { keys: [], more: 1 }],
  ["a redirect", 302],
  ["an error", 404],
])("[K9] a URL that serves %s provides no keys", async (_what, reply: Reply) => {
  const { source, token, verify } = watched(reply);
  expect([await verify(await token()), source.keys]).toEqual(["not-ready", undefined]);
  source.stop();
});
