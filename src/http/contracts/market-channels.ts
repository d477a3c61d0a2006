import { CHANNELS, type Channel, EVENT_NAMES, EventBody, type EventName } from "../../protocol/index.ts";

/** What the schemas would allow: a finished flare neither starts nor is withdrawn, and only a finished one expires. */
const NEVER: Readonly<Partial<Record<Channel, readonly EventName[]>>> = {
  "flares.free": ["flare-expired"],
  "flares.pro": ["flare-expired"],
  "flares.finished": ["flare-started", "flare-withdrawn"],
};

/** The channels on which events of this name come. */
export function channelsOf(name: EventName): readonly Channel[] {
  const schema = EventBody.options.find(({ shape }) => shape.name.value === name)?.shape.channel;
  const allowed: readonly Channel[] = schema ? ("value" in schema ? [schema.value] : schema.options) : [];
  return allowed.filter((channel) => !NEVER[channel]?.includes(name));
}

/** By channel of the market, the events that come on it. */
export const CHANNEL_EVENTS: Readonly<Record<string, readonly EventName[]>> = Object.fromEntries(
  CHANNELS.map((channel) => [channel, EVENT_NAMES.filter((name) => channelsOf(name).includes(channel))]),
);
