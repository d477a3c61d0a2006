import type { LogRecord } from "../log/event-log.ts";
import { CHANNELS, type Channel, FlarewireError, matchChannels } from "../protocol/index.ts";

/** A set of channels as a number: bit `i` is set for the channel `CHANNELS[i]`. */
export type ChannelMask = number;

const BITS: ReadonlyMap<Channel, ChannelMask> = new Map(
  CHANNELS.map((channel, index) => [channel, 1 << index]),
);

/** The set of this channel alone. */
export function bitOf(channel: Channel): ChannelMask {
  return BITS.get(channel) ?? 0;
}

/** The set of these channels. */
export function maskOf(channels: readonly Channel[]): ChannelMask {
  return channels.reduce((mask, channel) => mask | bitOf(channel), 0);
}

/** The set of the channels on which these records lie. */
export function maskOfRecords(records: readonly LogRecord[]): ChannelMask {
  let mask = 0;
  for (const { channel } of records) mask |= bitOf(channel);
  return mask;
}

/** The channels of a set, in the order of `CHANNELS`. */
export function channelsOf(mask: ChannelMask): readonly Channel[] {
  return CHANNELS.filter((_, index) => mask & (1 << index));
}

/**
 * The channels that these names and wildcards select, each once. Throws FlarewireError `unknown-channel` when one of them
 * selects none: a mistyped name must not end in silence.
 */
export function resolveChannels(patterns: readonly string[]): readonly Channel[] {
  const found = patterns.map((pattern) => {
    const channels = matchChannels(pattern);
    if (channels.length > 0) return channels;
    const shown = JSON.stringify(pattern.slice(0, 64));
    const bound = `one of ${CHANNELS.join(", ")}, or a pattern such as flares.* or *`;
    throw new FlarewireError("unknown-channel", `channels has ${shown}, which names no channel; ${bound}`, {
      field: "channels",
      bound,
    });
  });
  return channelsOf(maskOf(found.flat()));
}
