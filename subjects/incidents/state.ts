/** The state machine of an incident as a pure function: the effect of an action, and which actions are impossible */
import type { Incident, IncidentState, IncidentTimes } from '../../schemas/resources/incident.ts';

/** States from which each state can be reached */
const previousStates: Readonly<Record<IncidentState, readonly IncidentState[]>> = {
  open: ['resolved'],
  acknowledged: ['open'],
  resolved: ['open', 'acknowledged'],
  merged: ['open', 'acknowledged'],
};

/** Initial fields of an incident without any user action */
export const initialFields = {
  firstAcknowledgedAt: null,
  acknowledgedAt: null,
  acknowledgedBy: null,
  resolvedAt: null,
  resolvedBy: null,
  reopenedAt: null,
  evidenceHash: null,
  escalatesAt: null,
} as const satisfies Partial<IncidentTimes>;

/** User who changes the state of an incident, and the time */
export interface StateChange {
  readonly by: string;
  readonly at: string;
}

/** Returns whether an incident can change to a state; its current state is always allowed. */
export const canBecome = (from: IncidentState, to: IncidentState): boolean =>
  from === to || previousStates[to].includes(from);

/**
 * Returns an incident in another state, with the resulting times. An incident that is already in the state is returned
 * unchanged, so a repeated action changes nothing. Returns `undefined` if the action is impossible.
 */
export const changeState = <StateHolder extends Incident>(
  incident: StateHolder,
  to: IncidentState,
  { by, at }: StateChange,
): StateHolder | undefined => {
  if (incident.status === to) return incident;
  if (!canBecome(incident.status, to)) return undefined;
  const isOngoing = to === 'open' || to === 'acknowledged';
  const escalatesAt = isOngoing && incident.escalationPolicyId !== null ? at : null;
  const next = { ...incident, status: to, escalatesAt };
  if (to === 'open')
    return { ...next, acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null, reopenedAt: at };
  if (to === 'acknowledged')
    return { ...next, acknowledgedAt: at, acknowledgedBy: by, firstAcknowledgedAt: incident.firstAcknowledgedAt ?? at };
  return to === 'resolved' ? { ...next, resolvedAt: at, resolvedBy: by } : next;
};

/** Returns an incident whose acknowledgement has expired: it is open again, with its original opening time. */
export const removeAcknowledgement = (incident: Incident): Incident => ({
  ...incident,
  status: 'open',
  acknowledgedAt: null,
  acknowledgedBy: null,
});
