/** The address as the state of the page: parameters, the time range, the project, and links to other areas. */
import './browser.ts';

import test from 'ava';
import type { Query } from '../../../queries/query.ts';
import { addressWith, allInAddress, change, go, inAddress, path, toArea } from '../../../web/frame/address.ts';
import { projectScope } from '../../../web/frame/project.ts';
import { getDataLink, listQueryLinks } from '../../../web/frame/query-links.ts';
import {
  millisecondsOf,
  problemsOf,
  setRange,
  titleOf,
  toRequestTime,
  writtenRange,
} from '../../../web/frame/time-range.ts';
import { goBackTo } from './browser.ts';

test.serial('a changed address keeps its other parameters and omits empty ones', (t) => {
  go('/logs/?search=a%20b&from=now-6h&field=x&field=y');
  t.is(path.value, '/logs');
  t.is(inAddress('search'), 'a b');
  t.is(inAddress('missing'), '');
  t.deepEqual(allInAddress('field'), ['x', 'y']);
  t.is(addressWith({ search: '', field: ['z', 'w'] }, '/traces'), '/traces?from=now-6h&field=z&field=w');
  change({ search: 'c' });
  t.is(inAddress('search'), 'c');
  t.is(inAddress('from'), 'now-6h');
});

test.serial('the page follows the buttons for back and forward', (t) => {
  go('/logs?search=a');
  goBackTo('/traces?search=b');
  t.is(path.value, '/traces');
  t.is(inAddress('search'), 'b');
  goBackTo('/');
  t.is(path.value, '/');
});

test.serial('a link to another area keeps the time range and the project only', (t) => {
  go('/logs?search=a&from=now-6h&to=now&project=shop');
  t.is(toArea('/traces', { service: 'cart', empty: '' }), '/traces?from=now-6h&to=now&project=shop&service=cart');
  t.is(toArea('/traces', { from: 'now-1h' }), '/traces?from=now-1h&to=now&project=shop');
  t.deepEqual(projectScope.value, { projectId: 'shop' });
  go('/logs');
  t.is(toArea('/traces'), '/traces');
  t.deepEqual(projectScope.value, { scope: 'account' });
});

test.serial('the address has the time range only if it is not the default', (t) => {
  go('/logs?search=a');
  t.deepEqual(writtenRange.value, { from: 'now-1h', to: 'now' });
  setRange({ from: 'now-7d', to: 'now' });
  t.is(addressWith({}), '/logs?search=a&from=now-7d');
  t.deepEqual(writtenRange.value, { from: 'now-7d', to: 'now' });
  setRange({ from: 'now-1h', to: 'now' });
  t.is(addressWith({}), '/logs?search=a');
});

test('a pasted time may have any precision', (t) => {
  const ms = '1767225600000';
  const inSeconds = ms.slice(0, -3);
  t.is(toRequestTime(` ${inSeconds} `), ms);
  t.is(toRequestTime(ms), ms);
  t.is(toRequestTime(`${ms}123`), ms);
  t.is(toRequestTime(`${ms}123456`), ms);
  t.is(toRequestTime('now-5m'), 'now-5m');
  t.is(millisecondsOf('2026-01-01T00:00:00Z'), Number(ms));
  t.is(millisecondsOf('yesterday'), undefined);
});

test('a range has an error for each of its ends', (t) => {
  t.deepEqual(problemsOf({ from: 'now-1h', to: 'now' }), {});
  t.deepEqual(Object.keys(problemsOf({ from: 'a', to: 'now' })), ['from']);
  t.deepEqual(Object.keys(problemsOf({ from: 'a', to: 'b' })), ['from', 'to']);
  t.deepEqual(problemsOf({ from: 'now', to: 'now-1h' }), { from: 'The start must be before the end.' });
  t.is(titleOf({ from: 'now-24h', to: 'now' }), 'Last 24 hours');
  t.is(titleOf({ from: 'now-24h', to: 'now-1h' }), 'now-24h to now-1h');
});

test.serial('a query leads to its records or its metric, and to a rule', (t) => {
  go('/dashboards?from=now-6h');
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
