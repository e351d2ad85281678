/** Decisions about findings: reads for lists, and the operation that changes one. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import {
  type SecurityState,
  type SecurityTriage,
  SecurityTriageFields,
  securityStates,
} from '../../../schemas/resources/security-triage.ts';
import type { StoredTriage } from '../../../subjects/security/stored-triages.ts';
import { applyTriage, openTriage, resolveState } from '../../../subjects/security/triage.ts';
import type { Caller } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import type { RequestFacts } from '../../request-facts.ts';
import { requireMember } from '../../resources/members.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';

/** Maximum number of decisions of an organization about findings of one kind: a list reads all of them. */
const maxDecisions = 10_000;

/** Fields of the view of a finding about its state. */
export const triageView = {
  state: z.enum(securityStates).describe('Current state'),
  isReopened: z
    .boolean()
    .describe('Whether it is open again: it occurred after it was resolved, or the end of the decided state passed'),
  until: z.string().nullable().describe('End of the decided state'),
  assigneeId: z.string().nullable(),
  reason: z.string(),
  changedAt: z.string().nullable().describe('Time of the last decision about the state'),
  version: z.int().describe('Version of the decision; the ETag'),
};

/** Filter of lists by state. */
export const stateParameter = z.enum(securityStates).optional().describe('Current state');

export type TriageViewFields = { [Name in keyof typeof triageView]: z.input<(typeof triageView)[Name]> };
/** Returns the state of a finding as views show it. */
export const toTriageView = (triage: StoredTriage | undefined, lastMs: number, nowMs: number): TriageViewFields => {
  const { until, assigneeId, reason, changedAt } = triage ?? openTriage;
  return {
    ...resolveState(triage, lastMs, nowMs),
    until,
    assigneeId,
    reason,
    changedAt,
    version: triage?.version ?? 0,
  };
};

export const isInState = ({ state }: { readonly state: SecurityState }, requested: string | undefined): boolean =>
  requested === undefined || state === requested;

const requireValidEnd = ({ state, until }: SecurityTriage): void => {
  if (state === 'accepted' && until === null) throw createFieldError('until', 'is required for "state": "accepted"');
};

/** Changes the decision about a finding that exists, with an audit record. Returns the stored decision. */
export const changeTriage = async (
  { forTenant, record, markUnchanged }: AuditedTransaction,
  {
    caller,
    request,
    body,
    collection,
    id,
    name,
    noun,
    nowMs,
  }: {
    readonly caller: Caller;
    readonly request: RequestFacts;
    readonly body: SecurityTriageFields;
    readonly collection: CollectionDefinition<SecurityTriage>;
    readonly id: string;
    readonly name: string;
    readonly noun: string;
    readonly nowMs: number;
  },
): Promise<StoredTriage> => {
  const tenantDocuments = forTenant(caller.tenantId);
  const triages = tenantDocuments.collection(collection);
  const before = await triages.find(id);
  requireVersion(before ?? { version: 0 }, parsePrecondition(request), { noun, requiresIfMatch: false });
  const fieldsBefore = before === undefined ? undefined : getFields<SecurityTriage>(before);
  const after = applyTriage(fieldsBefore, body, new Date(nowMs).toISOString());
  if (body.until !== undefined && body.until !== null && after.until === null)
    throw createFieldError('until', 'requires "state": "ignored" or "accepted"');
  requireValidEnd(after);
  await requireMember(tenantDocuments, after.assigneeId);
  if (before !== undefined && isDeepStrictEqual(fieldsBefore, after)) {
    markUnchanged();
    return before;
  }
  if (before === undefined && (await triages.count()) >= maxDecisions)
    throw new ApiError('CONFLICT', `${maxDecisions} findings already have a decision, which is the maximum`);
  const written =
    before === undefined ? await triages.insert({ id, ...after }) : await triages.replace(id, after, before.version);
  record({ id, name, before: fieldsBefore, after });
  request.reply('ETag', formatEtag(written));
  return written;
};

/** Body of a decision. */
export const TriageBody = SecurityTriageFields;
