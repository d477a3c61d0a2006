import { systemClock } from "../../base/lib/time/clock.ts";
import type { Group } from "../../base/model/index.ts";
import type { ConnectionStatus } from "../../clients/sdk/index.ts";
import { requestJson } from "../../feeds/index.ts";

const LIMITS = { timeoutMs: 5_000, maxBytes: 64 * 2 ** 20 } as const;

/**
 * Returns a server's snapshot or candles. Callers can do without them, so the result is empty if
 * there is no usable response. Never rejects.
 */
export async function fetchResource(
  name: "snapshot" | "candles" | `snapshot?group=${Group}`,
  base: URL,
  key: string | undefined,
  signal: AbortSignal,
): Promise<object> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const settings = { fetch, headers, clock: systemClock, ...LIMITS };
  const answer = await requestJson(addressOf(base, name), undefined, settings, signal).catch(() => undefined);
  return answer?.kind === "fresh" ? Object(answer.body) : {};
}

/** What a server grants a client without a key. */
interface Granted {
  /** `undefined` for a server without keys, and without a response. */
  readonly plan?: string | undefined;
  /** Set if the server requires a key. */
  readonly refusal?: Pick<ConnectionStatus, "code" | "reason">;
}

/** Requests one event to learn what a client without a key may read. Never rejects. */
export async function fetchGranted(base: URL, signal: AbortSignal): Promise<Granted> {
  try {
    const response = await fetch(addressOf(base, "events?channels=*&limit=1"), {
      signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]),
    });
    const { status, headers } = response;
    // Only a problem is the server's own: an intermediary may refuse just this request.
    if (status === 401 && headers.get("content-type")?.includes("problem+json")) {
      const { detail = "" } = Object(await response.json());
      return { refusal: { code: status, reason: `HTTP ${status} ${detail}`.trim() } };
    }
    await response.body?.cancel();
    // A server that is not ready or refuses the request states the plan, too.
    return { plan: headers.get("flarewire-plan") ?? undefined };
  } catch {
    return {};
  }
}

function addressOf(base: URL, path: string): string {
  return `${base.href.replace(/\/$/, "")}/api/v1/${path}`;
}
