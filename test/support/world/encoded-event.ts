import type { Abi } from "ox/Abi";
import * as AbiEvent from "ox/AbiEvent";
import * as AbiParameters from "ox/AbiParameters";

interface EncodedEvent {
  readonly topics: readonly string[];
  readonly data: string;
}

/** Encodes an event as its contract would log it. Arguments are named as in the ABI. */
export function encodeEvent(abi: Abi, name: string, args: Readonly<Record<string, unknown>>): EncodedEvent {
  const event = AbiEvent.fromAbi(abi, name as never) as AbiEvent.AbiEvent;
  const plain = event.inputs.filter(({ indexed }) => indexed !== true);
  const { topics } = AbiEvent.encode(event, args);
  const data = AbiParameters.encode(plain, plain.map(({ name = "" }) => args[name]) as never);
  return { topics: topics as readonly string[], data };
}
