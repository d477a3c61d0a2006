import { EventEmitter } from "eventemitter3";
import type { EventBody, EventName } from "../protocol/index.ts";

/** An event as a program that embeds Flarewire hears it: with the cursor behind it. */
export type GatewayEvent<N extends EventName = EventName> = Extract<EventBody, { name: N }> & {
  readonly cursor: string;
};

/** What {@link GatewayEvents} emits: each event under its own name, and all of them as `event`. */
export type GatewayEventMap = { readonly [N in EventName]: (event: GatewayEvent<N>) => void } & {
  readonly event: (event: GatewayEvent) => void;
};

type Told<N extends keyof GatewayEventMap> = EventEmitter.EventListener<GatewayEventMap, N>;

/**
 * Tells a program that embeds Flarewire what happens. A listener that fails, at once or later as a promise, disturbs neither the others, who hear the event all
 * the same, nor the process.
 */
export class GatewayEvents extends EventEmitter<GatewayEventMap> {
  readonly #onError: (error: unknown) => void;
  /** What stands for each listener; the same again for one that is given twice, so that it can be taken away. */
  readonly #guarded = new WeakMap<object, object>();

  /** `onError` is told what a listener threw. */
  constructor(onError: (error: unknown) => void) {
    super();
    this.#onError = onError;
  }

  override on<N extends keyof GatewayEventMap>(name: N, listener: Told<N>, context?: unknown): this {
    return super.on(name, this.#guard(listener), context);
  }

  override addListener<N extends keyof GatewayEventMap>(name: N, listener: Told<N>, context?: unknown): this {
    return this.on(name, listener, context);
  }

  override once<N extends keyof GatewayEventMap>(name: N, listener: Told<N>, context?: unknown): this {
    return super.once(name, this.#guard(listener), context);
  }

  override off<N extends keyof GatewayEventMap>(
    name: N,
    listener?: Told<N>,
    context?: unknown,
    once?: boolean,
  ): this {
    return super.removeListener(name, listener && this.#guard(listener), context, once);
  }

  override removeListener<N extends keyof GatewayEventMap>(
    name: N,
    listener?: Told<N>,
    context?: unknown,
    once?: boolean,
  ): this {
    return this.off(name, listener, context, once);
  }

  /** Tells of a batch, of which `cursor` is the end. */
  tell(batch: readonly EventBody[], cursor: string): void {
    // The emitter's types cannot follow a name and its event through a union; GatewayEventMap holds for each of them.
    const emit = this.emit.bind(this) as (name: string, event: GatewayEvent) => boolean;
    for (const body of batch) {
      const event = { ...body, cursor } as GatewayEvent;
      emit("event", event);
      emit(event.name, event);
    }
  }

  #guard<L extends (event: never) => unknown>(listener: L): L {
    const held = this.#guarded.get(listener);
    const onError = this.#onError;
    // Called at once; what it throws, now or later, becomes a rejection.
    async function call(this: unknown, event: never): Promise<void> {
      await listener.call(this, event);
    }
    function guarded(this: unknown, event: never): void {
      call.call(this, event).catch(onError);
    }
    const made = held ?? guarded;
    // The emitter itself takes away, by what stands for it, a listener that hears once.
    this.#guarded.set(listener, made).set(made, made);
    // It is called as the listener is, and its result is nobody's.
    return made as unknown as L;
  }
}
