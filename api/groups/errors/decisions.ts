import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import {
  type ErrorGroupState,
  errorGroupStatuses,
  IgnoredUntil,
  ResolvedIn,
} from '../../../schemas/resources/error-group.ts';
import type { ErrorDecisions } from '../../../subjects/errors/merges.ts';
import { FingerprintMerges } from '../../../subjects/errors/merges.ts';

export const ErrorGroupId = z
  .string()
  .max(64)
  .regex(/^f\d{1,4}-[0-9a-f]{16}$/, 'is not the id of an error group');

/** State of a group about which nobody has decided yet; its version is 0. */
export const initialState: ErrorGroupState & Pick<StoredMetadata, 'version'> = {
  status: 'unresolved' as const,
  changedAt: '',
  resolvedIn: null,
  ignoredUntil: null,
  assigneeId: null,
  version: 0,
};

export const Decision = z.strictObject({
  id: z.string(),
  status: z.enum(errorGroupStatuses).describe('Status as decided; later occurrences may have reopened it'),
  changedAt: z.string().nullable().describe('Time of the status change'),
  resolvedIn: ResolvedIn.nullable(),
  ignoredUntil: IgnoredUntil.nullable(),
  assigneeId: z.string().nullable(),
  fingerprints: z.array(z.string()).describe('Its own fingerprint, and the merged ones'),
  version: z.int().describe('Its ETag; 0 without any decision'),
});

/** Decisions about a group in API responses. */
export const toDecisionView = (
  id: string,
  {
    status,
    changedAt,
    resolvedIn,
    ignoredUntil,
    assigneeId,
    version,
  }: ErrorGroupState & Pick<StoredMetadata, 'version'>,
  merges: ErrorDecisions['merges'],
): z.output<typeof Decision> => ({
  id,
  status,
  changedAt: changedAt === '' ? null : changedAt,
  resolvedIn,
  ignoredUntil,
  assigneeId,
  version,
  fingerprints: new FingerprintMerges(merges).getMembers(id),
});
