import { toRlp } from "viem";
import { keccak } from "./keccak.ts";

/**
 * The fields of an Avalanche C-Chain header since Helicon, in the order in which its hash covers
 * them: avalanchego, graft/coreth/plugin/evm/customtypes/gen_header_serializable_rlp.go.
 */
const FIELDS = [
  ...["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"],
  ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp", "extraData", "mixHash", "nonce"],
  ...["extDataHash", "baseFeePerGas", "extDataGasUsed", "blockGasCost", "blobGasUsed", "excessBlobGas"],
  ...["parentBeaconBlockRoot", "timestampMilliseconds", "minDelayExcess", "targetExponent"],
  ...["minPriceExponent", "settledHeight", "settledGasUnix", "settledGasNumerator", "settledExcess"],
];
/** Fields of the response that are not part of the header. */
const OTHERS = ["hash", "size", "totalDifficulty", "transactions", "uncles", "blockExtraData"];
const KNOWN: ReadonlySet<string> = new Set([...FIELDS, ...OTHERS]);

/**
 * Returns whether a header, as a node returned it, does not match the hash that it claims. Returns
 * `false` if one of {@link FIELDS} is missing or an unknown field is present, because a later
 * upgrade may have changed the hash.
 */
export function contradictsHash(header: Readonly<Record<string, unknown> & { hash?: unknown }>): boolean {
  const values = FIELDS.map((name) => header[name]);
  const hexes = values.filter((value) => typeof value === "string");
  if (hexes.length < FIELDS.length || Object.keys(header).some((name) => !KNOWN.has(name))) return false;
  const hash = Buffer.from(keccak(toRlp(hexes.map(bytesOf), "bytes"))).toString("hex");
  return `0x${hash}` !== String(header.hash).toLowerCase();
}

/**
 * An odd number of digits means an integer, which is padded to whole bytes. RLP encodes the integer
 * 0 as no bytes.
 */
function bytesOf(hex: string): Uint8Array {
  const digits = hex === "0x0" ? "" : hex.slice(2);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
}
