import { test as base, describe, expect } from "vitest";
import { formAlert } from "../../../../src/extensions/alerts/alert.ts";
import { AlertSender } from "../../../../src/extensions/alerts/delivery/alert-sender.ts";
import { NEW_RULE } from "../../../../src/extensions/alerts/rules/rule-state.ts";
import { openAlertStore } from "../../../../src/extensions/alerts/store/alert-store.ts";
import { GroupCommit } from "../../../../src/extensions/alerts/store/group-commit.ts";
import { openTargets, parseAlertFile } from "../../../../src/extensions/alerts/targets/alert-file.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../../support/world/samples.ts";
import { OUTAGES, ServiceStandIn } from "./service-stand-in.ts";
import { SERVICES, type ServiceName } from "./services.ts";

const HOUR = 3_600_000;
const IDLE_MS = 60_000;

/** A target that delivers the test's messages to a stand-in of its service. */
class ChatUnderTest implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly service: ServiceStandIn;
  readonly notices: string[] = [];
  readonly symbols: string[] = [];
  readonly #name: ServiceName;
  readonly #store = openAlertStore();
  #stop = new AbortController();
  #running = Promise.resolve();
  #sender: AlertSender | undefined;
  #dueMs = 0;

  constructor(name: ServiceName) {
    this.#name = name;
    this.service = new ServiceStandIn(SERVICES[name].service, this.clock);
  }

  get waiting(): number {
    return this.#store.waiting("chat").count;
  }

  /** Starts the delivery. After {@link end}, acts as a new process with the same store. */
  async start(): Promise<void> {
    if (!this.service.origin.includes(":0")) await this.#slept(() => this.#begin());
    else {
      await this.service.listen();
      await this.#slept(() => this.#begin());
    }
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Queues an alert: a flare of the token with this symbol has started. */
  async alert(symbol: string): Promise<void> {
    this.symbols.push(symbol);
    const flare = { ...SAMPLE_FLARE, token: { ...SAMPLE_FLARE.token, symbol } };
    const data = { flare, why: SAMPLE_EXPLANATION, cause: "detected" };
    const event = { name: "flare-started", channel: "flares.pro", data };
    const content = { type: "flare-started", key: String(this.symbols.length), data: { event } };
    const alert = formAlert(
      "chat",
      "all",
      { ...content, page: "flare/1" },
      this.clock.monotonic(),
      "https://f.io",
    );
    this.#store.commit("chat/all", { cursor: "test1-1", state: NEW_RULE }, [alert]);
    const isIdle = this.clock.slept.at(-1) === IDLE_MS;
    if (isIdle) await this.#slept(() => this.#sender?.wake());
    else this.#sender?.wake();
  }

  /** Advances the clock. After each sleep that ends, waits for the sender's next one. */
  async pass(ms: number): Promise<void> {
    const endMs = this.clock.monotonic() + ms;
    while (this.clock.monotonic() < endMs) {
      const stepMs = Math.min(this.#dueMs, endMs) - this.clock.monotonic();
      if (this.#dueMs > endMs) this.clock.advance(stepMs);
      else await this.#slept(() => this.clock.advance(stepMs));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await this.service[Symbol.asyncDispose]();
    this.#store.close();
  }

  #begin(): void {
    const config = { id: "chat", allow_private_addresses: true, rules: [{ name: "all" }] };
    const file = { [this.#name]: [{ ...config, ...SERVICES[this.#name].config(this.service.origin) }] };
    const [target] = openTargets(parseAlertFile(JSON.stringify(file), "alerts.json"), this.clock);
    if (!target) throw new Error("no target");
    this.#stop = new AbortController();
    this.#sender = new AlertSender({
      target,
      store: this.#store,
      clock: this.clock,
      commits: new GroupCommit(this.#store),
      random: () => 0.5,
      steadyMs: () => this.clock.monotonic(),
      notify: (_level, message) => this.notices.push(message),
    });
    this.#running = this.#sender.run(this.#stop.signal);
  }

  async #slept(work: () => void): Promise<void> {
    const next = this.clock.nextSleep();
    work();
    await next;
    this.#dueMs = this.clock.monotonic() + (this.clock.slept.at(-1) ?? 0);
  }
}

const test = base.extend<{ open: (name: ServiceName) => Promise<ChatUnderTest> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  open: async ({}, use) => {
    await using all = new AsyncDisposableStack();
    await use(async (name) => {
      const chat = all.use(new ChatUnderTest(name));
      await chat.start();
      return chat;
    });
  },
});

const NAMES = Object.keys(SERVICES) as ServiceName[];
const BASES = [
  "<script>alert(1)</script>",
  "@everyone",
  "<@123456789>",
  "<!channel>",
  "https://evil.example/claim",
  "evil.com",
  "`evil.com`",
  "</code><a href='https://evil.com'>x</a>",
  "[claim](https://evil.com)",
  "**bold** _it_ ~~s~~ ||x||",
  '&lt;b&gt; & "quoted"',
  "a\nb\r\nc\u2028d",
  "\u202egnp.exe",
  "x".repeat(5_000),
  "&".repeat(5_000),
  "`".repeat(300),
  "\\`\\",
  "",
  "   ",
  "\u0000\u0007",
  "🔥".repeat(200),
  "/start@evil_bot",
  "#hashtag $CASH",
  "tg://resolve?domain=evil",
  "Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306",
];
const HOSTILE = [...BASES, ...BASES.map((name) => `${name} \u0060 <https://evil.com|free> ${name}`)];

const shownSymbols = ({ service }: ChatUnderTest) =>
  service.accepted.map(({ raw }) => /TOK\d+/.exec(raw)?.[0]);

describe.each(NAMES)("%s", (name) => {
  test("after an hour of failures of five kinds, the service gets each message once and in order", async ({
    open,
  }) => {
    const chat = await open(name);
    for (const mode of ["up", ...OUTAGES] as const) {
      await chat.service.set(mode);
      for (let minute = 0; minute < 12; minute += 1) {
        if (minute % 3 === 0) await chat.alert(`TOK${chat.symbols.length}`);
        // A clean restart must repeat nothing.
        if (minute === 7) await chat.end().then(() => chat.start());
        await chat.pass(HOUR / OUTAGES.length / 12);
      }
    }
    expect(chat.waiting).toBe(chat.symbols.length - 4);
    await chat.service.set("up");
    await chat.pass(HOUR / 2);
    expect(shownSymbols(chat)).toEqual(chat.symbols);
    expect([chat.waiting, chat.service.tooSoon, chat.service.refused]).toEqual([0, 0, []]);
  });

  test("a sender over the limit waits as long as the service asks", async ({ open }) => {
    const chat = await open(name);
    await chat.service.set("limit");
    await chat.alert("TOK0");
    const [slept = 0] = chat.clock.slept.slice(-1);
    // ntfy does not state a time.
    expect(Math.floor(slept / 1_000)).toBe(name === "ntfy" ? 1 : 90);
    expect(chat.notices).toEqual([
      expect.stringMatching(/^could not deliver: \w+ returned 429.*; retrying$/),
    ]);
  });

  test("a rejection is logged with the service's reason, without secrets, and the message is retried", async ({
    open,
  }) => {
    const chat = await open(name);
    const { secrets } = SERVICES[name];
    chat.service.refusal = name === "slack" ? "no_service" : `gone: ${secrets.join(" ")}`;
    await chat.alert("TOK0");
    expect(chat.notices.join()).toMatch(name === "slack" ? /400: no_service/ : /40[03]: gone: \*\*\*/);
    for (const secret of secrets) expect(chat.notices.join()).not.toContain(secret);
    chat.service.refusal = undefined;
    await chat.pass(10_000);
    expect(shownSymbols(chat)).toEqual(["TOK0"]);
  });

  test("a process that stops waits for the response to its last message, which is not sent again", async ({
    open,
  }) => {
    const chat = await open(name);
    const isAsked = chat.service.hold();
    void chat.alert("TOK0");
    const release = await isAsked;
    const ended = chat.end();
    release();
    await ended;
    await chat.start();
    expect([shownSymbols(chat), chat.waiting, chat.service.attempts]).toEqual([["TOK0"], 0, 1]);
  });

  test("fifty hostile names cause no link, mention, markup or rejection", async ({ open }) => {
    const chat = await open(name);
    for (const [at, hostile] of HOSTILE.entries()) {
      await chat.alert(hostile);
      await chat.pass(5_000);
      const shown = chat.service.accepted[at];
      expect(shown?.links, hostile).toEqual(["https://f.io/flare/1"]);
      expect(shown?.rest, hostile).not.toMatch(SERVICES[name].service.finds);
      expect(shown?.rest.split("\n").length, hostile).toBeLessThanOrEqual(3);
      if (name !== "ntfy") expect(shown?.literals.length, hostile).toBe(1);
    }
    expect([HOSTILE.length, chat.service.refused]).toEqual([50, []]);
  });
});
