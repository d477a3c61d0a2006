import { CHANNELS, type Channel, EVENT_NAMES, EventBody, type EventName } from "../../protocol/index.ts";

/** Combinations that the schemas allow but that never occur. */
const NEVER: Readonly<Partial<Record<Channel, readonly EventName[]>>> = {
  "flares.free": ["flare-expired"],
  "flares.pro": ["flare-expired"],
  "flares.finished": ["flare-started", "flare-withdrawn"],
};

export function channelsOf(name: EventName): readonly Channel[] {
  const schema = EventBody.options.find(({ shape }) => shape.name.value === name)?.shape.channel;
  const allowed: readonly Channel[] = schema ? ("value" in schema ? [schema.value] : schema.options) : [];
  return allowed.filter((channel) => !NEVER[channel]?.includes(name));
}

export const CHANNEL_EVENTS: Readonly<Record<string, readonly EventName[]>> = Object.fromEntries(
  CHANNELS.map((channel) => [channel, EVENT_NAMES.filter((name) => channelsOf(name).includes(channel))]),
);
