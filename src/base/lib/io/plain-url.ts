/**
 * Whether a text is a URL whose protocol, such as `https:`, matches, without user name and
 * password.
 */
export function isPlainUrl(text: string, protocol: RegExp): boolean {
  const url = URL.parse(text);
  return url !== null && protocol.test(url.protocol) && url.username === "" && url.password === "";
}
