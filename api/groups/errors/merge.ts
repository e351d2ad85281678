import { z } from 'zod';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type ErrorMerge, errorGroupStates, errorMerges } from '../../../schemas/resources/error-group.ts';
import { groupKnown } from '../../../subjects/errors/groups.ts';
import { type Decisions, Merges } from '../../../subjects/errors/merges.ts';
import { ApiError, invalid } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { Decision, decisionView, idOfGroup, undecided } from './decisions.ts';
import { decisionsOf, maxDecisions } from './stored-decisions.ts';

/** Pairs among fingerprints that were separated. */
const separatePairs = (
  { merges }: Pick<Decisions, 'merges'>,
  fingerprints: ReadonlySet<string>,
  rejoin: ReadonlySet<string>,
): (readonly [string, string])[] =>
  merges.flatMap(({ id, separateFrom }) =>
    fingerprints.has(id) && !rejoin.has(id)
      ? separateFrom.filter((other) => fingerprints.has(other)).map((other) => [id, other] as const)
      : [],
  );

export const mergeErrors = defineOperation({
  method: 'POST',
  path: '/api/errors/merge',
  operationId: 'mergeErrors',
  summary: 'Merge groups of errors into the first of them, with all of their past and future occurrences',
  role: 'editor',
  audit: 'error-group.merge',
  body: z.strictObject({
    ids: z
      .array(idOfGroup)
      .min(2)
      .max(100)
      .describe('The first one keeps its id, status and assignee; those of the others are dropped'),
    rejoin: z
      .array(idOfGroup)
      .max(100)
      .default([])
      .describe('Fingerprints that were removed from one of these groups and that this merge brings back'),
  }),
  response: Decision,
  async handler({ caller, body, change }, ports) {
    const { tenantId } = caller;
    const reading = readingOf(caller, ports);
    const decided = await decisionsOf(ports.documents, tenantId);
    for (const [at, id] of body.ids.entries())
      if ((await groupKnown(reading, id, decided)) === undefined)
        throw invalid(`ids.${at}`, 'the error group does not exist');
    return change(async (scope) => {
      const decisions = await decisionsOf(scope, tenantId);
      const merges = new Merges(decisions.merges);
      const groups = [...new Set(body.ids.map((id) => merges.groupOf(id)))];
      const [into = ''] = groups;
      const state = decisions.states.find(({ id }) => id === into) ?? undecided;
      const was = decisionView(into, state, decisions.merges);
      if (groups.length === 1) {
        scope.unchanged();
        return was;
      }
      const fingerprints = new Set(groups.flatMap((group) => merges.membersOf(group)));
      const rejoin = new Set(body.rejoin);
      refuseSeparated(separatePairs(decisions, fingerprints, rejoin));
      const known = new Map(decisions.merges.map((merge) => [merge.id, merge]));
      const added = [...fingerprints].filter((fingerprint) => merges.groupOf(fingerprint) !== into);
      if (added.filter((fingerprint) => !known.has(fingerprint)).length + known.size > maxDecisions)
        throw new ApiError('CONFLICT', `${maxDecisions} fingerprints were merged already, which is the maximum`);
      const now = { mergedAt: new Date(reading.nowMs).toISOString(), mergedBy: caller.actor.name };
      await write(scope.of(tenantId), decisions, { into, fingerprints, added: new Set(added), now });
      const own = scope.of(tenantId);
      for (const group of groups.slice(1)) await own.collection(errorGroupStates).delete(group);
      const after = decisionView(into, state, (await decisionsOf(scope, tenantId)).merges);
      scope.record({ id: into, before: was, after });
      return after;
    });
  },
});

/** Writes the group of each fingerprint. Merged fingerprints are no longer separated. */
const write = async (
  { collection }: Pick<TenantDocuments, 'collection'>,
  { merges }: Pick<Decisions, 'merges'>,
  {
    into,
    fingerprints,
    added,
    now,
  }: {
    readonly into: string;
    readonly fingerprints: ReadonlySet<string>;
    readonly added: ReadonlySet<string>;
    readonly now: Pick<ErrorMerge, 'mergedAt' | 'mergedBy'>;
  },
): Promise<void> => {
  const stored = collection(errorMerges);
  const known = new Map(merges.map((merge) => [merge.id, merge]));
  for (const fingerprint of fingerprints) {
    const before = known.get(fingerprint);
    const separateFrom = (before?.separateFrom ?? []).filter((other) => !fingerprints.has(other));
    const isAdded = added.has(fingerprint);
    if (before === undefined) {
      if (isAdded) await stored.insert({ id: fingerprint, groupId: into, ...now, separateFrom: separateFrom });
    } else if (isAdded || separateFrom.length < before.separateFrom.length)
      await stored.update(
        fingerprint,
        { ...(isAdded && { groupId: into, ...now }), separateFrom: separateFrom },
        before.version,
      );
  }
};

const refuseSeparated = ([pair]: readonly (readonly [string, string])[]): void => {
  if (pair === undefined) return;
  throw new ApiError(
    'CONFLICT',
    `${pair[0]} was permanently removed from the group of ${pair[1]}: name it in rejoin to put it back`,
  );
};
