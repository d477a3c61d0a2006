import { type LookupAddress, type LookupOptions, lookup as lookupName } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** All public IPv6 addresses: https://www.iana.org/assignments/ipv6-address-space. */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * Azure's wire server. It looks public, but serves secrets of the machine that asks. Source:
 * learn.microsoft.com, "What is IP address 168.63.129.16?".
 */
const AZURE_WIRE_SERVER = "168.63.129.16";

/** Milliseconds until the first repetition, which doubles, and the number of attempts. */
const RESOLVER_LIMITS = { timeout: 2_000, tries: 2 };

class PrivateAddressError extends Error {
  override readonly name = "PrivateAddressError";

  constructor(host: string, address: string) {
    const subject = host === address ? address : `${host} resolves to ${address}, which`;
    super(`${subject} is not a public address; set allow_private_addresses to allow it`);
  }
}

export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4-mapped IPv6 address counts as its IPv4 address.
  const plain = ipaddr.process(address);
  if (plain.range() !== "unicast" || plain.toString() === AZURE_WIRE_SERVER) return false;
  // Of IPv6, only this block is public. The library calls an address `unicast` if it is in none of
  // its named ranges. One such address is ::7f00:1, another form of ::127.0.0.1.
  return plain.kind() === "ipv4" || plain.match(GLOBAL_UNICAST);
}

/** Throws PrivateAddressError for a non-public address and `localhost`. Does not resolve names. */
export function checkHost(host: string): void {
  const bare = host.replace(/^\[|\]$|\.$/g, "");
  const isPrivate = isIP(bare) === 0 ? /(^|\.)localhost$/i.test(bare) : !isPublicAddress(bare);
  if (isPrivate) throw new PrivateAddressError(bare, bare);
}

type Found = (error: Error | null, addresses: readonly LookupAddress[]) => void;

/**
 * Resolves a name, and fails if one of its addresses is not public. Use it as the connection's
 * lookup: a separate lookup could return other addresses.
 */
export const lookupPublic = onlyPublic((hostname, options, found) => {
  lookupName(hostname, { ...options, all: true }, found);
});

/**
 * As {@link lookupPublic}, for names that visitors choose. Asks the DNS servers itself, because the
 * system's lookup has two threads for the whole process. Two names whose servers never answer would
 * keep both busy, and with them the market's and all other alerts.
 */
export const lookupPublicOfVisitor = onlyPublic((hostname, _options, found) => {
  // A new one each time: the machine's servers may have changed.
  const resolver = new Resolver(RESOLVER_LIMITS);
  const both = [resolver.resolve4(hostname), resolver.resolve6(hostname)];
  void Promise.allSettled(both).then((answers) => {
    const addresses = answers.flatMap((answer, index) =>
      answer.status === "rejected" ? [] : answer.value.map((address) => ({ address, family: index ? 6 : 4 })),
    );
    const [failed] = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    found(addresses.length === 0 && failed instanceof Error ? failed : null, addresses);
  });
});

function onlyPublic(find: (hostname: string, options: LookupOptions, found: Found) => void): LookupFunction {
  return (hostname, options, callback) => {
    find(hostname, options, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const hidden = addresses.find(({ address }) => !isPublicAddress(address));
      if (hidden) return callback(new PrivateAddressError(hostname, hidden.address), "", 0);
      const [first] = addresses;
      if (!first) return callback(new Error(`${hostname} resolves to no address`), "", 0);
      if (options.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}
