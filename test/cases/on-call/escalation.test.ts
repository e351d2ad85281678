/** Escalation: who is paged when, which steps are skipped, and what an acknowledgement pauses. */
import test from 'ava';
import { EscalationPolicyFields } from '../../../schemas/resources/escalation-policy.ts';
import {
  createEscalation,
  type EscalationResult,
  escalate,
  previewEscalation,
  type Responders,
} from '../../../subjects/on-call/escalation.ts';

const minuteMs = 60_000;
const policyOf = (fields: object) => EscalationPolicyFields.parse({ name: 'p', ...fields });
const step = (id: string, afterMinutes: number, more: object = {}) => ({
  targets: [{ kind: 'schedule', id }],
  afterMinutes,
  ...more,
});
const responders = (schedules: Record<string, readonly string[]>, unreachable: readonly string[] = []): Responders => ({
  onCall: (id) => schedules[id] ?? [],
  canReach: ({ id }) => !unreachable.includes(id),
  owners: ['owner'],
});
const stepTexts = (previewed: readonly (Omit<EscalationResult, 'state'> & { atMs: number })[]): string[] =>
  previewed.map(({ atMs, pages, notes }) =>
    [
      `${atMs / minuteMs}:`,
      ...pages.map(({ to }) => to.id),
      ...notes.map(
        ({ kind, step: skipped, reason }) =>
          `(${[kind, skipped, reason].filter((each) => each !== undefined).join(' ')})`,
      ),
    ].join(' '),
  );

test('steps run in sequence, and all repeat as often as the policy defines', async (t) => {
  const policy = policyOf({ steps: [step('one', 0), step('two', 5)], repeat: 1, repeatAfterMinutes: 10 });
  t.deepEqual(stepTexts(await previewEscalation(policy, 0, () => responders({ one: ['ann', 'ben'], two: ['cleo'] }))), [
    ...['0: ann ben', '5: cleo', '15: ann ben', '20: cleo'],
  ]);
});

test('a step that reaches nobody is skipped at once, and the timeline gives the reason', async (t) => {
  const hours = [{ times: [{ startTime: '09:00', endTime: '17:00' }], location: 'UTC' }];
  const policy = policyOf({ steps: [step('one', 0), step('empty', 5), step('day', 5, { hours }), step('two', 5)] });
  t.deepEqual(
    stepTexts(await previewEscalation(policy, 0, () => responders({ one: ['ann'], day: ['dan'], two: ['cleo'] }))),
    ['0: ann', '5: cleo (step-skipped 1 nobody-on-call) (step-skipped 2 outside-hours)'],
  );
});

test('if no step reaches anybody, the owners are paged once, and later rounds continue', async (t) => {
  const policy = policyOf({ steps: [step('one', 0), step('two', 5)], repeat: 2 });
  const skipped = '(step-skipped 0 nobody-on-call) (step-skipped 1 nobody-on-call)';
  const back = (atMs: number): Responders => responders({ one: ['ann'] }, atMs < 30 * minuteMs ? ['ann'] : []);
  t.deepEqual(stepTexts(await previewEscalation(policy, 0, back)), [
    `0: owner ${skipped} (owners-paged)`,
    `15: ${skipped}`,
    '30: ann',
    '35: (step-skipped 1 nobody-on-call)',
  ]);
  const without = policyOf({ steps: [step('one', 0), step('two', 5)] });
  t.deepEqual(stepTexts(await previewEscalation(without, 0, () => responders({}, ['owner']))), [
    `0: ${skipped} (nobody-reached)`,
  ]);
});

test('a step that names a person more than once pages them once, and pages have unique ids', async (t) => {
  const targets = [
    { kind: 'person', id: 'ann' },
    { kind: 'schedule', id: 'one' },
    { kind: 'channel', id: 'ann' },
  ];
  const policy = policyOf({ steps: [{ targets }], repeat: 1 });
  const { pages } = escalate(policy, createEscalation(policy, 0), {
    incidentId: 'i',
    responders: responders({ one: ['ann'] }),
    nowMs: 0,
  });
  t.deepEqual(
    pages.map(({ to }) => `${to.kind} ${to.id}`),
    ['person ann', 'channel ann'],
  );
  const all = (await previewEscalation(policy, 0, () => responders({ one: ['ann'] }))).flatMap((each) =>
    each.pages.map(({ id }) => id),
  );
  t.is(new Set(all).size, 4);
});

test('an acknowledgement pauses escalation, until it expires or the incident ends', (t) => {
  const policy = policyOf({ steps: [step('one', 0), step('two', 5)], acknowledgeTimeoutMinutes: 30 });
  const at = (minutes: number) => ({
    incidentId: 'i',
    responders: responders({ one: ['ann'], two: ['ben'] }),
    nowMs: minutes * minuteMs,
  });
  const first = escalate(policy, createEscalation(policy, 0), at(0)).state;
  const acknowledged = { ...first, status: 'acknowledged' as const, acknowledgedMs: 2 * minuteMs };
  for (const minutes of [5, 20, 31]) {
    t.deepEqual(escalate(policy, acknowledged, at(minutes)), { state: acknowledged, pages: [], notes: [] });
  }
  const later = escalate(policy, acknowledged, at(32));
  t.deepEqual(
    later.notes.map(({ kind }) => kind),
    ['acknowledgement-timed-out'],
  );
  t.deepEqual(
    later.pages.map(({ to }) => to.id),
    ['ben'],
  );
  t.is(later.state.status, 'open');
  for (const status of ['resolved', 'merged'] as const) {
    t.deepEqual(escalate(policy, { ...first, status }, at(60)).pages, []);
  }
});

test('the same state gives the same pages, and a late poll runs one step and schedules the next from then', (t) => {
  const policy = policyOf({ steps: [step('one', 0), step('two', 5), step('one', 5)] });
  const of = { incidentId: 'i', responders: responders({ one: ['ann'], two: ['ben'] }), nowMs: 60 * minuteMs };
  const state = { ...createEscalation(policy, 0), step: 1, dueMs: 5 * minuteMs, reached: true };
  t.deepEqual(escalate(policy, state, of), escalate(policy, state, of));
  t.is(escalate(policy, state, of).state.dueMs, 65 * minuteMs);
  t.deepEqual(escalate(policy, state, { ...of, nowMs: 5 * minuteMs - 1 }).pages, []);
});
