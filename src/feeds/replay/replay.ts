import { resolve } from "node:path";
import type { FeedKind } from "../feed-kind.ts";
import { paceText } from "../market-settings.ts";
import { contentOf } from "./content-of.ts";
import { ReplayFeed } from "./replay-feed.ts";
import { REPLAY_SETTINGS, SHIPPED_PROFILES } from "./replay-settings.ts";

/** A recording, played again. */
export const replay: FeedKind<typeof REPLAY_SETTINGS> = {
  name: "replay",
  settings: REPLAY_SETTINGS,
  market: {
    title: "a recorded market",
    about: "a recording",
    settings: ["file", "profiles", "group", "loop"],
    impliedBy: "file",
    isRealTime: false,
    startsAtPresent: false,
    defaults: (isGiven) =>
      isGiven("file")
        ? { speed: "60" }
        : { speed: "60", warmup: "8h", loop: "true", profiles: SHIPPED_PROFILES },
    describe: ({ file, speed }) => `the recorded market ${file} ${paceText(speed)}`,
    open({ file, profiles, group, speed, loop, warmupMs }, { clock, logger }, resume) {
      const feed = new ReplayFeed({
        path: file,
        ...(profiles === undefined ? {} : { profilesPath: profiles }),
        ...(group === undefined ? {} : { group }),
        ...{ speed, loop, warmupMs, clock },
        ...(resume ? { resume: { afterMs: resume.afterMs, catchUpToMs: resume.observedAtMs } } : {}),
        onSkipped: (reason, line, detail) =>
          logger.warn({ reason, line, detail }, "skipped a line of the recording"),
      });
      return { feed };
    },
    // A recording has no present to reach.
    resume: (_settings, { observedAtMs }) => ({ presentAtMs: observedAtMs }),
    identity: ({ file }) => ` ${resolve(file)}`,
    fingerprint: ({ file, profiles, group, loop, refreshMs }) => ({
      ...{ file: contentOf(file), profiles: profiles === undefined ? "" : contentOf(profiles) },
      ...{ group, loop, refreshMs },
    }),
    groups: () => [],
  },
};
