import { pino } from "pino";
import { expect } from "vitest";
import {
  EMPTY_SNAPSHOT,
  type ExchangeFlare,
  type Odds,
  type Snapshot,
} from "../../../src/base/model/index.ts";
import { startAlerts } from "../../../src/extensions/alerts/alerts.ts";
import { AlertRule } from "../../../src/extensions/alerts/rules/alert-rule.ts";
import { openAlertStore } from "../../../src/extensions/alerts/store/alert-store.ts";
import { openTargets, parseAlertFile } from "../../../src/extensions/alerts/targets/alert-file.ts";
import { alertText, renderParts } from "../../../src/extensions/alerts/targets/alert-text.ts";
import { followFlares, runningChannelsOf } from "../../../src/extensions/alerts/targets/mqtt/flare-state.ts";
import { LongPoll } from "../../../src/gateway/hub/index.ts";
import { toEvents } from "../../../src/gateway/source/events.ts";
import { type HubUnderTest, test } from "../../gateway/hub/hub-fixture.ts";
import {
  SAMPLE_BSC_CHART_ITEM,
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_MATIC_CHART_ITEM,
} from "../../support/world/samples.ts";
import { ServiceStandIn } from "./targets/service-stand-in.ts";
import { SERVICES, type ServiceName } from "./targets/services.ts";
import { Receiver, SECRET } from "./webhook-fixture.ts";

const ETHER: ExchangeFlare = {
  ...SAMPLE_EXCHANGE_FLARE,
  id: "5c1f2a52-0b6f-5d3c-9d0e-1f2a3b4c5d72",
  token: { ...SAMPLE_EXCHANGE_FLARE.token, symbol: "ETH" },
  pair: "ETH/USDT",
};
const ENDED = { ...SAMPLE_EXCHANGE_FLARE, finished_trending_at: "2017-11-12T08:35:00.000Z" };
const ODDS: Odds = {
  basis: "server",
  like: { form: "seconds" },
  n: 120,
  rug_60m: null,
  up_15m: null,
  up_60m: null,
  fall_15m: { share: 0.41, low: 0.34, high: 0.48 },
  median_60m: -2,
};
/** A token of BSC that calls itself BTC/USDT, and two pairs of the exchange. */
const FLARING: Snapshot = {
  ...EMPTY_SNAPSHOT,
  flares: {
    pro: [{ ...SAMPLE_FLARE, token: { ...SAMPLE_FLARE.token, symbol: "BTC/USDT" } }],
    free: [],
    finished_trending: [],
  },
  "flares.exchange": { pro: [ETHER, SAMPLE_EXCHANGE_FLARE], free: [], finished_trending: [] },
  explanations: { [SAMPLE_EXCHANGE_FLARE.id]: { ...SAMPLE_EXPLANATION, odds: ODDS } },
};
const SURGE = { number: 1, at: "2017-11-12T08:30:00.000Z", price: "16500", score: 6.5 };
const SURGED: Snapshot = {
  ...FLARING,
  explanations: { [SAMPLE_EXCHANGE_FLARE.id]: { ...SAMPLE_EXPLANATION, surge: SURGE } },
};
const OVER: Snapshot = {
  ...FLARING,
  "flares.exchange": { pro: [ETHER], free: [], finished_trending: [ENDED] },
};
const RULE = { name: "pair", channels: ["flares.exchange.pro"], filter: { symbols: ["BTC/USDT"] } };

const show = ({ head }: HubUnderTest, before: Snapshot, snapshot: Snapshot) =>
  head.publish({ observedAtMs: 1_000, events: toEvents(before, snapshot, 1_000), snapshot });

