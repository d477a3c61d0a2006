/**
 * Hashes a name to 53 bits, never 0: two lanes in the manner of FNV-1a, finished as in MurmurHash3.
 */
export function hashName(name: string): number {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995);
  }
  return (finish(high) & 0x1fffff) * 0x1_0000_0000 + finish(low) || 1;
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
