import type { Clock } from '../../../../schemas/ports/clock.ts';
import type { Documents } from '../../../../schemas/ports/documents.ts';
import { readRecordsInOrder } from './record-pages.ts';

/** Heads are signed every minute; the bus or the process may have been down for up to this long. */
const graceMs = 3_600_000;

/**
 * Whether a chain must already have signed tree heads: its records span more than an hour, and the newest is more than
 * an hour old. If it has no heads, they were removed or lost. Records from shortly before a crash may have no head, but
 * they span less time.
 */
export const mustHaveHeads = (firstAt: string, at: string, now: number): boolean =>
  Date.parse(at) - Date.parse(firstAt) > graceMs && now - Date.parse(at) > graceMs;

/** Like `mustHaveHeads`, for a tenant's chain in the store. */
export const mustHaveHeadsNow = async (documents: Documents, tenantId: string, clock: Clock): Promise<boolean> => {
  let firstAt: string | undefined;
  for await (const { at } of readRecordsInOrder(documents, tenantId)) {
    firstAt ??= at;
    if (mustHaveHeads(firstAt, at, clock.now())) return true;
  }
  return false;
};
