/** A change to the rule or detector that reports a symptom, as its cause. */
import test from 'ava';
import { minuteMs } from '../../../subjects/causes/incident-context.ts';
import { minScore } from '../../../subjects/causes/score-causes.ts';
import { type SourceChange, scoreSourceChanges } from '../../../subjects/causes/source-changes.ts';

const noticedMs = Date.UTC(2026, 2, 11, 10, 30);
const changed = (minutes: number): SourceChange => ({
  shownBy: { what: 'alert rule', id: 'r1' },
  atMs: noticedMs + minutes * minuteMs,
  title: 'alert-rule.update Errors',
});

const cases: readonly (readonly [what: string, minutes: number, isWorse: boolean, isClaimed: boolean])[] = [
  ['shortly before, and requests are not worse', -3, false, true],
  ['half an hour before', -29, false, true],
  ['long before', -55, false, false],
  ['shortly before, but requests are worse', -3, true, false],
  ['after the symptom', 5, false, false],
];
for (const [what, minutes, areRequestsWorse, isClaimed] of cases)
  test(`a rule that was changed ${what} is ${isClaimed ? '' : 'not '}reported as the cause`, (t) => {
    const [judged] = scoreSourceChanges([changed(minutes)], { noticedMs, areRequestsWorse });
    t.is((judged?.score ?? 0) >= minScore, isClaimed);
    t.is(judged?.counterEvidence.length === 0, isClaimed || minutes === -55);
  });

test('the change closest before the symptom is the most likely cause', (t) => {
  const all = scoreSourceChanges([changed(-20), changed(-2), changed(4)], { noticedMs, areRequestsWorse: false });
  t.deepEqual(
    all.map(({ beginMs }) => (beginMs - noticedMs) / minuteMs),
    [-2, -20, 4],
  );
  t.deepEqual(all[0]?.evidence, [
    {
      text: 'the alert rule that detected the symptom: it was changed 2 minutes before the symptom',
      link: '/api/alerts/rules/r1',
    },
  ]);
  t.is(all[0]?.link, '/api/alerts/rules/r1');
});

test('a plan change can be the cause, an alert routing change never is', (t) => {
  const changes = (['plan', 'alert routing'] as const).map(
    (what): SourceChange => ({ ...changed(-2), shownBy: { what, id: 'x' }, title: what }),
  );
  const all = scoreSourceChanges(changes, { noticedMs, areRequestsWorse: false });
  t.deepEqual(
    all.map(({ title, score }) => [title, score >= minScore]),
    [
      ['plan', true],
      ['alert routing', false],
    ],
  );
  t.deepEqual(
    all[1]?.counterEvidence.map(({ text }) => text),
    ['routes change who is notified of an alert, not whether it fires'],
  );
  t.true(scoreSourceChanges(changes, { noticedMs, areRequestsWorse: true }).every(({ score }) => score === 0));
});
