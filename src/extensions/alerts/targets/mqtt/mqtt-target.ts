import { z } from "zod";
import { messageOf } from "../../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../../base/lib/time/clock.ts";
import type { Alert } from "../../alert.ts";
import { alertText, type Escapes, renderParts } from "../alert-text.ts";
import type { Target } from "../target.ts";
import { COMMON } from "../target-fields.ts";
import { followFlares, runningChannelsOf } from "./flare-state.ts";
import { type DeviceNames, deviceNames, discoveryOf } from "./home-assistant.ts";
import { MessageRefusedError, MqttConnection } from "./mqtt-connection.ts";

const TOPIC = /^[^#+/\p{Cc}]+(\/[^#+/\p{Cc}]+)*$/u;
const topic = z
  .string()
  .max(256, "at most 256 characters")
  .regex(TOPIC, "a topic without #, + and empty levels");

/**
 * An MQTT 5 broker. It may be in a private network, because only the operator's file can name it.
 */
export const Mqtt = z.strictObject({
  id: COMMON.id,
  url: z.string().max(2_048).refine(isBroker, "mqtt://HOST or mqtts://HOST, without user name and password"),
  username: z.string().max(256).optional(),
  password: z.string().max(1_024).optional(),
  /** Prefix of all topics. Default: `flarewire/ID`. */
  topic: topic.optional(),
  /** Unique at the broker. Default: `flarewire-ID`. */
  client_id: z
    .string()
    .regex(/^[\w.-]{1,128}$/, "1 to 128 letters, digits, and _ . -")
    .optional(),
  /** Topic prefix of Home Assistant's discovery, usually `homeassistant`. Default: no discovery. */
  discovery: topic.optional(),
  rules: COMMON.rules,
});
export type Mqtt = z.infer<typeof Mqtt>;

const PLAIN: Escapes = { text: (text) => text, name: (name) => name };

/** Returns targets that publish each alert, and the flares of each rule as a retained state. */
export function mqttTargets(brokers: readonly Mqtt[], clock: Clock): readonly Target[] {
  const names = deviceNames(brokers);
  return brokers.map((broker) => mqttTarget(broker, names.get(broker.id), clock));
}

/** Returns the name by which a broker knows this client. */
export function clientIdOf({ id, client_id = `flarewire-${id}` }: Pick<Mqtt, "id" | "client_id">): string {
  return client_id;
}

function mqttTarget(mqtt: Mqtt, names: DeviceNames | undefined, clock: Clock): Target {
  const { id, rules, url, username, password, discovery } = mqtt;
  const { topic: base = `flarewire/${id}` } = mqtt;
  const clientId = clientIdOf(mqtt);
  const status = `${base}/status`;
  const connection = new MqttConnection({ url, username, password, clientId, status, clock });
  const following = rules.flatMap((rule) => {
    const channels = runningChannelsOf(rule);
    return channels.length === 0 ? [] : [{ rule, channels, topic: `${base}/flares/${rule.name}` }];
  });
  if (discovery !== undefined && names) {
    const states = following.map((one) => ({ name: one.rule.name, topic: one.topic }));
    const found = discoveryOf({ id, names, prefix: discovery, status, events: `${base}/event/+`, states });
    connection.retain(found.topic, found.payload);
  }
  return {
    id,
    rules,
    identity: `${url} ${username} ${password}`,
    deliver: async (alert, _signal, { lateAtMs } = {}) => {
      try {
        const { type, payload } = eventOf(alert, lateAtMs);
        await connection.publish(`${base}/event/${type}`, payload);
        return { kind: "delivered" };
      } catch (error) {
        const kind = error instanceof MessageRefusedError ? "refused" : "failed";
        return { kind, reason: messageOf(error), retryAfterMs: undefined };
      }
    },
    run: async (parts, signal) => {
      const states = following.map(({ rule, channels, topic: name }) =>
        followFlares(parts, channels, rule.filter, (state) => connection.retain(name, state), signal),
      );
      await Promise.all([connection.run(parts.notify, signal), ...states]);
    },
  };
}

/**
 * Formats an alert: `event_type` for Home Assistant, `type`, `timestamp` and `data` for hummingbot,
 * and an `id` by which every receiver can recognize a repeated message.
 */
function eventOf(
  alert: Alert,
  lateAtMs: number | undefined,
): { readonly type: string; readonly payload: string } {
  const { type, data } = JSON.parse(alert.body) as { readonly type: string; readonly data: object };
  const { title, body } = alertText(alert, lateAtMs);
  const text = [title, body].map((parts) => renderParts(parts, PLAIN)).filter((part) => part !== "");
  const event = {
    id: alert.id,
    type,
    event_type: type,
    timestamp: alert.madeAtMs,
    text: text.join(": "),
    data,
  };
  return { type, payload: JSON.stringify(event) };
}

function isBroker(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^mqtts?:$/.test(url.protocol) && url.host !== "" && !/[@?#]/.test(text);
}
