import { CHAIN_GROUPS, wordsFor } from "../../base/model/index.ts";

/** Hiding a shorter text would garble ordinary words. */
const MIN_SECRET = 8;
/** Names of networks, which are no keys. Any other word could be a key that a person chose. */
const WORDS = ["chain", "fuji", "mainnet", "smart", "testnet", ...CHAIN_GROUPS.flatMap(wordsFor)];
const NETWORK = new RegExp(`^(?:(?:${WORDS.join("|")})[-_]?)+$`);

/**
 * Replaces parts of a service's URL in a text, because a service may repeat its address, with the
 * key, in an answer. Hides user, password, path segments and the parts of the query, but not the
 * host, names of networks and parts of less than eight characters. Truncate afterwards, because
 * half a key would not be found.
 */
export function hideAddress(text: string, url: string): string {
  const { username, password, pathname, search, searchParams } = new URL(url);
  const query = search.slice(1);
  const parts = [username, password, ...pathname.split("/"), query, ...query.split(/[&=]/)];
  return (
    [...parts, ...parts.map(decoded), ...searchParams.values()]
      .filter((part) => part.length >= MIN_SECRET && !NETWORK.test(part))
      // The longest first, because it may contain another part.
      .sort((a, b) => b.length - a.length)
      .reduce((rest, secret) => rest.replaceAll(secret, "…"), text)
  );
}

/** Decodes a part of a URL. Returns a malformed one unchanged. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
