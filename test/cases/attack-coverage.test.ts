/** What ATT&CK ids mean, and which techniques rules cover. */
import test from 'ava';
import { computeCoverage } from '../../subjects/attack/coverage.ts';
import {
  findTactics,
  findTechniqueStatus,
  parseAttackTags,
  tactics,
  techniques,
} from '../../subjects/attack/matrix.ts';

test('the matrix is complete: every technique has an existing tactic, and every sub-technique has its technique', (t) => {
  const names = new Set(tactics.map(({ shortName }) => shortName));
  for (const { id, tactics: of } of techniques.values()) {
    t.true(of.length > 0 && of.every((each) => names.has(each)), id);
    t.true(techniques.has(id.split('.')[0] as string), id);
  }
  t.is(tactics.length, 15);
});

const cases: readonly (readonly [string, string, string?])[] = [
  ['t1059.001', 'current'],
  ['T1562.002', 'revoked', 'T1685.001'],
  ['T1086', 'revoked', 'T1059.001'],
  ['T1064', 'deprecated'],
  ['T9999', 'unknown'],
];
for (const [id, expected, by] of cases)
  test(`${id} is ${expected}${by === undefined ? '' : `, by ${by}`}`, (t) => {
    const found = findTechniqueStatus(id);
    t.is(found.status, expected as typeof found.status);
    t.is(found.status === 'revoked' ? found.by.id : undefined, by);
  });

test('tags of groups, software and other namespaces are not techniques, and former tactics map to their successors', (t) => {
  const tags = ['attack.t1059.001', 'attack.g0001', 'attack.s0002', 'attack.execution', 'cve.2020-1', 'attack.nothing'];
  t.deepEqual(parseAttackTags(tags), { techniques: ['T1059.001'], tactics: ['execution'] });
  t.deepEqual(findTactics('defense_evasion'), ['stealth', 'defense-impairment']);
});

test('a rule covers its sub-technique and its technique, once each, in every tactic that has it', (t) => {
  const source =
    'tags:\n  - attack.t1078.004\n  - attack.t1078\n  - attack.t1086\nreferences:\n  - https://attack.mitre.org/x';
  const rules = [
    { id: 'a', source, enabled: true, isTested: true, isSeen: true },
    { id: 'b', source: 'tags: [attack.t1078.004]', enabled: false, isTested: false, isSeen: null },
  ];
  const { tactics: shown, others } = computeCoverage(rules, new Map([['a', 5]]));
  const found = shown.flatMap(({ tactic, techniques: all }) =>
    all.filter(({ rules: count }) => count > 0).map((each) => [tactic.shortName, each] as const),
  );
  t.deepEqual(
    found.map(([tactic]) => tactic),
    ['initial-access', 'persistence', 'privilege-escalation', 'stealth'],
  );
  for (const [, { technique, subtechniques, ...counts }] of found) {
    t.is(technique.id, 'T1078');
    t.deepEqual(counts, {
      rules: 2,
      enabledRules: 1,
      testedRules: 1,
      seenRules: 1,
      unknownRules: 1,
      signals: 5,
    });
    t.is(subtechniques.find((each) => each.technique.id === 'T1078.004')?.rules, 2);
  }
  t.deepEqual(
    others.map(({ id, status, rules: count }) => [id, status.status, count]),
    [['T1086', 'revoked', 1]],
  );
});
