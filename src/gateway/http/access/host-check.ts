import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { FlarewireError } from "../../../base/protocol/index.ts";
import type { HttpSettings } from "../http-settings.ts";

/** Maximum characters of an untrusted host that a message repeats. */
const MAX_REPEATED = 100;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");

/** Returns why a request may not be served under its `Host`; `undefined` if it may. */
export type HostCheck = (request: IncomingMessage) => FlarewireError | undefined;

/**
 * Creates a check that `Host` is given exactly once, and that its name is allowed. The authority of
 * an absolute URL replaces `Host` (RFC 9112, 3.2.2). A server on loopback, or with a list, accepts
 * only listed and local names: by DNS rebinding, a page whose name resolves to 127.0.0.1 could
 * otherwise read it.
 */
export function createHostCheck({
  host,
  allowedHosts,
}: Pick<HttpSettings, "host" | "allowedHosts">): HostCheck {
  const isOpen = allowedHosts.includes("*") || (allowedHosts.length === 0 && !(host && isLoopback(host)));
  const isOwn = createOwnHostCheck({ allowedHosts });
  return (request) => {
    const refusal = refusalOf(request);
    const given = authorityIn(request.url) ?? request.headers.host;
    if (refusal || isOpen || given === undefined) return refusal;
    if (isOwn(given)) return undefined;
    const shown = JSON.stringify(given.slice(0, MAX_REPEATED));
    const message = `this server does not accept the host name ${shown}; its operator can add the name to the setting allowedHosts (--allowed-hosts NAME)`;
    return new FlarewireError("host-refused", message, {
      field: "Host",
      bound: "localhost, or a name in allowedHosts",
    });
  };
}

/**
 * Creates a check that a host is listed in `allowedHosts` or is a loopback name. Any other host,
 * even if `*` allows it, is an unverified claim, which must not appear in a response that a shared
 * cache may store.
 */
export function createOwnHostCheck({
  allowedHosts,
}: Pick<HttpSettings, "allowedHosts">): (host: string) => boolean {
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  return (host) => {
    const name = nameIn(host);
    return name !== undefined && (names.has(name) || isLoopback(name));
  };
}

function isLoopback(name: string): boolean {
  const family = isIP(name);
  if (family !== 0) return LOOPBACK.check(name, family === 6 ? "ipv6" : "ipv4");
  return name === "localhost" || name.endsWith(".localhost");
}

/**
 * Returns a `Host` field's name in lower case, without port, brackets and last dot; `undefined` if
 * the field is invalid. A name has only characters that end no host in a URL.
 */
function nameIn(host: string): string | undefined {
  const [, inBrackets, name = inBrackets, port = ""] =
    /^(?:\[([\d.:a-f]+)\]|([\w.-]{1,254}))(?::(\d{0,5}))?$/i.exec(host) ?? [];
  // An empty port is the protocol's default.
  const isPort = port === "" || (Number(port) >= 1 && Number(port) <= 65_535);
  return isPort ? name?.toLowerCase().replace(/\.$/, "") : undefined;
}

/** Returns host and port of a request target that is an absolute URL. */
function authorityIn(target = ""): string | undefined {
  return /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
}

/**
 * Requires one Host, except in HTTP/1.0, which may lack it. Node itself would answer a missing one
 * with an empty body, and accepts a second one.
 */
function refusalOf({ rawHeaders, httpVersion }: IncomingMessage): FlarewireError | undefined {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  if (count === 1 || (count === 0 && httpVersion !== "1.1")) return undefined;
  const message =
    count === 0 ? "an HTTP/1.1 request must have a Host field" : "the request has more than one Host field";
  return new FlarewireError("invalid-request", message, { field: "Host", bound: "given once" });
}
