/** What a server says of itself and of who asks. */
export interface Access {
  /** What the key, or who comes without one, may see; `undefined` where the server knows no keys and everybody sees everything. */
  readonly plan: string | undefined;
  /** `live`, `recorded` or `simulated`; `undefined` where it does not say. */
  readonly origin: string | undefined;
}

/** How long it may take to answer: the page waits for it. */
const PATIENCE_MS = 3_000;

/** Asks the server at `server`, with the key if there is one, in a header field. Nothing is known where it cannot be asked or refuses. */
export async function fetchAccess(
  server: URL,
  key: string | undefined,
  signal: AbortSignal,
): Promise<Access | undefined> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  try {
    const until = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const answer = await fetch(new URL("api/v1/flares", server), { method: "HEAD", headers, signal: until });
    if (!answer.ok) return undefined;
    const field = (name: string) => answer.headers.get(name) ?? undefined;
    return { plan: field("flarewire-plan"), origin: field("flarewire-origin") };
  } catch {
    return undefined;
  }
}
