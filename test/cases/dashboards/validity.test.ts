/** Errors of a dashboard that are found before any data is read. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { checkWithoutReads, combineValidity } from '../../../subjects/dashboards/validity.ts';

const checkVariables = (variables: readonly object[]) => {
  const document = DashboardFields.parse({ name: 'one', variables });
  return combineValidity(checkWithoutReads(document, new Map()), []);
};
const promql = (name: string, expression: string): object => ({ kind: 'promql', name, expression });

test('each variable in a cycle is reported with its path', (t) => {
  t.deepEqual(
    checkVariables([promql('a', 'vector($b)'), promql('b', 'vector($c)'), promql('c', 'vector($a)')]).problems,
    [
      { path: 'variables.a', message: 'uses itself: a → b → c → a' },
      { path: 'variables.b', message: 'uses itself: b → c → a → b' },
      { path: 'variables.c', message: 'uses itself: c → a → b → c' },
    ],
  );
});

test('variables that use other variables are valid', (t) => {
  t.deepEqual(checkVariables([promql('a', 'vector($b)'), promql('b', 'vector(1)')]), {
    isValid: true,
    problems: [],
    reason: null,
  });
});
