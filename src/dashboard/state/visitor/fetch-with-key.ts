/** Requests data of the server with the visitor's key, if there is one. */
export function fetchWithKey(
  url: URL,
  key: string | undefined,
  signal: AbortSignal,
  method: "GET" | "HEAD" = "GET",
): Promise<Response> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return fetch(url, { method, headers, signal });
}
