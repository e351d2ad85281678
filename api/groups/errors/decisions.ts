import { z } from 'zod';
import type { Decisions } from '../../../queries/errors/merges.ts';
import { Merges } from '../../../queries/errors/merges.ts';
import type { Collection, Documents, Stored } from '../../../schemas/ports/documents.ts';
import {
  type ErrorGroupState,
  errorGroupStates,
  errorGroupStatuses,
  errorMerges,
  IgnoredUntil,
  ResolvedIn,
} from '../../../schemas/resources/error-group.ts';

/** Groups with a decision, and merged fingerprints, of an organization: people make them, and all are read for each list. */
export const mostDecisions = 10_000;

export const idOfGroup = z
  .string()
  .max(64)
  .regex(/^f\d{1,4}-[0-9a-f]{16}$/, 'is not the id of an error group');

const allOf = async <Fields extends object>(collection: Collection<Fields>): Promise<(Fields & Stored)[]> => {
  const found: (Fields & Stored)[] = [];
  for (let after: string | undefined; found.length < mostDecisions; ) {
    const { items, nextCursor } = await collection.list({ limit: 1_000, after });
    found.push(...items);
    if (nextCursor === null) break;
    after = nextCursor;
  }
  return found;
};

/** What people of the organization decided about its groups. */
export const decisionsOf = async (documents: Pick<Documents, 'of'>, tenantId: string): Promise<Decisions> => {
  const own = documents.of(tenantId);
  const [states, merges] = await Promise.all([
    allOf(own.collection(errorGroupStates)),
    allOf(own.collection(errorMerges)),
  ]);
  return { states, merges };
};

/** Stands for a group about which nobody decided anything: version 0. */
export const undecided: ErrorGroupState & Pick<Stored, 'version'> = {
  ...{ status: 'unresolved' as const, changedAt: '', resolvedIn: null, ignoredUntil: null, assigneeId: null },
  version: 0,
};

export const Decision = z.strictObject({
  id: z.string(),
  status: z.enum(errorGroupStatuses).describe('As it was decided; what happened since may have reopened it'),
  changedAt: z.string().nullable().describe('When it got that status'),
  resolvedIn: ResolvedIn.nullable(),
  ignoredUntil: IgnoredUntil.nullable(),
  assigneeId: z.string().nullable(),
  fingerprints: z.array(z.string()).describe('Its own, and those that were merged into it'),
  version: z.int().describe('Its ETag; 0 before anybody decided anything'),
});

/** What was decided about a group, as answers carry it. */
export const decisionView = (
  id: string,
  { status, changedAt, resolvedIn, ignoredUntil, assigneeId, version }: ErrorGroupState & Pick<Stored, 'version'>,
  merges: Decisions['merges'],
): z.output<typeof Decision> => ({
  ...{ id, status, changedAt: changedAt === '' ? null : changedAt, resolvedIn, ignoredUntil, assigneeId, version },
  fingerprints: new Merges(merges).membersOf(id),
});
