import type { FastifyRequest } from "fastify";
import { createOwnHostCheck, type HttpSettings } from "../../gateway/http/index.ts";

/** What a request tells of the address that its sender used, behind trusted proxies too. */
type Addressed = Pick<FastifyRequest, "protocol" | "host">;

/**
 * Creates a function that returns the server's absolute URL for the sender of a request, with the
 * base path and without a trailing slash. It returns `undefined` without a public URL if the
 * requested host is untrusted.
 */
export function createAddressOf({
  publicUrl,
  basePath,
  allowedHosts,
}: Pick<HttpSettings, "publicUrl" | "basePath" | "allowedHosts">) {
  const isOwn = createOwnHostCheck({ allowedHosts });
  return ({ protocol, host }: Addressed): string | undefined => {
    if (publicUrl !== undefined) return publicUrl;
    return isOwn(host) ? `${protocol}://${host.toLowerCase()}${basePath}` : undefined;
  };
}

/** How many addresses a server tells of itself without a public URL. */
const MAX_TOLD = 8;

/**
 * Creates a function like that of {@link createAddressOf}, which returns few different addresses:
 * a stranger can invent names and ports, and each would make another document.
 */
export function createToldAddressOf(settings: Parameters<typeof createAddressOf>[0]) {
  const addressOf = createAddressOf(settings);
  const told = new Set<string>();
  return (request: Addressed): string | undefined => {
    const address = addressOf(request);
    if (address !== undefined && told.size < MAX_TOLD) told.add(address);
    return address !== undefined && told.has(address) ? address : undefined;
  };
}
