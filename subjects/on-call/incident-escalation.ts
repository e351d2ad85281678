/** The escalation of an incident as it is stored: what a look at it makes of it. */
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Escalation } from '../../schemas/resources/escalation.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import { type Escalated, escalate, opened, type People } from './escalation.ts';

/** When an incident opened, or was reopened last. */
export const sinceOf = ({ openedAt, reopenedAt }: Pick<Incident, 'openedAt' | 'reopenedAt'>): string =>
  reopenedAt ?? openedAt;

/** What is escalated. What is escalated anew has another key, so that its pages have other ids. */
export const keyOf = (incident: Incident & Stored): string =>
  JSON.stringify([incident.id, sinceOf(incident), incident.escalationPolicyId]);

const dueOf = ({ status, dueMs, acknowledgedMs }: Escalation, policy: EscalationPolicy): number | null => {
  if (status === 'open') return dueMs;
  const { acknowledgeTimeoutMinutes: minutes } = policy;
  return status !== 'acknowledged' || minutes === null || acknowledgedMs === null
    ? null
    : acknowledgedMs + minutes * 60_000;
};

/** What came of a look. */
export interface EscalationCheck extends Escalated {
  readonly key: string;
  /** When to look again; null for never. */
  readonly escalatesAt: string | null;
  /** The acknowledgement holds no more. */
  readonly isTimedOut: boolean;
}

/** Looks at the escalation of an incident. The incident says whether somebody sees to it, and since when. */
export const checkEscalation = (
  incident: Incident & Stored,
  known: { readonly key: string; readonly state: Escalation } | undefined,
  { policy, people, nowMs }: { readonly policy: EscalationPolicy; readonly people: People; readonly nowMs: number },
): EscalationCheck => {
  const key = keyOf(incident);
  const { status, acknowledgedAt, escalationPolicyId } = incident;
  const before = known?.key === key ? known.state : opened(policy, Date.parse(sinceOf(incident)));
  // Nobody is paged for it.
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
