import type { Alert } from "../alert.ts";
import type { AlertStore, Expired, RulePosition } from "./alert-store.ts";

export function createMemoryAlertStore(): AlertStore {
  return new MemoryAlertStore();
}

class MemoryAlertStore implements AlertStore {
  readonly #positions = new Map<string, RulePosition>();
  readonly #queues = new Map<string, Map<string, Alert>>();
  readonly #expired = new Map<string, Expired>();
  readonly #notices = new Map<string, Alert>();
  readonly #disabled = new Map<string, string>();

  position(rule: string): RulePosition | undefined {
    return this.#positions.get(rule);
  }

  commit(rule: string, position: RulePosition, alerts: readonly Alert[]): void {
    this.#positions.set(rule, position);
    for (const alert of alerts) {
      const queue = this.#queue(alert.webhook);
      if (!queue.has(alert.id)) queue.set(alert.id, alert);
    }
  }

  /** No operation here can fail halfway. */
  together(work: () => void): void {
    work();
  }

  first(webhook: string): Alert | undefined {
    const [first] = this.#queue(webhook).values();
    return first;
  }

  remove({ webhook, id }: Alert): void {
    this.#queue(webhook).delete(id);
  }

  expire(webhook: string, beforeMs: number, maxCount: number): number {
    const queue = this.#queue(webhook);
    const dropped: Alert[] = [];
    for (const alert of queue.values()) {
      if (alert.madeAtMs >= beforeMs && queue.size <= maxCount) break;
      queue.delete(alert.id);
      dropped.push(alert);
    }
    const [first] = dropped;
    const last = dropped.at(-1);
    if (!first || !last) return 0;
    const before = this.#expired.get(webhook);
    this.#expired.set(webhook, {
      count: (before?.count ?? 0) + dropped.length,
      firstMadeAtMs: before?.firstMadeAtMs ?? first.madeAtMs,
      lastMadeAtMs: last.madeAtMs,
    });
    return dropped.length;
  }

  expired(webhook: string): Expired | undefined {
    return this.#expired.get(webhook);
  }

  announce(notice: Alert): void {
    this.#notices.set(notice.webhook, notice);
    this.#expired.delete(notice.webhook);
  }

  notice(webhook: string): Alert | undefined {
    return this.#notices.get(webhook);
  }

  forgetNotice(webhook: string): void {
    this.#notices.delete(webhook);
  }

  waiting(webhook: string): { readonly count: number; readonly oldestMadeAtMs: number | undefined } {
    return { count: this.#queue(webhook).size, oldestMadeAtMs: this.first(webhook)?.madeAtMs };
  }

  disabled(webhook: string): string | undefined {
    return this.#disabled.get(webhook);
  }

  disable(webhook: string, mark: string | undefined): void {
    this.#queue(webhook).clear();
    this.#expired.delete(webhook);
    this.#notices.delete(webhook);
    if (mark === undefined) this.#disabled.delete(webhook);
    else this.#disabled.set(webhook, mark);
  }

  retain(rules: ReadonlySet<string>, webhooks: ReadonlySet<string>): void {
    for (const rule of this.#positions.keys()) if (!rules.has(rule)) this.#positions.delete(rule);
    for (const map of [this.#queues, this.#expired, this.#notices, this.#disabled])
      for (const webhook of map.keys()) if (!webhooks.has(webhook)) map.delete(webhook);
  }

  close(): void {}

  #queue(webhook: string): Map<string, Alert> {
    const queue = this.#queues.get(webhook) ?? new Map<string, Alert>();
    if (queue.size === 0) this.#queues.set(webhook, queue);
    return queue;
  }
}
