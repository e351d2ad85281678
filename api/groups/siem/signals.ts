import { z } from 'zod';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type SignalTriage,
  signalStates,
  signalTriages,
  signalVerdicts,
} from '../../../schemas/resources/signal-triage.ts';
import { signalSeverities } from '../../../schemas/signals.ts';
import { readSignal, readSignals, type SignalFilter } from '../../../subjects/detections/stored-signals.ts';
import { finishHistoryPage, historyParameters, parseHistoryPage } from '../../../subjects/events/history-page.ts';
import { createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { requireMember } from '../../resources/members.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { readDecidedSignalIds } from './decided-signals.ts';
import { initialTriage, readTriages, SignalView, toSignalView } from './signal-view.ts';

const readIdFilter = async (
  tenantDocuments: TenantDocuments,
  { state, assigneeId }: { readonly state?: string | undefined; readonly assigneeId?: string | undefined },
): Promise<SignalFilter['ids']> => {
  if (assigneeId !== undefined)
    return {
      are: 'only',
      of: await readDecidedSignalIds(tenantDocuments, { assigneeId, ...(state !== undefined && { state }) }),
    };
  if (state === undefined) return undefined;
  if (state === 'open')
    return {
      are: 'none',
      of: await readDecidedSignalIds(tenantDocuments, { state: { $in: ['acknowledged', 'closed'] } }),
    };
  return { are: 'only', of: await readDecidedSignalIds(tenantDocuments, { state }) };
};

export const listSignals = defineOperation({
  method: 'GET',
  path: '/api/siem/signals',
  operationId: 'listSignals',
  summary: 'List signals of detection rules, the newest first',
  role: 'viewer',
  query: z.strictObject({
    ...historyParameters,
    ruleId: z.string().max(128).optional(),
    severity: z
      .string()
      .max(128)
      .refine((text) => text.split(',').every((value) => (signalSeverities as readonly string[]).includes(value)), {
        message: `must be some of ${signalSeverities.join(',')}`,
      })
      .optional(),
    entity: z
      .string()
      .regex(/^(?:user|host|process|address) ./, 'must be a type and a value, such as user ann')
      .max(640)
      .optional()
      .describe('Only signals of this entity: user, host, process or address, followed by its value, such as user ann'),
    technique: z.string().max(32).optional().describe('ATT&CK technique, such as T1059.001'),
    projectId: z.string().max(128).optional(),
    state: z.enum(signalStates).optional(),
    assigneeId: z.string().max(128).optional(),
    suppressed: z.enum(['true']).optional().describe('true: include signals that an exception covers'),
  }),
  response: z.strictObject({ items: z.array(SignalView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const page = parseHistoryPage('signals', query, reader);
    const filter: SignalFilter = {
      ruleId: query.ruleId,
      entity: query.entity,
      technique: query.technique?.toUpperCase(),
      projectId: query.projectId,
      severities: query.severity?.split(','),
      ids: await readIdFilter(tenantDocuments, query),
      withSuppressed: query.suppressed === 'true',
    };
    const rows = await readSignals(reader, filter, page);
    const { shown: pageSignals, nextCursor } = finishHistoryPage('signals', rows, {
      ...page,
      limit: query.limit,
      getId: ({ id }) => id,
    });
    const triages = await readTriages(tenantDocuments, pageSignals);
    return { items: pageSignals.map((signal) => toSignalView(signal, triages.get(signal.id))), nextCursor };
  },
});

export const getSignal = defineOperation({
  method: 'GET',
  path: '/api/siem/signals/{id}',
  operationId: 'getSignal',
  summary: 'Get a signal, with its matching records',
  role: 'viewer',
  params: idParameter,
  response: SignalView,
  async handler({ caller, params }, ports) {
    const signal = await readSignal(createQueryReader(caller, ports), params.id);
    if (signal === undefined) throw createNotFoundError('signal');
    const triage = await ports.documents.forTenant(caller.tenantId).collection(signalTriages).find(signal.id);
    return toSignalView(signal, triage);
  },
});

const Triage = z.strictObject({
  state: z.enum(signalStates).optional(),
  assigneeId: z.string().min(1).max(128).nullable().optional().describe('A user of the organization; null for nobody'),
  verdict: z.enum(signalVerdicts).nullable().optional().describe('Verdict; required for state closed'),
  reason: z.string().max(4096).optional(),
});

const pickTriageFields = ({ state, assigneeId, verdict, reason, changedAt }: SignalTriage): SignalTriage => ({
  state,
  assigneeId,
  verdict,
  reason,
  changedAt,
});

/** Applies a change to a triage. A signal that is reopened or acknowledged loses its verdict. */
const applyTriage = (
  { state, assigneeId, verdict, reason }: z.output<typeof Triage>,
  currentTriage: Omit<SignalTriage, 'changedAt'>,
  changedAt: string,
): SignalTriage => {
  const shouldKeepVerdict = state === undefined || state === 'closed';
  return {
    state: state ?? currentTriage.state,
    assigneeId: assigneeId === undefined ? currentTriage.assigneeId : assigneeId,
    verdict: verdict === undefined ? (shouldKeepVerdict ? currentTriage.verdict : null) : verdict,
    reason: reason ?? currentTriage.reason,
    changedAt,
  };
};

export const triageSignal = defineOperation({
  method: 'PATCH',
  path: '/api/siem/signals/{id}',
  operationId: 'triageSignal',
  summary: 'Acknowledge, close, reopen or assign a signal, with the reason',
  role: 'editor',
  audit: 'signal.triage',
  params: idParameter,
  body: z.strictObject({
    state: z.enum(signalStates).optional(),
    assigneeId: z
      .string()
      .min(1)
      .max(128)
      .nullable()
      .optional()
      .describe('A user of the organization; null for nobody'),
    verdict: z.enum(signalVerdicts).nullable().optional().describe('Verdict; required for state closed'),
    reason: z.string().max(4096).optional(),
  }),
  response: SignalView,
  async handler({ caller, params, body, change }, ports) {
    const signal = await readSignal(createQueryReader(caller, ports), params.id);
    if (signal === undefined) throw createNotFoundError('signal');
    const now = new Date(ports.clock.now()).toISOString();
    const after = await change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const triages = tenantDocuments.collection(signalTriages);
      const before = await triages.find(signal.id);
      const { changedAt: _, ...currentTriage } = before === undefined ? initialTriage : pickTriageFields(before);
      const next = applyTriage(body, currentTriage, now);
      if (next.verdict !== null && next.state !== 'closed')
        throw createFieldError('verdict', 'requires "state": "closed"');
      await requireMember(tenantDocuments, next.assigneeId);
      if (before === undefined) await triages.insert({ id: signal.id, ...next });
      else await triages.replace(signal.id, next, before.version);
      scope.record({
        id: signal.id,
        name: signal.rule_title,
        before: currentTriage,
        after: next,
      });
      return next;
    });
    return toSignalView(signal, after);
  },
});
