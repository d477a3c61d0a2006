import { finishedAlert, startedAlert } from "../../../base/model/text/flare-alert.ts";
import type { EventMessage } from "../../../base/protocol/index.ts";
import type { Alert } from "../alert.ts";

/** What is pushed about an alert. */
interface PushMessage {
  /** JSON for the page's service worker. */
  readonly payload: string;
  /** Identifies the flare's start or finish. */
  readonly tag: string;
  /** When its event was emitted, in milliseconds since 1970 UTC by this server's clock. */
  readonly atMs: number;
}

/** Maximum characters of the text, so that the payload fits into one record. */
const MAX_BODY = 500;

/**
 * Returns the message about an alert; `undefined` if the alert is not about a flare's start or
 * finish.
 */
export function pushMessageOf({ body }: Pick<Alert, "body">): PushMessage | undefined {
  const { data } = JSON.parse(body) as { readonly data: { readonly event?: EventMessage } };
  const { event } = data;
  if (event?.name !== "flare-started" && event?.name !== "flare-finished") return undefined;
  const text =
    event.name === "flare-started"
      ? startedAlert(event.data.flare, event.data.why?.text)
      : finishedAlert(event.data.flare, event.data.outcome, event.data.why);
  const payload = JSON.stringify({ ...text, body: text.body.slice(0, MAX_BODY) });
  return { payload, tag: text.tag, atMs: Date.parse(event.emitted_at) };
}
