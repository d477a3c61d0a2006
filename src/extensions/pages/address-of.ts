import type { FastifyRequest } from "fastify";
import { createOwnHostCheck, type HttpSettings } from "../../gateway/http/index.ts";

/** What a request tells of the address that its sender used, behind trusted proxies too. */
type Addressed = Pick<FastifyRequest, "protocol" | "host">;

/**
 * Creates a function that returns the server's absolute URL for the sender of a request, with the
 * base path and without a trailing slash. Without a public URL, it returns `undefined` if the
 * requested host is untrusted, or forms no valid URL with the protocol, which a proxy may forward
 * as any text.
 */
export function createAddressOf({
  publicUrl,
  basePath,
  allowedHosts,
}: Pick<HttpSettings, "publicUrl" | "basePath" | "allowedHosts">) {
  const isOwn = createOwnHostCheck({ allowedHosts });
  return ({ protocol, host }: Addressed): string | undefined => {
    if (publicUrl !== undefined) return publicUrl;
    if (!/^https?$/i.test(protocol) || !isOwn(host)) return undefined;
    const address = `${protocol}://${host}`.toLowerCase();
    return URL.canParse(address) ? `${address}${basePath}` : undefined;
  };
}
