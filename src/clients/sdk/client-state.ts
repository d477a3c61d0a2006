import type { AnyFlare, ChainFlare, ExchangeFlare, Flare } from "../../base/model/index.ts";
import type { EventName } from "../../base/protocol/event.ts";
import type { EventMessage, Lost, Subscribed } from "../../base/protocol/messages.ts";
import { applyEvent, type View } from "../../base/protocol/view/view.ts";
import { type End, ended } from "./transport/end.ts";
import type { TransportMessage } from "./transport/transport.ts";

/** An event as received, discriminated by `name`. `F`: the form of its flare. */
export type StreamEvent<N extends EventName = EventName, F extends AnyFlare = Flare> = WithFlare<
  Extract<EventMessage, { name: N }>,
  F
>;

type WithFlare<E, F> = E extends { readonly data: infer D extends { readonly flare: AnyFlare } }
  ? Omit<E, "data"> & { readonly data: FlareData<D, F> }
  : E;
type FlareData<D, F> = D extends object ? Omit<D, "flare"> & { readonly flare: F } : never;

/** The form of the flares on these channels. For names unknown to the types: {@link Flare}. */
export type FlareOn<C extends string> = [NamedFlare<C>] extends [never] ? Flare : NamedFlare<C>;
type NamedFlare<C extends string> = C extends `flares.exchange.${string}`
  ? ExchangeFlare
  : C extends `flares.${ChainFlare["group"]}.${string}`
    ? ChainFlare
    : C extends "*" | `flares.${string}`
      ? Flare
      : never;

/** `view` replaces all previous data: at the start, and whenever the lists cannot be continued. */
export interface Reset {
  readonly name: "reset";
  /**
   * With `epoch-changed` and `expired`, the server could not resume. With `mismatch`, an event did
   * not fit the view. `changed` follows {@link Stream.update}. With `conflated`, mode `latest`
   * omitted events.
   */
  readonly reason: "started" | "epoch-changed" | "expired" | "mismatch" | "changed" | "conflated";
  /** Maximum number of missed events; `null` if unknown. 0 at the start and after an update. */
  readonly lost: number | null;
  readonly cursor: string;
  /**
   * The lists at `cursor`. With `filter.names`, no later event keeps them up to date, and a reader
   * that begins late or a reset `conflated` gets `undefined`.
   */
  readonly view: View | undefined;
}

export type StreamItem<F extends AnyFlare = Flare> = StreamEvent<EventName, F> | Reset;

/** A client's cursor, and the lists there. */
export interface ClientState {
  /** `undefined` before the first response, unless the stream resumes, and after a mismatch. */
  readonly cursor: string | undefined;
  /**
   * `undefined` if no lists are maintained, and before the first response that has them. The
   * response to a resume has none.
   */
  readonly view: View | undefined;
  /**
   * Whether a response has arrived. If a later response starts over without `lost`, this client
   * asked for it after a mismatch.
   */
  readonly started: boolean;
}

/** The next state, and the item to emit, if any. */
interface Transition {
  readonly client: ClientState;
  readonly item?: StreamItem<AnyFlare>;
}

/** The response to a subscription, or the new lists after an update. */
export type Start = Omit<Subscribed, "id" | "channels" | "lost"> & {
  readonly lost?: Lost | { readonly reason: "changed"; readonly events: number } | undefined;
};

/**
 * Processes a message of any mode but `latest`. Throws {@link End} or another error if the
 * connection must end.
 */
export function applyMessage(client: ClientState, message: TransportMessage): Transition {
  if (message.type === "subscribed") return applySubscribed(client, message);
  if (message.type === "event") return acceptEvent(client, message);
  const isPosition = message.type === "heartbeat" || message.type === "page";
  return { client: isPosition ? advanceTo(client, message.cursor) : client };
}

/** Processes a subscription's response. Throws {@link End} if the server is behind the cursor. */
function applySubscribed(client: ClientState, { cursor, lost, resumed, snapshot }: Start): Transition {
  if (resumed === "full") return { client: { ...client, started: true } };
  const view = snapshot as View | undefined;
  const { reason, events } =
    lost ??
    (client.started
      ? { reason: "mismatch" as const, events: null }
      : { reason: "started" as const, events: 0 });
  if (reason === "ahead") throw apart(client, cursor);
  return {
    client: { cursor, view, started: true },
    item: { name: "reset", reason, lost: events, cursor, view },
  };
}

/**
 * Processes an event, unless the client already has it. Throws {@link End} after a gap or for
 * another epoch, and another error if the event does not fit.
 */
export function acceptEvent(client: ClientState, event: EventMessage): Transition {
  const seq = seqOf(client, event.cursor);
  if (event.seq <= seq) return { client };
  if (!(event.prev <= seq)) throw ended("backoff", `an event before ${event.cursor} is missing`);
  return {
    client: { ...client, cursor: event.cursor, view: client.view && applyEvent(client.view, event) },
    item: event,
  };
}

/**
 * Advances to a cursor up to which everything was sent. Ignores an older cursor: the server of a
 * new connection may be behind this client.
 */
export function advanceTo(client: ClientState, cursor: string): ClientState {
  const seq = seqOf(client, cursor);
  return positionOf(cursor).seq > seq ? { ...client, cursor } : client;
}

/** Returns the client's seq. Throws {@link End} if `cursor` is of another epoch. */
export function seqOf(client: ClientState, cursor: string): number {
  const { epoch, seq } = positionOf(`${client.cursor}`);
  if (epoch !== positionOf(cursor).epoch) throw apart(client, cursor);
  return seq;
}

function apart({ cursor }: ClientState, server: string): End {
  return ended("backoff", `the server is at ${server}, and this client at ${cursor}`);
}

export function positionOf(cursor: string) {
  const [epoch, seq = 0] = cursor.split("-");
  return { epoch, seq: Number(seq) };
}
