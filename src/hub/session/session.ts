import { assertNever } from "../../lib/assert-never.ts";
import {
  type CloseReason,
  type Command,
  type CommandId,
  compileFilter,
  FlarewireError,
  type Lost,
  type Plan,
  parseCursor,
  type Subscribe,
} from "../../protocol/index.ts";
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
import { Subscriptions } from "./subscriptions.ts";

/** `waiting`: nothing was subscribed to yet, and `untilMs` is the deadline. `closing`: told to go, ended hard at `untilMs`. */
type Phase =
  | { readonly kind: "waiting"; readonly untilMs: number }
  | { readonly kind: "following" }
  | { readonly kind: "closing"; readonly untilMs: number }
  | { readonly kind: "closed" };

const FOLLOWING: Phase = { kind: "following" };
const CLOSED: Phase = { kind: "closed" };

/**
 * One connection: its conversation. The transport tells it what comes in and when there is room; what goes out it writes to the
 * socket, in order. What it follows, and from where, is its {@link Delivery}'s.
 */
export class Session implements DeliveryOwner {
  readonly #host: SessionHost<Session>;
  readonly #socket: Socket;
  readonly #delivery: Delivery;
  /** Made with the first command that comes in: most clients ask by their address, and never send one. */
  #held: CommandQueue | undefined;
  readonly #subscriptions: Subscriptions;
  readonly #plan: Plan | undefined;
  readonly #framing: Framing;
  #phase: Phase;
  /** Until when the answer to the first `after` may wait. */
  #earlyUntilMs: number | undefined;
  /** The answer to the first `after` waits for the log. */
  #isResuming = false;

  /** Writes `hello`, then answers the subscription of the address, which has passed `checkQuery`. `plan`: what may be followed; without one, all. */
  constructor(
    host: SessionHost<Session>,
    socket: Socket,
    framing: Framing,
    query: ConnectQuery,
    plan: Plan | undefined,
  ) {
    this.#host = host;
    this.#socket = socket;
    this.#plan = plan;
    this.#subscriptions = new Subscriptions(host.limits.subscriptions);
    this.#phase = { kind: "waiting", untilMs: host.monotonicMs() + host.limits.firstCommandWithinMs };
    host.watch(this, "unsubscribed", true);
    this.#framing = framing;
    countOpened(host.tally, framing);
    this.#delivery = new Delivery(host, socket, framing, this);
    this.#delivery.write(host.hello(plan));
    if (query.channels) this.#take({ kind: "command", command: subscribeOf(query, query.channels) });
  }

  /** True until it closes or is closed: what comes in is answered. */
  get isOpen(): boolean {
    return this.#phase.kind === "waiting" || this.#phase.kind === "following";
  }

  /** True while there is more to be sent than the client takes: it may be slow to answer anything. */
  get isBehind(): boolean {
    return this.isOpen && !this.#delivery.isLive;
  }

  /** How many events it is behind the head. */
  get lag(): number {
    return this.#delivery.lag;
  }

  /** A text message came in. */
  receiveText(text: string): void {
    if (this.#allow()) this.#take(readCommand(text));
  }

  /** A binary message came in. */
  receiveBinary(): void {
    if (this.#allow()) this.#take(refuseBinary());
  }

  /** A message above the limit of inbound bytes is coming in. */
  oversize(): void {
    this.close("message-too-big");
  }

  /** The socket has room again. */
  drained(): void {
    this.#delivery.drained();
  }

  /** The connection is over, for whatever reason. */
  closed(): void {
    const { tally } = this.#host;
    if (this.isOpen) tally.closed.client += 1;
    if (this.#phase.kind !== "closed") countGone(tally, this.#framing);
    this.#delivery.end();
    this.#phase = CLOSED;
    this.#host.gone(this);
  }

  /** Tells the client to go, and why; the connection ends hard if it does not within the grace. The first reason counts. */
  close(reason: CloseReason): void {
    if (!this.isOpen) return;
    this.#host.tally.closed[reason] += 1;
    this.#delivery.end();
    this.#held?.clear();
    this.#phase = { kind: "closing", untilMs: this.#host.monotonicMs() + this.#host.limits.closeGraceMs };
    this.#host.watch(this, "closing", true);
    this.#socket.close(reason);
  }

  /** Tells the client when to be gone; until then everything goes on. */
  goAway(reconnectAfterMs: number, windowMs: number): void {
    if (this.isOpen) this.#delivery.write(goawayText(reconnectAfterMs, windowMs));
  }

  /** Looks at the deadlines; called about once a second while the session is watched. */
  check(nowMs: number): void {
    const phase = this.#phase;
    if (phase.kind === "closing" && nowMs >= phase.untilMs) this.#socket.terminate();
    if (phase.kind === "waiting" && nowMs >= phase.untilMs) this.close("no-command");
    this.#delivery.check(nowMs);
    if (this.#earlyUntilMs !== undefined) this.ready();
  }

  /** See DeliveryOwner. */
  ready(): void {
    const inbox = this.#held;
    if (!inbox) return;
    const canAnswer = (inbound: Inbound) => this.#canAnswer(inbound);
    for (let next = inbox.next(canAnswer); next; next = inbox.next(canAnswer)) this.#answer(next);
  }

  /** See DeliveryOwner. */
  watchBehind(on: boolean): void {
    this.#host.watch(this, "behind", on);
  }

  /** See DeliveryOwner. */
  tooSlow(): void {
    this.close("slow-consumer");
  }

  /** See DeliveryOwner. */
  fail(error: unknown): void {
    this.#host.onError(error);
    this.close("internal");
  }

  get #inbox(): CommandQueue {
    this.#held ??= new CommandQueue(this.#host.limits);
    return this.#held;
  }

  /** False when the frame is above the rate, which is then the answer. */
  #allow(): boolean {
    if (!this.isOpen) return false;
    const error = this.#inbox.overRate(this.#host.monotonicMs());
    if (error) this.#take({ kind: "refused", id: undefined, error });
    return error === undefined;
  }

  /** Answers now, or as soon as the socket and the client's place let it. */
  #take(inbound: Inbound): void {
    if (!this.#held && this.#canAnswer(inbound)) this.#answer(inbound);
    else if (this.#inbox.park(inbound)) this.ready();
    else this.close("rate-limited");
  }

  #canAnswer(inbound: Inbound): boolean {
    if (this.#isResuming) return false;
    if (inbound.kind === "refused" || inbound.command.type === "ping") return this.#delivery.hasRoom;
    // The answer names the client's place, which moves until it is the head.
    return this.#delivery.isLive && !this.#isEarly(inbound.command);
  }

  /** True while the client's cursor lies beyond the head, and that may be because this server has not heard yet of what its leader told the client. */
  #isEarly(command: Command): boolean {
    const { head, limits } = this.#host;
    if (limits.aheadWaitMs === 0 || command.type !== "subscribe" || command.after === undefined) return false;
    const { epoch, seq } = parseCursor(command.after) ?? head.cursor;
    const nowMs = this.#host.monotonicMs();
    this.#earlyUntilMs ??= nowMs + limits.aheadWaitMs;
    const isAhead = epoch === head.cursor.epoch && seq > head.cursor.seq;
    const isEarly = isAhead && nowMs < this.#earlyUntilMs;
    this.#host.watch(this, "early", isEarly);
    return isEarly;
  }

  #answer(inbound: Inbound): void {
    try {
      if (inbound.kind === "refused") this.#refuse(inbound.id, inbound.error);
      else this.#obey(inbound.command);
    } catch (error) {
      if (!(error instanceof FlarewireError)) this.fail(error);
      else this.#refuse(inbound.kind === "command" ? inbound.command.id : inbound.id, error);
    }
  }

  #refuse(id: CommandId | undefined, error: FlarewireError): void {
    const reason = this.#inbox.refused(error, this.#host.monotonicMs());
    if (reason) this.close(reason);
    else this.#delivery.write(errorText(id, error));
  }

