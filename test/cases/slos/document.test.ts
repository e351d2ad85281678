/** SLO documents: the short form, `query` as an object or as text, and errors with their path. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { SloFields } from '../../../subjects/slos/document.ts';
import { findSloProblems } from '../../../subjects/slos/problems.ts';

/** Returns the paths of errors in the schema or beyond it. */
const wrongIn = (fields: object): string[] => {
  const parsed = SloFields.safeParse({ name: 'one', service: 'shop', ...fields });
  return parsed.success
    ? findSloProblems(parsed.data).map(({ path }) => path)
    : parsed.error.issues.map(({ path }) => path.join('.'));
};

const count = (search: string) => ({ kind: 'aggregate', signal: 'traces', search, measures: [{ function: 'count' }] });
const sum = { kind: 'aggregate', signal: 'traces', measures: [{ function: 'sum' }] };
const metric = { kind: 'metric', metric: 'latency', overTime: 'quantile' };
const formula = (expression: string, part: object = count('*')) => ({ kind: 'formula', expression, queries: { part } });
const ratio = { good: count('NOT status:error'), total: count('*') };

test('the short form measures requests of a service, with defaults for all other fields', (t) => {
  const slo = SloFields.parse({ name: 'Checkout', service: 'checkout' });
  t.deepEqual(findSloProblems(slo), []);
  t.like(slo, {
    targetPct: 99.9,
    windowDays: 30,
    type: 'availability',
    signal: 'traces',
    enabled: true,
    query: { budgeting: 'occurrences', slice: '1m', excludeMaintenance: false, alerting: { enabled: true } },
  });
  t.deepEqual(wrongIn({ type: 'latency', latencyThresholdMs: 300 }), []);
});

test('a query can be JSON text of the same object', (t) => {
  const query = { sli: ratio, budgeting: 'timeslices', slice: '5m', sliceTarget: 0.95 };
  const object = SloFields.parse({ name: 'one', type: 'ratio', query });
  t.deepEqual(SloFields.parse({ name: 'one', type: 'ratio', query: JSON.stringify(query) }), object);
  t.deepEqual(findSloProblems(object), []);
  t.deepEqual(wrongIn({ query: '{ sli' }), ['query']);
  t.deepEqual(wrongIn({ query: '{"slices":"1m"}' }), ['query']);
});

test('an objective that cannot be measured is rejected with its path', (t) => {
  const wrong: readonly (readonly [fields: object, ...paths: string[]])[] = [
    [{ targetPct: 100 }, 'targetPct'],
    [{ windowDays: 0 }, 'windowDays'],
    [{ windowDays: 367 }, 'windowDays'],
    [{ type: 'uptime' }, 'type'],
    [{ service: '' }, 'service'],
    [{ signal: 'logs' }, 'signal'],
    [{ type: 'latency' }, 'latencyThresholdMs'],
    [{ type: 'ratio' }, 'query.sli'],
    [{ query: { slice: '7m', calendar: undefined }, windowDays: 1 }, 'query.slice'],
    [{ query: { slice: '90s' } }, 'query.slice'],
    [{ query: { sliceTarget: 0.9 } }, 'query.sliceTarget'],
    [{ query: { budgeting: 'timeslices' } }, 'query.sliceTarget'],
    [{ query: { sli: { good: ratio.good } } }, 'query.sli.total'],
    [{ query: { sli: { good: count('status:('), total: ratio.total } } }, 'query.sli.good.search'],
    [{ query: { sli: { good: sum, total: ratio.total } } }, 'query.sli.good.measures.0.field'],
    [{ query: { sli: { good: formula('part - other'), total: ratio.total } } }, 'query.sli.good.expression'],
    [{ query: { sli: { good: formula('part -'), total: ratio.total } } }, 'query.sli.good.expression'],
    [{ query: { sli: { good: formula('7'), total: ratio.total } } }, 'query.sli.good.expression'],
    [
      { query: { sli: { good: formula('part', count('a:(')), total: ratio.total } } },
      'query.sli.good.queries.part.search',
    ],
    [{ query: { sli: { value: metric, operator: 'lt', threshold: 1 } } }, 'query.sli.value.quantile'],
    [
      { query: { sli: { value: { ...metric, overTime: 'last', search: 'a:(' }, operator: 'lt', threshold: 1 } } },
      'query.sli.value.search',
    ],
    [
      { query: { alerting: { severityLabels: { page: { team: '{{ if' } } } } },
      'query.alerting.severityLabels.page.team',
    ],
    [{ query: { alerting: { severityLabels: { info: {} } } } }, 'query.alerting.severityLabels'],
    [{ query: { sli: { total: ratio.total } } }, 'query.sli.good'],
    [{ query: { sli: { ...ratio, bad: ratio.good } } }, 'query.sli.bad'],
    [{ query: { sli: { value: ratio.good, operator: 'gte' } } }, 'query.sli.threshold'],
    [
      { query: { sli: { good: ratio.good, total: { ...ratio.total, groupBy: ['service'] } } } },
      'query.sli.total.groupBy',
    ],
    [{ query: { sli: { good: ratio.good, total: { kind: 'rows', signal: 'traces' } } } }, 'query.sli.total.kind'],
    [
      { query: { sli: { good: ratio.good, total: { kind: 'promql', expression: 'sum(' } } } },
      'query.sli.total.expression',
    ],
    [
      { query: { calendar: { period: 'month', timeZone: 'Mars/Olympus', startsAt: '2026-02-30T00:00' } } },
      ...['query.calendar.timeZone', 'query.calendar.startsAt'],
    ],
    [
      { query: { slice: '2h', calendar: { period: 'month', timeZone: 'UTC', startsAt: '2026-02-01T00:00' } } },
      'query.slice',
    ],
    [
      { query: { alerting: { rules: [{ severity: 'page', rate: 10, long: '1h', short: '1h' }] } } },
      'query.alerting.rules.0.short',
    ],
  ];
  for (const [fields, ...paths] of wrong) t.deepEqual(wrongIn(fields), paths, JSON.stringify(fields));
});
