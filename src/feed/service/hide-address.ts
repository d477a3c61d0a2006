/** Hiding a shorter text would garble ordinary words. */
const MIN_SECRET = 8;

/**
 * Hides everything in a service's URL but the host, because a service may repeat it, with the key
 * in it, in an answer. Truncate afterwards, because half a key would not be found.
 */
export function hideAddress(text: string, url: string): string {
  const { username, password, pathname, search, searchParams } = new URL(url);
  const query = search.slice(1);
  const parts = [username, password, ...pathname.split("/"), query, ...query.split(/[&=]/)];
  return (
    [...parts, ...searchParams.values()]
      .filter(({ length }) => length >= MIN_SECRET)
      // The longest first: another part may begin like it.
      .sort((a, b) => b.length - a.length)
      .reduce((rest, secret) => rest.replaceAll(secret, "…"), text)
  );
}
