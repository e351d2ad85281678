/** Evaluates the stored escalation of an incident */
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Escalation } from '../../schemas/resources/escalation.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import { type Escalated, escalate, opened, type People } from './escalation.ts';

/** Returns when an incident was opened, or last reopened. */
export const sinceOf = ({ openedAt, reopenedAt }: Pick<Incident, 'openedAt' | 'reopenedAt'>): string =>
  reopenedAt ?? openedAt;

/** Returns the key of an escalation. A restarted escalation has another key, so that its pages have other ids. */
export const keyOf = (incident: Incident & Stored): string =>
  JSON.stringify([incident.id, sinceOf(incident), incident.escalationPolicyId]);

const dueOf = ({ status, dueMs, acknowledgedMs }: Escalation, policy: EscalationPolicy): number | null => {
  if (status === 'open') return dueMs;
  const { acknowledgeTimeoutMinutes: minutes } = policy;
  return status !== 'acknowledged' || minutes === null || acknowledgedMs === null
    ? null
    : acknowledgedMs + minutes * 60_000;
};

/** Result of an evaluation */
export interface EscalationCheck extends Escalated {
  readonly key: string;
  /** Time of the next evaluation; `null` if there is none */
  readonly escalatesAt: string | null;
  /** Whether the acknowledgement has expired */
  readonly isTimedOut: boolean;
}

/** Evaluates the escalation of an incident, which contains whether and since when it is acknowledged. */
export const checkEscalation = (
  incident: Incident & Stored,
  known: { readonly key: string; readonly state: Escalation } | undefined,
  { policy, people, nowMs }: { readonly policy: EscalationPolicy; readonly people: People; readonly nowMs: number },
): EscalationCheck => {
  const key = keyOf(incident);
  const { status, acknowledgedAt, escalationPolicyId } = incident;
  const before = known?.key === key ? known.state : opened(policy, Date.parse(sinceOf(incident)));
  // Without a policy, nobody is paged.
  if (escalationPolicyId === null)
    return { key, state: { ...before, status }, pages: [], notes: [], escalatesAt: null, isTimedOut: false };
  const acknowledgedMs = status === 'acknowledged' && acknowledgedAt !== null ? Date.parse(acknowledgedAt) : null;
  const escalated = escalate(policy, { ...before, status, acknowledgedMs }, { incidentId: key, people, nowMs });
  const dueMs = dueOf(escalated.state, policy);
  return {
    ...escalated,
    key,
    isTimedOut: status === 'acknowledged' && escalated.state.status === 'open',
    escalatesAt: dueMs === null ? null : new Date(dueMs).toISOString(),
  };
};
