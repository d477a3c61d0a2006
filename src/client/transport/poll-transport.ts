import type { SourceState } from "../../protocol/event.ts";
import type { EventMessage, Freshness, Lost, Subscribed } from "../../protocol/messages.ts";
import { MIN_WAIT_MS } from "../connection-state.ts";
import type { LineRun } from "./attempt.ts";
import { type End, ended } from "./end.ts";
import type { Platform } from "./platform.ts";

/** How long the server may hold an answer back. Well below the silence that is borne, and what proxies bear. */
const WAIT_S = "25";

/**
 * Asks again and again from `after` on, until something goes wrong; `undefined`: from the head, with the lists if `snapshot` says so. Tells the same messages as a stream would.
 * `urlOf` makes the address of a request with these parameters on top.
 */
export async function runPolls(
  { ask, tell }: LineRun,
  { now }: Pick<Platform, "now">,
  after: string | undefined,
  snapshot: boolean,
  urlOf: (more: Readonly<Record<string, string>>) => string,
): Promise<End> {
  let place = after;
  let lost: Lost | undefined;
  for (let first = true; ; ) {
    const url = urlOf(
      place ? { after: place, limit: "1000", wait: first ? "0" : WAIT_S } : { snapshot: `${snapshot}` },
    );
    const askedAtMs = now();
    const response = await ask(url, place ? [200, 204, 410] : [200]);
    const { status, headers } = response;
    const body: Body = status === 204 ? {} : Object(await response.json());
    if (status === 410) {
      // The next line begins as this one did: in its middle to begin anew again and again would be a storm.
      if (!first) return ended("resume", "HTTP 410");
      ({ lost } = body);
      place = undefined;
      continue;
    }
    const cursor = headers.get("flarewire-cursor") ?? "";
    const isNews = cursor !== place && (body.more || body.events?.length);
    // A cache in between answers for the server, or nobody waits: to ask on would be a storm.
    if (!first && !isNews && now() - askedAtMs < MIN_WAIT_MS) return ended("cut", "a stale answer");
    if (first) {
      tell({
        type: "subscribed",
        cursor,
        resumed: place ? "full" : "reset",
        lost,
        snapshot: body.snapshot,
      } as Subscribed);
    }
    for (const event of body.events ?? []) tell(event);
    tell({
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
    place = cursor;
  }
}

/** A page, or the problem of a cursor that is gone. */
interface Body {
  readonly events?: readonly EventMessage[];
  readonly more?: boolean;
  readonly snapshot?: Subscribed["snapshot"];
  readonly lost?: Lost;
}
