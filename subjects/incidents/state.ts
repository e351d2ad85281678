/** The states of an incident, as a pure function: what an action makes of one, and which actions are impossible. */
import type { Incident, IncidentState, IncidentTimes } from '../../schemas/resources/incident.ts';

/** From which states a state can be reached. */
const reachedFrom: Readonly<Record<IncidentState, readonly IncidentState[]>> = {
  open: ['resolved'],
  acknowledged: ['open'],
  resolved: ['open', 'acknowledged'],
  merged: ['open', 'acknowledged'],
};

/** What is written of an incident that nobody has touched. */
export const untouched = {
  firstAcknowledgedAt: null,
  acknowledgedAt: null,
  acknowledgedBy: null,
  resolvedAt: null,
  resolvedBy: null,
  reopenedAt: null,
  evidenceHash: null,
  escalatesAt: null,
} as const satisfies Partial<IncidentTimes>;

/** Who moves an incident, and when. */
export interface Move {
  readonly by: string;
  readonly at: string;
}

/** Whether an incident can come into a state; to stay in its state is always possible. */
export const canBecome = (from: IncidentState, to: IncidentState): boolean =>
  from === to || reachedFrom[to].includes(from);

/**
 * An incident in another state, with the times that follow. One that is there already comes back as it is, so a
 * repeated action changes nothing. `undefined` where the action is impossible.
 */
export const moved = <One extends Incident>(incident: One, to: IncidentState, { by, at }: Move): One | undefined => {
  if (incident.status === to) return incident;
  if (!canBecome(incident.status, to)) return undefined;
  const goesOn = to === 'open' || to === 'acknowledged';
  const escalatesAt = goesOn && incident.escalationPolicyId !== null ? at : null;
  const next = { ...incident, status: to, escalatesAt };
  if (to === 'open')
    return { ...next, acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null, reopenedAt: at };
  if (to === 'acknowledged')
    return { ...next, acknowledgedAt: at, acknowledgedBy: by, firstAcknowledgedAt: incident.firstAcknowledgedAt ?? at };
  return to === 'resolved' ? { ...next, resolvedAt: at, resolvedBy: by } : next;
};

/** An incident whose acknowledgement holds no more: it is open again, and as old as it was. */
export const unacknowledged = (incident: Incident): Incident => ({
  ...incident,
  status: 'open',
  acknowledgedAt: null,
  acknowledgedBy: null,
});
