import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import pino from "pino";
import { expect, test } from "vitest";
import { formAlert } from "../../../../src/extensions/alerts/alert.ts";
import { AlertSender } from "../../../../src/extensions/alerts/delivery/alert-sender.ts";
import { NEW_RULE } from "../../../../src/extensions/alerts/rules/rule-state.ts";
import { openAlertCopy } from "../../../../src/extensions/alerts/store/alert-copy.ts";
import { type AlertStore, openAlertStore } from "../../../../src/extensions/alerts/store/alert-store.ts";
import { GroupCommit } from "../../../../src/extensions/alerts/store/group-commit.ts";
import { openTargets, parseAlertFile } from "../../../../src/extensions/alerts/targets/alert-file.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../../support/world/samples.ts";
import { SECRET } from "../webhook-fixture.ts";
import { SERVICES } from "./services.ts";

interface Asked {
  readonly chat_id?: unknown;
  readonly text?: string;
  readonly content?: string;
  readonly message?: string;
}

/** Starts a local service. `answer` gets the body of each request. */
async function startService(answer: (response: ServerResponse, asked: Asked) => void) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    answer(response, JSON.parse(Buffer.concat(chunks).toString()));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CONFIGS = {
  webhooks: (origin: string) => ({ url: origin, secret: SECRET }),
  telegram: SERVICES.telegram.config,
  discord: SERVICES.discord.config,
  slack: SERVICES.slack.config,
  ntfy: SERVICES.ntfy.config,
};
type Kind = keyof typeof CONFIGS;

function targetOf(kind: Kind, origin: string, more: object = {}) {
  const own = { id: "chat", allow_private_addresses: true, rules: [{ name: "all" }] };
  const file = { [kind]: [{ ...own, ...CONFIGS[kind](origin), ...more }] };
  const [target] = openTargets(parseAlertFile(JSON.stringify(file), "alerts.json"), new ManualClock());
  if (!target) throw new Error("no target");
  return target;
}

const NOON_MS = Date.UTC(2026, 10, 29, 12, 3);
/** An alert about a flare that started at noon. */
const startedAlert = (key = "1") => {
  const at = new Date(NOON_MS).toISOString();
  const flare = { ...SAMPLE_FLARE, started_trending_at: at };
  const data = { flare, why: SAMPLE_EXPLANATION, cause: "detected" };
  const event = { name: "flare-started", channel: "flares.pro", emitted_at: at, observed_at: at, data };
  return formAlert("chat", "all", { type: "flare-started", key, data: { event } }, NOON_MS);
};

const telegram = (description: string) => JSON.stringify({ ok: false, description });
const discord = (code: number) => JSON.stringify({ code, message: "no" });
const ntfy = (code: number) => JSON.stringify({ code, error: "no" });

test.for<readonly [Kind, number, string, "refused" | "failed"]>([
  ["webhooks", 422, "", "refused"],
  ["webhooks", 403, "", "failed"],
  ["telegram", 400, telegram("Bad Request: can't parse entities: unexpected end tag"), "refused"],
  ["telegram", 400, telegram('Bad Request: can\'t parse entities: tag "private" not found'), "refused"],
  ["telegram", 400, telegram("Bad Request: message is too long"), "refused"],
  ["telegram", 400, telegram("Bad Request: chat not found"), "failed"],
  ["telegram", 400, telegram("Bad Request: message thread not found"), "failed"],
  ["telegram", 400, telegram("Bad Request: TOPIC_CLOSED"), "failed"],
  ["telegram", 400, telegram("Bad Request: not enough rights to send text messages to the chat"), "failed"],
  ["telegram", 403, telegram("Forbidden: bot was kicked from the supergroup chat"), "failed"],
  ["telegram", 401, telegram("Unauthorized"), "failed"],
  ["discord", 400, discord(50_035), "refused"],
  ["discord", 400, discord(200_000), "refused"],
  ["discord", 403, discord(240_000), "refused"],
  ["discord", 413, "<html>Request Entity Too Large</html>", "refused"],
  ["discord", 400, discord(50_083), "failed"],
  ["discord", 404, discord(10_015), "failed"],
  ["slack", 400, "invalid_blocks", "refused"],
  ["slack", 400, "no_text", "refused"],
  ["slack", 400, "user_not_found", "failed"],
  ["slack", 404, "no_service", "failed"],
  ["slack", 410, "channel_is_archived", "failed"],
  ["ntfy", 400, ntfy(40_011), "refused"],
  ["ntfy", 413, ntfy(41_301), "refused"],
  ["ntfy", 400, ntfy(40_010), "failed"],
  ["ntfy", 403, ntfy(40_301), "failed"],
  ["ntfy", 429, ntfy(42_908), "failed"],
])("%s %i %s counts as %s", async ([kind, status, body, expected]) => {
  await using service = await startService((response) => void response.writeHead(status).end(body));
  const target = targetOf(kind, service.origin);
  const outcome = await target.deliver(startedAlert(), new AbortController().signal);
  expect(outcome.kind).toBe(expected);
});

