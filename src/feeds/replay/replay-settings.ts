import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GROUPS } from "../../base/model/index.ts";
import {
  existingFile,
  flag,
  type Kind,
  look,
  oneOf,
  type SettingTable,
  setting,
  text,
} from "../../base/settings/index.ts";
import { MANIFEST_FILE } from "../recording/manifest.ts";

// The same path works from src/feeds/replay and from dist/feeds/replay.
const shipped = (name: string) => fileURLToPath(new URL(`../../../examples/data/${name}`, import.meta.url));

export const SHIPPED_PROFILES: string = shipped("2017-11-12.profiles.json");

/** An existing regular file, or the directory of a recording. */
const existingRecording: Kind<string> = {
  ...existingFile,
  schema: text(4_096, (path) =>
    [path, join(path || ".", MANIFEST_FILE)].some((file) => path !== "" && look(file) === "file"),
  ),
  bound: "the path of a readable file or of a recording's directory",
};

export const REPLAY_SETTINGS = {
  file: setting("file", existingRecording, {
    default: shipped("2017-11-12.csv.gz"),
    defaultText: "the shipped day, 2017-11-12, if feed is replay",
    example: "recordings/today.csv.gz",
    description:
      "Recording to replay: a CSV file of candles, an NDJSON file of market events (either may be gzipped), or the directory of a Flarewire recording",
  }),
  profiles: setting("profiles", existingFile, {
    default: undefined,
    defaultText: "the shipped day's, otherwise none",
    example: "recordings/profiles.json",
    description: "File with the group, name and facts of the recording's pairs",
  }),
  group: setting("group", oneOf(GROUPS), {
    default: undefined,
    defaultText: "as in the profiles, otherwise exchange",
    example: "bsc",
    description:
      "Group to which the pairs of a candle file belong. Channels that name no group, such as flares.pro, have the flares of bsc",
  }),
  loop: setting("loop", flag, {
    default: "false",
    defaultText: "true for the shipped day, otherwise false",
    example: "false",
    description: "Start again when the recording ends. Its times are shifted so that they never go back",
  }),
} as const satisfies SettingTable;
