/** The URL as the state of the page: parameters, the time range, the project, and links to other areas. */
import './browser.ts';

import test from 'ava';
import type { Query } from '../../../queries/query.ts';
import {
  navigate,
  path,
  readAllParams,
  readParam,
  setParams,
  toArea,
  toChangedUrl,
} from '../../../web/frame/address.ts';
import { setTimePreferences } from '../../../web/frame/format-time.ts';
import { projectScope } from '../../../web/frame/project.ts';
import { getDataLink, listQueryLinks } from '../../../web/frame/query-links.ts';
import {
  findRangeProblems,
  recentRanges,
  setRange,
  timeRange,
  toMilliseconds,
  toRangeTitle,
  toRequestTime,
} from '../../../web/frame/time-range.ts';
import { goBackTo } from './browser.ts';

test.serial('a changed address keeps its other parameters and omits empty ones', (t) => {
  navigate('/logs/?search=a%20b&from=now-6h&field=x&field=y');
  t.is(path.value, '/logs');
  t.is(readParam('search'), 'a b');
  t.is(readParam('missing'), '');
  t.deepEqual(readAllParams('field'), ['x', 'y']);
  t.is(toChangedUrl({ search: '', field: ['z', 'w'] }, '/traces'), '/traces?from=now-6h&field=z&field=w');
  setParams({ search: 'c' });
  t.is(readParam('search'), 'c');
  t.is(readParam('from'), 'now-6h');
});

test.serial('the page follows the buttons for back and forward', (t) => {
  navigate('/logs?search=a');
  goBackTo('/traces?search=b');
  t.is(path.value, '/traces');
  t.is(readParam('search'), 'b');
  goBackTo('/');
  t.is(path.value, '/');
});

test.serial('a link to another area keeps the time range and the project only', (t) => {
  navigate('/logs?search=a&from=now-6h&to=now&project=shop');
  t.is(toArea('/traces', { service: 'cart', empty: '' }), '/traces?from=now-6h&to=now&project=shop&service=cart');
  t.is(toArea('/traces', { from: 'now-1h' }), '/traces?from=now-1h&to=now&project=shop');
  t.deepEqual(projectScope.value, { projectId: 'shop' });
  navigate('/logs');
  t.is(toArea('/traces'), '/traces');
  t.deepEqual(projectScope.value, { scope: 'account' });
});

test.serial('the address has the time range only if it is not the default', (t) => {
  navigate('/logs?search=a');
  t.deepEqual(timeRange.value, { from: 'now-1h', to: 'now' });
  setRange({ from: 'now-7d', to: 'now' });
  t.is(toChangedUrl({}), '/logs?search=a&from=now-7d');
  t.deepEqual(timeRange.value, { from: 'now-7d', to: 'now' });
  setRange({ from: 'now-1h', to: 'now' });
  t.is(toChangedUrl({}), '/logs?search=a');
});

test('a pasted time can have any precision', (t) => {
  const ms = '1767225600000';
  const inSeconds = ms.slice(0, -3);
  t.is(toRequestTime(` ${inSeconds} `), ms);
  t.is(toRequestTime(ms), ms);
  t.is(toRequestTime(`${ms}123`), ms);
  t.is(toRequestTime(`${ms}123456`), ms);
  t.is(toRequestTime('now-5m'), 'now-5m');
  t.is(toMilliseconds('2026-01-01T00:00:00Z'), Number(ms));
  t.is(toMilliseconds('yesterday'), undefined);
});

test('a range has an error for each of its ends', (t) => {
  t.deepEqual(findRangeProblems({ from: 'now-1h', to: 'now' }), {});
  t.deepEqual(Object.keys(findRangeProblems({ from: 'a', to: 'now' })), ['from']);
  t.deepEqual(Object.keys(findRangeProblems({ from: 'a', to: 'b' })), ['from', 'to']);
  t.deepEqual(findRangeProblems({ from: 'now', to: 'now-1h' }), { from: 'The start must be before the end.' });
});

