import { createHash } from "node:crypto";
import { z } from "zod";
import { ENTRY_KINDS, type Entry, type EntryHeader } from "./entry.ts";

/** Version of the header. A node delivers nothing after a version that it cannot read. */
const VERSION = 1;
/** 72 bits: two entries of one log never have the same hash by accident. */
const HASH_CHARACTERS = 12;

const Count = z.int().min(0);
const Text = z.string().max(256);
const Names = { by: Text, nonce: Text, prev: Text, epoch: Text };
const Header = z.object({ kind: z.enum(ENTRY_KINDS), term: Count, committed: Count, ...Names });

/** An entry as the engine stores it. */
export interface StoredEntry {
  readonly header: string;
  readonly body: Buffer;
}

/** Makes an entry, with its hash. */
export function seal(offset: number, header: EntryHeader, body: Buffer): Entry {
  return { offset, header, body, hash: hashOf(headerText(header), body) };
}

export function storedForm({ header, body }: Entry): StoredEntry {
  return { header: headerText(header), body };
}

/**
 * Reads a stored entry.
 *
 * Throws an Error with a sentence for the operator if it is of another version or is no entry.
 */
export function readEntry(offset: number, { header, body }: StoredEntry): Entry {
  return { offset, header: readHeader(header), body, hash: hashOf(header, body) };
}

function headerText({ kind, term, by, nonce, prev, committed, epoch }: EntryHeader): string {
  return JSON.stringify({ v: VERSION, kind, term, by, nonce, prev, committed, epoch });
}

function hashOf(header: string, body: Buffer): string {
  return createHash("sha256")
    .update(header)
    .update("\n")
    .update(body)
    .digest("base64url")
    .slice(0, HASH_CHARACTERS);
}

function readHeader(text: string): EntryHeader {
  const given: unknown = JSON.parse(text);
  const { v } = Object(given);
  if (v !== VERSION) throw new Error(`the log has an entry of version ${v}; this node reads ${VERSION}`);
  const header = Header.safeParse(given).data;
  if (!header) throw new Error("the log has an entry that is none");
  return header;
}
