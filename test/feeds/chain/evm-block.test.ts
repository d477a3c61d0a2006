import { getHashes } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  contradictionOf,
  Header,
  logsOf,
  type Receipt,
  Receipts,
} from "../../../src/feeds/chain/evm-block.ts";
import { keccak, portableKeccak } from "../../../src/feeds/chain/rpc/keccak.ts";
import { countProved } from "../../../src/feeds/chain/rpc/receipts-root.ts";
import { RECORDED, recordedHeader, recordedLogs, recordedReceipts } from "./nodes/recorded-blocks.ts";

describe.each(RECORDED)("block %s", (name) => {
  const header = Header.parse(recordedHeader(name));
  const receipts = Receipts.parse(recordedReceipts(name));

  test("[proof] the header's root matches all receipts", () => {
    expect(contradictionOf(header, receipts)).toBeUndefined();
    expect(countProved(receipts, header.receiptsRoot)).toBe(receipts.length);
    expect(logsOf(receipts).map(({ address, data }) => address + data)).toEqual(
      recordedLogs(name).map(({ address, data }) => address + data),
    );
  });

  test("[proof] a Node without a native keccak-256 computes the same root", () => {
    expect(countProved(receipts, header.receiptsRoot, portableKeccak)).toBe(receipts.length);
  });

  test("[proof] a changed, missing, added or moved log changes the root", () => {
    const at = receipts.findIndex(({ logs }) => logs.some(({ data }) => data.length > 2));
    const [victim] = receipts.slice(at);
    if (!victim) throw new Error("the block has no log with data");
    const lies: Receipt["logs"][] = [
      victim.logs.map((log) => ({
        ...log,
        data: `${log.data.slice(0, -1)}${log.data.endsWith("0") ? "1" : "0"}`,
      })),
      victim.logs.slice(1),
      [...victim.logs, ...victim.logs],
      victim.logs.map((log) => ({ ...log, address: `0x${"ab".repeat(20)}` })),
    ];
    for (const logs of lies) {
      const forged = receipts.map((one) => (one === victim ? { ...one, logs } : one));
      expect(countProved(forged, header.receiptsRoot)).toBe(-1);
    }
    expect(countProved(receipts.slice(0, -1), header.receiptsRoot)).toBe(-1);
    expect(countProved(receipts.toReversed(), header.receiptsRoot)).toBe(-1);
  });

  test("[proof] receipts of another block, missing or out of order are reported as such", () => {
    expect(contradictionOf(header, receipts.slice(1))).toContain("receipts for");
    expect(contradictionOf(header, receipts.toReversed())).toContain("of another transaction");
    const other = receipts.map((one) => ({ ...one, blockHash: header.parentHash }));
    expect(contradictionOf(header, other)).toContain(header.parentHash);
    const same = receipts.map((one) => ({ ...one, logs: one.logs.map((log) => ({ ...log, logIndex: 3 })) }));
    expect(contradictionOf(header, same)).toContain("after log 3");
  });

  test("[proof] only receipts that a chain appends to its block are ignored", () => {
    const [model] = receipts;
    if (!model) throw new Error("the block is empty");
    const zero = `0x${"0".repeat(40)}`;
    expect(countProved([...receipts, { ...model, from: zero }], header.receiptsRoot)).toBe(receipts.length);
    expect(countProved([...receipts, model], header.receiptsRoot)).toBe(-1);
  });
});

describe("receipts of deposits on the OP Stack", () => {
  const NOWHERE = `0x${"0".repeat(40)}`;
  const SILENT = `0x${"0".repeat(512)}`;
  const parse = (receipts: readonly Readonly<Record<string, unknown>>[]) =>
    Receipts.parse(
      receipts.map((receipt) => {
        const place = {
          transactionHash: `0x${"1".repeat(64)}`,
          blockHash: `0x${"2".repeat(64)}`,
          from: NOWHERE,
        };
        return { status: "0x1", logs: [], logsBloom: SILENT, ...place, ...receipt };
      }),
    );

  test("[proof] a real block of Unichain Sepolia since Canyon: the root covers nonce and version", () => {
    // The first two receipts of block 35535698, and their root while the block was being built.
    const deposit = { type: "0x7e", cumulativeGasUsed: "0xb41c", depositNonce: "0x21e3b52" };
    const receipts = parse([
      { ...deposit, depositReceiptVersion: "0x1" },
      { type: "0x2", cumulativeGasUsed: "0x10994" },
    ]);
    const root = "0x91d8ad10740ccfc1bd848fba0e02668d95769c08eeea30f10698692ba86c6159";
    expect(countProved(receipts, root)).toBe(2);
    const changes: Partial<Receipt>[] = [{ depositNonce: 1 }, { depositReceiptVersion: 2 }, { type: 2 }];
    for (const change of changes)
      expect(
        countProved(
          receipts.map((one, index) => (index === 0 ? { ...one, ...change } : one)),
          root,
        ),
      ).toBe(-1);
  });

  test("[proof] real blocks from before Canyon: the root covers neither", () => {
    // Blocks 863731 and 697672 of Manta Sepolia.
    for (const [cumulativeGasUsed, depositNonce, root] of [
      ["0xf9f5", "0xd2df2", "0x3c715dd96d2597ccd46fde046da5e4b13e0a5b7d0a2ff60c3ee6c92fee9600ea"],
      ["0xc545", "0xaa547", "0x0e7c255df3e2b7ca4d55b82047531f7f3e7437ab1eb33e22eca70653c874982d"],
    ] as const) {
      const receipts = parse([{ type: "0x7e", cumulativeGasUsed, depositNonce }]);
      expect(countProved(receipts, root)).toBe(1);
    }
  });
});

test("[edge] an invalid header or receipt is rejected", () => {
  for (const wrong of [null, "<html>", {}, { ...recordedHeader(RECORDED[0]), number: -1 }]) {
    expect(Header.safeParse(wrong).success).toBe(false);
  }
  expect(Receipts.safeParse([{ ...(recordedReceipts(RECORDED[0])[0] as object), from: "0x1" }]).success).toBe(
    false,
  );
});

test("[proof] the hash is native if this Node has it", () => {
  expect(keccak !== portableKeccak).toBe(getHashes().includes("keccak-256"));
  for (const text of ["", "flarewire"])
    expect(Buffer.from(keccak(Buffer.from(text)))).toEqual(Buffer.from(portableKeccak(Buffer.from(text))));
});
