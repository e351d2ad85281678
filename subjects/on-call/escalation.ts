/** Escalation of an incident: a pure function of policy, state, people and time returns the next state and the pages */
import type { Escalation, PageReceiver } from '../../schemas/resources/escalation.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import { intervalContains } from '../alerts/routing/times.ts';

const minuteMs = 60_000;

/**
 * A page to send. Its id is derived from the incident, round, step and recipient, so a repeated page is not sent again.
 */
export interface Page {
  readonly id: string;
  readonly round: number;
  /** Step of the policy; `null` for the owners, who are paged if no step reaches anybody */
  readonly step: number | null;
  readonly to: PageReceiver;
}

/** Timeline note of a step that paged nobody, and of the consequence */
export interface EscalationNote {
  readonly kind: 'step-skipped' | 'owners-paged' | 'acknowledgement-timed-out' | 'nobody-reached';
  readonly round: number;
  readonly step?: number;
  readonly reason?: 'outside-hours' | 'nobody-on-call';
}

/** The people at a given time */
export interface Responders {
  /** Returns the users who are on call in a schedule; empty for a schedule that does not exist. */
  onCall(scheduleId: string): readonly string[];
  /** Returns whether a page can be sent to a person or channel. */
  canReach(to: Page['to']): boolean;
  /** User ids. */
  readonly owners: readonly string[];
}

export interface EscalationResult {
  readonly state: Escalation;
  readonly pages: readonly Page[];
  readonly notes: readonly EscalationNote[];
}

/** Returns the escalation of an incident that has just opened. */
export const createEscalation = (policy: EscalationPolicy, openedMs: number): Escalation => ({
  status: 'open',
  round: 0,
  step: 0,
  acknowledgedMs: null,
  reached: false,
  dueMs: openedMs + (policy.steps[0]?.afterMinutes ?? 0) * minuteMs,
});

type Step = EscalationPolicy['steps'][number];

/** Returns the recipients that a step reaches, without duplicates. */
const findReachable = ({ targets }: Step, responders: Responders): Page['to'][] => {
  const all = targets.flatMap(({ kind, id }): Page['to'][] =>
    kind === 'schedule' ? responders.onCall(id).map((userId) => ({ kind: 'person', id: userId })) : [{ kind, id }],
  );
  const byKey = new Map(all.map((to) => [JSON.stringify([to.kind, to.id]), to]));
  return [...byKey.values()].filter((to) => responders.canReach(to));
};

const isInHours = ({ hours }: Step, nowMs: number): boolean =>
  hours.length === 0 || hours.some((hour) => intervalContains(hour, nowMs));

/** Returns the step that follows and its due time: the next step, the first step of another round, or none. */
const nextStep = (
  { steps, repeat, repeatAfterMinutes }: EscalationPolicy,
  { round, step }: Pick<Escalation, 'round' | 'step'>,
  nowMs: number,
): Pick<Escalation, 'round' | 'step' | 'dueMs'> => {
  const following = steps[step + 1];
  if (following !== undefined) return { round, step: step + 1, dueMs: nowMs + following.afterMinutes * minuteMs };
  if (round >= repeat) return { round, step, dueMs: null };
  return { round: round + 1, step: 0, dueMs: nowMs + repeatAfterMinutes * minuteMs };
};

const createPage = (incidentId: string, round: number, step: number | null, to: Page['to']): Page => ({
  id: JSON.stringify([incidentId, round, step, to.kind, to.id]),
  round,
  step,
  to,
});

/** Pages the owners after no step has reached anybody. */
const pageOwners = (
  incidentId: string,
  round: number,
  responders: Responders,
): Pick<EscalationResult, 'pages' | 'notes'> => {
  const pages = responders.owners
    .map((id) => ({ kind: 'person' as const, id }))
    .filter((to) => responders.canReach(to))
    .map((to) => createPage(incidentId, round, null, to));
  return { pages, notes: [{ kind: pages.length > 0 ? 'owners-paged' : 'nobody-reached', round }] };
};

/** Input of `escalate` */
export interface EscalationInput {
  readonly incidentId: string;
  readonly responders: Responders;
  readonly nowMs: number;
}

/** Runs the due step. A step that reaches nobody is skipped immediately, so the next step of the round runs. */
const runDueStep = (
  policy: EscalationPolicy,
  from: Escalation,
  { incidentId, responders, nowMs }: EscalationInput,
): EscalationResult => {
  const { round } = from;
  const notes: EscalationNote[] = [];
  for (const [step, due] of policy.steps.entries()) {
    if (step < from.step) continue;
    const isWithinHours = isInHours(due, nowMs);
    const reached = isWithinHours ? findReachable(due, responders) : [];
    if (reached.length > 0) {
      const state = { ...from, ...nextStep(policy, { round, step }, nowMs), reached: true };
      return { state, notes, pages: reached.map((to) => createPage(incidentId, round, step, to)) };
    }
    notes.push({ kind: 'step-skipped', round, step, reason: isWithinHours ? 'nobody-on-call' : 'outside-hours' });
  }
  const ownerPages = from.reached ? { pages: [], notes: [] } : pageOwners(incidentId, round, responders);
  const next = nextStep(policy, { round, step: policy.steps.length - 1 }, nowMs);
  const state = { ...from, ...next, reached: from.reached || ownerPages.pages.length > 0 };
  return { state, pages: ownerPages.pages, notes: [...notes, ...ownerPages.notes] };
};

/** Returns the actions that are due: none before the due time, and none after the incident has ended. */
export const escalate = (policy: EscalationPolicy, state: Escalation, input: EscalationInput): EscalationResult => {
  const { nowMs } = input;
  const unchanged = { state, pages: [], notes: [] };
  if (state.status === 'acknowledged') {
    const { acknowledgeTimeoutMinutes } = policy;
    if (acknowledgeTimeoutMinutes === null || state.acknowledgedMs === null) return unchanged;
    if (nowMs < state.acknowledgedMs + acknowledgeTimeoutMinutes * minuteMs) return unchanged;
    const reopened: Escalation = { ...state, status: 'open', acknowledgedMs: null };
    const note: EscalationNote = { kind: 'acknowledgement-timed-out', round: state.round };
    if (state.dueMs === null) return { state: reopened, pages: [], notes: [note] };
    const stepResult = runDueStep(policy, reopened, input);
    return { ...stepResult, notes: [note, ...stepResult.notes] };
  }
  if (state.status !== 'open' || state.dueMs === null || nowMs < state.dueMs) return unchanged;
  return runDueStep(policy, state, input);
};

/** Result of one due time of a preview, with the people at that time */
interface PreviewStep<PreviewResponders extends Responders> extends Omit<EscalationResult, 'state'> {
  readonly atMs: number;
  readonly responders: PreviewResponders;
}

/** Returns who would be paged when, if nobody acknowledges. `peopleAt` returns the people at the time of each step. */
export const previewEscalation = async <PreviewResponders extends Responders>(
  policy: EscalationPolicy,
  openedMs: number,
  respondersAt: (atMs: number) => PreviewResponders | Promise<PreviewResponders>,
): Promise<readonly PreviewStep<PreviewResponders>[]> => {
  const previewSteps: PreviewStep<PreviewResponders>[] = [];
  let state = createEscalation(policy, openedMs);
  while (state.dueMs !== null) {
    const atMs = state.dueMs;
    const responders = await respondersAt(atMs);
    const { pages, notes, state: next } = escalate(policy, state, { incidentId: '', responders, nowMs: atMs });
    previewSteps.push({ atMs, responders, pages, notes });
    state = next;
  }
  return previewSteps;
};
