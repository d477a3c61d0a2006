import { fetchWithKey } from "./fetch-with-key.ts";

/** The visitor's access, and the kind of market. */
export interface Access {
  /** The plan of the key, or of anonymous visitors; `undefined` if the server uses no keys. */
  readonly plan: string | undefined;
  /** `live`, `recorded` or `simulated`; `undefined` if the server does not report it. */
  readonly origin: string | undefined;
  /** The facts that the source provides; `undefined` if the server does not report them. */
  readonly facts: readonly string[] | undefined;
  /**
   * Names of the market's parts, if there are several or one still reads past data; empty otherwise
   * and if unknown.
   */
  readonly parts: readonly string[];
}

const PATIENCE_MS = 3_000;

/**
 * Fetches the access from `server`. Resolves with `undefined` if its request fails, the server
 * refuses, or three seconds have passed.
 */
export async function fetchAccess(
  server: URL,
  key: string | undefined,
  signal: AbortSignal,
): Promise<Access | undefined> {
  try {
    const until = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const [answer, parts] = await Promise.all([
      fetchWithKey(new URL("api/v1/me", server), key, until, "HEAD"),
      fetchParts(server, until),
    ]);
    if (!answer.ok) return undefined;
    const field = (name: string) => answer.headers.get(name) ?? undefined;
    return {
      plan: field("flarewire-plan"),
      origin: field("flarewire-origin"),
      facts: field("flarewire-facts")?.split(", "),
      parts,
    };
  } catch {
    return undefined;
  }
}

/** Returns the names of the market's parts; none if there are none or the request fails. */
async function fetchParts(server: URL, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const ready: unknown = await (await fetch(new URL("readyz", server), { signal })).json();
    const parts = typeof ready === "object" && ready !== null && "parts" in ready ? ready.parts : [];
    return Array.isArray(parts) ? parts.map((part) => String(part?.name)) : [];
  } catch {
    return [];
  }
}
