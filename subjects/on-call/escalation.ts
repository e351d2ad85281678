/** Escalation of an incident: a pure function of policy, state, people and time gives the next state and the pages. */
import type { Escalation, PageReceiver } from '../../schemas/resources/escalation.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import { holdsAt } from '../alerts/routing/times.ts';

const minuteMs = 60_000;

/** One page to send. Its id follows from the incident, round, step and whom it is for, so a repeat sends nothing. */
export interface Page {
  readonly id: string;
  readonly round: number;
  /** `null` for the owners, who are paged when no step reaches anybody. */
  readonly step: number | null;
  readonly to: PageReceiver;
}

/** What the timeline says of a step that paged nobody, and of what came of it. */
export interface EscalationNote {
  readonly kind: 'step-skipped' | 'owners-paged' | 'acknowledgement-timed-out' | 'nobody-reached';
  readonly round: number;
  readonly step?: number;
  readonly reason?: 'outside-hours' | 'nobody-on-call';
}

/** The people, as they are at the time. */
export interface People {
  /** Who is on call in a schedule; nobody for one that is not there. */
  onCall(scheduleId: string): readonly string[];
  /** Whether a person, or a channel, can be sent a page. */
  canReach(to: Page['to']): boolean;
  /** User ids. */
  readonly owners: readonly string[];
}

export interface Escalated {
  readonly state: Escalation;
  readonly pages: readonly Page[];
  readonly notes: readonly EscalationNote[];
}

/** The escalation of an incident that has just opened. */
export const opened = (policy: EscalationPolicy, openedMs: number): Escalation => ({
  status: 'open',
  round: 0,
  step: 0,
  acknowledgedMs: null,
  reached: false,
  dueMs: openedMs + (policy.steps[0]?.afterMinutes ?? 0) * minuteMs,
});

type Step = EscalationPolicy['steps'][number];

/** Whom a step reaches, each once. */
const reachedBy = ({ targets }: Step, people: People): Page['to'][] => {
  const all = targets.flatMap(({ kind, id }): Page['to'][] =>
    kind === 'schedule' ? people.onCall(id).map((userId) => ({ kind: 'person', id: userId })) : [{ kind, id }],
  );
  const byKey = new Map(all.map((to) => [JSON.stringify([to.kind, to.id]), to]));
  return [...byKey.values()].filter((to) => people.canReach(to));
};

const isInHours = ({ hours }: Step, nowMs: number): boolean =>
  hours.length === 0 || hours.some((each) => holdsAt(each, nowMs));

/** What comes after a step, and when: the next step, the first of another round, or nothing. */
const next = (
  { steps, repeat, repeatAfterMinutes }: EscalationPolicy,
  { round, step }: Pick<Escalation, 'round' | 'step'>,
  nowMs: number,
): Pick<Escalation, 'round' | 'step' | 'dueMs'> => {
  const following = steps[step + 1];
  if (following !== undefined) return { round, step: step + 1, dueMs: nowMs + following.afterMinutes * minuteMs };
  if (round >= repeat) return { round, step, dueMs: null };
  return { round: round + 1, step: 0, dueMs: nowMs + repeatAfterMinutes * minuteMs };
};

const pageOf = (incidentId: string, round: number, step: number | null, to: Page['to']): Page => ({
  id: JSON.stringify([incidentId, round, step, to.kind, to.id]),
  round,
  step,
  to,
});

/** Pages the owners, once no step has reached anybody. */
const toOwners = (incidentId: string, round: number, people: People): Pick<Escalated, 'pages' | 'notes'> => {
  const pages = people.owners
    .map((id) => ({ kind: 'person' as const, id }))
    .filter((to) => people.canReach(to))
    .map((to) => pageOf(incidentId, round, null, to));
  return { pages, notes: [{ kind: pages.length > 0 ? 'owners-paged' : 'nobody-reached', round }] };
};

/** What a call of `escalate` is about. */
export interface Moment {
  readonly incidentId: string;
  readonly people: People;
  readonly nowMs: number;
}

/** Runs the step that is due. One that reaches nobody is skipped at once, so the next of the round runs now. */
const run = (policy: EscalationPolicy, from: Escalation, { incidentId, people, nowMs }: Moment): Escalated => {
  const { round } = from;
  const notes: EscalationNote[] = [];
  for (const [step, due] of policy.steps.entries()) {
    if (step < from.step) continue;
    const isHeld = isInHours(due, nowMs);
    const reached = isHeld ? reachedBy(due, people) : [];
    if (reached.length > 0) {
      const state = { ...from, ...next(policy, { round, step }, nowMs), reached: true };
      return { state, notes, pages: reached.map((to) => pageOf(incidentId, round, step, to)) };
    }
    notes.push({ kind: 'step-skipped', round, step, reason: isHeld ? 'nobody-on-call' : 'outside-hours' });
  }
  const last = from.reached ? { pages: [], notes: [] } : toOwners(incidentId, round, people);
  const after = next(policy, { round, step: policy.steps.length - 1 }, nowMs);
  const state = { ...from, ...after, reached: from.reached || last.pages.length > 0 };
  return { state, pages: last.pages, notes: [...notes, ...last.notes] };
};

/** What is to be done now: nothing before it is due, and nothing once the incident has ended. */
export const escalate = (policy: EscalationPolicy, state: Escalation, moment: Moment): Escalated => {
  const { nowMs } = moment;
  const nothing = { state, pages: [], notes: [] };
  if (state.status === 'acknowledged') {
    const { acknowledgeTimeoutMinutes } = policy;
    if (acknowledgeTimeoutMinutes === null || state.acknowledgedMs === null) return nothing;
    if (nowMs < state.acknowledgedMs + acknowledgeTimeoutMinutes * minuteMs) return nothing;
    const reopened: Escalation = { ...state, status: 'open', acknowledgedMs: null };
    const note: EscalationNote = { kind: 'acknowledgement-timed-out', round: state.round };
    if (state.dueMs === null) return { state: reopened, pages: [], notes: [note] };
    const ran = run(policy, reopened, moment);
    return { ...ran, notes: [note, ...ran.notes] };
  }
  if (state.status !== 'open' || state.dueMs === null || nowMs < state.dueMs) return nothing;
  return run(policy, state, moment);
};

/** What would be done at one time of a preview, and the people of that time. */
interface Previewed<Known extends People> extends Omit<Escalated, 'state'> {
  readonly atMs: number;
  readonly people: Known;
}

/** Who would be paged when, if nobody acknowledged. `peopleAt` says who is there at each step's time. */
export const previewOf = async <Known extends People>(
  policy: EscalationPolicy,
  openedMs: number,
  peopleAt: (atMs: number) => Known | Promise<Known>,
): Promise<readonly Previewed<Known>[]> => {
  const previewSteps: Previewed<Known>[] = [];
  let state = opened(policy, openedMs);
  while (state.dueMs !== null) {
    const atMs = state.dueMs;
    const people = await peopleAt(atMs);
    const { pages, notes, state: next } = escalate(policy, state, { incidentId: '', people, nowMs: atMs });
    previewSteps.push({ atMs, people, pages, notes });
    state = next;
  }
  return previewSteps;
};
