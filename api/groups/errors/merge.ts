import { z } from 'zod';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type ErrorMerge, errorGroupStates, errorMerges } from '../../../schemas/resources/error-group.ts';
import { findGroup } from '../../../subjects/errors/groups.ts';
import { type ErrorDecisions, FingerprintMerges } from '../../../subjects/errors/merges.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { Decision, ErrorGroupId, initialState, toDecisionView } from './decisions.ts';
import { maxDecisions, readDecisions } from './stored-decisions.ts';

/** Returns the pairs of fingerprints that were separated and must not be merged, except those in `rejoin`. */
const findSeparatedPairs = (
  { merges }: Pick<ErrorDecisions, 'merges'>,
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
      .array(ErrorGroupId)
      .min(2)
      .max(100)
      .describe('The first one keeps its id, status and assignee; those of the others are dropped'),
    rejoin: z
      .array(ErrorGroupId)
      .max(100)
      .default([])
      .describe('Fingerprints that were removed from one of these groups and that this merge brings back'),
  }),
  response: Decision,
  async handler({ caller, body, change }, ports) {
    const { tenantId } = caller;
    const reader = createQueryReader(caller, ports);
    const currentDecisions = await readDecisions(ports.documents, tenantId);
    for (const [index, id] of body.ids.entries())
      if ((await findGroup(reader, id, currentDecisions)) === undefined)
        throw createFieldError(`ids.${index}`, 'the error group does not exist');
    return change(async (scope) => {
      const decisions = await readDecisions(scope, tenantId);
      const merges = new FingerprintMerges(decisions.merges);
      const groups = [...new Set(body.ids.map((id) => merges.getGroup(id)))];
      const [targetId = ''] = groups;
      const state = decisions.states.find(({ id }) => id === targetId) ?? initialState;
      const viewBefore = toDecisionView(targetId, state, decisions.merges);
      if (groups.length === 1) {
        scope.markUnchanged();
        return viewBefore;
      }
      const fingerprints = new Set(groups.flatMap((group) => merges.getMembers(group)));
      const rejoin = new Set(body.rejoin);
      requireNoSeparatedPairs(findSeparatedPairs(decisions, fingerprints, rejoin));
      const mergesById = new Map(decisions.merges.map((merge) => [merge.id, merge]));
      const addedFingerprints = [...fingerprints].filter((fingerprint) => merges.getGroup(fingerprint) !== targetId);
      if (
        addedFingerprints.filter((fingerprint) => !mergesById.has(fingerprint)).length + mergesById.size >
        maxDecisions
      )
        throw new ApiError('CONFLICT', `${maxDecisions} fingerprints were already merged, which is the maximum`);
      const mergeFields = { mergedAt: new Date(reader.nowMs).toISOString(), mergedBy: caller.actor.name };
      await writeMerges(scope.forTenant(tenantId), decisions, {
        targetId: targetId,
        fingerprints,
        added: new Set(addedFingerprints),
        mergeFields: mergeFields,
      });
      const tenantDocuments = scope.forTenant(tenantId);
      for (const group of groups.slice(1)) await tenantDocuments.collection(errorGroupStates).delete(group);
      const after = toDecisionView(targetId, state, (await readDecisions(scope, tenantId)).merges);
      scope.record({ id: targetId, before: viewBefore, after });
      return after;
    });
  },
});

/** Writes the group of each fingerprint. Merged fingerprints are no longer separated. */
const writeMerges = async (
  { collection }: Pick<TenantDocuments, 'collection'>,
  { merges }: Pick<ErrorDecisions, 'merges'>,
  {
    targetId,
    fingerprints,
    added,
    mergeFields,
  }: {
    readonly targetId: string;
    readonly fingerprints: ReadonlySet<string>;
    readonly added: ReadonlySet<string>;
    readonly mergeFields: Pick<ErrorMerge, 'mergedAt' | 'mergedBy'>;
  },
): Promise<void> => {
  const mergeCollection = collection(errorMerges);
  const mergesById = new Map(merges.map((merge) => [merge.id, merge]));
  for (const fingerprint of fingerprints) {
    const before = mergesById.get(fingerprint);
    const separateFrom = (before?.separateFrom ?? []).filter((other) => !fingerprints.has(other));
    const isAdded = added.has(fingerprint);
    if (before === undefined) {
      if (isAdded) await mergeCollection.insert({ id: fingerprint, groupId: targetId, ...mergeFields, separateFrom });
    } else if (isAdded || separateFrom.length < before.separateFrom.length)
      await mergeCollection.update(
        fingerprint,
        { ...(isAdded && { groupId: targetId, ...mergeFields }), separateFrom },
        before.version,
      );
  }
};

const requireNoSeparatedPairs = ([pair]: readonly (readonly [string, string])[]): void => {
  if (pair === undefined) return;
  throw new ApiError(
    'CONFLICT',
    `${pair[0]} was permanently removed from the group of ${pair[1]}: name it in rejoin to put it back`,
  );
};
