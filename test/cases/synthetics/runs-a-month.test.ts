/** The number of runs in a plan: counted from the checks, and rejected above the limit with both numbers. */
import test from 'ava';
import { countMonthlyRuns, findQuotaProblem } from '../../../subjects/synthetics/monthly-runs.ts';

const check = (every: string, locations: string[] = ['local'], more: object = {}) => ({
  type: 'http',
  enabled: true,
  every,
  locations,
  ...more,
});

test('runs per month follow from the schedule, over all locations', (t) => {
  t.is(countMonthlyRuns(check('1m')), 44_640);
  t.is(countMonthlyRuns(check('10s', ['a', 'b', 'c'])), 803_520);
  t.is(countMonthlyRuns(check('7h')), 107);
  t.is(countMonthlyRuns(check('1m', ['a'], { enabled: false })), 0);
  t.is(countMonthlyRuns(check('1m', [], { type: 'heartbeat' })), 0);
});

test('a check that exceeds the runs of the plan is refused with the figures; a check with no more runs than before is never refused', (t) => {
  const input = { before: undefined, others: [check('1m'), check('30s')], plan: 'Free' };
  t.is(findQuotaProblem(check('1m'), { ...input, maxRuns: 178_560 }), undefined);
  t.is(
    findQuotaProblem(check('1m'), { ...input, maxRuns: 178_559 }),
    'it would run 44,640 times a month, in addition to 133,920 runs of other checks, and the plan Free includes 178,559: increase the interval, or use fewer locations',
  );
  const less = { ...input, before: check('10s'), maxRuns: 1 };
  t.is(findQuotaProblem(check('1m'), less), undefined, 'a plan that became smaller lets checks become fewer');
  t.is(findQuotaProblem(check('10s', ['local'], { enabled: false }), less), undefined);
  t.not(findQuotaProblem(check('10s', ['a', 'b']), less), undefined);
});
