/** Texts and calculations of charts: series names, values with units, complete steps, selected series, colors. */
import './browser.ts';

import test from 'ava';
import { nameSeries } from '../../../queries/series-names.ts';
import { formatAlertValue } from '../../../web/areas/alerts/alert-format.ts';
import { reduceSteps } from '../../../web/charts/reduce.ts';
import {
  defaultTooltip,
  findPartialIndexes,
  getLastComplete,
  listTooltipSeries,
  selectSeries,
  sortLegend,
} from '../../../web/charts/series-state.ts';
import { formatQuantity } from '../../../web/charts/values.ts';
import { formatChange } from '../../../web/components/change.ts';
import { assignColorClasses, toColorClass } from '../../../web/frame/colors.ts';

const quantities: readonly (readonly [value: number, unit: string, text: string])[] = [
  [1, '{record}', '1 record'],
  [1.5, '{record}', '1.5 records'],
  [0, '{records}', '0 records'],
  [2, '{query}', '2 query'],
  [1.117, '{request}/s', '1.12 req/s'],
  [0, '{request}/s', '0 req/s'],
  [1.07, '{observation}/s', '1.07 observations/s'],
  [4, '{}', '4'],
  [5, '%', '5 %'],
  [0.7021, '%', '0.7 %'],
  [0.0321, '%', '0.0321 %'],
  [0.0481234, '1', '0.0481'],
  [5132, '', '5,132'],
  [2_464_440_000, '', '2.46B'],
  [2_464_440_000, 'ns', '2.46 s'],
  [2.24, 's', '2.24 s'],
  [90, 'min', '1.5 h'],
  [0, 'By', '0 B'],
  [999, 'By', '999 B'],
  [12_345, 'By', '12.1 KiB'],
  [5 * 1024 ** 3, 'By', '5 GiB'],
  [1536, 'By/s', '1.5 KiB/s'],
  [21.5, 'Cel', '21.5 °C'],
];
for (const [value, unit, text] of quantities)
  test(`${value} of the unit ${JSON.stringify(unit)} is written as ${text}`, (t) => {
    t.is(formatQuantity(value, unit), text);
  });

const series = (name: string, labels: Record<string, string>) => ({ name, labels });
const names: readonly (readonly [title: string, series: ReturnType<typeof series>[], names: string[]])[] = [
  ['one series has the values of its labels', [series('rate', { service: 'checkout' })], ['checkout']],
  ['one series without labels has its name', [series('rate', {})], ['rate']],
  [
    'series have the values of the labels in which they differ',
    [series('count', { service: 'a', env: 'x' }), series('count', { service: 'b', env: 'x' })],
    ['a', 'b'],
  ],
  ['series of several metrics have their name', [series('p50', { s: 'a' }), series('p95', { s: 'a' })], ['p50', 'p95']],
  ['a missing label is named', [series('c', { zone: 'a' }), series('c', {})], ['a', 'no zone']],
  [
    'series with equal names have all labels',
    [series('c', { a: 'x', b: '' }), series('c', { a: 'x', b: 'no b' })],
    ['c{a="x", b=""}', 'c{a="x", b="no b"}'],
  ],
];
for (const [title, given, expected] of names)
  test(`in a legend, ${title}`, (t) => {
    t.deepEqual(nameSeries(given), expected);
  });

test('a step that the range covers only partly is drawn, but not used as a value in a legend', (t) => {
  const steps = [0, 60, 120, 180];
  t.deepEqual(findPartialIndexes(steps, [0, 180]), [0, 3]);
  t.deepEqual(findPartialIndexes(steps, []), []);
  t.deepEqual(findPartialIndexes([0, 60], [60]), [], 'two steps have no others to show');
  t.is(getLastComplete([5, 6, 7, 0], [3]), 7);
  t.is(getLastComplete([5, 6, undefined, 0], [3]), 6);
  t.is(getLastComplete([undefined, undefined, undefined, 2], [3]), 2);
});

