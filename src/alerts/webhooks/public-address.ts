import { lookup as lookupName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** Where public IPv6 addresses lie: https://www.iana.org/assignments/ipv6-address-space. */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * Azure's wire server: public by its number, but answered inside Azure only, with settings and certificates of the machine that asks. Source:
 * learn.microsoft.com, "What is IP address 168.63.129.16?". Those of other clouds lie in networks that are not public.
 */
const AZURE_WIRE_SERVER = "168.63.129.16";

/** An address that a webhook may not lie at. */
class PrivateAddressError extends Error {
  override readonly name = "PrivateAddressError";

  constructor(host: string, address: string) {
    const what = host === address ? address : `${host} leads to ${address}, which`;
    super(`${what} is no public address; allow_private_addresses allows it`);
  }
}

/** True for what the whole Internet reaches: not this machine, not its networks, no address for a special purpose. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address in the form of an IPv6 one is what it stands for.
  const plain = ipaddr.process(address);
  if (plain.range() !== "unicast" || plain.toString() === AZURE_WIRE_SERVER) return false;
  // Of IPv6 this block alone is given out; ::7f00:1, which is ::127.0.0.1 written otherwise, has no range of its own.
  return plain.kind() === "ipv4" || plain.match(GLOBAL_UNICAST);
}

/** Throws PrivateAddressError where the host is itself an address that is not public; of a name nothing is known yet. */
export function checkHost(host: string): void {
  const bare = host.replace(/^\[|\]$/g, "");
  if (isIP(bare) !== 0 && !isPublicAddress(bare)) throw new PrivateAddressError(bare, bare);
}

/**
 * Looks a name up for a connection, and gives only public addresses. In the connection's own look-up, because what a check before it was told may be
 * another answer than the connection gets.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookupName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "", 0);
    const hidden = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (hidden || !first)
      return callback(new PrivateAddressError(hostname, hidden?.address ?? "nowhere"), "", 0);
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
