import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type SuggestionMark, suggestionMarks } from '../../../schemas/resources/suggestion-mark.ts';
import { type SuggestionResult, suggestNow } from '../../../subjects/suggestions/compute-suggestions.ts';
import {
  createSuggestionId,
  isEvidenceUnchanged,
  isSuggestionId,
  type Suggestion,
  suggestionKinds,
} from '../../../subjects/suggestions/suggestion.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Transact } from '../../changes.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';

/** Time for which a suggestion cannot be applied again after its request was sent. It is longer than a request can take. */
const claimTimeoutMs = 60_000;

const Request = z.strictObject({
  method: z.enum(['POST', 'PUT']),
  path: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown(),
});

const SuggestionView = z.strictObject({
  id: z.string().describe('The same id as long as the suggestion stays the same'),
  kind: z.enum(suggestionKinds),
  subject: z.string().describe('For example a service, a metric or the id of a rule'),
  title: z.string(),
  evidence: z.string(),
  effect: z.string(),
  request: Request.nullable().describe(
    'Request that `apply` sends as its caller; null: the change must be made at the sender of the telemetry',
  ),
});

const toView = (tenantId: string, suggestion: Suggestion): z.input<typeof SuggestionView> => {
  const { kind, subject, title, evidence, effect, request } = suggestion;
  return { id: createSuggestionId(tenantId, suggestion), kind, subject, title, evidence, effect, request };
};

interface RequestContext {
  readonly caller: Caller;
  readonly ports: Ports;
}

const readDismissals = async ({ caller, ports }: RequestContext, ids: readonly string[]) => {
  if (ids.length === 0) return [];
  const filter = { id: { $in: [...ids] }, state: 'dismissed' };
  return (await ports.documents.forTenant(caller.tenantId).collection(suggestionMarks).list({ filter, limit: 1000 }))
    .items;
};

/** Returns the suggestions that nobody dismissed with the same evidence. */
const readOpenSuggestions = async (context: RequestContext): Promise<SuggestionResult> => {
  const { suggestions, missing } = await suggestNow({
    documents: context.ports.documents.forTenant(context.caller.tenantId),
    reader: createQueryReader(context.caller, context.ports),
    log: context.ports.log,
  });
  const toSuggestionId = (suggestion: Suggestion): string => createSuggestionId(context.caller.tenantId, suggestion);
  const marks = new Map(
    (await readDismissals(context, suggestions.map(toSuggestionId))).map((mark) => [mark.id, mark]),
  );
  const isOpen = (suggestion: Suggestion): boolean => {
    const mark = marks.get(toSuggestionId(suggestion));
    return mark === undefined || !isEvidenceUnchanged(suggestion.weight, mark.weight);
  };
  return { suggestions: suggestions.filter(isOpen), missing };
};

/** Returns a currently open suggestion. Throws `CONFLICT` for a suggestion that is no longer open, and `NOT_FOUND` for anything else. */
const findOpenSuggestion = async (id: string, context: RequestContext): Promise<Suggestion> => {
  const { tenantId } = context.caller;
  if (!isSuggestionId(tenantId, id)) throw createNotFoundError('suggestion');
  const { suggestions, missing } = await readOpenSuggestions(context);
  const openSuggestion = suggestions.find((suggestion) => createSuggestionId(tenantId, suggestion) === id);
  if (openSuggestion !== undefined) return openSuggestion;
  if (missing.length > 0)
    throw new ApiError(
      'UNAVAILABLE',
      `${missing.join(', ')} cannot be read now, so it is unknown whether the suggestion is still valid`,
    );
  throw new ApiError('CONFLICT', 'this suggestion is no longer valid: its cause has changed, or somebody applied it');
};

export const listSuggestions = defineOperation({
  method: 'GET',
  path: '/api/ai/suggestions',
  operationId: 'listSuggestions',
  summary:
    'List suggestions: alerts, SLOs, detectors, dashboards, rules that fire too often, telemetry that nobody reads',
  role: 'viewer',
  query: z.strictObject({ kind: z.enum(suggestionKinds).optional() }),
  response: z.strictObject({
    items: z.array(SuggestionView),
    missing: z
      .array(z.string())
      .describe('Sources that are currently unavailable, so that their suggestions are missing'),
  }),
  async handler({ caller, query }, ports) {
    const { suggestions, missing } = await readOpenSuggestions({ caller, ports });
    const matchingSuggestions = suggestions.filter(({ kind }) => query.kind === undefined || kind === query.kind);
    return {
      items: matchingSuggestions.map((suggestion) => toView(caller.tenantId, suggestion)),
      missing: [...missing],
    };
  },
});