const HOUR_MS = 3_600_000;

test.for<readonly [Kind, number, string]>([
  ["telegram", 1, "started at 12:03 UTC, sent late; "],
  ["telegram", 20, "started at 12:03 UTC on 2026-11-29, sent late; "],
  ["discord", 1, "started at 12\\:03 UTC, sent late; "],
  ["slack", 1, "started at 12:03 UTC, sent late; "],
  ["ntfy", 1, "started at 12:03 UTC, sent late; "],
])("a message to %s that is sent after %i hours says when its flare started", async ([kind, hours, said]) => {
  const texts: string[] = [];
  await using service = await startService((response, { text, content, message }) => {
    texts.push(text ?? content ?? message ?? "");
    response.writeHead(500).end();
  });
  const target = targetOf(kind, service.origin);
  const { signal } = new AbortController();
  await target.deliver(startedAlert(), signal, { lateAtMs: NOON_MS + hours * HOUR_MS });
  await target.deliver(startedAlert(), signal);
  expect(texts[0]).toContain(said);
  expect(texts[1]).not.toContain("sent late");
});

test("an alert of an old event, which a rule finds after a restart, says that it is late", async () => {
  const texts: string[] = [];
  await using service = await startService((response, { text = "" }) => {
    texts.push(text);
    response.writeHead(200).end(JSON.stringify({ ok: true }));
  });
  const store = openAlertStore();
  await sendOne(store, service.origin, "1", OLD, NOON_MS + 30_000);
  await sendOne(store, service.origin, "2", OLD, NOON_MS + 2 * HOUR_MS);
  expect(texts.map((text) => text.includes("started at 12:03 UTC, sent late"))).toEqual([false, true]);
  store.close();
});

const OLD = -100;
const NEW = -1_002_000_000_000;

/** Telegram with a group that has become a supergroup. */
const upgraded =
  (chats: unknown[]) =>
  (response: ServerResponse, { chat_id }: Asked) => {
    chats.push(chat_id);
    if (String(chat_id) === String(NEW))
      response.writeHead(200).end(JSON.stringify({ ok: true, result: {} }));
    else
      response.writeHead(400).end(
        JSON.stringify({
          ok: false,
          error_code: 400,
          description: "Bad Request: group chat was upgraded to a supergroup chat",
          parameters: { migrate_to_chat_id: NEW },
        }),
      );
  };

/** Sends one message with a sender that is new, as after a restart. Returns what it logged. */
async function sendOne(
  store: AlertStore,
  origin: string,
  key: string,
  chat_id = OLD,
  sentAtMs = NOON_MS,
): Promise<string[]> {
  const clock = new ManualClock();
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const stop = new AbortController();
  store.commit("chat/all", { cursor: "test1-1", state: NEW_RULE }, [
    { ...startedAlert(key), madeAtMs: sentAtMs },
  ]);
  const sender = new AlertSender({
    target: targetOf("telegram", origin, { chat_id }),
    store,
    clock,
    commits: new GroupCommit(store),
    random: () => 0.5,
    steadyMs: () => sentAtMs,
    notify: (level, message) => logger[level](message),
  });
  const running = sender.run(stop.signal);
  await expect
    .poll(() => {
      if (clock.dueInMs !== undefined) clock.advance(clock.dueInMs);
      return store.waiting("chat").count;
    })
    .toBe(0);
  stop.abort();
  await running;
  return lines;
}

test("a Telegram group that became a supergroup gets its messages there, also after a restart, which is logged once", async () => {
  const chats: unknown[] = [];
  await using service = await startService(upgraded(chats));
  const store = openAlertStore();
  const first = await sendOne(store, service.origin, "1");
  const second = await sendOne(store, service.origin, "2");
  expect(chats.map(Number)).toEqual([OLD, NEW, NEW]);
  const told = `the receiver has moved to ${NEW}; put this into the alert file`;
  expect([first, second]).toEqual([[told], []]);
  // Another chat in the file has not moved.
  chats.length = 0;
  await sendOne(store, service.origin, "3", NEW);
  expect(chats).toEqual([NEW]);
  store.retain(new Set(), new Set(["chat"]));
  await sendOne(store, service.origin, "4");
  expect(chats.map(Number)).toEqual([NEW, NEW]);
  store.close();
});

test("a node that takes over a cluster's alerts knows where a chat has moved", async () => {
  const chats: unknown[] = [];
  await using service = await startService(upgraded(chats));
  const leader = openAlertCopy();
  const follower = openAlertCopy();
  await sendOne(leader.store, service.origin, "1");
  follower.apply(leader.changes() ?? new Uint8Array());
  const late = openAlertCopy(leader.content());
  for (const { store } of [follower, late]) await sendOne(store, service.origin, "2");
  expect(chats.map(Number)).toEqual([OLD, NEW, NEW, NEW]);
  for (const copy of [leader, follower, late]) copy.close();
});
