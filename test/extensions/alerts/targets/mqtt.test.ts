import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { pino } from "pino";
import { describe, expect } from "vitest";
import { startAlerts } from "../../../../src/extensions/alerts/alerts.ts";
import { openAlertStore } from "../../../../src/extensions/alerts/store/alert-store.ts";
import { openTargets, parseAlertFile } from "../../../../src/extensions/alerts/targets/alert-file.ts";
import { EVENT_TYPES } from "../../../../src/extensions/alerts/targets/mqtt/home-assistant.ts";
import { type HubUnderTest, test } from "../../../gateway/hub/hub-fixture.ts";
import { PacedClock } from "../../../support/time/paced-clock.ts";
import { FOR_THIS_MACHINE } from "../certificates.ts";
import { HAS_MOSQUITTO, LossyNetwork, Mosquitto, MqttReceiver } from "./mosquitto.ts";

/** An hour takes two seconds. */
const FACTOR = 1_800;
const MINUTE = 60_000;
const RULES = [{ name: "all", channels: ["flares.pro", "newest.bsc"] }];

/** Publishes the alerts of a market that the test controls to a broker. */
function begin({ log, head, hub }: HubUnderTest, config: object, clock = new PacedClock(FACTOR, 0)) {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const file = JSON.stringify({ mqtt: [{ id: "home", rules: RULES, ...config }] });
  const targets = openTargets(parseAlertFile(file, "alerts.json"), clock);
  const store = openAlertStore();
  const alerts = startAlerts({ targets, store, log, head, history: hub.history, clock, logger });
  return { alerts, clock, lines, store, [Symbol.asyncDispose]: () => alerts.stop() };
}

