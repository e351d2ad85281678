import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Documents, Filter } from '../../../../schemas/ports/documents.ts';
import { auditRecords, buildAuditUpperBound } from '../../../../schemas/resources/audit-record.ts';
import { findNewestSequence, type SequenceRange, type StoredRecord } from './record-pages.ts';

/** Filter of a search. Absent fields do not restrict. */
export interface RecordFilter {
  /** Id, or the address with which a person signs in */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Matches any of these actions. */
  readonly actions?: readonly string[] | undefined;
  readonly resourceType?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Matches any of these resources. */
  readonly resourceIds?: readonly string[] | undefined;
  readonly requestId?: string | undefined;
  /** Epoch milliseconds, both ends included */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** Maximum clock difference between instances: a later record may have a time this much earlier. */
const clockDifferenceMs = 600_000;
const firstWindowSize = 1_000;
const maxWindowSize = 32_000;

export const toDocumentFilter = ({ fromMs, toMs, ...filter }: RecordFilter): Filter => {
  const equalities = {
    [filter.actor?.includes('@') ? 'details.actorName' : 'actor.id']: filter.actor,
    action: filter.action ?? (filter.actions === undefined ? undefined : { $in: filter.actions }),
    'resource.type': filter.resourceType,
    'resource.id': filter.resourceId ?? (filter.resourceIds === undefined ? undefined : { $in: filter.resourceIds }),
    requestId: filter.requestId,
  };
  const at = { $gte: toIsoTime(fromMs), $lte: toIsoTime(toMs) };
  const definedEntries = (fields: object): [string, unknown][] =>
    Object.entries(fields).filter(([, value]) => value !== undefined);
  const bounds = Object.fromEntries(definedEntries(at));
  return {
    ...Object.fromEntries(definedEntries(equalities)),
    ...(Object.keys(bounds).length === 0 ? {} : { at: bounds }),
  };
};

/** Converts a time to ISO 8601. A time outside the range of dates becomes the nearest valid date, which is still before or after all records. */
const toIsoTime = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(Math.min(Math.max(ms, 0), 253_402_300_799_999)).toISOString();

/** Finds the part of the chain with records in a time range, by binary search. */
export const findSequenceRange = async (
  documents: Documents,
  tenantId: string,
  { fromMs, toMs }: RecordFilter,
): Promise<SequenceRange> => {
  const newestSequence = await findNewestSequence(documents, tenantId);
  const records = documents.forTenant(tenantId).collection(auditRecords);
  /** Number of records older than a time. */
  const countOlderThan = async (ms: number): Promise<number> => {
    const at = toIsoTime(ms) ?? '';
    let low = 0;
    let high = newestSequence;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const filter = { id: { $gt: buildAuditUpperBound(middle) } };
      const [record] = (await records.list({ filter, sort: { id: 1 }, limit: 1 })).items;
      if (record !== undefined && record.at < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    after: fromMs === undefined ? 0 : await countOlderThan(fromMs - clockDifferenceMs),
    upTo: toMs === undefined ? newestSequence : await countOlderThan(toMs + clockDifferenceMs),
  };
};

/**
 * Returns the newest matches below a sequence, the newest first. Reads window by window, so other work runs in between,
 * however rare the matches.
 */
export const findNewestRecords = async (
  documents: Documents,
  tenantId: string,
  filter: RecordFilter,
  { limit, before }: { readonly limit: number; readonly before?: number | undefined },
): Promise<StoredRecord[]> => {
  const records = documents.forTenant(tenantId).collection(auditRecords);
  const { after = 0, upTo = 0 } = await findSequenceRange(documents, tenantId, filter);
  const documentFilter = toDocumentFilter(filter);
  const matches: StoredRecord[] = [];
  let high = Math.min(upTo, (before ?? Number.POSITIVE_INFINITY) - 1);
  for (
    let window = firstWindowSize;
    high > after && matches.length < limit;
    window = Math.min(window * 2, maxWindowSize)
  ) {
    const low = Math.max(after, high - window);
    const { items } = await records.list({
      filter: { ...documentFilter, id: { $gt: buildAuditUpperBound(low), $lt: buildAuditUpperBound(high) } },
      sort: { id: -1 },
      limit: limit - matches.length,
    });
    matches.push(...items);
    high = low;
    await yieldToEventLoop();
  }
  return matches;
};
