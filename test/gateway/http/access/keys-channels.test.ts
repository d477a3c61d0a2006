import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { newDirectory } from "../../../support/servers/edges.ts";
import { AUDIENCE, createIssuer, ISSUER } from "../../../support/servers/token-issuer.ts";
import { HANDSHAKE } from "../stream/websocket-fixture.ts";
import { type Keyed, type KeySpecs, test } from "./keyed-fixture.ts";

const KEYS: KeySpecs = {
  exchange: { channels: ["flares.exchange.*"] },
  flares: { channels: ["flares.*"] },
  aged: { channels: ["flares.free", "flares.finished"] },
  charts: { channels: ["charts.*", "candles"] },
  free: { plan: "free", channels: ["flares.*", "status"] },
  all: { channels: ["*", "candles"] },
};

async function ask(keyed: Keyed, path: string, headers: Record<string, string>) {
  const { message, body } = await keyed.wire.ask(`/api/v1/${path}`, headers);
  const { type, bound } = body === "" ? { type: undefined, bound: undefined } : JSON.parse(body);
  return { status: message.statusCode, type, bound };
}

test("[K10] a limited key reads the resources whose channels it has, and gets forbidden for all others", async ({
  makeKeyed,
}) => {
  const keyed = await makeKeyed({ keys: KEYS });
  const paths = [
    "flares",
    "flares?group=exchange",
    "newest",
    "charts",
    "leaderboards",
    "candles",
    "snapshot",
  ];
  const seen: Record<string, readonly string[]> = {};
  for (const name of Object.keys(KEYS)) {
    const answers = await Promise.all(
      paths.map(async (path) => ({ path, ...(await ask(keyed, path, keyed.bearer(name))) })),
    );
    seen[name] = answers.filter(({ status }) => status === 200).map(({ path }) => path);
    for (const { status, type } of answers.filter((answer) => answer.status !== 200))
      expect([name, status, type]).toEqual([name, 403, "urn:flarewire:problem:forbidden"]);
  }
  // The plan free does not include flares.pro, so a key of that plan has all of the plan's flares.
  expect(seen).toEqual({
    flares: ["flares"],
    aged: [],
    charts: ["charts", "candles"],
    free: ["flares"],
    exchange: ["flares?group=exchange"],
    all: paths.filter((path) => path !== "flares?group=exchange"),
  });
  expect(await ask(keyed, "flares", keyed.bearer("aged"))).toMatchObject({
    bound: "flares.free, flares.finished",
  });
});

test("[K10] a limited key may follow only its channels, on every transport", async ({ makeKeyed }) => {
  const keyed = await makeKeyed({ keys: KEYS });
  const fields = keyed.bearer("aged");
  const client = keyed.wire.client("?channels=*", [], { headers: fields });
  expect(await client.answer("subscribed")).toMatchObject({ channels: ["flares.free", "flares.finished"] });
  client.send({ type: "subscribe", id: "more", channels: ["charts.bsc"] });
  expect(await client.answer("error", "more")).toMatchObject({ code: "forbidden" });
  for (const [path, more] of [
    ["events?channels=charts.bsc", {}],
    ["events?channels=charts.bsc", { accept: "text/event-stream" }],
    ["stream?channels=charts.*", HANDSHAKE],
    ["stream?channels=*&mirror=true", HANDSHAKE],
  ] as const) {
    expect(await ask(keyed, path, { ...fields, ...more }), path).toMatchObject({
      status: 403,
      type: "urn:flarewire:problem:forbidden",
    });
  }
  const ticket = await keyed.ticket("aged");
  const byTicket = keyed.wire.client(`?channels=*&ticket=${ticket}`);
  expect(await byTicket.answer("subscribed")).toMatchObject({ channels: ["flares.free", "flares.finished"] });
  await keyed.wire.publish("flare");
  await keyed.wire.publish("status");
  const { body } = await keyed.wire.ask("/api/v1/events?after=oldest", fields);
  const channels = JSON.parse(body).events.map(({ channel }: { channel: string }) => channel);
  expect(channels.filter((channel: string) => !channel.startsWith("flares.f"))).toEqual([]);
});

test("[K10] the claim channels limits a token in the same way", async ({ makeKeyed, onTestFinished }) => {
  const issuer = createIssuer("HS256");
  const jwtKey = join(newDirectory(onTestFinished), "secret");
  writeFileSync(jwtKey, issuer.file, { mode: 0o600 });
  const keyed = await makeKeyed({ tokens: { jwtKey, jwtIssuer: ISSUER, jwtAudience: AUDIENCE } });
  const fields = async (channels: unknown) => ({
    authorization: `Bearer ${await issuer.sign({ channels })}`,
  });
  const limited = await fields(["charts.*"]);
  expect(await ask(keyed, "charts", limited)).toMatchObject({ status: 200 });
  expect(await ask(keyed, "flares", limited)).toMatchObject({ status: 403 });
  for (const wrong of [[], "charts.*", ["stocks"]])
    expect(await ask(keyed, "charts", await fields(wrong))).toMatchObject({ status: 401 });
});
