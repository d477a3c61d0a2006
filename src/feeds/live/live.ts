import { notifyLog } from "../../base/lib/notify.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import { setting } from "../../base/settings/index.ts";
import type { FeedKind, Part } from "../feed-kind.ts";
import { gapProblem } from "../gap-problem.ts";
import { mergeFeeds } from "../merge/merge-feeds.ts";
import { someOf } from "../some-of.ts";

/** After a longer gap, no part has all of what was missed. */
const MAX_GAP_MS = 12 * HOUR_MS;

function settingsFor(parts: readonly Part[]) {
  const names = parts.map(({ name }) => name);
  const usual = parts.filter(({ isOptional = false }) => !isOptional).map(({ name }) => name);
  return {
    live: setting("live", someOf(names), {
      default: usual.join(","),
      example: names.slice(0, 2).join(","),
      description: "Parts of the live market",
    }),
  };
}

type LiveSettings = ReturnType<typeof settingsFor>;

/** Returns the market that combines the parts of the other kinds. */
export function live(kinds: readonly FeedKind[]): FeedKind<LiveSettings> {
  const all = kinds.flatMap(({ parts = [] }) => parts);
  const chosen = (names: readonly string[]) =>
    [...new Set(names)].flatMap((name) => all.find((part) => part.name === name) ?? []);
  return {
    name: "live",
    settings: settingsFor(all),
    market: {
      title: "the live market",
      about: "several chains and the exchanges, combined",
      settings: ["live", ...all.flatMap(({ settings }) => settings)],
      isRealTime: true,
      startsAtPresent: true,
      defaults: () => ({ warmup: "10m", enrich: "coingecko,sourcify,dexscreener" }),
      idle: (settings) =>
        all
          .filter(({ name }) => !settings.live.includes(name))
          .map((part) => ({
            names: part.settings,
            reason: "while live does not include its part; leave it out, or add the part to live",
          })),
      problem: (settings) =>
        chosen(settings.live)
          .map((part) => part.problem?.(settings))
          .find((problem) => problem !== undefined),
      describe: (settings) =>
        `the live markets of ${settings.live.map((name) => all.find((part) => part.name === name)?.describe(settings) ?? name).join(", ")}`,
      open(settings, context, resume) {
        const { clock, logger, staleAfterMs, lag } = context;
        const used = chosen(settings.live);
        const parts = used.map((part) => {
          const others = used.filter((other) => other !== part).flatMap((other) => other.groups(settings));
          const own = { ...context, afterMs: resume?.afterMs, otherGroups: new Set(others) };
          return { name: part.name, feed: part.open(settings, own) };
        });
        const notify = notifyLog(logger);
        return { feed: mergeFeeds({ name: "live", parts, clock, staleAfterMs, lag, notify }) };
      },
      resume(settings, { afterMs }, nowMs) {
        const gaps = chosen(settings.live).map((part) => part.gap?.(afterMs, nowMs));
        const own = gapProblem("this market", MAX_GAP_MS, afterMs, nowMs);
        const problem = [...gaps, own].find((gap) => gap !== undefined);
        return problem === undefined ? { presentAtMs: nowMs } : { problem };
      },
      identity: () => "",
      fingerprint: (settings) =>
        Object.assign({ live: settings.live }, ...all.map((part) => part.fingerprint?.(settings)), {
          refreshMs: settings.refreshMs,
        }),
      groups: (settings) => chosen(settings.live).flatMap((part) => part.groups(settings)),
      checks: (settings, clock) => chosen(settings.live).flatMap((part) => part.checks(settings, clock)),
    },
  };
}
