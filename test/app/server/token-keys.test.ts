import { generateKeyPairSync } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTokenKeys, readTokenKeys } from "../../../src/app/server/token-keys.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { createIssuer } from "../../support/servers/token-issuer.ts";

const [rsa, ec, secret] = [
  createIssuer("RS256", "r"),
  createIssuer("ES256", "e"),
  createIssuer("HS256"),
] as const;
const set = (...keys: readonly unknown[]) => JSON.stringify({ keys });
const weak = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey;
const curve = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;
const own = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const der = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, "");

test.each([
  ["public keys as PEM", `${rsa.file}\n${ec.file}`, ["RS256", "ES256"]],
  ["a secret that ends with a line break", `${secret.file}\n`, ["HS256"]],
  ["a JWK", JSON.stringify(ec.jwk), ["ES256"]],
  ["a JWK set", set(rsa.jwk, ec.jwk, { kty: "oct", k: "a".repeat(43) }), ["RS256", "ES256", "HS256"]],
  [
    "a JWK set with unsuitable keys, which are ignored",
    set(
      { ...rsa.jwk, use: "enc" },
      { ...rsa.jwk, alg: "RS512" },
      { ...ec.jwk, key_ops: ["sign"] },
      curve.export({ format: "jwk" }),
      weak.export({ format: "jwk" }),
      { kty: "OKP" },
      7,
      ec.jwk,
    ),
    ["ES256"],
  ],
])("token keys can be given as %s", (_what, text, algorithms) => {
  expect(parseTokenKeys(text, "keys").map(({ algorithm }) => algorithm)).toEqual(algorithms);
});

test.each([
  ["", "it has a secret of 0 bytes; it must have 32 or more"],
  ["a".repeat(31), "it has a secret of 31 bytes; it must have 32 or more"],
  [`${"a".repeat(32)}\n${"b".repeat(32)}`, "a one-line secret"],
  [der(rsa.file), "a public key that is not in PEM format"],
  [`ssh-rsa ${"A".repeat(200)}`, "a public key that is not in PEM format"],
  [String(own.export({ format: "pem", type: "pkcs8" })), "it has a private key"],
  [String(own.export({ format: "pem", type: "sec1" })), "it has a private key"],
  [
    String(weak.export({ format: "pem", type: "spki" })),
    "neither RSA with 2048 bits or more nor EC on P-256",
  ],
  [
    String(curve.export({ format: "pem", type: "spki" })),
    "neither RSA with 2048 bits or more nor EC on P-256",
  ],
  ["-----BEGIN PUBLIC KEY-----\nMIIB", "a PEM key without its END line"],
  ["{", "it is not JSON"],
  ['\n\n\n   {"keys":[\n  x]}', "it is not JSON (line 5, column 3: Unexpected character)"],
  [set(), "its JWK set has no key for"],
  [set({ kty: "oct", k: "short" }), "its JWK set has no key for"],
  [set(...Array.from({ length: 33 }, () => ec.jwk)), "it is not a JWK set of at most 32 keys"],
])("a file without a usable key is rejected, and its content is not quoted: case %#", (text, reason) => {
  expect(() => parseTokenKeys(text, "issuer.pem")).toThrow(reason);
  expect(() => parseTokenKeys(text, "issuer.pem")).toThrow(/^issuer\.pem: /);
  if (text.length > 8) expect(() => parseTokenKeys(text, "issuer.pem")).not.toThrow(text.slice(0, 60));
});

test("a file that any user can write is rejected", async ({ onTestFinished }) => {
  const file = join(newDirectory(onTestFinished), "issuer.pem");
  writeFileSync(file, ec.file);
  expect((await readTokenKeys(file)).value).toHaveLength(1);
  chmodSync(file, 0o666);
  await expect(readTokenKeys(file)).rejects.toThrow("any user on this machine can write to it");
});
