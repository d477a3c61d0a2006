import { existingFile, oneOf, type SettingTable, setting } from "../../base/settings/index.ts";
import { claim, keySetUrl } from "./kinds.ts";

/** Settings of keys, tokens and TLS. */
export const ACCESS_SETTINGS = {
  keys: setting("keys", existingFile, {
    default: undefined,
    defaultText: "none: no keys are required, and every client has full access",
    example: "/etc/flarewire/keys.json",
    description: "Key file, created with flarewire keys; reloaded when it changes",
  }),
  jwtKey: setting("jwtKey", existingFile, {
    default: undefined,
    example: "/etc/flarewire/issuer.pem",
    description:
      "File with the keys that verify JSON Web Tokens: public keys (PEM), a JWK set, or a secret for HS256; reloaded when it changes",
  }),
  jwksUrl: setting("jwksUrl", keySetUrl, {
    default: undefined,
    example: "https://login.example.org/.well-known/jwks.json",
    description: "URL of the issuer's JWK set instead, fetched every 5 minutes",
  }),
  jwtIssuer: setting("jwtIssuer", claim, {
    default: undefined,
    example: "https://login.example.org/",
    description: "Required iss of a token, with jwtKey or jwksUrl",
  }),
  jwtAudience: setting("jwtAudience", claim, {
    default: undefined,
    example: "https://flares.example.org",
    description: "Required aud of a token, with jwtKey or jwksUrl",
  }),
  anonymous: setting("anonymous", oneOf(["free", "off"]), {
    default: "free",
    example: "off",
    description:
      "Access without a key, if keys, jwtKey or jwksUrl is set: free (the plan of that name) or off (401)",
  }),
  tlsCert: setting("tlsCert", existingFile, {
    default: undefined,
    defaultText: "none: plain HTTP",
    example: "/etc/flarewire/tls.crt",
    description:
      "TLS certificate in PEM, followed by its intermediate certificates. With tlsKey, the port serves HTTPS and WSS; reloaded when it changes",
  }),
  tlsKey: setting("tlsKey", existingFile, {
    default: undefined,
    example: "/etc/flarewire/tls.key",
    description: "Private key of tlsCert in PEM, without a passphrase",
  }),
} as const satisfies SettingTable;
