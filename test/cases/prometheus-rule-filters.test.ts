/** Which rules and groups a client of the Prometheus rules API requests. */
import test from 'ava';
import { filterRules, paginateGroups, shouldIncludeAlerts } from '../../api/groups/prometheus/rule-filters.ts';

const rules = [
  { type: 'alerting', name: 'slow', labels: { team: 'a' } },
  { type: 'alerting', name: 'full', labels: { team: 'b', tier: '1' } },
  { type: 'alerting', name: 'down', labels: {} },
  { type: 'recording', name: 'job:x', labels: { team: 'a' } },
] as const;

const chosen: readonly (readonly [given: Readonly<Record<string, unknown>>, names: readonly string[]])[] = [
  [{}, ['slow', 'full', 'down', 'job:x']],
  [{ type: 'ALERT' }, ['slow', 'full', 'down']],
  [{ type: 'record' }, ['job:x']],
  [{ 'rule_name[]': ['down', 'slow'] }, ['slow', 'down']],
  [{ 'match[]': '{team="b"}' }, ['full']],
  [{ 'match[]': ['{team="a"}', '{tier!=""}'] }, ['slow', 'full', 'job:x']],
  [{ 'match[]': '{team=~"a|b"}', 'rule_name[]': 'full' }, ['full']],
];
for (const [given, names] of chosen)
  test(`rules of ${JSON.stringify(given)} are ${names.join(', ') || 'none'}`, (t) => {
    t.deepEqual(
      filterRules(given, rules).map(({ name }) => name),
      names,
    );
  });

test('alerts are omitted if a client requests it', (t) => {
  t.deepEqual(
    ['', 'false', '0', 'true', 'T', '1'].map((text) => shouldIncludeAlerts({ exclude_alerts: text })),
    [true, true, true, false, false, false],
  );
});

test('pages of groups together contain every group once', (t) => {
  const groups = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, file: 'alert-rules' }));
  for (const limit of [1, 2, 3, 5, 9]) {
    const seen: string[] = [];
    for (let token = '', pages = 0; pages < 9; pages++) {
      const page = paginateGroups({ group_limit: String(limit), ...(token && { group_next_token: token }) }, groups);
      seen.push(...page.groups.map(({ name }) => name));
      if (page.groupNextToken === undefined) break;
      token = page.groupNextToken;
    }
    t.deepEqual(seen, ['a', 'b', 'c', 'd', 'e']);
  }
  t.deepEqual(
    paginateGroups({ 'rule_group[]': ['b', 'e'] }, groups).groups.map(({ name }) => name),
    ['b', 'e'],
  );
  t.deepEqual(paginateGroups({ 'file[]': 'another' }, groups).groups, []);
});
