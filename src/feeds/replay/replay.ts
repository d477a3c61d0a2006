import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FeedKind } from "../feed-kind.ts";
import { paceText } from "../market-settings.ts";
import { MANIFEST_FILE } from "../recording/manifest.ts";
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
        speed,
        loop,
        warmupMs,
        clock,
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
      file: contentOf(file),
      profiles: profiles === undefined ? "" : contentOf(profiles),
      group,
      loop,
      refreshMs,
    }),
    groups: () => [],
  },
};

/** How much of a file's start identifies it, together with its size. */
const IDENTIFYING_BYTES = 65_536;

/**
 * Identifies a file by its content, so that a copy on another machine counts as the same. A
 * recording's directory is identified by its manifest, which changes with every part.
 */
function contentOf(path: string): string {
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  let file: number | undefined;
  try {
    file = openSync(isDirectory ? join(path, MANIFEST_FILE) : path, "r");
    const start = Buffer.alloc(IDENTIFYING_BYTES);
    const length = readSync(file, start);
    const hash = createHash("sha256").update(start.subarray(0, length)).digest("base64url");
    return `${fstatSync(file).size} ${hash}`;
  } catch {
    // The feed reports a file that it cannot read.
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
