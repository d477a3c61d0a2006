import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { InputError } from "../../../lib/input-error.ts";
import { messageOf } from "../../../lib/text/message-of.ts";
import { MarketGroup, type Profile } from "../../../market/index.ts";

/** The largest profiles file that is read. */
const MAX_PROFILES_BYTES = 16 * 1024 * 1024;
/** Complaints about one file that are told at once. */
const MAX_COMPLAINTS = 5;

const GROUP_NAMES = MarketGroup.options.join(", ");
const Link = z.string().max(2_048).nullable();
const Moment = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 time such as 2017-11-12T08:21:00Z" })
  .transform((text) => Date.parse(text))
  .pipe(z.int().min(0, "must not lie before 1970"));

/** The group of a pair, or several: its events are then told once for each. */
const Groups = z
  .union([MarketGroup, z.array(MarketGroup).min(1)], {
    error: `must be one of ${GROUP_NAMES}, or a list of these`,
  })
  .transform((groups) => [...new Set(typeof groups === "string" ? [groups] : groups)]);

/** What the file says of one token, in the API's own spelling. A field that is absent says nothing; `null` says: known to have none. */
const TokenProfileEntry = z.strictObject({
  /** Where the pair is traded. Absent: the replay's group. */
  group: Groups.optional(),
  /** Absent: the pair's name. */
  symbol: z.string().min(1).max(256).optional(),
  /** Absent: the pair's name. */
  name: z.string().max(1_024).optional(),
  /** Absent: when the recording first sees it. */
  created_at: Moment.optional(),
  /** A quote token, stablecoin or wrapped native: it never flares and never charts. */
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
      /** Absent: the token's own. */
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

/** A profiles file: facts about tokens by the name that the recording has for them (`BTC_BCC`). */
const ProfilesFile = z.strictObject({
  tokens: z.record(z.string().min(1).max(128), TokenProfileEntry),
});

type ForumPost = NonNullable<Profile["forumPost"]>;

/** What a profiles file says of one token, in the words of market events. */
export interface TokenProfile {
  /** Where it is traded; `undefined` where the file does not say. */
  readonly groups: readonly MarketGroup[] | undefined;
  readonly facts: Omit<Profile, "kind" | "at" | "group" | "token" | "forumPost"> & {
    readonly forumPost?: (Omit<ForumPost, "address"> & { readonly address?: string }) | null;
  };
}

/** By the recording's name of the token. */
export type TokenProfiles = ReadonlyMap<string, TokenProfile>;

/**
 * Reads a profiles file. Throws `InputError` when it is missing, larger than `MAX_PROFILES_BYTES`, no JSON, or says something
 * that a profile cannot say; the message names each token and field, at most five of them.
 */
export function readProfiles(path: string): TokenProfiles {
  const parsed = ProfilesFile.safeParse(readJson(path));
  if (!parsed.success) {
    const { issues } = parsed.error;
    const told = issues
      .slice(0, MAX_COMPLAINTS)
      .map((issue) => `${fieldName(issue.path)}: ${complaint(issue)}`);
    const more = issues.length > told.length ? `; and ${issues.length - told.length} more` : "";
    throw new InputError(path, `${told.join("; ")}${more}`, { cause: parsed.error });
  }
  return new Map(Object.entries(parsed.data.tokens).map(([name, entry]) => [name, profileOf(entry)]));
}

function readJson(path: string): unknown {
  let text: string;
  try {
    const stat = statSync(path);
    const { size } = stat;
    // To open a pipe that nobody writes to blocks the whole process.
    if (!stat.isFile()) throw new InputError(path, "the profiles are not in a regular file");
    if (size > MAX_PROFILES_BYTES) {
      throw new InputError(path, `${size} bytes of profiles are more than the ${MAX_PROFILES_BYTES} allowed`);
    }
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(path, `the profiles cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new InputError(path, `the profiles are not JSON: ${messageOf(error)}`, { cause: error });
  }
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

function complaint(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys")
    return `does not know ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
  return issue.message;
}
