import { describe, expect, test } from "vitest";
import { flareStarted, greet, send, startScriptedServer } from "../cli/scripted-server.ts";
import { spawnNode } from "../cli/spawn-cli.ts";
import { type ChatRequest, startChatServer } from "./chat-server.ts";
import { startLedGateway } from "./led-gateway.ts";

const HOSTILE = "@everyone <@1> <b>`*_[x](https://evil.example)\u202E\n&";

const BOTS = [
  {
    file: "examples/telegram.ts",
    path: "POST /bot1:secret/sendMessage",
    environment: (url: string) => ({
      TELEGRAM_API_URL: url,
      TELEGRAM_BOT_TOKEN: "1:secret",
      TELEGRAM_CHAT_ID: "-1007",
    }),
    taken: { status: 200, body: { ok: true, result: { message_id: 1 } } },
    busy: {
      status: 429,
      body: { ok: false, error_code: 429, description: "Too Many", parameters: { retry_after: 2 } },
    },
    refused: { status: 401, body: { ok: false, error_code: 401, description: "Unauthorized" } },
    says: (text: string) => ({
      chat_id: "-1007",
      text,
      parse_mode: "HTML",
      link_preview_options: { is_disabled: true },
    }),
    quote: (symbol: string) => `<code>${symbol}</code>`,
    hostile: "@everyone &lt;@1&gt; &lt;b&gt;`*_[x](https://evil.ex",
  },
  {
    file: "examples/discord.ts",
    path: "POST /api/webhooks/1/secret",
    environment: (url: string) => ({ DISCORD_WEBHOOK_URL: `${url}/api/webhooks/1/secret` }),
    taken: { status: 204 },
    busy: { status: 429, body: { message: "You are being rate limited.", retry_after: 1.5, global: false } },
    refused: { status: 404, body: { message: "Unknown Webhook", code: 10_015 } },
    says: (content: string) => ({ content, allowed_mentions: { parse: [] }, flags: 4 }),
    quote: (symbol: string) => `\`${symbol}\``,
    hostile: "@everyone <@1> <b>'*_[x](https://evil.ex",
  },
] as const;

const bodies = (requests: readonly ChatRequest[]) => requests.map(({ body }) => body);

describe.each(BOTS)("$file", { concurrent: true }, (bot) => {
  test("posts each start and finish of a flare, and resumes after a lost connection", async () => {
    await using gateway = await startLedGateway();
    await using chat = await startChatServer(bot.taken);
    gateway.start("BEFORE");
    await using running = spawnNode([bot.file, gateway.url], bot.environment(chat.url));
    // On a quiet market too, nobody takes it for hung.
    await running.said("stderr", "running flares: 1; waiting for starts and finishes");
    gateway.start("ONE");
    await chat.requests(1);
    gateway.cut();
    gateway.finish("ONE");
    const requests = await chat.requests(2);
    expect(requests.map(({ path }) => path)).toEqual([bot.path, bot.path]);
    const symbol = bot.quote("ONE");
    expect(bodies(requests)).toEqual([
      bot.says(expect.stringMatching(`^${symbol} 🔥 flares, 14 % in 5 min: price 8\\.3 % above normal`)),
      bot.says(expect.stringMatching(`^${symbol} ended: .?faded.?, 14 % in 5 min`)),
    ]);
    expect(running.child.exitCode).toBeNull();
  });

  test("the bot waits out rate limits and failures, and loses no message", async () => {
    await using server = await startScriptedServer();
    await using chat = await startChatServer(bot.taken, bot.busy, { status: 502 });
    await using running = spawnNode([bot.file, server.url], bot.environment(chat.url));
    const { socket } = await server.next();
    greet(socket, {
      cursor: "abcd-6",
      resumed: "reset",
      snapshot: { flares: { pro: [] }, explanations: {} },
    });
    send(socket, flareStarted(7, "ONE"));
    send(socket, flareStarted(8, "TWO"));
    const requests = await chat.requests(4);
    const texts = bodies(requests).map((body) => /ONE|TWO/.exec(JSON.stringify(body))?.[0]);
    expect(texts).toEqual(["ONE", "ONE", "ONE", "TWO"]);
    const [first, second] = requests;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_490);
    expect(running.stderr()).not.toContain("secret");
  });

  test("a hostile name mentions no one and is not markup", async () => {
    await using server = await startScriptedServer();
    await using chat = await startChatServer(bot.taken);
    await using _running = spawnNode([bot.file, server.url], bot.environment(chat.url));
    const { socket } = await server.next();
    greet(socket, {
      cursor: "abcd-6",
      resumed: "reset",
      snapshot: { flares: { pro: [] }, explanations: {} },
    });
    send(socket, flareStarted(7, HOSTILE));
    send(socket, flareStarted(8, "\u202E`\n".repeat(50_000)));
    const [first, second] = bodies(await chat.requests(2));
    expect(first).toEqual(bot.says(expect.stringContaining(`${bot.quote(bot.hostile)} 🔥`)));
    expect(JSON.stringify(second).length).toBeLessThan(400);
    expect(JSON.stringify(second)).not.toMatch(/\\n|\p{Cf}/u);
  });

  test("a permanent rejection ends it with 1, and no secret is printed", async () => {
    await using server = await startScriptedServer();
    await using chat = await startChatServer(bot.refused);
    await using running = spawnNode([bot.file, server.url], bot.environment(chat.url));
    const { socket } = await server.next();
    greet(socket, { cursor: "abcd-9", resumed: "reset", lost: { reason: "expired", events: 12 } });
    expect(await running.ended()).toBe(1);
    expect(bodies(await chat.requests(1))).toEqual([bot.says("Missed 12 events.")]);
    expect(running.stderr()).toContain(`: ${bot.refused.status} Un`);
    expect(running.stderr()).not.toContain("secret");
    await using unset = spawnNode([bot.file, server.url]);
    expect([await unset.ended(), unset.stderr()]).toEqual([1, expect.stringMatching(/^set /)]);
  });
});