interface ClaimContext {
  readonly id: string;
  readonly suggestion: Suggestion;
  readonly caller: Caller;
  readonly change: Transact;
  readonly now: number;
}

/** Claims a suggestion, so that its request is sent once: of two concurrent calls, one is rejected. */
const claimSuggestion = ({
  id,
  suggestion: { title, weight, request },
  caller,
  change,
  now,
}: ClaimContext): Promise<void> =>
  change(async (scope) => {
    const marks = scope.forTenant(caller.tenantId).collection(suggestionMarks);
    const before = await marks.find(id);
    if (before?.state === 'applying' && now - Date.parse(before.at) < claimTimeoutMs)
      throw new ApiError('CONFLICT', 'the suggestion is being applied, or was just applied');
    const mark = { state: 'applying' as const, weight, title, by: caller.actor.id, at: new Date(now).toISOString() };
    if (before === undefined) await marks.insert({ id, ...mark });
    else await marks.replace(id, mark, before.version);
    scope.record({ id, name: title, after: { method: request?.method, path: request?.path } });
  });

/** Releases the claim after a failed request, so that it can be sent again. */
const releaseClaim = ({ id, suggestion: { title }, caller, change }: ClaimContext): Promise<void> =>
  change(async (scope) => {
    await scope.forTenant(caller.tenantId).collection(suggestionMarks).delete(id);
    scope.record({ id, name: title, action: 'suggestion.fail' });
  });

export const applySuggestion = defineOperation({
  method: 'POST',
  path: '/api/ai/suggestions/{id}/apply',
  operationId: 'applySuggestion',
  summary: 'Send the request of a suggestion as the caller, with the caller’s permissions; once',
  role: 'editor',
  audit: [
    ...['suggestion.apply', 'suggestion.fail'],
    // The actions of the requests that suggestions send.
    ...['service-level-objective.create', 'alert-rule-v2.create', 'alert-rule-v2.update'],
    ...['anomaly-detector.create', 'dashboard.create'],
  ],
  params: idParameter,
  response: z.strictObject({ suggestion: SuggestionView, answer: z.unknown().describe('Response to the request') }),
  async handler({ caller, params, request, signal, change }, ports) {
    const suggestion = await findOpenSuggestion(params.id, { caller, ports });
    const operationRequest = suggestion.request;
    if (operationRequest === null) throw new ApiError('CONFLICT', `no operation does this: ${suggestion.effect}`);
    const claimContext = { id: params.id, suggestion, caller, change, now: ports.clock.now() };
    await claimSuggestion(claimContext);
    try {
      const answer = await ports.call(operationRequest, { caller, request, signal }, ports);
      return { suggestion: toView(caller.tenantId, suggestion), answer };
    } catch (error) {
      await releaseClaim(claimContext);
      if (error instanceof ApiError && error.code === 'PRECONDITION_FAILED')
        throw new ApiError('CONFLICT', 'the resource was changed by another request', { cause: error });
      throw error;
    }
  },
});

const toDismissalView = (mark: Pick<SuggestionMark & StoredMetadata, 'at' | 'by'>) => ({ at: mark.at, by: mark.by });

export const dismissSuggestion = defineOperation({
  method: 'DELETE',
  path: '/api/ai/suggestions/{id}',
  operationId: 'dismissSuggestion',
  summary: 'Dismiss a suggestion: it stays hidden until its evidence halves or doubles, or its content changes',
  role: 'editor',
  audit: 'suggestion.dismiss',
  params: idParameter,
  response: z.strictObject({ suggestion: SuggestionView, at: z.iso.datetime(), by: z.string() }),
  async handler({ caller, params, change }, ports) {
    const suggestion = await findOpenSuggestion(params.id, { caller, ports });
    const { title, weight } = suggestion;
    const at = new Date(ports.clock.now()).toISOString();
    return change(async (scope) => {
      const marks = scope.forTenant(caller.tenantId).collection(suggestionMarks);
      const mark = { state: 'dismissed' as const, weight, title, by: caller.actor.id, at };
      const before = await marks.find(params.id);
      if (before === undefined) await marks.insert({ id: params.id, ...mark });
      else await marks.replace(params.id, mark, before.version);
      scope.record({ id: params.id, name: title, after: mark });
      return { suggestion: toView(caller.tenantId, suggestion), ...toDismissalView(mark) };
    });
  },
});
