import { assertNever } from "../../../base/lib/assert-never.ts";
import {
  CHANNELS,
  type CloseReason,
  type Command,
  type CommandId,
  compileFilter,
  FlarewireError,
  type Lost,
  parseCursor,
  type Rights,
  type Subscribe,
} from "../../../base/protocol/index.ts";
import { channelsOf, maskOf, resolveChannels } from "../channel-mask.ts";
import { Delivery, type DeliveryOwner } from "../delivery/delivery.ts";
import type { Framing } from "../delivery/framing.ts";
import { countGone, countOpened } from "../hub-counters.ts";
import { CommandQueue } from "./command-queue.ts";
import { type Inbound, quote, readCommand, refuseBinary } from "./command-reader.ts";
import { type ConnectQuery, readCursor, subscribeOf } from "./connect-query.ts";
import { errorText, goawayText, pongText, subscribedText, unsubscribedText } from "./messages.ts";
import { type SelectionPart, selectionOf } from "./selection.ts";
import type { SessionHost } from "./session-host.ts";
import type { Socket } from "./socket.ts";
import { addTo, checkNew, removeFrom, type Subscription } from "./subscriptions.ts";

/** `waiting`: not subscribed, until `deadlineMs`. `closing`: terminated at `deadlineMs`. */
type Phase =
  | { readonly kind: "waiting"; readonly deadlineMs: number }
  | { readonly kind: "following" }
  | { readonly kind: "closing"; readonly deadlineMs: number }
  | { readonly kind: "closed" };

const FOLLOWING: Phase = { kind: "following" };
const CLOSED: Phase = { kind: "closed" };

/** One connection's conversation: messages in and out. Its {@link Delivery} sends the events. */
export class Session implements DeliveryOwner {
  readonly #host: SessionHost<Session>;
  readonly #delivery: Delivery;
  /** Created with the first command: most clients subscribe by URL and never send one. */
  #commands: CommandQueue | undefined;
  #subscriptions: readonly Subscription[] = [];
  readonly #rights: Rights;
  #phase: Phase;
  /** Deadline by which the head must reach the first `after`. */
  #aheadUntilMs: number | undefined;
  /** The response to the first `after` waits for a read of the log. */
  #isResuming = false;

  /** Sends `hello` and runs the URL's checked subscription. `rights` limit the channels. */
  constructor(
    host: SessionHost<Session>,
    socket: Socket,
    framing: Framing,
    query: ConnectQuery,
    rights: Rights,
  ) {
    this.#host = host;
    this.#rights = rights;
    this.#phase = { kind: "waiting", deadlineMs: host.monotonicMs() + host.limits.firstCommandWithinMs };
    host.watch(this, "unsubscribed", true);
    countOpened(host.counters, framing);
    this.#delivery = new Delivery(host, socket, framing, this);
    this.#delivery.write(host.hello(rights.plan));
    if (query.channels) this.#receive({ kind: "command", command: subscribeOf(query, query.channels) });
  }

  /**
   * Whether commands are answered: the server has not closed the connection, and it has not ended.
   */
  get isOpen(): boolean {
    return this.#phase.kind === "waiting" || this.#phase.kind === "following";
  }

  /** Whether the client is catching up. It may have unread data, so it may be slow to respond. */
  get isBehind(): boolean {
    return this.isOpen && !this.#delivery.isLive;
  }

  get lag(): number {
    return this.#delivery.lag;
  }