const urlOf = ({ port }: { readonly port: number }) => `mqtt://127.0.0.1:${port}`;
const idsOf = (receiver: MqttReceiver) => receiver.of<{ id: string }>(/\/event\//).map(({ id }) => id);
const cursorsOf = (receiver: MqttReceiver) =>
  receiver.of<{ data: { event: { cursor: string } } }>(/\/event\//).map(({ data }) => data.event.cursor);
const seqsOf = (receiver: MqttReceiver) =>
  cursorsOf(receiver).map((cursor) => Number(cursor.split("-").at(-1)));

describe.skipIf(!HAS_MOSQUITTO)("mqtt", () => {
  test("after three outages of the broker, a receiver with a session has each message once and in order", async ({
    sut,
  }) => {
    await using broker = await Mosquitto.start();
    await using receiver = await MqttReceiver.open(broker.port, "flarewire/home/#");
    await using running = begin(sut, { url: urlOf(broker) });
    await receiver.until(() => receiver.received.some(({ text }) => text === "online"));
    const { clock } = running;
    let events = 0;
    for (const outage of [false, true, true, true]) {
      if (outage) await broker.down();
      for (let minute = 0; minute < 20; minute += 4) {
        await sut.publish("list");
        events += 1;
        await clock.sleep(4 * MINUTE, new AbortController().signal);
      }
      if (outage) await broker.up();
      await receiver.until(() => seqsOf(receiver).length >= events);
      await expect.poll(() => running.alerts.stats().home?.waiting).toBe(0);
    }
    expect(new Set(idsOf(receiver)).size).toBe(events);
    expect(idsOf(receiver)).toHaveLength(events);
    expect(seqsOf(receiver)).toEqual(seqsOf(receiver).toSorted((a, b) => a - b));
    expect(running.lines.join()).toMatch(/not connected to the broker: .*connected to the broker again/);
  });

  test("only a message whose acknowledgment was lost is repeated, with the same id", async ({ sut }) => {
    await using broker = await Mosquitto.start();
    await using network = await LossyNetwork.open(broker.port);
    await using receiver = await MqttReceiver.open(broker.port, "flarewire/home/event/#");
    await using running = begin(sut, { url: urlOf(network), topic: "flarewire/home" });
    await sut.publish("list");
    await receiver.until(() => idsOf(receiver).length === 1);
    await expect.poll(() => running.alerts.stats().home?.waiting).toBe(0);
    network.isMute = true;
    await sut.publish("list");
    await receiver.until(() => idsOf(receiver).length === 2);
    network.cut();
    network.isMute = false;
    await sut.publish("list");
    await receiver.until(() => new Set(idsOf(receiver)).size === 3);
    const [first, second, ...rest] = idsOf(receiver);
    expect([first, second, second, rest.at(-1)]).toEqual(idsOf(receiver));
    await expect.poll(() => running.alerts.stats().home?.waiting).toBe(0);
  });

  test("the status is online while connected, offline after a lost connection and after a clean stop", async ({
    sut,
  }) => {
    await using broker = await Mosquitto.start();
    await using network = await LossyNetwork.open(broker.port);
    await using receiver = await MqttReceiver.open(broker.port, "flarewire/home/status");
    const running = begin(sut, { url: urlOf(network) });
    const seen = () => receiver.received.map(({ text }) => text);
    await receiver.until(() => seen().length === 1);
    network.cut();
    await receiver.until(() => seen().length === 3);
    await running.alerts.stop();
    await receiver.until(() => seen().length === 4);
    expect(seen()).toEqual(["online", "offline", "online", "offline"]);
  });

  test("a rule's current flares are retained for receivers that subscribe later", async ({ sut }) => {
    await using broker = await Mosquitto.start();
    await using _running = begin(sut, { url: urlOf(broker) });
    const state = async () => {
      await using receiver = await MqttReceiver.open(broker.port, "flarewire/home/flares/all", {
        clean: true,
      });
      await receiver.until(() => receiver.received.length > 0);
      expect(receiver.received[0]?.isRetained).toBe(true);
      return receiver.of(/flares\/all$/)[0];
    };
    await expect.poll(state).toEqual({ count: 0, flares: [] });
    await sut.publish("flare", "flare");
    await expect.poll(async () => (await state())?.count).toBe(2);
    const { flares } = sut.market.snapshot;
    const ids = (await state())?.flares as { id: string; symbol: string }[];
    expect(ids.map(({ id }) => id).sort()).toEqual(flares.pro.map(({ id }) => id).sort());
    expect(ids[0]).toMatchObject({
      symbol: expect.stringMatching(/^T\d$/),
      address: expect.stringMatching(/^0x/),
    });
  });

  test("a message has the fields that Home Assistant and Hummingbot read, on a topic of its event", async ({
    sut,
  }) => {
    await using broker = await Mosquitto.start();
    await using receiver = await MqttReceiver.open(broker.port, "#");
    await using _running = begin(sut, {
      url: urlOf(broker),
      topic: "hbot/bot1/external",
      discovery: "homeassistant",
    });
    await sut.publish("flare");
    await receiver.until(() => idsOf(receiver).length === 1);
    const [event] = receiver.of(/^hbot\/bot1\/external\/event\/flare-started$/);
    expect(event).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: "flare-started",
      event_type: "flare-started",
      timestamp: expect.any(Number),
      text: expect.stringMatching(/^T\d is flaring: /),
      data: { rule: "all", event: { name: "flare-started" } },
    });
    expect(Number.isInteger(event?.timestamp)).toBe(true);
    const ofDevice = /^homeassistant\/device\/flarewire_home\/config$/;
    await receiver.until(() => receiver.of(ofDevice).length > 0);
    const [discovery] = receiver.of(ofDevice);
    expect(discovery).toMatchObject({
      device: { identifiers: ["flarewire_home"] },
      origin: { name: "Flarewire" },
      components: {
        alerts: {
          platform: "event",
          state_topic: "hbot/bot1/external/event/+",
          event_types: EVENT_TYPES,
          unique_id: "flarewire_home_alerts",
          availability_topic: "hbot/bot1/external/status",
        },
        all_flares: {
          platform: "sensor",
          unique_id: "flarewire_home_all_flares",
          state_topic: "hbot/bot1/external/flares/all",
          value_template: "{{ value_json.count }}",
        },
      },
    });
  });

  test("a topic that the broker forbids, or a message that it finds too large, does not hold back the others", async ({
    sut,
  }) => {
    const home = ["status", "flares/all", "event/token-listed", "event/alerts-lost"];
    const acl = home.map((topic) => `topic readwrite flarewire/home/${topic}\n`).join("");
    // With unlimited queues, this broker ends the connection after a forbidden topic.
    const lines = ["allow_anonymous true", "acl_file DIR/acl", "max_queued_messages 1000"];
    for (const [limit, reason] of [
      [[], "Publish error: Not authorized"],
      [["max_packet_size 1000"], "it has \\d+ bytes, and the broker accepts 1000"],
    ] as const) {
      const files = { acl: limit.length > 0 ? "topic readwrite #\n" : acl };
      await using broker = await Mosquitto.start([...lines, ...limit], files);
      await using running = begin(sut, { url: urlOf(broker) });
      const stats = () => running.alerts.stats().home;
      await sut.publish("flare");
      await sut.publish("list");
      await expect
        .poll(stats)
        .toMatchObject({ refused: 1, waiting: 0, attempts: { delivered: 1, refused: 4 } });
      const of = (what: string) => running.lines.filter((line) => new RegExp(what).test(line)).length;
      expect([of(`^set aside .*: ${reason}; trying`), of(`^dropped .*: ${reason}$`)]).toEqual([1, 1]);
      expect(of("^not connected")).toBe(0);
    }
  });

  test("TLS and a password work; an untrusted certificate, a wrong password or a forbidden topic is logged without secrets", async ({
    sut,
    onTestFinished,
  }) => {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-passwords-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const passwords = join(directory, "passwords");
    execFileSync("mosquitto_passwd", ["-b", "-c", passwords, "me", "hunter2"], { stdio: "pipe" });
    await using broker = await Mosquitto.start(
      [
        ...["certfile DIR/cert.pem", "keyfile DIR/key.pem", "allow_anonymous false"],
        ...["password_file DIR/passwords", "acl_file DIR/acl"],
      ],
      {
        "cert.pem": FOR_THIS_MACHINE.cert,
        "key.pem": FOR_THIS_MACHINE.key,
        passwords: readFileSync(passwords, "utf8"),
        acl: "user me\ntopic readwrite flarewire/#\n",
      },
    );
    const url = `mqtts://127.0.0.1:${broker.port}`;
    const me = { url, username: "me", password: "hunter2" };
    const all: string[] = [];
    const logs = async (config: object, pattern: RegExp) => {
      await using running = begin(sut, config);
      await sut.publish("list");
      await expect.poll(() => running.lines.join("\n")).toMatch(pattern);
      all.push(...running.lines);
      return running.alerts.stats().home?.waiting;
    };
    await logs(me, /not connected to the broker: self-signed certificate/);
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, FOR_THIS_MACHINE.cert]);
    onTestFinished(() => setDefaultCACertificates(trusted));
    await logs({ ...me, password: "hunter3" }, /not connected to the broker: .*[Nn]ot authorized/);
    await logs({ ...me, discovery: "homeassistant" }, /refused the state homeassistant\/.*[Nn]ot authorized/);
    await logs({ ...me, topic: "forbidden" }, /could not deliver: .*[Nn]ot authorized/);
    expect(all.join("\n")).not.toMatch(/hunter|:me@/);
    await using receiver = await MqttReceiver.open(broker.port, "flarewire/#", {
      protocol: "mqtts",
      username: "me",
      password: "hunter2",
      rejectUnauthorized: false,
    });
    await using _running = begin(sut, me);
    await receiver.until(() => receiver.received.some(({ text }) => text === "online"));
  });
});
