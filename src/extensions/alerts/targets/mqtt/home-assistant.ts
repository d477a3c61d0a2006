import { createHash } from "node:crypto";
import { VERSION } from "../../../../base/lib/version.ts";
import { NEWS } from "../../rules/alert-rule.ts";

interface Discovered {
  readonly id: string;
  readonly names: DeviceNames;
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
export function discoveryOf({ id, names, prefix, status, events, states }: Discovered) {
  const { device, sensors: sensorOf } = names;
  const availability = { availability_topic: status, qos: 1 };
  const sensors = states.map(({ name, topic }) => [
    sensorOf(name).component,
    {
      platform: "sensor",
      name: `${name} flares`,
      unique_id: sensorOf(name).uniqueId,
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

/** The identifiers of a target's device in Home Assistant. */
export interface DeviceNames {
  readonly device: string;
  /** Returns those of a rule's sensor. */
  sensors(rule: string): { readonly component: string; readonly uniqueId: string };
}

interface Named {
  readonly id: string;
  readonly rules: readonly { readonly name: string }[];
}

/**
 * Returns the identifiers of each target's device by the target's id. No two devices or sensors
 * share one, although identifiers cannot contain every character of a name.
 */
export function deviceNames(targets: readonly Named[]): ReadonlyMap<string, DeviceNames> {
  const devices = distinct(targets.map(({ id }) => [[id], `flarewire_${wordOf(id)}`]));
  const all = targets.flatMap(({ id, rules }) => rules.map(({ name }) => [id, name] as const));
  const deviceOf = (id: string) => devices.get(keyOf([id])) ?? "";
  const uniqueIds = distinct(all.map((path) => [path, `${deviceOf(path[0])}_${wordOf(path[1])}_flares`]));
  return new Map(
    targets.map(({ id, rules }) => {
      const components = distinct(rules.map(({ name }) => [[name], `${wordOf(name)}_flares`]));
      const sensors = (rule: string) => ({
        component: components.get(keyOf([rule])) ?? "",
        uniqueId: uniqueIds.get(keyOf([id, rule])) ?? "",
      });
      return [id, { device: deviceOf(id), sensors }];
    }),
  );
}

type Path = readonly string[];

/**
 * Returns an identifier for each path of names, by {@link keyOf}. Of those that would share one,
 * the first path that contains only allowed characters keeps it, and the others get a hash.
 */
function distinct(
  wanted: readonly (readonly [path: Path, identifier: string])[],
): ReadonlyMap<string, string> {
  const isChanged = ([path]: readonly [Path, string]) => path.some((name) => wordOf(name) !== name);
  const found = new Map<string, string>();
  const taken = new Set<string>();
  for (const [path, plain] of wanted.toSorted((a, b) => Number(isChanged(a)) - Number(isChanged(b)))) {
    const key = keyOf(path);
    const hash = createHash("sha256").update(key).digest("hex").slice(0, 16);
    const identifier = taken.has(plain) ? `${plain}_${hash}` : plain;
    taken.add(identifier);
    found.set(key, identifier);
  }
  return found;
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}

/** Replaces the characters that identifiers in topics must not contain. */
function wordOf(text: string): string {
  return text.replace(/[^\w-]/g, "_");
}
