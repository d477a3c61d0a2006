import { z } from "zod";
import { InputError } from "../../../base/lib/input-error.ts";
import { MarketGroup, type Profile } from "../../../base/market/index.ts";
import { readJsonFile } from "../../recording/read-json-file.ts";

/** Maximum size of a profiles file. */
const MAX_PROFILES_BYTES = 16 * 1024 * 1024;
const MAX_PROBLEMS = 5;

const GROUP_NAMES = MarketGroup.options.join(", ");
const Link = z.string().max(2_048).nullable();
const Moment = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 time such as 2017-11-12T08:21:00Z" })
  .transform((text) => Date.parse(text))
  .pipe(z.int().min(0, "must not be before 1970"));

/** One group or several. A CSV's pair is sent once for each; in NDJSON, they limit the profile. */
const Groups = z
  .union([MarketGroup, z.array(MarketGroup).min(1)], {
    error: `must be one of ${GROUP_NAMES}, or a list of these`,
  })
  .transform((groups) => [...new Set(typeof groups === "string" ? [groups] : groups)]);

/** Facts about one token, in the API's field names. Absent: unknown. `null`: known not to exist. */
const TokenProfileEntry = z.strictObject({
  /** Default: the replay's group for CSV, every group for NDJSON. */
  group: Groups.optional(),
  /** Default: the pair's name for CSV, no change for NDJSON. */
  symbol: z.string().min(1).max(256).optional(),
  /** Default: the pair's name for CSV, no change for NDJSON. */
  name: z.string().max(1_024).optional(),
  /** Default: when the token first occurs in the recording. */
  created_at: Moment.optional(),
  /** A quote token, stablecoin or wrapped native token: it never flares and never charts. */
  quote: z.boolean().optional(),
  market_data: z
    .strictObject({
      market_id: z.string().min(1).max(256),
      image_url: Link,
      name: z.string().max(1_024).nullable(),
    })
    .nullable()
    .optional(),
  social_data: z
    .strictObject({ chat_url: Link, microblog_url: Link, website_url: Link })
    .nullable()
    .optional(),
  contract_source: z.enum(["verified", "unverified"], { error: "must be verified or unverified" }).optional(),
  forum_post: z
    .strictObject({
      position: z.int(),
      /** Default: the token's own. */
      address: z
        .string()
        .max(130)
        .regex(/^0x[0-9a-fA-F]+$/, "must be 0x and hexadecimal digits")
        .optional(),
      url: z.string().max(2_048),
      title: z.string().max(1_024),
      upvotes: z.int(),
      posted: Moment,
    })
    .nullable()
    .optional(),
});
type TokenProfileEntry = z.infer<typeof TokenProfileEntry>;

/** A profiles file: facts about tokens, by their name in the recording (`BTC_BCC`). */
const ProfilesFile = z.strictObject({
  tokens: z.record(z.string().min(1).max(128), TokenProfileEntry),
});

type ForumPost = NonNullable<Profile["forumPost"]>;

/** A token's facts from a profiles file, in the field names of market events. */
export interface TokenProfile {
  /** Its groups; `undefined` if the file names none. */
  readonly groups: readonly MarketGroup[] | undefined;
  readonly facts: Omit<Profile, "kind" | "at" | "group" | "token" | "forumPost"> & {
    readonly forumPost?: (Omit<ForumPost, "address"> & { readonly address?: string }) | null;
  };
}

/** By the token's name in the recording. */
export type TokenProfiles = ReadonlyMap<string, TokenProfile>;

/** Reads a profiles file. Throws `InputError` that names up to five invalid fields. */
export function readProfiles(path: string): TokenProfiles {
  const parsed = ProfilesFile.safeParse(readJsonFile(path, "profiles file", MAX_PROFILES_BYTES));
  if (!parsed.success) {
    const { issues } = parsed.error;
    const sentences = issues
      .slice(0, MAX_PROBLEMS)
      .map((issue) => `${fieldName(issue.path)}: ${problemOf(issue)}`);
    const more = issues.length > sentences.length ? `; and ${issues.length - sentences.length} more` : "";
    throw new InputError(path, `${sentences.join("; ")}${more}`, { cause: parsed.error });
  }
  return new Map(Object.entries(parsed.data.tokens).map(([name, entry]) => [name, profileOf(entry)]));
}

function profileOf(entry: TokenProfileEntry): TokenProfile {
  const { group, symbol, name, created_at, quote, market_data, social_data, contract_source, forum_post } =
    entry;
  return {
    groups: group,
    facts: {
      ...(symbol === undefined ? {} : { symbol }),
      ...(name === undefined ? {} : { name }),
      ...(created_at === undefined ? {} : { createdAt: created_at }),
      ...(quote === undefined ? {} : { quote }),
      ...(market_data === undefined ? {} : { marketData: market_data }),
      ...(social_data === undefined ? {} : { socialData: social_data }),
      ...(contract_source === undefined ? {} : { contractSource: contract_source }),
      ...(forum_post === undefined ? {} : { forumPost: forum_post && withoutUndefined(forum_post) }),
    },
  };
}

function withoutUndefined(post: NonNullable<TokenProfileEntry["forum_post"]>) {
  const { address, ...rest } = post;
  return address === undefined ? rest : { ...rest, address };
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the file" : path.map(String).join(".");
}

function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys")
    return `unknown key ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
  return issue.message;
}
