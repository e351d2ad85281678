import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Stored, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type ErrorGroupState,
  errorGroupStates,
  errorGroupStatuses,
  errorMerges,
  IgnoredUntil,
  ResolvedIn,
} from '../../../schemas/resources/error-group.ts';
import { groupKnown } from '../../../subjects/errors/groups.ts';
import { Merges } from '../../../subjects/errors/merges.ts';
import { ErrorGroupStatuses } from '../../../subjects/errors/states.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError, type Detail, invalid, invalidFields, notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { requireMember } from '../../resources/members.ts';
import { etagOf, preconditionOf, requireVersion } from '../../resources/preconditions.ts';
import { Decision, decisionView, idOfGroup, undecided } from './decisions.ts';
import { decisionsOf, maxDecisions } from './stored-decisions.ts';

const Change = z.strictObject({
  status: z.enum(errorGroupStatuses).optional(),
  resolvedIn: ResolvedIn.nullable().optional().describe('With status resolved; default: everywhere and immediately'),
  ignoredUntil: IgnoredUntil.nullable().optional().describe('With status ignored; default: permanently'),
  assigneeId: z.string().min(1).max(128).nullable().optional().describe('A user of the organization; null for no one'),
  unmerge: z
    .array(idOfGroup)
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Fingerprints to remove from the group permanently: a merge brings them back only if it lists them in rejoin',
    ),
});
type Change = z.output<typeof Change>;

/** Rejects fields that require another status. */
const refuseMisplaced = ({ status, resolvedIn, ignoredUntil }: Change): void => {
  const details: Detail[] = [];
  if (resolvedIn && status !== 'resolved')
    details.push({ path: 'resolvedIn', message: 'goes with "status": "resolved"' });
  if (ignoredUntil && status !== 'ignored')
    details.push({ path: 'ignoredUntil', message: 'goes with "status": "ignored"' });
  if (details.length > 0) throw invalidFields(details);
};

/** Returns the state after a change; `now` is the time of a status change. */
const changed = (
  before: ErrorGroupState & Pick<Stored, 'version'>,
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
  const { changedAt, ...own } = current;
  // A closed error that occurred again is closed with a new time.
  const isSame = isDeepStrictEqual(nextState, own) && (status === 'unresolved' || !isOpen);
  return { ...nextState, assigneeId, changedAt: isSame ? changedAt : now };
};

/** Removes fingerprints from a group, and separates them from all that stay. */
const unmerge = async (
  { collection }: Pick<TenantDocuments, 'collection'>,
  groupId: string,
  members: readonly string[],
  leaving: readonly string[],
): Promise<void> => {
  const merges = collection(errorMerges);
  const staying = members.filter((member) => !leaving.includes(member));
  for (const [at, fingerprint] of leaving.entries()) {
    const merge = await merges.find(fingerprint);
    if (fingerprint === groupId || merge?.groupId !== groupId)
      throw invalid(
        `unmerge.${at}`,
        fingerprint === groupId
          ? 'is the fingerprint that identifies the group: remove the others instead'
          : 'was not merged into this group',
      );
    const separateFrom = [...new Set([...merge.separateFrom, ...staying])];
    await merges.update(fingerprint, { groupId: null, separateFrom: separateFrom }, merge.version);
  }
};

const writeState = async (
  { of }: Pick<AuditedTransaction, 'of'>,
  tenantId: string,
  id: string,
  { before, next }: { readonly before: (ErrorGroupState & Stored) | undefined; readonly next: ErrorGroupState },
): Promise<ErrorGroupState & Pick<Stored, 'version'>> => {
  const states = of(tenantId).collection(errorGroupStates);
  const { status, assigneeId } = next;
  if (before !== undefined) {
    const { id: _id, version, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = before;
    return isDeepStrictEqual(fields, next) ? before : states.replace(id, next, version);
  }
  if (status === 'unresolved' && assigneeId === null) return undecided;
  if ((await states.count()) >= maxDecisions)
    throw new ApiError('CONFLICT', `${maxDecisions} groups have a status or an assignee already, which is the maximum`);
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
    refuseMisplaced(body);
    const reading = readingOf(caller, ports);
    const { tenantId } = caller;
    const known = await groupKnown(reading, params.id, await decisionsOf(ports.documents, tenantId));
    if (known === undefined) throw notFound('error group');
    const view = await change(async (scope) => {
      const own = scope.of(tenantId);
      const before = await own.collection(errorGroupStates).find(known.id);
      requireVersion(before ?? undecided, preconditionOf(request), { noun: 'error group', requiresIfMatch: false });
      await requireMember(own, body.assigneeId);
      const { merges } = await decisionsOf(scope, tenantId);
      const statuses = await ErrorGroupStatuses.read(reading, new Merges(merges), {
        states: before === undefined ? [] : [before],
      });
      const isOpen = (await statuses.of([known.id])).get(known.id)?.status === 'unresolved';
      const next = changed(before ?? undecided, body, { isOpen, now: new Date(reading.nowMs).toISOString() });
      const after = await writeState(scope, tenantId, known.id, { before, next });
      const members = new Merges(merges).membersOf(known.id);
      if (body.unmerge !== undefined) await unmerge(own, known.id, members, body.unmerge);
      const shown = decisionView(known.id, after, (await decisionsOf(scope, tenantId)).merges);
      const was = decisionView(known.id, before ?? undecided, merges);
      if (isDeepStrictEqual(shown, was)) scope.unchanged();
      else scope.record({ id: known.id, before: was, after: shown });
      return shown;
    });
    request.reply('ETag', etagOf(view));
    return view;
  },
});
