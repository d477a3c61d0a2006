import type { Flare } from "../../../src/base/model/index.ts";
import type { EventMessage, FlareChannel } from "../../../src/base/protocol/index.ts";
import {
  type AlertRule,
  AlertRule as AlertRuleSchema,
} from "../../../src/extensions/alerts/rules/alert-rule.ts";
import type { RuleJudge } from "../../../src/extensions/alerts/rules/rule-judge.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../support/world/samples.ts";

export const ruleOf = (more: object): AlertRule => AlertRuleSchema.parse({ name: "rule", ...more });
export const START = Date.UTC(2026, 0, 1);

/** A list of flares. Each change by the test returns its event. */
export class Flares {
  readonly channel: FlareChannel;
  #seq = 0;

  constructor(channel: FlareChannel = "flares.pro") {
    this.channel = channel;
  }

  start(name: string, atS: number, liquidity = "0"): EventMessage {
    const flare = this.#flare(name, liquidity);
    const data = {
      op: "insert" as const,
      index: 0,
      flare,
      why: SAMPLE_EXPLANATION,
      cause: "detected" as const,
    };
    return { ...this.#envelope(atS), name: "flare-started", channel: this.channel, data };
  }

  set(name: string, atS: number, liquidity: string): EventMessage {
    const data = { op: "set" as const, id: this.#flare(name, "0").id, set: { liquidity } };
    return { ...this.#envelope(atS), name: "flare-updated", channel: this.channel, data };
  }

  surge(name: string, atS: number, number = 1): EventMessage {
    const flare = this.#flare(name, "0");
    const surge = { number, at: new Date(START + atS * 1_000).toISOString(), price: "0.3", score: 6.5 };
    const why = { ...SAMPLE_EXPLANATION, surge };
    const data = { op: "set" as const, id: flare.id, set: {}, flare, why, surge };
    return { ...this.#envelope(atS), name: "flare-surged", channel: this.channel, data };
  }

  finish(name: string, atS: number): EventMessage {
    const flare = this.#flare(name, "0");
    const ended = { flare, why: null, cause: "faded" as const, outcome: null };
    const data = { op: "remove" as const, id: flare.id, ...ended };
    return { ...this.#envelope(atS), name: "flare-finished", channel: this.channel, data };
  }

  /** `ONE` and `ONE2` are two flares of one token, the second with its address in capitals. */
  #flare(name: string, liquidity: string): Flare {
    const symbol = name.replace(/\d/g, "");
    const hex = Buffer.from(symbol.padEnd(20, "_")).toString("hex");
    const address = `0x${symbol === name ? hex : hex.toUpperCase()}`;
    return { ...SAMPLE_FLARE, id: name, liquidity, token: { ...SAMPLE_FLARE.token, symbol, address } };
  }

  #envelope(atS: number) {
    this.#seq += 1;
    const observed_at = new Date(START + atS * 1_000).toISOString();
    const cursor = `test1-${this.#seq}`;
    return {
      type: "event" as const,
      cursor,
      seq: this.#seq,
      prev: this.#seq - 1,
      emitted_at: observed_at,
      observed_at,
    };
  }
}

/** Returns the types of the alerts about each message. */
export const reported = (judge: RuleJudge, messages: readonly EventMessage[]) =>
  messages.map((message) =>
    judge
      .take(message)
      .map(({ type }) => type)
      .join(),
  );
