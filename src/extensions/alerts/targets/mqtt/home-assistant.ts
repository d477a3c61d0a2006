import { VERSION } from "../../../../base/lib/version.ts";
import { NEWS } from "../../rules/alert-rule.ts";

interface Discovered {
  readonly id: string;
  readonly prefix: string;
  /** Topic of the availability. */
  readonly status: string;
  /** Topic of the alerts. */
  readonly events: string;
  /** One for each rule about flares. */
  readonly states: readonly { readonly name: string; readonly topic: string }[];
}

/** Every `event_type` that a message can have. */
export const EVENT_TYPES = [...NEWS, "edge-rose", "edge-fell", "alerts-lost", "alerts-expired"];

/**
 * Returns the retained message from which Home Assistant 2024.11 or later creates a device. The
 * device has an event for the alerts, and for each rule about flares a sensor with their number.
 */
export function discoveryOf({ id, prefix, status, events, states }: Discovered) {
  const device = `flarewire_${wordOf(id)}`;
  const availability = { availability_topic: status, qos: 1 };
  const sensors = states.map(({ name, topic }) => [
    `${wordOf(name)}_flares`,
    {
      platform: "sensor",
      name: `${name} flares`,
      unique_id: `${device}_${wordOf(name)}_flares`,
      state_topic: topic,
      value_template: "{{ value_json.count }}",
      json_attributes_topic: topic,
      unit_of_measurement: "flares",
      state_class: "measurement",
      icon: "mdi:fire",
      ...availability,
    },
  ]);
  const event = {
    platform: "event",
    name: "Alerts",
    unique_id: `${device}_alerts`,
    state_topic: events,
    event_types: EVENT_TYPES,
    icon: "mdi:bell",
    ...availability,
  };
  const payload = {
    device: {
      identifiers: [device],
      name: `Flarewire ${id}`,
      manufacturer: "Flarewire",
      sw_version: VERSION,
    },
    origin: { name: "Flarewire", sw_version: VERSION },
    components: { alerts: event, ...Object.fromEntries(sensors) },
  };
  return { topic: `${prefix}/device/${device}/config`, payload: JSON.stringify(payload) };
}

/** Replaces the characters that identifiers in topics must not contain. */
function wordOf(text: string): string {
  return text.replace(/[^\w-]/g, "_");
}
