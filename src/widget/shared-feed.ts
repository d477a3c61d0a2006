import { acceptEvent, type ClientState } from "../client/client-state.ts";
import { connect, type StreamEvent, type View } from "../client/index.ts";

/** `connecting`: nothing comes, for now; `live`; `delayed`: the server says that its data is old; `refused`: it does not serve this page. */
export type FeedState = "connecting" | "live" | "delayed" | "refused";

/** What is known at one moment. */
export interface Seen {
  /** The lists of flares that the server shows to anybody; `undefined` before the first answer. */
  readonly view: View | undefined;
  readonly state: FeedState;
}

/** What tabs tell each other. All of them are pages of one origin, which may trust one another. */
type Told = {
  /** Whoever leads is to say all that it has. */
  readonly ask?: true;
  readonly state?: FeedState;
  readonly event?: StreamEvent;
  /** Everything, in place of what was known. */
  readonly whole?: ClientState;
};

/** How long a page is hidden before it takes no part: short enough that a browser has not frozen it, long enough to change tabs. */
const HIDDEN_MS = 10_000;
/** The leader says at least this often that it is there. */
const BEAT_MS = 5_000;
/** So many of them are missing when it is taken for frozen, and one more on the average, so that not all followers act at once. */
const MISSED_BEATS = 3;

const NOTHING: ClientState = { cursor: undefined, view: undefined, started: false };

/**
 * Follows the flares of a server for all tabs of an origin over one connection. Of the tabs that are looked at one has the lock, and with it the connection; it
 * tells the others each event, of which they make the same lists. When it closes, is hidden or frozen, the next goes on from the cursor that it has
 * reached itself. While none is looked at there is no connection. Where a page may have no locks it has a connection of its own.
 */
export class SharedFeed {
  readonly #server: string;
  readonly #changed: () => void;
  #client = NOTHING;
  #state: FeedState = "connecting";
  /** Over when nothing on the page needs it. */
  #started: AbortController | undefined;
  /** Over when the page takes no part any more. */
  #part: AbortController | undefined;
  /** Over when it stands for the lead anew. */
  #candidacy: AbortController | undefined;
  #channel: BroadcastChannel | undefined;
  #leads = false;
  #heardAtMs = 0;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  /** Calls `changed` whenever {@link now} has something new. */
  constructor(server: string, changed: () => void) {
    this.#server = server;
    this.#changed = changed;
  }

  now(): Seen {
    return { view: this.#client.view, state: this.#state };
  }

  /** Begins, unless it has. */
  start(): void {
    if (this.#started) return;
    this.#started = new AbortController();
    const until = { signal: this.#started.signal };
    const leave = () => this.#leave();
    const look = () => this.#look();
    // A page that holds a lock or a channel is not kept for the way back.
    window.addEventListener("pagehide", leave, until);
    window.addEventListener("pageshow", look, until);
    document.addEventListener("freeze", leave, until);
    document.addEventListener("resume", look, until);
    document.addEventListener("visibilitychange", look, until);
    look();
  }

  /** Ends; {@link start} goes on from there. */
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
    // What is shown was heard before it took no part.
    this.#state = "connecting";
    this.#changed();
    const channel = openChannel(this.#name);
    this.#channel = channel;
    if (channel) channel.onmessage = ({ data }: MessageEvent<Told>) => this.#hear(data);
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

  /** Of one version, as the tabs of a site may come from before and after an update. */
  get #name(): string {
    return `flarewire-widget/1 ${this.#server}`;
  }

  /** Waits for the lock, and leads; with `steal` at once. */
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
      // Taken away, because the others heard nothing from here; else there are no locks, as in a page without TLS or in a sandbox.
      if (error instanceof DOMException && error.name === "AbortError") await this.#stand(part);
      else await this.#lead(until);
    }
  }

  /** Has the connection until then. */
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
    const stream = connect(this.#server, {
      // As many of them as the plan of a visitor without a key has.
      channels: ["flares.*", "status"],
      pauseHiddenAfterMs: Number.POSITIVE_INFINITY,
      signal: until,
      ...(cursor === undefined ? {} : { after: cursor }),
    });
    const state = (): FeedState => {
      if (stream.connection.state === "closed") return "refused";
      if (stream.connection.state !== "live") return "connecting";
      return stream.freshness?.state === "live" ? "live" : "delayed";
    };
    const note = (news: Told = {}) => {
      if (until.aborted) return;
      this.#state = state();
      this.#say({ ...news, state: this.#state });
      this.#changed();
    };
    stream.on("event", (event) => {
      if (this.#take(event)) return note({ event });
      // What is held here is not what the server means: without a cursor it says what is.
      this.#client = NOTHING;
      if (this.#part) void this.#stand(this.#part.signal);
    });
    stream.on("reset", ({ cursor, view }) => {
      this.#client = { cursor, view, started: true };
      note({ whole: this.#client });
    });
    stream.on("connection", () => note());
    // Its state says it.
    stream.on("error", () => note());
    const beat = setInterval(note, BEAT_MS);
    until.addEventListener("abort", () => clearInterval(beat));
  }

  #beat(part: AbortSignal): void {
    const silentMs = performance.now() - this.#heardAtMs;
    if (this.#leads || silentMs < BEAT_MS * (MISSED_BEATS + 2 * Math.random())) return;
    this.#heardAtMs = performance.now();
    void this.#stand(part, true);
  }

  #hear({ ask, state, event, whole }: Told): void {
    if (this.#leads) {
      if (ask) this.#say({ whole: this.#client, state: this.#state });
      return;
    }
    if (ask) return;
    this.#heardAtMs = performance.now();
    if (whole?.view && whole.cursor !== this.#client.cursor) this.#client = whole;
    if (event && this.#client.view && !this.#take(event)) this.#say({ ask: true });
    if (state) this.#state = state;
    this.#changed();
  }

  /** Takes an event in; false when something is missing before it, or it does not fit. */
  #take(event: StreamEvent): boolean {
    try {
      this.#client = acceptEvent(this.#client, event).client;
      return true;
    } catch {
      return false;
    }
  }

  #say(told: Told): void {
    if (this.#part) this.#channel?.postMessage(told);
  }
}

/** The channel of the tabs; `undefined` where the browser keeps such things from the page, which then has no locks either. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}
