/** Which maintenance windows are downtimes of which checks, and when. */
import test from 'ava';
import type { Matcher } from '../../../schemas/resources/alert-routing.ts';
import type { MaintenanceWindow } from '../../../schemas/resources/maintenance-window.ts';
import {
  createDowntimeTest,
  createMatchers,
  findDowntimes,
  parseScope,
  referencesChecks,
} from '../../../subjects/synthetics/downtimes.ts';

const shop = { id: 'c-1', name: 'Shop', labels: { team: 'shop', 'app/tier': 'front' }, projectId: 'p1' };
const mail = { id: 'c-2', name: 'Mail', labels: { team: 'post' }, projectId: null };
const windowOf = (more: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  name: 'w',
  description: '',
  timeZone: 'Europe/Zurich',
  startsAt: '2026-03-01T22:00',
  durationMinutes: 60,
  recurrence: null,
  matchers: [],
  projectIds: [],
  excludedFromSlos: false,
  createdBy: 'ann',
  ...more,
});

test('a downtime selects checks, labels or both, and preserves the selection', (t) => {
  const table = [
    [{ checkIds: ['c-1'], labels: {} }, true, false],
    [{ checkIds: ['c-1', 'c-2'], labels: {} }, true, true],
    [{ checkIds: [], labels: { team: 'post' } }, false, true],
    [{ checkIds: [], labels: { 'app/tier': 'front' } }, true, false],
    [{ checkIds: ['c-1', 'c-2'], labels: { team: 'shop' } }, true, false],
    [{ checkIds: ['c-2'], labels: { team: 'shop' } }, false, false],
  ] as const;
  for (const [scope, ofShop, ofMail] of table) {
    const window = windowOf({ matchers: createMatchers(scope) });
    t.deepEqual(
      [createDowntimeTest(window)(shop), createDowntimeTest(window)(mail)],
      [ofShop, ofMail],
      JSON.stringify(scope),
    );
    t.true(referencesChecks(window));
    t.deepEqual(parseScope(window).checkIds, [...scope.checkIds]);
    t.deepEqual(Object.values(parseScope(window).labels), Object.values(scope.labels));
  }
});

test('a maintenance window is a downtime if it mutes all alerts of a check, but not if it mutes only some', (t) => {
  const matcher = (name: string, value: string, operator: Matcher['operator'] = '='): Matcher => ({
    name,
    operator,
    value,
  });
  const table: readonly (readonly [window: Partial<MaintenanceWindow>, isDowntime: boolean])[] = [
    [{ matchers: [matcher('team', 'shop')] }, true],
    [{ matchers: [matcher('check', 'Sh.*', '=~')] }, true],
    [{ matchers: [matcher('team', 'shop'), matcher('check', 'Mail', '!=')] }, true],
    [{ matchers: [matcher('team', 'post')] }, false],
    [{ matchers: [matcher('team', 'shop'), matcher('severity', 'warning')] }, false],
    // The matcher also matches alerts without the label, so it does not select checks.
    [{ matchers: [matcher('severity', 'critical', '!=')] }, false],
    [{ projectIds: ['p1'] }, true],
    [{ projectIds: ['p2'] }, false],
    [{ projectIds: ['p2'], matchers: [matcher('team', 'shop')] }, false],
  ];
  for (const [window, isDowntime] of table)
    t.is(createDowntimeTest(windowOf(window))(shop), isDowntime, JSON.stringify(window));
  t.false(createDowntimeTest(windowOf({ projectIds: ['p1'] }))(mail), 'a check without a project');
});

test('times are those of the window, in its time zone', (t) => {
  const matchers = createMatchers({ checkIds: ['c-1'], labels: {} });
  const range = { fromMs: Date.parse('2026-03-25T00:00:00Z'), toMs: Date.parse('2026-04-08T00:00:00Z') };
  const windows = [
    windowOf({ matchers, recurrence: 'FREQ=WEEKLY;BYDAY=SU' }),
    windowOf({ matchers: [], projectIds: ['x'] }),
  ];
  t.deepEqual(
    findDowntimes(shop, windows, range).map(({ fromMs }) => new Date(fromMs).toISOString()),
    ['2026-03-29T20:00:00.000Z', '2026-04-05T20:00:00.000Z'],
  );
  t.deepEqual(findDowntimes(mail, windows, range), []);
});
