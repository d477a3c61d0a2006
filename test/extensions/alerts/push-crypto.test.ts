import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importJWK, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { encryptPush } from "../../../src/extensions/alerts/push/push-message.ts";
import { openVapidKey } from "../../../src/extensions/alerts/push/vapid-key.ts";
import { newDirectory } from "../../support/servers/edges.ts";

const fromUrl = (text: string) => Buffer.from(text, "base64url");

test("[RFC 8291 section 5] a payload is encrypted to the bytes of the example", () => {
  const keys = {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const chance = {
    salt: fromUrl("DGv6ra1nlYgDCS1FRnbzlw"),
    privateKey: fromUrl("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
  };
  expect(encryptPush("When I grow up, I want to be a watermelon", keys, chance).toString("base64url")).toBe(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});

test("[RFC 8292] the authorization is a token that an independent library verifies with the public key", async () => {
  const key = await openVapidKey(undefined, () => expect.fail("nothing to repair"));
  const nowMs = Date.now();
  const field = await key.authorize("https://push.example:8443/a/b?c", "mailto:ops@example.org", nowMs);
  const [, token = "", publicKey = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(field) ?? [];
  expect(publicKey).toBe(key.publicKey);
  const point = fromUrl(publicKey);
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const jwk = await importJWK({ kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, "ES256");
  const { payload, protectedHeader } = await jwtVerify(token, jwk, {
    audience: "https://push.example:8443",
  });
  expect(protectedHeader).toEqual({ typ: "JWT", alg: "ES256" });
  expect(payload.sub).toBe("mailto:ops@example.org");
  expect(Number(payload.exp) - nowMs / 1_000).toBeLessThanOrEqual(86_400);
});

test("the key file is created for its owner only, reused, and made private again if others could read it", async ({
  onTestFinished: finish,
}) => {
  const path = join(newDirectory(finish), "push-key.pem");
  let repairs = 0;
  const open = () =>
    openVapidKey(path, () => {
      repairs += 1;
    });
  const { publicKey } = await open();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect([(await open()).publicKey, repairs]).toEqual([publicKey, 0]);
  chmodSync(path, 0o644);
  expect([(await open()).publicKey, repairs]).toEqual([publicKey, 1]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a key file that others can write or that has no key is rejected by name and not replaced", async ({
  onTestFinished: finish,
}) => {
  const path = join(newDirectory(finish), "push-key.pem");
  await openVapidKey(path, () => {});
  chmodSync(path, 0o666);
  await expect(openVapidKey(path, () => {})).rejects.toThrow(/push-key\.pem: any user.*can write/);
  chmodSync(path, 0o600);
  writeFileSync(path, "no key");
  await expect(openVapidKey(path, () => {})).rejects.toThrow(
    /push-key\.pem: it contains no P-256 private key/,
  );
  expect(readFileSync(path, "utf8")).toBe("no key");
});
