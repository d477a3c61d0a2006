import { EventEmitter } from "eventemitter3";
import type { EventBody, EventName } from "../../base/protocol/index.ts";

/** An event for an embedding program, with the cursor after it. */
export type GatewayEvent<N extends EventName = EventName> = Extract<EventBody, { name: N }> & {
  readonly cursor: string;
};

/** Events of {@link GatewayEvents}: each under its own name, and all of them as `event`. */
export type GatewayEventMap = { readonly [N in EventName]: (event: GatewayEvent<N>) => void } & {
  readonly event: (event: GatewayEvent) => void;
};

type Listener<N extends keyof GatewayEventMap> = EventEmitter.EventListener<GatewayEventMap, N>;

/** Emits events to an embedding program. A listener's error affects nothing else. */
export class GatewayEvents extends EventEmitter<GatewayEventMap> {
  readonly #onError: (error: unknown) => void;
  /** The wrapper of each listener, so that `off` finds it. */
  readonly #guarded = new WeakMap<object, object>();

  /** @param onError Receives what a listener threw. */
  constructor(onError: (error: unknown) => void) {
    super();
    this.#onError = onError;
  }

  override on<N extends keyof GatewayEventMap>(name: N, listener: Listener<N>, context?: unknown): this {
    return super.on(name, this.#guard(listener), context);
  }

  override addListener<N extends keyof GatewayEventMap>(...args: Parameters<typeof this.on<N>>): this {
    return this.on(...args);
  }

  override once<N extends keyof GatewayEventMap>(name: N, listener: Listener<N>, context?: unknown): this {
    return super.once(name, this.#guard(listener), context);
  }

  override off<N extends keyof GatewayEventMap>(
    name: N,
    listener?: Listener<N>,
    context?: unknown,
    once?: boolean,
  ): this {
    return super.removeListener(name, listener && this.#guard(listener), context, once);
  }

  override removeListener<N extends keyof GatewayEventMap>(...args: Parameters<typeof this.off<N>>): this {
    return this.off(...args);
  }

  /** Emits a batch. `cursor` is the position after its last event. */
  emitBatch(batch: readonly EventBody[], cursor: string): void {
    // The emitter's types cannot follow a name and its event through a union.
    const emit = this.emit.bind(this) as (name: string, event: GatewayEvent) => boolean;
    for (const body of batch) {
      const event = { ...body, cursor } as GatewayEvent;
      emit("event", event);
      emit(event.name, event);
    }
  }

  #guard<L extends (event: never) => unknown>(listener: L): L {
    const known = this.#guarded.get(listener);
    const onError = this.#onError;
    // Called synchronously; whatever it throws, now or later, becomes a rejection.
    async function call(this: unknown, event: never): Promise<void> {
      await listener.call(this, event);
    }
    function guarded(this: unknown, event: never): void {
      call.call(this, event).catch(onError);
    }
    const wrapper = known ?? guarded;
    // The emitter removes a `once` listener by its wrapper.
    this.#guarded.set(listener, wrapper).set(wrapper, wrapper);
    // The wrapper takes the listener's arguments, and nobody uses its result.
    return wrapper as unknown as L;
  }
}
