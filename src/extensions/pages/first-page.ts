import { MINUTE_MS, startOf } from "../../base/lib/time/time.ts";
import { type Representation, represent, shownTo } from "../../gateway/http/index.ts";
import type { ExtensionContext } from "../../gateway/start/index.ts";
import { kindOf, loadRenderer, type PageRenderer } from "./built-pages.ts";

/** A page is reused for this long, so that the cost does not depend on the number of visitors. */
const REUSED_MS = 5_000;
const PLACE = /(<main [^>]*class="rendered"[^>]*>)(?=<\/main>)/;

/**
 * Returns a function that returns the dashboard's page with what everyone may see flare now, so
 * that the list is there before the script. Without data, or on a server that shows nothing without
 * a key, it returns the page as built.
 */
export function createFirstPage(
  { head, policy, info, clock }: Pick<ExtensionContext, "head" | "policy" | "info" | "clock">,
  built: Representation,
): () => Promise<Representation> {
  const plain = built.bytes.toString();
  let renderer: Promise<PageRenderer | undefined> | undefined;
  let last: { readonly page: Representation; readonly atMs: number } | undefined;
  const make = ({ renderFirst }: PageRenderer): Representation => {
    const rights = policy.anonymous?.access;
    if (!head.ready || !rights || rights.channels) return built;
    const { flares, explanations, outcomes } = shownTo(head.snapshot, rights.plan);
    const channel = rights.plan === "free" ? "flares.free" : "flares.pro";
    // Whole minutes, so that the page has one version until its data changes.
    const nowMs = startOf(MINUTE_MS, head.observedAtMs);
    const lists = { flares, explanations, outcomes };
    const markup = renderFirst({ lists, channel, nowMs, kind: kindOf(info()) });
    return represent(
      plain.replace(PLACE, (place) => place + markup),
      "text/html; charset=utf-8",
    );
  };
  return async () => {
    // Loaded with the first request, because the start needs no page.
    renderer ??= loadRenderer().catch(() => undefined);
    const rendering = await renderer;
    if (!rendering) return built;
    const atMs = clock.monotonic();
    if (!last || atMs - last.atMs >= REUSED_MS) {
      const page = make(rendering);
      last = { page: page.version === last?.page.version ? last.page : page, atMs };
    }
    return last.page;
  };
}
