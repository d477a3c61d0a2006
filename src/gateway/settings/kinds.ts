import { isIP } from "node:net";
import { z } from "zod";
import { isServiceUrl, type Kind, list, text } from "../../base/settings/index.ts";

/** An address or a name to listen on. */
export const hostName: Kind<string> = {
  schema: text(253, (name) => /^[A-Za-z0-9_:]([A-Za-z0-9._:-]*[A-Za-z0-9_:])?$/.test(name)),
  bound: "an IP address or a host name",
};

/** The path of the API on its host, with a leading and no trailing slash. Empty for the root. */
export const urlPath: Kind<string> = {
  schema: z
    .string()
    .max(200)
    .regex(/^(\/|(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+)$/)
    .transform((text) => (text === "/" ? "" : text)),
  bound:
    "/, or parts that each start with a slash, of letters, digits and . _ ~ - (no leading dot), at most 200 characters",
};

/** The URL of a JWK set. Without TLS, others could replace the keys in transit. */
export const keySetUrl: Kind<string> = {
  schema: text(2_048, (url) => isServiceUrl(url) && (url.startsWith("https:") || isLoopback(new URL(url)))),
  bound: "an https:// URL, or http:// on this machine, without user, query or fragment",
  url: true,
};

/** The value of a token's claim. */
export const claim: Kind<string> = {
  schema: z.string().regex(/^[^\s\p{Cc}]{1,256}$/u),
  bound: "1 to 256 characters without spaces",
};

/** A list of web origins, `*` for any, `none` for the empty list. */
export const origins: Kind<readonly string[]> = {
  schema: list(text(300, (origin) => origin === "*" || isOrigin(origin))),
  bound: "*, none, or origins such as https://name[:port], separated by commas",
};

/** A list of host names without ports; `*` for any, `none` for the empty list. */
export const hosts: Kind<readonly string[]> = {
  schema: list(text(253, (host) => host === "*" || isIP(host) !== 0 || isDomain(host))),
  bound: "*, none, or host names or IP addresses without a port, separated by commas",
};

/** A list of IP addresses or networks, `none` for the empty list. */
export const networks: Kind<readonly string[]> = {
  schema: list(text(50, isNetwork)),
  bound: "none, or IP addresses, networks such as 10.0.0.0/8, or the word loopback, separated by commas",
};

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

function isDomain(text: string): boolean {
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(text);
}

function isNetwork(text: string): boolean {
  if (text === "loopback") return true;
  const [, address, bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address ?? "");
  // A network of 0 bits contains every address, so any client could claim any address.
  const length = Number(bits ?? 1);
  return version !== 0 && length >= 1 && length <= (version === 4 ? 32 : 128);
}
