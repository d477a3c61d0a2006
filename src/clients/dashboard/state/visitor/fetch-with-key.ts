/** Requests data from the server with the visitor's key, if there is one. */
export function fetchWithKey(
  url: URL,
  key: string | undefined,
  signal: AbortSignal,
  method: "GET" | "HEAD" = "GET",
): Promise<Response> {
  return fetch(url, { method, headers: keyHeader(key), signal });
}

/** Returns the header field with the visitor's key; none without a key. */
export function keyHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}
