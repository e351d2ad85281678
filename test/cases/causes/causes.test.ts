/** Causes of two synthetic faults of each kind; `test/bench/causes.ts` has many more. */
import test from 'ava';
import { minuteMs } from '../../../subjects/causes/incident-context.ts';
import { findCauses } from '../../../subjects/causes/score-causes.ts';
import { faultCase } from './faults.ts';
import { judgementsOf, sharesOf } from './measured.ts';

test('for synthetic faults the cause is mostly ranked first, and no cause is claimed if there is none', (t) => {
  const all = judgementsOf([1, 2]);
  const { first, three, claimed } = sharesOf(all);
  t.log({ first, three, claimed });
  const missed = all.filter(({ hasCause, place, isClaimed }) => (hasCause ? place !== 0 : isClaimed));
  t.true(first >= 0.7 && three >= 0.8, missed.map(({ name }) => name).join(', '));
  t.is(claimed, 0);
});

test('the same scene gives the same causes, independent of events after detection', (t) => {
  const { incidentContext } = faultCase(7, 'bad-deployment');
  t.deepEqual(findCauses(incidentContext), findCauses(incidentContext));
});

test('an event that starts after the symptom or in an unrelated place is not a cause, whatever its size', (t) => {
  const { incidentContext, truth } = faultCase(3, 'bad-deployment');
  const { onsetMs } = findCauses(incidentContext);
  const node = truth?.at ?? '';
  const late = { kind: 'deployment', node, atMs: onsetMs + 10 * minuteMs, title: 'late', link: '' } as const;
  const aside = { ...late, node: 'service:elsewhere', atMs: onsetMs, title: 'aside' };
  const { causes, sharesOnOthers } = findCauses({ ...incidentContext, changes: [late, aside], novelties: [] });
  t.false(causes.some(({ title }) => title === 'late' || title === 'aside'));
  const against = (title: string) =>
    sharesOnOthers
      .find((each) => each.title === title)
      ?.counterEvidence.map(({ text }) => text)
      .join();
  t.regex(against('late') ?? '', /it began \d+ minutes after the symptom/);
  t.is(against('aside'), 'it is not on the path of the symptom');
});
