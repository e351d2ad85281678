/** Evaluates the stored escalation of an incident */
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Escalation } from '../../schemas/resources/escalation.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import { createEscalation, type EscalationResult, escalate, type Responders } from './escalation.ts';

/** Returns when an incident was opened, or last reopened. */
export const getEscalationStart = ({ openedAt, reopenedAt }: Pick<Incident, 'openedAt' | 'reopenedAt'>): string =>
  reopenedAt ?? openedAt;

/** Returns the key of an escalation. A restarted escalation has another key, so that its pages have other ids. */
export const getEscalationKey = (incident: Incident & StoredMetadata): string =>
  JSON.stringify([incident.id, getEscalationStart(incident), incident.escalationPolicyId]);

const getNextDueMs = ({ status, dueMs, acknowledgedMs }: Escalation, policy: EscalationPolicy): number | null => {
  if (status === 'open') return dueMs;
  const { acknowledgeTimeoutMinutes: minutes } = policy;
  return status !== 'acknowledged' || minutes === null || acknowledgedMs === null
    ? null
    : acknowledgedMs + minutes * 60_000;
};

/** Result of an evaluation */
export interface EscalationCheck extends EscalationResult {
  readonly key: string;
  /** Time of the next evaluation; `null` if there is none */
  readonly escalatesAt: string | null;
  /** Whether the acknowledgement has expired */
  readonly isTimedOut: boolean;
}

/** Evaluates the escalation of an incident. The incident itself states whether and since when it is acknowledged. */
export const checkEscalation = (
  incident: Incident & StoredMetadata,
  storedEscalation: { readonly key: string; readonly state: Escalation } | undefined,
  {
    policy,
    responders,
    nowMs,
  }: { readonly policy: EscalationPolicy; readonly responders: Responders; readonly nowMs: number },
): EscalationCheck => {
  const key = getEscalationKey(incident);
  const { status, acknowledgedAt, escalationPolicyId } = incident;
  const state =
    storedEscalation?.key === key
      ? storedEscalation.state
      : createEscalation(policy, Date.parse(getEscalationStart(incident)));
  // Without a policy, nobody is paged.
  if (escalationPolicyId === null)
    return { key, state: { ...state, status }, pages: [], notes: [], escalatesAt: null, isTimedOut: false };
  const acknowledgedMs = status === 'acknowledged' && acknowledgedAt !== null ? Date.parse(acknowledgedAt) : null;
  const result = escalate(policy, { ...state, status, acknowledgedMs }, { incidentId: key, responders, nowMs });
  const dueMs = getNextDueMs(result.state, policy);
  return {
    ...result,
    key,
    isTimedOut: status === 'acknowledged' && result.state.status === 'open',
    escalatesAt: dueMs === null ? null : new Date(dueMs).toISOString(),
  };
};
