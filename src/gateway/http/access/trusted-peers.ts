import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { BlockList, isIPv4, isIPv6 } from "node:net";
import type { HttpSettings } from "../http-settings.ts";

/** Named networks, as Fastify defines them. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.1/8", "::1/128"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/** Creates a check that the setting `trustProxy` includes an address. */
export function createTrust(trustProxy: HttpSettings["trustProxy"]): (address: string) => boolean {
  if (typeof trustProxy === "boolean") return () => trustProxy;
  const list = new BlockList();
  for (const network of trustProxy.flatMap((name) => NAMED[name] ?? [name])) {
    const [address = "", bits] = network.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    list.addSubnet(address, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/**
 * Creates a reader of the client's address. It returns `undefined` if an untrusted peer sends
 * `X-Forwarded-For`.
 */
export function createAddressReader(
  isTrusted: (address: string) => boolean,
): (request: IncomingMessage) => string | undefined {
  return ({ socket, headers }) => {
    const peer = socket.remoteAddress ?? "";
    if (headers["x-forwarded-for"] === undefined) return peer;
    if (!isTrusted(peer)) return undefined;
    sanitizeForwardedFor(headers);
    const forwarded = String(headers["x-forwarded-for"] ?? peer).split(", ");
    return forwarded.findLast((address) => !isTrusted(address)) ?? forwarded[0];
  };
}

/**
 * Reduces `X-Forwarded-For` to plain addresses, because some proxies append a port. Drops an entry
 * that is not an address, and all entries to its left, because clients can send any text.
 */
export function sanitizeForwardedFor(headers: IncomingHttpHeaders): void {
  const given = headers["x-forwarded-for"];
  if (given === undefined) return;
  const addresses: string[] = [];
  for (const entry of String(given).split(",").reverse()) {
    const address = addressOf(entry.trim());
    if (address === undefined) break;
    addresses.unshift(address);
  }
  if (addresses.length > 0) headers["x-forwarded-for"] = addresses.join(", ");
  else delete headers["x-forwarded-for"];
}

/** Parses `ip`, `ip:port` or `[ip]:port`; returns `undefined` for other text. */
function addressOf(entry: string): string | undefined {
  if (isIPv6(entry)) return entry;
  const [, inBrackets, plain = inBrackets] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  if (plain === undefined) return undefined;
  return (inBrackets === undefined ? isIPv4(plain) : isIPv6(plain)) ? plain : undefined;
}
