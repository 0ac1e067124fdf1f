import { FIRST_BYTE, HEADER_BYTES, headerAt } from './record.js';

/** What a disk writes at once; none writes less. */
const SECTOR_BYTES = 512;

/**
 * What stands after the last whole record of a segment that was not sealed. `unused` is room for more. `torn` is the beginning of
 * a record, or some pieces of it: it was being written when the process or the machine went down, so that nobody was told
 * that it is kept. `damaged` is anything else: it was whole once, and may have been acknowledged.
 *
 * Records are written one at a time into zeros. So a torn one is the last thing in the file, and something of it is missing: it
 * reaches beyond the end, or its end or a sector of it are zeros still.
 */
export function judgeTail(rest: Buffer, position: number): 'unused' | 'torn' | 'damaged' {
  const used = usedBytes(rest);
  if (used === 0) return 'unused';
  if (hasRecordAfter(rest)) return 'damaged';
  const header = headerAt(rest, 0);
  if (header === undefined) {
    const isUnwritten = used < HEADER_BYTES || usedBytes(rest.subarray(0, HEADER_BYTES)) === 0;
    return isUnwritten || hasLostSector(rest.subarray(0, used), position) ? 'torn' : 'damaged';
  }
  if (header.bytes > rest.length) return 'torn';
  if (used > header.bytes) return 'damaged';
  return used < header.bytes || hasLostSector(rest.subarray(0, used), position) ? 'torn' : 'damaged';
}

/** How many bytes there are up to the last that is not zero. */
function usedBytes(bytes: Buffer): number {
  let used = bytes.length;
  while (used > 0 && bytes[used - 1] === 0) used -= 1;
  return used;
}

function hasRecordAfter(rest: Buffer): boolean {
  for (let at = rest.indexOf(FIRST_BYTE, 1); at >= 0; at = rest.indexOf(FIRST_BYTE, at + 1)) {
    if (headerAt(rest, at) !== undefined) return true;
  }
  return false;
}

function hasLostSector(bytes: Buffer, position: number): boolean {
  for (let at = 0; at < bytes.length;) {
    const end = at + SECTOR_BYTES - ((position + at) % SECTOR_BYTES);
    if (usedBytes(bytes.subarray(at, end)) === 0) return true;
    at = end;
  }
  return false;
}
