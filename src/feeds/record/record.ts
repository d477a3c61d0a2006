import { directoryOrNone, orNone, type SettingTable, setting, size } from "../../base/settings/index.ts";
import type { FeedKind } from "../feed-kind.ts";
import { recordFeed } from "./record-feed.ts";
import { Recorder } from "./recorder.ts";

const MIB = 1_048_576;

const SETTINGS = {
  record: setting("record", directoryOrNone, {
    default: "none",
    example: "/var/lib/flarewire/recordings",
    description:
      "Directory in which to record the feed's events, in a new directory per run; none: no recording",
  }),
  recordBytes: setting("recordBytes", orNone(size(16 * MIB)), {
    default: "none",
    example: "20GiB",
    description:
      "Size limit of all recordings in the record directory. The oldest files are removed, so only one process may record there. none: no limit",
  }),
} as const satisfies SettingTable;

/** Writes all that a market reports into files. */
export const record: FeedKind<typeof SETTINGS> = {
  name: "record",
  settings: SETTINGS,
  layer: {
    open(feed, { record: directory, recordBytes: maxBytes }, { clock, logger }) {
      if (directory === "none") return { feed };
      let recorder: Recorder | undefined;
      const begin = () => {
        recorder = new Recorder({ directory, maxBytes, feed, clock });
        logger.info({ directory: recorder.directory }, "recording the market");
      };
      const onFailure = (error: Error) => logger.error({ err: error }, error.message);
      const events = (signal: AbortSignal) =>
        (recorder ? recordFeed(feed, recorder, onFailure) : feed).events(signal);
      return { feed: { ...feed, events }, begin, close: async () => await recorder?.close() };
    },
    idle: (settings) =>
      settings.record === "none"
        ? [{ names: ["recordBytes"], reason: "without record; leave it out, or set record" }]
        : [],
  },
};
