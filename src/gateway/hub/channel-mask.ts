import { suggestion } from "../../base/lib/text/nearest.ts";
import { groupCalled } from "../../base/model/index.ts";
import {
  ALL_RIGHTS,
  CHANNEL_PATTERNS,
  CHANNELS,
  type Channel,
  channelsOfPlan,
  FlarewireError,
  matchChannels,
  permittedChannels,
  type Rights,
} from "../../base/protocol/index.ts";
import type { LogRecord } from "../log/event-log.ts";

/** A set of channels: bit `i` is set for `CHANNELS[i]`. A number would have only 32 bits. */
export type ChannelMask = bigint;

const BITS: ReadonlyMap<Channel, ChannelMask> = new Map(
  CHANNELS.map((channel, index) => [channel, 1n << BigInt(index)]),
);

export function bitOf(channel: Channel): ChannelMask {
  return BITS.get(channel) ?? 0n;
}

export function maskOf(channels: readonly Channel[]): ChannelMask {
  return channels.reduce((mask, channel) => mask | bitOf(channel), 0n);
}

/** Returns the mask of the channels on which these records were published. */
export function maskOfRecords(records: readonly LogRecord[]): ChannelMask {
  let mask = 0n;
  for (const { channel } of records) mask |= bitOf(channel);
  return mask;
}

const BY_PATTERN: ReadonlyMap<string, readonly Channel[]> = new Map(
  ["*", ...CHANNEL_PATTERNS].map((pattern) => [pattern, matchChannels(pattern)]),
);

/** Lists the channels of a mask, in the order of `CHANNELS`. */
export function channelsOf(mask: ChannelMask): readonly Channel[] {
  return CHANNELS.filter((channel) => mask & bitOf(channel));
}

/**
 * Resolves names and wildcards to permitted channels, without duplicates. Throws `unknown-channel`
 * or `forbidden` for a pattern that yields none, because its subscription would silently be empty.
 */
export function resolveChannels(
  patterns: readonly string[],
  rights: Rights = ALL_RIGHTS,
): readonly Channel[] {
  const allowed = permittedChannels(rights);
  const found = patterns.map((pattern) => {
    const channels = BY_PATTERN.get(pattern) ?? [];
    const open = channels.filter((channel) => allowed.includes(channel));
    if (open.length > 0) return open;
    if (channels.length > 0) {
      const message = channelsOfPlan(rights.plan).some((channel) => channels.includes(channel))
        ? `the key does not allow channel "${pattern}"; leave it out`
        : `channel "${pattern}" is not part of the "${rights.plan}" plan; leave it out, or use a key with the "pro" plan`;
      throw new FlarewireError("forbidden", message, { field: "channels", bound: allowed.join(", ") });
    }
    const shown = JSON.stringify(pattern.slice(0, 64));
    const bound = `one of ${CHANNELS.join(", ")}, or a pattern such as flares.* or *`;
    const isPrefix = CHANNEL_PATTERNS.includes(`${pattern}.*`);
    const near = isPrefix
      ? ` (did you mean ${pattern}.*?)`
      : suggestion(
          pattern.replace(/(?<=\.)[^.]+/g, (word) => groupCalled(word) ?? word),
          CHANNEL_PATTERNS,
        );
    const message = `channels contains ${shown}${near}, which matches no channel; use ${bound}`;
    throw new FlarewireError("unknown-channel", message, { field: "channels", bound });
  });
  return channelsOf(maskOf(found.flat()));
}
