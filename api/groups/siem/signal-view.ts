/** Security signals with the decisions of people about them, as responses show them. */
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
  SignalEventView,
  type StoredSignal,
  toSignalEventView,
} from '../../../subjects/detections/stored-signals.ts';

export const SignalView = z.strictObject({
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

/** Decisions about a signal about which nobody has decided. */
export const initialTriage: Omit<SignalTriage, 'changedAt'> & { changedAt: null } = {
  state: 'open',
  assigneeId: null,
  verdict: null,
  reason: '',
  changedAt: null,
};

/** Returns a signal with the decisions about it. */
export const toSignalView = (signal: StoredSignal, triage: SignalTriage | undefined): z.input<typeof SignalView> => {
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

/** Returns the decisions about signals, by the ID of the signal. */
export const readTriages = async (
  tenantDocuments: TenantDocuments,
  signals: readonly StoredSignal[],
): Promise<ReadonlyMap<string, SignalTriage & StoredMetadata>> => {
  const ids = signals.map(({ id }) => id);
  const { items } = await tenantDocuments
    .collection(signalTriages)
    .list({ filter: { id: { $in: ids } }, limit: Math.max(1, ids.length) });
  return new Map(items.map((item) => [item.id, item]));
};
