import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type SignalTriage,
  signalStates,
  signalTriages,
  signalVerdicts,
} from '../../../schemas/resources/signal-triage.ts';
import { signalSeverities } from '../../../schemas/signals.ts';
import {
  getSuppressedCount,
  parseEvents,
  readSignal,
  readSignals,
  SignalEventView,
  type SignalFilter,
  type StoredSignal,
  toSignalEventView,
} from '../../../subjects/detections/stored-signals.ts';
import { finishHistoryPage, historyParameters, parseHistoryPage } from '../../../subjects/events/history-page.ts';
import { createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createReading } from '../../kernel/reading.ts';
import { requireMember } from '../../resources/members.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { readDecidedSignalIds } from './decided-signals.ts';

const SignalView = z.strictObject({
  id: z.string(),
  ruleId: z.string(),
  ruleVersion: z.int(),
  ruleTitle: z.string(),
  kind: z.enum(['rule', 'correlation']),
  severity: z.enum(signalSeverities),
  riskScore: z.number(),
  time: z.iso.datetime().describe('Time of the record, or of the last record of a correlation'),
  projectId: z.string(),
  events: z
    .array(SignalEventView)
    .describe('Matching records, with their fields and match reasons: the first and the last if there are many'),
  eventCount: z.int().describe('Number of matching records, including those of suppressed signals'),
  hidden: z
    .int()
    .describe(
      'Signals with the same rule and group that suppression hid after this one; grows until the suppression ends',
    ),
  entities: z.array(z.strictObject({ type: z.string(), value: z.string() })),
  tactics: z.array(z.string()),
  techniques: z.array(z.string()),
  group: z.record(z.string(), z.string()),
  suppressedBy: z.string().nullable().describe('The exception that covers it'),
  state: z.enum(signalStates),
  assigneeId: z.string().nullable(),
  verdict: z.enum(signalVerdicts).nullable(),
  reason: z.string(),
  changedAt: z.iso.datetime().nullable().describe('Time of the last decision'),
});

const initialTriage: Omit<SignalTriage, 'changedAt'> & { changedAt: null } = {
  state: 'open',
  assigneeId: null,
  verdict: null,
  reason: '',
  changedAt: null,
};

const toView = (signal: StoredSignal, triage: SignalTriage | undefined): z.input<typeof SignalView> => {
  const { state, assigneeId, verdict, reason, changedAt } = triage ?? initialTriage;
  return {
    id: signal.id,
    ruleId: signal.rule_id,
    ruleVersion: signal.rule_version,
    ruleTitle: signal.rule_title,
    kind: signal.kind,
    severity: signal.severity,
    riskScore: signal.risk_score,
    projectId: signal.project,
    time: new Date(Number(signal.ms)).toISOString(),
    events: parseEvents(signal).map(toSignalEventView),
    eventCount: signal.event_count,
    hidden: getSuppressedCount(signal),
    entities: signal.entities.map((entity) => {
      const [type = '', ...value] = entity.split(' ');
      return { type, value: value.join(' ') };
    }),
    tactics: [...signal.tactics],
    techniques: [...signal.techniques],
    group: { ...signal.group_by },
    suppressedBy: signal.suppressed_by === '' ? null : signal.suppressed_by,
    state,
    assigneeId,
    verdict,
    reason,
    changedAt,
  };
};

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
    const reading = createReading(caller, ports);
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const page = parseHistoryPage('signals', query, reading);
    const filter: SignalFilter = {
      ruleId: query.ruleId,
      entity: query.entity,
      technique: query.technique?.toUpperCase(),
      projectId: query.projectId,
      severities: query.severity?.split(','),
      ids: await readIdFilter(tenantDocuments, query),
      withSuppressed: query.suppressed === 'true',
    };
    const rows = await readSignals(reading, filter, page);
    const { shown: pageSignals, nextCursor } = finishHistoryPage('signals', rows, {
      ...page,
      limit: query.limit,
      getId: ({ id }) => id,
    });
    const triages = await readTriages(tenantDocuments, pageSignals);
    return { items: pageSignals.map((signal) => toView(signal, triages.get(signal.id))), nextCursor };
  },
});

const readTriages = async (
  tenantDocuments: TenantDocuments,
  signals: readonly StoredSignal[],
): Promise<ReadonlyMap<string, SignalTriage & StoredMetadata>> => {
  const ids = signals.map(({ id }) => id);
  const { items } = await tenantDocuments
    .collection(signalTriages)
    .list({ filter: { id: { $in: ids } }, limit: Math.max(1, ids.length) });
  return new Map(items.map((item) => [item.id, item]));
};

export const getSignal = defineOperation({
  method: 'GET',
  path: '/api/siem/signals/{id}',
  operationId: 'getSignal',
  summary: 'Get a signal, with its matching records',
  role: 'viewer',
  params: idParameter,
  response: SignalView,
  async handler({ caller, params }, ports) {
    const signal = await readSignal(createReading(caller, ports), params.id);
    if (signal === undefined) throw createNotFoundError('signal');
    const triage = await ports.documents.forTenant(caller.tenantId).collection(signalTriages).find(signal.id);
    return toView(signal, triage);
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
    const signal = await readSignal(createReading(caller, ports), params.id);
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
    return toView(signal, after);
  },
});
