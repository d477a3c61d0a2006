import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";

const [jwksUrl, jwtIssuer, jwtAudience] = ["https://me.example/jwks", "me", "this"];

test.each([
  { jwtIssuer, jwtAudience },
  { jwksUrl, jwtIssuer },
  { jwksUrl, jwtAudience },
  { jwksUrl, jwtKey: "package.json", jwtIssuer, jwtAudience },
])("[K8] %j is rejected: tokens need an issuer, an audience and keys from one source", (given) => {
  const reason = "tokens need jwtIssuer, jwtAudience, and either jwtKey or jwksUrl";
  expect(() => createConfig(given)).toThrow(reason);
});

test("[K8] tokens can be configured without a key file, and then anonymous has an effect", () => {
  const given = { jwksUrl, jwtIssuer, jwtAudience, anonymous: "off" };
  expect(createConfig(given)).toMatchObject({ ...given, keys: undefined });
});

test.each(["http://127.0.0.1:9/jwks", "http://[::1]:9/jwks", "http://localhost/jwks", jwksUrl])(
  "[K9] jwksUrl accepts %s",
  (url) => {
    expect(createConfig({ jwksUrl: url, jwtIssuer, jwtAudience }).jwksUrl).toBe(url);
  },
);

test.each([
  "http://login.example.org/jwks",
  "http://127.0.0.1.example.org/",
  "file:///etc/jwks",
  "https://u:p@x.y/",
])("[K9] jwksUrl rejects %s", (url) => {
  expect(() => createConfig({ jwksUrl: url, jwtIssuer, jwtAudience })).toThrow("jwksUrl = ");
});
