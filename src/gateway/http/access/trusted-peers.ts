import type { IncomingMessage } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import type { HttpSettings } from "../http-settings.ts";
import { sanitizeForwardedFor } from "./forwarded-for.ts";

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
