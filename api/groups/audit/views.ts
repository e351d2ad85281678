import { z } from 'zod';
import { parseMilliseconds } from '../../../queries/range.ts';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { EvidenceHead } from '../../../schemas/evidence.ts';
import { Actor, type AuditRecord, Difference } from '../../../schemas/resources/audit-record.ts';
import type { RecordFilter } from './chain/record-search.ts';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A record in lists. Names and the address are null after their erasure. */
export const AuditRecordSummary = z.strictObject({
  id: z.string(),
  sequence: z.int().describe('Position in the chain, from 1 without gaps'),
  at: z.iso.datetime(),
  action: z.string().describe('<resource type>.<verb>'),
  actor: Actor.extend({ name: z.string().nullable() }),
  resource: z.strictObject({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  requestId: z.string(),
  address: z.string().nullable(),
  erased: z.boolean().describe('Whether names, address and changes were erased'),
});

/** A record with its changes and all fields that its hashes cover. */
export const AuditRecordView = AuditRecordSummary.extend({
  changes: z.array(Difference).nullable(),
  salt: z.string().nullable(),
  detailsHash: Sha256,
  previousHash: Sha256,
  hash: Sha256,
});

export const toRecordSummary = (record: AuditRecord & { readonly id: string }): z.output<typeof AuditRecordSummary> => {
  const { id, sequence, at, action, actor, resource, requestId, details } = record;
  return {
    id,
    sequence,
    at,
    action,
    requestId,
    actor: { ...actor, name: details?.actorName ?? null },
    resource: { ...resource, name: details?.resourceName ?? null },
    address: details?.address ?? null,
    erased: details === null,
  };
};

export const toRecordView = (record: AuditRecord & { readonly id: string }): z.output<typeof AuditRecordView> => {
  const { details, detailsHash, previousHash, hash } = record;
  return {
    ...toRecordSummary(record),
    changes: details === null ? null : [...details.changes],
    salt: details?.salt ?? null,
    detailsHash,
    previousHash,
    hash,
  };
};

/** A signed tree head in API responses. */
export const HeadView = EvidenceHead.omit({ tenantId: true });

export const toHeadView = ({ tenantId: _, ...head }: EvidenceHead): z.output<typeof HeadView> =>
  HeadView.strip().parse(head);

/** Filters of the list and the export. */
export const filterFields = {
  actor: z.string().min(1).max(320).optional().describe('Id, or the e-mail address of a user'),
  action: z.string().min(1).max(128).optional(),
  resourceType: z.string().min(1).max(128).optional(),
  resourceId: z.string().min(1).max(512).optional(),
  requestId: z.string().min(1).max(128).optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional(),
};

export const toRecordFilter = (
  { from, to, ...filter }: Partial<Record<keyof typeof filterFields, string | undefined>>,
  nowMs: number,
): RecordFilter => ({
  ...filter,
  fromMs: parseMilliseconds('from', from, nowMs),
  toMs: parseMilliseconds('to', to, nowMs),
});
