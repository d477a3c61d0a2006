import { acceptEvent, applyMessage, type ClientState } from "../sdk/client-state.ts";
import { createStream } from "../sdk/create-stream.ts";
import type { EventMessage, Stream, View } from "../sdk/index.ts";
import { platformOf } from "../sdk/transport/platform.ts";

/**
 * When `waiting`, the server has no data yet. When `delayed`, its data is old. When `refused`, it
 * rejects this page.
 */
type FeedState = "connecting" | "waiting" | "live" | "delayed" | "refused";

type Origin = NonNullable<Stream["server"]>["source"]["origin"];

/** What is known about the shown data. */
interface About {
  readonly state: FeedState;
  /** Whether the market is real; `undefined` before the first response. */
  readonly origin: Origin | undefined;
}

/** The state at one moment. */
export interface Seen extends About {
  /** The public lists of flares; `undefined` before the first response. */
  readonly view: View | undefined;
}

/** A message between tabs of one origin, which trust each other. */
type TabMessage = {
  /** Asks the leader for its whole state. */
  readonly ask?: true;
  readonly about?: About;
  readonly event?: EventMessage;
  /** Replaces the receiver's state. */
  readonly whole?: ClientState;
};

/**
 * How long a hidden page stays connected: enough to switch tabs, too short for a browser to freeze
 * it.
 */
const HIDDEN_MS = 10_000;
/** Maximum interval between two messages of the leader. */
const BEAT_MS = 5_000;
/** Missed messages after which the leader counts as frozen; plus a random delay. */
const MISSED_BEATS = 3;

const NOTHING: ClientState = { cursor: undefined, view: undefined, started: false };

/**
 * Follows a server's flares for all tabs over one connection. One visible tab, the leader, holds a
 * lock and the connection, and sends each event to the others. When it closes, freezes or stays
 * hidden, the next tab resumes from its own cursor. Without locks, a page has its own connection.
 */
export class SharedFeed {
  readonly #server: string;
  readonly #changed: () => void;
  #client = NOTHING;
  #about: About = { state: "connecting", origin: undefined };
  /** Aborted when no element needs the feed. */
  #started: AbortController | undefined;
  /** Aborted when the page stops taking part. */
  #part: AbortController | undefined;
  /** Aborted when the page requests the lock again. */
  #candidacy: AbortController | undefined;
  #channel: BroadcastChannel | undefined;
  #leads = false;
  #heardAtMs = 0;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  /** Calls `changed` after each change of {@link now}. */
  constructor(server: string, changed: () => void) {
    this.#server = server;
    this.#changed = changed;
  }

