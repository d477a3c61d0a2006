import type { SourceState } from "../../../base/protocol/event.ts";
import type { EventMessage, Freshness, Lost, Subscribed } from "../../../base/protocol/messages.ts";
import { actionAfter } from "../../../base/protocol/reconnect.ts";
import { STABLE_MS } from "../connection-state.ts";
import type { TransportContext } from "./attempt.ts";
import { type End, ended } from "./end.ts";
import type { Platform } from "./platform.ts";

/** Seconds for which the server may delay a response: well below the time limits of proxies. */
const WAIT_S = "25";

/** Polls after `after`, or from the head, and delivers messages until something fails. */
export async function runPolls(
  { request, deliver }: TransportContext,
  { now }: Pick<Platform, "now">,
  after: string | undefined,
  urlOf: (more: Readonly<Record<string, string>>) => string,
): Promise<End> {
  let position = after;
  let lost: Lost | undefined;
  for (let first = true; ; ) {
    const url = urlOf(
      position ? { after: position, limit: "1000", wait: first ? "0" : WAIT_S } : { snapshot: "true" },
    );
    const askedAtMs = now();
    const response = await request(url, position ? [200, 204, 410] : [200]);
    const { status, headers } = response;
    const body: Page = status === 204 ? {} : Object(await response.json());
    if (status === 410) {
      // Let the next connection start over. Restarting within this one could loop without a pause.
      if (!first) return ended(actionAfter(status), "HTTP 410");
      ({ lost } = body);
      position = undefined;
      continue;
    }
    const cursor = cursorOf(response);
    const isNews = cursor !== position && (body.more || body.events?.length);
    // A cache may have answered, or the server did not wait. Continuing would poll in a tight loop.
    if (!first && !isNews && now() - askedAtMs < STABLE_MS) return ended("fallback", "a stale answer");
    if (first) {
      deliver({
        type: "subscribed",
        cursor,
        resumed: position ? "full" : "reset",
        lost,
        snapshot: body.snapshot,
      } as Subscribed);
    }
    for (const event of body.events ?? []) deliver(event);
    deliver({
      type: "page",
      cursor,
      freshness: {
        state: (headers.get("flarewire-source-state") ?? "live") as SourceState,
        reason: "",
        observed_at: headers.get("flarewire-observed-at"),
        data_age_ms: 1_000 * Number(headers.get("flarewire-data-age")),
      } as Freshness,
    });
    first = false;
    position = cursor;
  }
}

export function cursorOf({ headers }: Response): string {
  return headers.get("flarewire-cursor") ?? "";
}

/** A page of events, or the problem for an expired cursor. */
export interface Page {
  readonly events?: readonly EventMessage[];
  readonly more?: boolean;
  readonly snapshot?: Subscribed["snapshot"];
  readonly lost?: Lost;
}