  #obey(command: Command): void {
    switch (command.type) {
      case "ping":
        this.#delivery.write(pongText(command.id, this.#host.wallMs()));
        break;
      case "unsubscribe":
        this.#subscriptions.remove(command.id);
        this.#delivery.move(this.#subscriptions.selection);
        this.#delivery.write(unsubscribedText(command.id, this.#host.head.cursor));
        break;
      case "subscribe":
        this.#subscribe(command, {
          mask: maskOf(resolveChannels(command.channels, this.#plan)),
          filter: compileFilter(command.filter),
        });
        break;
      default:
        assertNever(command);
    }
  }

  #subscribe(command: Subscribe, part: SelectionPart): void {
    if (command.mirror) this.#host.checkMirror(this.#plan);
    this.#subscriptions.check(command.id, part);
    this.#settleMode(command);
    if (command.after === undefined) this.#start(command, part);
    else if (this.#phase.kind === "waiting") this.#resume(command, part, command.after);
    else {
      const had = `after is ${quote(command.after)}, and the connection has its cursor`;
      throw new FlarewireError("cursor-conflict", `${had}; it goes with the first subscription`, {
        field: "after",
      });
    }
  }

  /** The first subscription's mode is the connection's. */
  #settleMode({ mode }: Subscribe): void {
    const latest = mode === "latest";
    if (this.#phase.kind === "waiting") this.#delivery.latest = latest;
    else if (mode !== undefined && latest !== this.#delivery.latest) {
      const message = `mode is ${quote(mode)}, and the connection has the other; it goes with the first subscription`;
      throw new FlarewireError("invalid-parameter", message, { field: "mode" });
    }
  }

  /** Begins at the head, with the lists of the channels that are new to the connection. */
  #start({ id, snapshot, mirror }: Subscribe, part: SelectionPart, lost?: Lost): void {
    const { head, history } = this.#host;
    const { mask, filter } = part;
    if (lost) this.#host.tally.resets[lost.reason] += 1;
    const added = channelsOf(mask & ~this.#subscriptions.selection.mask);
    this.#follow(id, part);
    this.#delivery.move(this.#subscriptions.selection);
    const channels = channelsOf(mask);
    const answer = { id, channels, filter, cursor: head.cursor, resumed: "reset", lost } as const;
    const bare = snapshot === false && !lost;
    const lists = () =>
      filter ? history.snapshotText([{ mask: maskOf(added), filter }]) : head.snapshotText(added);
    const base = mirror === true && !bare ? this.#host.base() : undefined;
    this.#delivery.write(subscribedText(answer, base), bare ? undefined : lists());
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
    else if (after.seq === cursor.seq && !(part.filter?.selectsItems && history.isUnmarked(after.seq))) {
      this.#follow(command.id, part);
      this.#host.tally.resumed += 1;
      this.#delivery.move(selectionOf([part]));
      this.#delivery.write(subscribedText(answer));
    } else {
      this.#isResuming = true;
      this.#delivery.resume(selectionOf([part]), after, (lost) => {
        this.#isResuming = false;
        if (lost) return this.#start(command, part, lost);
        this.#host.tally.resumed += 1;
        this.#follow(command.id, part);
        this.#delivery.write(subscribedText(answer));
        this.ready();
      });
    }
  }

  #follow(id: CommandId, part: SelectionPart): void {
    this.#subscriptions.add(id, part);
    if (this.#phase.kind !== "waiting") return;
    this.#phase = FOLLOWING;
    this.#host.watch(this, "unsubscribed", false);
  }
}