  receiveText(text: string): void {
    if (this.#allow()) this.#receive(readCommand(text));
  }

  receiveBinary(): void {
    if (this.#allow()) this.#receive(refuseBinary());
  }

  /** Handles an incoming message that exceeds the size limit. */
  oversize(): void {
    this.close("message-too-big");
  }

  drained(): void {
    this.#delivery.drained();
  }

  closed(): void {
    const { counters } = this.#host;
    if (this.isOpen) counters.closed.client += 1;
    if (this.#phase.kind !== "closed") countGone(counters, this.#delivery.framing);
    this.#delivery.end();
    this.#phase = CLOSED;
    this.#host.gone(this);
  }

  /** Sends nothing more: a close frame follows, or was sent. The session may still be open. */
  silence(): void {
    this.#delivery.end();
    this.#commands?.clear();
  }

  /** Closes the connection, and terminates it after the grace period. Later calls do nothing. */
  close(reason: CloseReason): void {
    if (!this.isOpen) return;
    this.#host.counters.closed[reason] += 1;
    this.silence();
    this.#phase = { kind: "closing", deadlineMs: this.#host.monotonicMs() + this.#host.limits.closeGraceMs };
    this.#host.watch(this, "closing", true);
    this.#delivery.socket.close(reason);
  }

  /** Asks the client to reconnect later. Delivery continues until the connection is closed. */
  goAway(reconnectAfterMs: number, windowMs: number): void {
    if (this.isOpen) this.#delivery.write(goawayText(reconnectAfterMs, windowMs));
  }

  /** Checks deadlines. Called about once a second while the session is watched. */
  check(nowMs: number): void {
    const phase = this.#phase;
    if (phase.kind === "closing" && nowMs >= phase.deadlineMs) this.#delivery.socket.terminate();
    const awaitsResponse = this.#isResuming || this.#commands?.isEmpty === false;
    if (phase.kind === "waiting" && nowMs >= phase.deadlineMs && !awaitsResponse) this.close("no-command");
    this.#delivery.check(nowMs);
    if (this.#aheadUntilMs !== undefined) this.ready();
  }

  ready(): void {
    const queue = this.#commands;
    if (!queue) return;
    const canAnswer = (inbound: Inbound) => this.#canAnswer(inbound);
    for (let next = queue.next(canAnswer); next; next = queue.next(canAnswer)) this.#answer(next);
  }

  watchBehind(on: boolean): void {
    this.#host.watch(this, "behind", on);
  }

  tooSlow(): void {
    this.close("slow-consumer");
  }

  fail(error: unknown): void {
    this.#host.onError(error);
    this.close("internal");
  }

  get #queue(): CommandQueue {
    this.#commands ??= new CommandQueue(this.#host.limits);
    return this.#commands;
  }

  /** Counts a frame. If it exceeds the rate, rejects it and returns false. */
  #allow(): boolean {
    if (!this.isOpen) return false;
    const error = this.#queue.countFrame(this.#host.monotonicMs());
    if (error) this.#receive({ kind: "refused", id: undefined, error });
    return error === undefined;
  }

  /**
   * Answers now, or once the socket and the delivery allow it. Closes the connection if too many
   * commands wait.
   */
  #receive(inbound: Inbound): void {
    if (!this.#commands && this.#canAnswer(inbound)) this.#answer(inbound);
    else if (this.#queue.defer(inbound)) this.ready();
    else this.close("rate-limited");
  }

  #canAnswer(inbound: Inbound): boolean {
    if (this.#isResuming) return false;
    if (inbound.kind === "refused" || inbound.command.type === "ping") return this.#delivery.hasRoom;
    // The response contains the client's cursor, which changes until the client is live.
    return this.#delivery.isLive && !this.#mustWait(inbound.command);
  }

  /**
   * Returns whether a resume must wait, because another server may already have sent this client
   * events that this server has yet to read. Closes the connection if the wait is over and this
   * server may still lack events.
   */
  #mustWait(command: Command): boolean {
    const { head, limits } = this.#host;
    if (limits.aheadWaitMs === 0 || command.type !== "subscribe" || command.after === undefined) return false;
    const { epoch, seq } = parseCursor(command.after) ?? head.cursor;
    const nowMs = this.#host.monotonicMs();
    this.#aheadUntilMs ??= nowMs + limits.aheadWaitMs;
    const isAhead = epoch === head.cursor.epoch && seq > head.cursor.seq;
    const mustWait = isAhead && nowMs < this.#aheadUntilMs;
    this.#host.watch(this, "ahead", mustWait);
    if (!isAhead || mustWait || !this.#host.mayLackEvents()) return mustWait;
    // Another server may have the events, so the client keeps its cursor.
    this.close("draining");
    return true;
  }

  #answer(inbound: Inbound): void {
    try {
      if (inbound.kind === "refused") this.#refuse(inbound.id, inbound.error);
      else this.#execute(inbound.command);
    } catch (error) {
      if (!(error instanceof FlarewireError)) this.fail(error);
      else this.#refuse(inbound.kind === "command" ? inbound.command.id : inbound.id, error);
    }
  }

  #refuse(id: CommandId | undefined, error: FlarewireError): void {
    const reason = this.#queue.countRejection(error, this.#host.monotonicMs());
    if (reason) this.close(reason);
    else this.#delivery.write(errorText(id, error));
  }

  #execute(command: Command): void {
    switch (command.type) {
      case "ping":
        this.#delivery.write(pongText(command.id, this.#host.wallMs()));
        break;
      case "unsubscribe":
        this.#subscriptions = removeFrom(this.#subscriptions, command.id);
        this.#delivery.move(selectionOf(this.#subscriptions));
        this.#delivery.write(unsubscribedText(command.id, this.#host.head.cursor));
        break;
      case "subscribe":
        this.#subscribe(command, {
          mask: maskOf([
            ...resolveChannels(command.channels, this.#rights),
            ...(command.mirror ? CHANNELS : []),
          ]),
          filter: compileFilter(command.filter),
        });
        break;
      default:
        assertNever(command);
    }
  }

  #subscribe(command: Subscribe, part: SelectionPart): void {
    if (command.mirror) this.#host.checkMirror(this.#rights);
    checkNew(this.#subscriptions, { id: command.id, ...part }, this.#host.limits.subscriptions);
    this.#setMode(command);
    if (command.after === undefined) this.#start(command, part);
    else if (this.#phase.kind === "waiting") this.#resume(command, part, command.after);
    else {
      const message = `after is ${quote(command.after)}, but the connection already has a cursor; send it with the first subscription only`;
      throw new FlarewireError("cursor-conflict", message, { field: "after" });
    }
  }

  /**
   * Sets the connection's mode with the first subscription. Throws if a later one names the other
   * mode.
   */
  #setMode({ mode }: Subscribe): void {
    const latest = mode === "latest";
    if (this.#phase.kind === "waiting") this.#delivery.latest = latest;
    else if (mode !== undefined && latest !== this.#delivery.latest) {
      const message = `mode is ${quote(mode)}, but the connection has the other mode; set it with the first subscription`;
      throw new FlarewireError("invalid-parameter", message, { field: "mode" });
    }
  }

  /**
   * Starts at the head. Sends the lists of the channels that the connection did not follow yet,
   * unless the client declined them.
   */
  #start(command: Subscribe, part: SelectionPart, lost?: Lost): void {
    const { id, snapshot, mirror } = command;
    const { head } = this.#host;
    const { mask, filter } = part;
    if (lost) this.#host.counters.resets[lost.reason] += 1;
    const added = channelsOf(mask & ~selectionOf(this.#subscriptions).mask);
    this.#follow(command, part);
    this.#delivery.move(selectionOf(this.#subscriptions));
    const channels = channelsOf(mask);
    const answer = { id, channels, filter, cursor: head.cursor, resumed: "reset", lost } as const;
    if (snapshot === false) this.#delivery.write(subscribedText(answer));
    else {
      const text = subscribedText(answer, mirror ? this.#host.base() : undefined);
      // A mirror needs `base` too, which is not split.
      const maxMessage = mirror ? undefined : this.#delivery.maxMessage;
      this.#delivery.writeLists(text, [{ mask: maskOf(added), filter }], maxMessage);
    }
  }

  #resume(command: Subscribe, part: SelectionPart, text: string): void {
    const { head, history, log } = this.#host;
    const { cursor } = head;
    const after = readCursor(text);
    const ahead = after.seq > cursor.seq ? ({ reason: "ahead", events: null } as const) : undefined;
    const lost = log.strayed(after) ?? ahead;
    const answer = {
      id: command.id,
      channels: channelsOf(part.mask),
      filter: part.filter,
      cursor: after,
      resumed: "full",
    } as const;
    if (lost) this.#start(command, part, lost);
    else if (after.seq === cursor.seq && !(part.filter?.selectsItems && history.lacksMarks(after.seq))) {
      this.#follow(command, part);
      this.#host.counters.resumed += 1;
      this.#delivery.move(selectionOf([part]));
      this.#delivery.write(subscribedText(answer));
    } else {
      this.#isResuming = true;
      this.#delivery.resume(selectionOf([part]), after, (lost) => {
        this.#isResuming = false;
        if (lost) return this.#start(command, part, lost);
        this.#host.counters.resumed += 1;
        this.#follow(command, part);
        this.#delivery.write(subscribedText(answer));
        this.ready();
      });
    }
  }

  #follow({ id, mirror, max_message }: Subscribe, part: SelectionPart): void {
    this.#subscriptions = addTo(this.#subscriptions, { id, ...part });
    if (!mirror) this.#delivery.maxMessage ??= max_message;
    if (this.#phase.kind !== "waiting") return;
    this.#phase = FOLLOWING;
    this.#host.watch(this, "unsubscribed", false);
  }
}