test.serial('a range has a readable title in the display time zone', (t) => {
  setTimePreferences({ timeZone: 'Asia/Kolkata', timeFormat: '24h', dateFormat: 'iso' });
  t.is(toRangeTitle({ from: 'now-24h', to: 'now' }), 'Last 24 hours');
  t.is(toRangeTitle({ from: 'now-45m', to: 'now' }), 'Last 45 minutes');
  t.is(toRangeTitle({ from: 'now-1d', to: 'now' }), 'Last 1 day');
  const at = (time: string): string => `2026-11-28T${time}Z`;
  t.is(toRangeTitle({ from: at('10:00:00.000'), to: at('11:30:00') }), 'Nov 28, 15:30 – 17:00');
  t.is(toRangeTitle({ from: at('10:00:04.000'), to: at('10:02:00') }), 'Nov 28, 15:30:04 – 15:32:00');
  t.is(toRangeTitle({ from: at('10:00:00.000'), to: at('20:00:00') }), 'Nov 28, 15:30 – Nov 29, 01:30');
  setTimePreferences({ timeZone: 'browser', timeFormat: '24h', dateFormat: 'iso' });
});

test.serial('a typed time without a time zone uses the display time zone', (t) => {
  setTimePreferences({ timeZone: 'Asia/Kolkata', timeFormat: '24h', dateFormat: 'iso' });
  t.is(toRequestTime('2026-11-28 15:30'), '2026-11-28T10:00:00.000Z');
  t.is(toRequestTime('2026-11-28T15:30:05'), '2026-11-28T10:00:05.000Z');
  t.is(toRequestTime('2026-11-28'), '2026-11-27T18:30:00.000Z');
  t.is(toRequestTime('2026-11-28T15:30:00Z'), '2026-11-28T15:30:00Z');
  t.is(toRequestTime('2026-11-99 15:30'), '2026-11-99 15:30');
  setTimePreferences({ timeZone: 'browser', timeFormat: '24h', dateFormat: 'iso' });
});

test.serial('recent ranges exclude presets, list the latest first, and have no duplicates', (t) => {
  const [first, second] = [
    { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
    { from: 'now-45m', to: 'now' },
  ];
  for (const range of [first, second, { from: 'now-1h', to: 'now' }, first]) setRange(range);
  t.deepEqual(recentRanges.value, [first, second]);
  setRange({ from: 'now-1h', to: 'now' });
});

test.serial('a query leads to its records or its metric, and to a rule', (t) => {
  navigate('/dashboards?from=now-6h');
  const links = (query: object) => listQueryLinks({ query: query as Query, from: 'now-1h', to: 'now' });
  const paths = (query: object) => links(query).map(([title, address]) => `${title} ${address.split('?')[0]}`);
  const rule = 'Create alert /alerts/rule';
  t.deepEqual(paths({ kind: 'promql', expression: 'up' }), ['In metrics /explore-metrics', rule]);
  t.deepEqual(links({ kind: 'metric', metric: 'm', overTime: 'avg', groupBy: ['a', 'b'] })[0], [
    'In metrics',
    '/explore-metrics?from=now-1h&metric=m&over=avg&by=a%2C+b&to=now',
  ]);
  t.deepEqual(links({ kind: 'rows', signal: 'logs', search: 'a b' }), [
    ['Log records', '/logs?from=now-1h&search=a+b&to=now'],
  ]);
  t.deepEqual(paths({ kind: 'aggregate', signal: 'traces' }), ['Traces /traces', rule]);
  t.deepEqual(paths({ kind: 'aggregate', signal: 'detections' }), [rule]);
  t.deepEqual(paths({ kind: 'formula' }), [rule]);
  t.deepEqual(paths({ kind: 'check' }), []);
  const scoped = { kind: 'rows', signal: 'traces', projectId: 'shop' } as Query;
  t.deepEqual(getDataLink({ query: scoped, from: '', to: '' }), ['Traces', '/traces?from=now-6h&project=shop']);
});