  now(): Seen {
    return { view: this.#client.view, ...this.#about };
  }

  start(): void {
    if (this.#started) return;
    this.#started = new AbortController();
    const until = { signal: this.#started.signal };
    const leave = () => this.#leave();
    const look = () => this.#look();
    // A page with a lock or a channel cannot enter the back/forward cache.
    window.addEventListener("pagehide", leave, until);
    window.addEventListener("pageshow", look, until);
    document.addEventListener("freeze", leave, until);
    document.addEventListener("resume", look, until);
    document.addEventListener("visibilitychange", look, until);
    look();
  }

  /** Stops. {@link start} resumes from the same state. */
  stop(): void {
    this.#started?.abort();
    this.#started = undefined;
    this.#leave();
  }

  #look(): void {
    clearTimeout(this.#hiding);
    if (!document.hidden) this.#enter();
    else if (this.#part) this.#hiding = setTimeout(() => this.#leave(), HIDDEN_MS);
  }

  #enter(): void {
    if (this.#part) return;
    const part = new AbortController();
    this.#part = part;
    this.#heardAtMs = performance.now();
    // The shown data is from before the pause.
    this.#about = { ...this.#about, state: "connecting" };
    this.#changed();
    const channel = openChannel(this.#name);
    this.#channel = channel;
    if (channel) channel.onmessage = ({ data }: MessageEvent<TabMessage>) => this.#hear(data);
    const beat = setInterval(() => this.#beat(part.signal), BEAT_MS);
    part.signal.addEventListener("abort", () => {
      clearInterval(beat);
      channel?.close();
    });
    this.#say({ ask: true });
    void this.#stand(part.signal);
  }

  #leave(): void {
    clearTimeout(this.#hiding);
    this.#part?.abort();
    this.#part = undefined;
  }

  /** Contains a version, because open tabs may have loaded different scripts. */
  get #name(): string {
    return `flarewire-widget/2 ${this.#server}`;
  }

  /** Waits for the lock, then leads; with `steal` at once. */
  async #stand(part: AbortSignal, steal = false): Promise<void> {
    this.#candidacy?.abort();
    this.#candidacy = new AbortController();
    const until = AbortSignal.any([part, this.#candidacy.signal]);
    try {
      await navigator.locks.request(this.#name, steal ? { steal } : { signal: until }, () =>
        this.#lead(until),
      );
    } catch (error) {
      if (until.aborted) return;
      // Another tab stole the lock, because it heard nothing. Otherwise there are no locks, as
      // without TLS or in a sandbox.
      if (error instanceof DOMException && error.name === "AbortError") await this.#stand(part);
      else await this.#lead(until);
    }
  }

  /** Holds the connection until the signal. */
  #lead(until: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (until.aborted) return resolve();
      this.#leads = true;
      this.#follow(until);
      until.addEventListener("abort", () => {
        this.#leads = false;
        resolve();
      });
    });
  }

  #follow(until: AbortSignal): void {
    const { cursor } = this.#client;
    // The options that connect() would derive, without the code that checks them.
    const { stream } = createStream({
      base: this.#server.slice(0, -1),
      // Patterns select only what the plan of a visitor without a key includes.
      selection: { query: { channels: "flares.*,status" }, keepsView: true },
      transports: ["websocket", "sse", "poll"],
      platform: platformOf(),
      apply: applyMessage,
      pauseHiddenAfterMs: Number.POSITIVE_INFINITY,
      queueLimit: Number.POSITIVE_INFINITY,
      firstMessageMs: 8_000,
      upgradeAfterMs: 60_000,
      signal: until,
      ...(cursor === undefined ? {} : { after: cursor }),
    });
    const state = (): FeedState => {
      if (stream.connection.state === "closed") return "refused";
      const { code } = stream.connection;
      if (stream.connection.state !== "live")
        return code === 503 && !this.#client.view ? "waiting" : "connecting";
      return stream.freshness?.state === "live" ? "live" : "delayed";
    };
    const note = (news: TabMessage = {}) => {
      if (until.aborted) return;
      const about = { state: state(), origin: stream.server?.source.origin ?? this.#about.origin };
      this.#about = about;
      this.#say({ ...news, about });
      this.#changed();
    };
    stream.on("event", (event) => {
      if (this.#take(event)) return note({ event });
      // The state diverged from the server's. Reconnect without a cursor to get its state.
      this.#client = NOTHING;
      if (this.#part) void this.#stand(this.#part.signal);
    });
    stream.on("reset", ({ cursor, view }) => {
      this.#client = { cursor, view, started: true };
      note({ whole: this.#client });
    });
    stream.on("connection", () => note());
    // Readers see only that there is no data. The page's author sees the reason.
    stream.on("error", (error) => {
      // biome-ignore lint/suspicious/noConsole: the console is where authors look.
      console.warn(String(error));
      note();
    });
    const beat = setInterval(note, BEAT_MS);
    until.addEventListener("abort", () => clearInterval(beat));
  }

  #beat(part: AbortSignal): void {
    const silentMs = performance.now() - this.#heardAtMs;
    if (this.#leads || silentMs < BEAT_MS * (MISSED_BEATS + 2 * Math.random())) return;
    this.#heardAtMs = performance.now();
    void this.#stand(part, true);
  }

  #hear({ ask, about, event, whole }: TabMessage): void {
    if (this.#leads) {
      if (ask) this.#say({ whole: this.#client, about: this.#about });
      return;
    }
    if (ask) return;
    this.#heardAtMs = performance.now();
    if (whole?.view && whole.cursor !== this.#client.cursor) this.#client = whole;
    if (event && this.#client.view && !this.#take(event)) this.#say({ ask: true });
    if (about) this.#about = about;
    this.#changed();
  }

  /** Applies an event. Returns false after a gap, or if the event does not fit. */
  #take(event: EventMessage): boolean {
    try {
      this.#client = acceptEvent(this.#client, event).client;
      return true;
    } catch {
      return false;
    }
  }

  #say(message: TabMessage): void {
    if (this.#part) this.#channel?.postMessage(message);
  }
}

/** Opens the channel of the tabs; `undefined` if the browser forbids it. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}
