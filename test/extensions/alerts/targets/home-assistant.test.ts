import { expect, test } from "vitest";
import { InputError } from "../../../../src/base/lib/input-error.ts";
import { parseAlertFile } from "../../../../src/extensions/alerts/targets/alert-file.ts";
import { deviceNames, discoveryOf } from "../../../../src/extensions/alerts/targets/mqtt/home-assistant.ts";

const rulesOf = (...names: string[]) => names.map((name) => ({ name }));

/** Returns what Home Assistant gets for each target: its topic, and the unique ids by component. */
function discovered(
  targets: readonly { readonly id: string; readonly rules: readonly { name: string }[] }[],
) {
  const names = deviceNames(targets);
  return targets.map(({ id, rules }) => {
    const own = names.get(id);
    if (!own) throw new Error(`no names of ${id}`);
    const states = rules.map(({ name }) => ({ name, topic: `flarewire/${id}/flares/${name}` }));
    const shared = { prefix: "homeassistant", status: `flarewire/${id}/status`, events: "e/+" };
    const { topic, payload } = discoveryOf({ id, names: own, states, ...shared });
    const { device, components } = JSON.parse(payload);
    const uniqueIds = Object.entries<{ unique_id: string }>(components).map(([key, one]) => [
      key,
      one.unique_id,
    ]);
    return { topic, identifiers: device.identifiers, uniqueIds };
  });
}

test("targets and rules whose names differ only in characters that Home Assistant forbids have their own devices and sensors", () => {
  const rules = rulesOf("x.y", "x_y", "x.y.z", "x_y.z");
  const found = discovered(["a.b", "a_b", "a.b.c", "a_b.c"].map((id) => ({ id, rules })));
  expect(new Set(found.map(({ topic }) => topic)).size).toBe(4);
  expect(new Set(found.flatMap(({ identifiers }) => identifiers)).size).toBe(4);
  expect(new Set(found.flatMap(({ uniqueIds }) => uniqueIds.map(([, id]) => id))).size).toBe(4 * 5);
  for (const { topic, uniqueIds } of found) {
    expect(topic).toMatch(/^homeassistant\/device\/[\w-]+\/config$/);
    expect(new Set(uniqueIds.map(([key]) => key)).size).toBe(5);
    for (const part of uniqueIds.flat()) expect(part).toMatch(/^[\w-]+$/);
  }
});

test("sensors are distinct where target and rule read the same when joined", () => {
  const found = discovered([
    { id: "a", rules: rulesOf("b_c") },
    { id: "a_b", rules: rulesOf("c") },
  ]);
  expect(new Set(found.flatMap(({ uniqueIds }) => uniqueIds.map(([, id]) => id))).size).toBe(4);
});

test("names that agree with no other keep their identifiers, in any order and also with a dot", () => {
  const plain = { id: "living_room", rules: rulesOf("big_flares") };
  const dotted = { id: "a.b", rules: rulesOf("x.y") };
  const expected = [
    {
      topic: "homeassistant/device/flarewire_living_room/config",
      identifiers: ["flarewire_living_room"],
      uniqueIds: [
        ["alerts", "flarewire_living_room_alerts"],
        ["big_flares_flares", "flarewire_living_room_big_flares_flares"],
      ],
    },
    {
      topic: "homeassistant/device/flarewire_a_b/config",
      identifiers: ["flarewire_a_b"],
      uniqueIds: [
        ["alerts", "flarewire_a_b_alerts"],
        ["x_y_flares", "flarewire_a_b_x_y_flares"],
      ],
    },
  ];
  expect(discovered([plain, dotted])).toEqual(expected);
  const [, ofDotted] = discovered([{ id: "a_b", rules: rulesOf("x_y") }, dotted]);
  const [reversed, ofPlain] = discovered([dotted, { id: "a_b", rules: rulesOf("x_y") }]);
  expect(reversed).toEqual(ofDotted);
  expect(ofPlain?.identifiers).toEqual(["flarewire_a_b"]);
});

test("two targets that would end each other's connections to a broker are rejected", () => {
  const url = "mqtt://127.0.0.1";
  const rules = rulesOf("all");
  const file = (other: object) =>
    JSON.stringify({
      mqtt: [
        { id: "b", url, rules },
        { id: "a", url, client_id: "flarewire-b", rules, ...other },
      ],
    });
  const read = (other: object) => () => parseAlertFile(file(other), "alerts.json");
  expect(read({})).toThrow(
    new InputError(
      "alerts.json",
      "two targets have the client_id flarewire-b at mqtt://127.0.0.1; give each its own",
    ),
  );
  expect(read({ url: "mqtt://127.0.0.2" })).not.toThrow();
});
