/** Dashboards as files. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import fc from 'fast-check';
import { parseDashboardFile, toYamlFile } from '../../../subjects/dashboards/as-code.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { wholeDashboard } from './dashboard-example.ts';
import { someDashboard } from './some-dashboard.ts';

const whole = DashboardFields.parse(wholeDashboard);

test('a file has its keys in declaration order and omits default values', (t) => {
  const text = toYamlFile('shop', DashboardFields.parse({ panels: [], tags: ['b'], name: 'Shop' }), 'git');
  t.is(text, 'id: shop\nsource: git\nname: Shop\ntags:\n  - b\n');
  t.notRegex(toYamlFile('shop', whole), /transparent|weekStart|hidden: false|groupBy/);
});

test('every dashboard is restored from its file, bit by bit', (t) => {
  fc.assert(
    fc.property(someDashboard, (document) => {
      const read = parseDashboardFile(toYamlFile('x', document));
      if (!('document' in read)) throw new Error(JSON.stringify(read));
      t.is(JSON.stringify(read.document), JSON.stringify(document));
    }),
    { numRuns: 150 },
  );
});

test('errors in a file are reported with their path', (t) => {
  const problemsOf = (text: string) => {
    const read = parseDashboardFile(text);
    return 'problems' in read ? read.problems : [];
  };
  t.like(problemsOf('id: "a b"\nname: x\nversion: 3\n'), [
    { path: 'id' },
    { path: 'version', message: 'is not a known field' },
  ]);
  t.like(problemsOf('name: [x'), [{ path: '' }]);
  t.like(problemsOf('just text'), [{ path: '', message: 'a dashboard must be an object' }]);
  t.like(problemsOf('name: x\nlinks:\n  - {kind: address, url: "javascript:alert(1)"}\n'), [{ path: 'links.0.url' }]);
});
