/** State of a finding, derived from the decision of a user and later occurrences. No job reopens findings. */
import type { SecurityState, SecurityTriage, SecurityTriageFields } from '../../schemas/resources/security-triage.ts';

export const openTriage: Omit<SecurityTriage, 'changedAt'> & { readonly changedAt: null } = {
  state: 'open',
  until: null,
  assigneeId: null,
  reason: '',
  changedAt: null,
};

export interface ResolvedState {
  readonly state: SecurityState;
  /** Whether it is open again: it occurred after it was resolved, or the end of the state passed */
  readonly isReopened: boolean;
}

/** Returns the current state; `lastMs` is the time of the last occurrence. */
export const resolveState = (
  triage: Pick<SecurityTriage, 'state' | 'until' | 'changedAt'> | undefined,
  lastMs: number,
  nowMs: number,
): ResolvedState => {
  if (triage === undefined || triage.state === 'open') return { state: 'open', isReopened: false };
  const isReopened =
    triage.state === 'resolved'
      ? lastMs > Date.parse(triage.changedAt)
      : triage.until !== null && Date.parse(triage.until) <= nowMs;
  return { state: isReopened ? 'open' : triage.state, isReopened };
};

/** Returns the decision after a change; `now` is the time of a changed state. */
export const applyTriage = (
  before: SecurityTriage | undefined,
  { state, until, assigneeId, reason }: SecurityTriageFields,
  now: string,
): SecurityTriage => {
  const current = before ?? { ...openTriage, changedAt: now };
  const nextState = state ?? current.state;
  const hasEnd = nextState === 'ignored' || nextState === 'accepted';
  return {
    state: nextState,
    until: hasEnd ? (until === undefined ? (state === undefined ? current.until : null) : until) : null,
    assigneeId: assigneeId === undefined ? current.assigneeId : assigneeId,
    reason: reason ?? current.reason,
    changedAt: state === undefined && until === undefined ? current.changedAt : now,
  };
};