test("a rule for a pair of an exchange sends its start, surge and finish to every kind of target, with pair and exchange", async ({
  sut,
}) => {
  await using stack = new AsyncDisposableStack();
  const names = Object.keys(SERVICES) as ServiceName[];
  const services = names.map((name) => stack.use(new ServiceStandIn(SERVICES[name].service, sut.clock)));
  const receiver = stack.use(new Receiver());
  await Promise.all([receiver.up(), ...services.map((service) => service.listen())]);
  const common = { allow_private_addresses: true, rules: [RULE] };
  const chats = names.map((name, at) => [
    name,
    [{ ...common, id: name, ...SERVICES[name].config(services[at]?.origin ?? "") }],
  ]);
  const webhooks = [{ ...common, id: "desk", url: receiver.url, secret: SECRET }];
  const file = JSON.stringify({ webhooks, ...Object.fromEntries(chats) });
  const { log, head, hub, clock } = sut;
  const store = openAlertStore();
  const alerts = startAlerts({
    store,
    log,
    head,
    history: hub.history,
    clock,
    logger: pino({ level: "silent" }),
    targets: openTargets(parseAlertFile(file, "alerts.json"), clock),
  });
  stack.defer(() => alerts.stop());
  await expect.poll(() => ["desk", ...names].every((id) => store.position(`${id}/pair`))).toBe(true);
  const shown = () => services.map(({ accepted }) => accepted.map(({ raw }) => raw));
  const counts = () => {
    // The minimum time between two messages passes.
    clock.advance(5_000);
    return shown().map(({ length }) => length);
  };
  await show(sut, EMPTY_SNAPSHOT, FLARING);
  await expect.poll(counts).toEqual(names.map(() => 1));
  await show(sut, FLARING, SURGED);
  await expect.poll(counts).toEqual(names.map(() => 2));
  await show(sut, SURGED, OVER);
  await expect.poll(counts).toEqual(names.map(() => 3));
  const plain = (raw = "") => raw.replaceAll(/<\/?code>|[`\\]/g, "");
  for (const [started, surged, finished] of shown()) {
    expect(plain(started)).toContain("BTC/USDT on binance is flaring");
    expect(plain(started)).toMatch(/ in 5 min; like it: 41 % fell 3 % within 15 min .?.?n 120/);
    expect(plain(surged)).toContain("BTC/USDT on binance surges again");
    expect(plain(surged)).toMatch(/price 8\.3 % above normal.* in 5 min/s);
    expect(plain(finished)).toContain("BTC/USDT on binance: the flare ended");
  }
  await receiver.until(() => receiver.taken.length === 3);
  expect(receiver.taken.map(({ type, data }) => [type, Object(data.event).data.flare])).toMatchObject([
    ["flare-started", { group: "exchange", pair: "BTC/USDT", exchange: "binance" }],
    ["flare-surged", { group: "exchange", pair: "BTC/USDT", exchange: "binance" }],
    ["flare-finished", { group: "exchange", pair: "BTC/USDT", exchange: "binance" }],
  ]);
});

test("the flare state for a broker has the pair and the exchange, and no finished flares", async ({
  sut,
}) => {
  await show(sut, EMPTY_SNAPSHOT, OVER);
  const { log, head, hub, clock } = sut;
  const stop = new AbortController();
  const poll = new LongPoll({ log, head, history: hub.history, clock, stopping: stop.signal });
  const { promise, resolve } = Promise.withResolvers<string>();
  const channels = runningChannelsOf(AlertRule.parse({ name: "all", channels: ["flares.exchange.*"] }));
  const parts = { poll, head, clock, notify: () => {} };
  const done = followFlares(parts, channels, undefined, resolve, stop.signal);
  expect(JSON.parse(await promise)).toMatchObject({
    count: 1,
    flares: [{ symbol: "ETH", group: "exchange", pair: "ETH/USDT", exchange: "binance" }],
  });
  stop.abort();
  await done;
});

test("an edge alert on a chart names the token, and its chain unless that is BSC", () => {
  const titleOf = (channel: string, item: object) => {
    const data = { rule: "steep", channel, item, field: "streak", value: 5 };
    const { title } = alertText({ body: JSON.stringify({ type: "edge-rose", data }) });
    return renderParts(title, { text: String, name: String });
  };
  expect(titleOf("charts.bsc", SAMPLE_BSC_CHART_ITEM)).toBe("UNI: streak rose to 5");
  expect(titleOf("charts.matic", SAMPLE_MATIC_CHART_ITEM)).toBe("QCK on Polygon: streak rose to 5");
});
