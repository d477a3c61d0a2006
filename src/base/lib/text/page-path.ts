/** Returns the path of a flare's own page, after the server's root. */
export function flarePath(id: string): string {
  return `flare/${encodeURIComponent(id)}`;
}

/** Returns the path of a token's own page. `key`: its address in lower case, or its symbol. */
export function tokenPath(group: string, key: string): string {
  return `token/${encodeURIComponent(group)}/${encodeURIComponent(key)}`;
}