test('the value of a panel uses complete steps, and totals include every event', (t) => {
  const field = { values: [3, 5, 2, 0], times: [0, 60, 120, 180], partialSteps: [180] };
  t.is(reduceSteps(field, 'last-not-null'), 2);
  t.is(reduceSteps(field, 'min'), 2);
  t.is(reduceSteps(field, 'sum'), 10);
  t.is(reduceSteps({ ...field, values: [4], times: [180] }, 'last-not-null'), 4, 'no step is complete');
  const { partialSteps: _, ...withoutPartialSteps } = field;
  t.is(reduceSteps(withoutPartialSteps, 'last-not-null'), 0);
});

test('a click on a legend isolates a series, a second click shows all, and a toggle hides one', (t) => {
  const count = 3;
  const select = (hidden: readonly number[], index: number, isToggle = false) => [
    ...selectSeries(new Set(hidden), index, { count, isToggle }),
  ];
  t.deepEqual(select([], 1), [0, 2]);
  t.deepEqual(select([0, 2], 1), []);
  t.deepEqual(select([0, 2], 2), [0, 1]);
  t.deepEqual(select([], 1, true), [1]);
  t.deepEqual(select([1], 1, true), []);
});

test('a service has one color everywhere, series of a chart have different ones, and severities their own', (t) => {
  t.deepEqual(assignColorClasses(['checkout']), [toColorClass('checkout')]);
  const services = ['frontend', 'catalog', 'cart', 'checkout', 'payments', 'shipping', 'email', 'orders-db'];
  t.is(new Set(assignColorClasses(services)).size, services.length);
  t.deepEqual(assignColorClasses(['ERROR', 'INFO', 'WARN']), ['level-error', 'level-info', 'level-warn']);
});

test('the value of an alert has the unit that its reason states', (t) => {
  const value = 2_464_440_000;
  t.is(formatAlertValue({ value, reason: '2464.44 ms is above 500 ms' }), '2.46 s');
  t.is(formatAlertValue({ value: 12, reason: '12 is above 5' }), '12');
  t.is(formatAlertValue({ value: null, reason: 'no data' }), '');
});

test('a change is a share, and from tenfold a factor', (t) => {
  t.deepEqual([0.12, -0.08, 2.4, 24, 0.012].map(formatChange), ['+12 %', '−8.0 %', '+240 %', '25×', '+1.2 %']);
});

const drawn = [
  { name: 'a', values: [1, 5, 9], isHidden: false },
  { name: 'b', values: [3, 0, 2], isHidden: false },
  { name: 'c', values: [undefined, 7, undefined], isHidden: false, hiddenIn: ['tooltip'] },
  { name: 'd', values: [4, 4, 4], isHidden: true },
  { name: 'e', values: [2, 6, undefined], isHidden: false, hiddenIn: ['legend'] },
];
for (const [title, settings, expected] of [
  ['the highest value first', {}, ['e', 'a', 'b']],
  ['the lowest value first', { sort: 'ascending' }, ['b', 'a', 'e']],
  ['the order of the query', { sort: 'none' }, ['a', 'b', 'e']],
  ['no zeros', { hidesZeros: true }, ['e', 'a']],
] as const)
  test(`a tooltip has the shown series, with ${title}`, (t) => {
    t.deepEqual(
      listTooltipSeries(drawn, 1, { ...defaultTooltip, ...settings }).map(({ name }) => name),
      [...expected],
    );
  });

for (const [title, settings, expected] of [
  ['the order of the query', {}, [0, 1, 2, 3]],
  ['the highest maximum first', { sortBy: 'max' }, [2, 0, 3, 1]],
  ['the lowest last complete value first', { sortBy: 'last-not-null', descending: false }, [1, 3, 0, 2]],
] as const)
  test(`a legend has the series with ${title}, without those that are hidden in it`, (t) => {
    t.deepEqual(
      sortLegend(drawn, [2], settings).map(({ index }) => index),
      [...expected],
    );
  });
