import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type ErrorGroupState,
  errorGroupStates,
  errorGroupStatuses,
  errorMerges,
  IgnoredUntil,
  ResolvedIn,
} from '../../../schemas/resources/error-group.ts';
import { findGroup } from '../../../subjects/errors/groups.ts';
import { FingerprintMerges } from '../../../subjects/errors/merges.ts';
import { ErrorGroupStatuses } from '../../../subjects/errors/states.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError, createFieldError, createFieldErrors, createNotFoundError, type FieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { requireMember } from '../../resources/members.ts';
import { OutdatedDocumentError, retryOutdated } from '../../resources/outdated-document.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';
import { Decision, ErrorGroupId, initialState, toDecisionView } from './decisions.ts';
import { maxDecisions, readDecisions } from './stored-decisions.ts';

const Change = z.strictObject({
  status: z.enum(errorGroupStatuses).optional(),
  resolvedIn: ResolvedIn.nullable().optional().describe('With status resolved; default: everywhere and immediately'),
  ignoredUntil: IgnoredUntil.nullable().optional().describe('With status ignored; default: permanently'),
  assigneeId: z.string().min(1).max(128).nullable().optional().describe('A user of the organization; null for no one'),
  unmerge: z
    .array(ErrorGroupId)
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Fingerprints to remove from the group permanently: a merge brings them back only if it lists them in rejoin',
    ),
});
type Change = z.output<typeof Change>;

/** Rejects fields that require another status. */
const requireMatchingStatus = ({ status, resolvedIn, ignoredUntil }: Change): void => {
  const details: FieldError[] = [];
  if (resolvedIn && status !== 'resolved')
    details.push({ path: 'resolvedIn', message: 'requires "status": "resolved"' });
  if (ignoredUntil && status !== 'ignored')
    details.push({ path: 'ignoredUntil', message: 'requires "status": "ignored"' });
  if (details.length > 0) throw createFieldErrors(details);
};

/** Returns the state after a change; `now` is the time of a status change. */
const applyChange = (
  before: ErrorGroupState & Pick<StoredMetadata, 'version'>,
  change: Change,
  { isOpen, now }: { readonly isOpen: boolean; readonly now: string },
): ErrorGroupState => {
  const { status, resolvedIn = null, ignoredUntil = null, assigneeId = before.assigneeId } = change;
  const current = {
    status: before.status,
    resolvedIn: before.resolvedIn,
    ignoredUntil: before.ignoredUntil,
    changedAt: before.changedAt === '' ? now : before.changedAt,
  };
  if (status === undefined) return { ...current, assigneeId };
  const until = ignoredUntil === null || Object.keys(ignoredUntil).length === 0 ? null : ignoredUntil;
  const nextState = { status, resolvedIn, ignoredUntil: until };
  const { changedAt, ...currentDecision } = current;
  // A closed error that occurred again is closed with a new time.
  const isSame = isDeepStrictEqual(nextState, currentDecision) && (status === 'unresolved' || !isOpen);
  return { ...nextState, assigneeId, changedAt: isSame ? changedAt : now };
};

/** Removes fingerprints from a group, and records that they must stay separate from all remaining ones. */
const unmerge = async (
  { collection }: Pick<TenantDocuments, 'collection'>,
  groupId: string,
  members: readonly string[],
  removedFingerprints: readonly string[],
): Promise<void> => {
  const merges = collection(errorMerges);
  const remainingFingerprints = members.filter((member) => !removedFingerprints.includes(member));
  for (const [index, fingerprint] of removedFingerprints.entries()) {
    const merge = await merges.find(fingerprint);
    if (fingerprint === groupId || merge?.groupId !== groupId)
      throw createFieldError(
        `unmerge.${index}`,
        fingerprint === groupId
          ? 'is the fingerprint that identifies the group: remove the others instead'
          : 'was not merged into this group',
      );
    const separateFrom = [...new Set([...merge.separateFrom, ...remainingFingerprints])];
    await merges.update(fingerprint, { groupId: null, separateFrom }, merge.version);
  }
};

const writeState = async (
  { forTenant }: Pick<AuditedTransaction, 'forTenant'>,
  tenantId: string,
  id: string,
  { before, next }: { readonly before: (ErrorGroupState & StoredMetadata) | undefined; readonly next: ErrorGroupState },
): Promise<ErrorGroupState & Pick<StoredMetadata, 'version'>> => {
  const states = forTenant(tenantId).collection(errorGroupStates);
  const { status, assigneeId } = next;
  if (before !== undefined) {
    const { id: _id, version, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = before;
    return isDeepStrictEqual(fields, next) ? before : states.replace(id, next, version);
  }
  if (status === 'unresolved' && assigneeId === null) return initialState;
  if ((await states.count()) >= maxDecisions)
    throw new ApiError('CONFLICT', `${maxDecisions} groups already have a status or an assignee, which is the maximum`);
  return states.insert({ id, ...next });
};

export const changeError = defineOperation({
  method: 'PATCH',
  path: '/api/errors/{id}',
  operationId: 'changeError',
  summary: 'Resolve, ignore, reopen or assign a group of errors, or permanently remove fingerprints from it',
  role: 'editor',
  audit: 'error-group.change',
  versions: 'write',
  params: z.strictObject({ id: z.string().min(1).max(64) }),
  body: Change,
  response: Decision,
  async handler({ caller, params, body, request, change }, ports) {
    requireMatchingStatus(body);
    const reader = createQueryReader(caller, ports);
    const { tenantId } = caller;
    const view = await retryOutdated('error group', async () => {
      const decisions = await readDecisions(ports.documents, tenantId);
      const group = await findGroup(reader, params.id, decisions);
      if (group === undefined) throw createNotFoundError('error group');
      const stored = decisions.states.find(({ id }) => id === group.id);
      const statuses = await ErrorGroupStatuses.read(reader, new FingerprintMerges(decisions.merges), {
        states: stored === undefined ? [] : [stored],
      });
      const isOpen = (await statuses.getStatuses([group.id])).get(group.id)?.status === 'unresolved';
      return change(async (scope) => {
        const tenantDocuments = scope.forTenant(tenantId);
        const before = await tenantDocuments.collection(errorGroupStates).find(group.id);
        requireVersion(before ?? initialState, parsePrecondition(request), {
          noun: 'error group',
          requiresIfMatch: false,
        });
        if (before?.version !== stored?.version) throw new OutdatedDocumentError();
        await requireMember(tenantDocuments, body.assigneeId);
        const { merges } = await readDecisions(scope, tenantId);
        const next = applyChange(before ?? initialState, body, { isOpen, now: new Date(reader.nowMs).toISOString() });
        const after = await writeState(scope, tenantId, group.id, { before, next });
        const members = new FingerprintMerges(merges).getMembers(group.id);
        if (body.unmerge !== undefined) await unmerge(tenantDocuments, group.id, members, body.unmerge);
        const viewAfter = toDecisionView(group.id, after, (await readDecisions(scope, tenantId)).merges);
        const viewBefore = toDecisionView(group.id, before ?? initialState, merges);
        if (isDeepStrictEqual(viewAfter, viewBefore)) scope.markUnchanged();
        else scope.record({ id: group.id, before: viewBefore, after: viewAfter });
        return viewAfter;
      });
    });
    request.reply('ETag', formatEtag(view));
    return view;
  },
});
