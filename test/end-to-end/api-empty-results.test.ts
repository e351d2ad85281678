/** Rules, checks and detectors without data since their creation report it in views, in lists, and once as an event. */
import test from 'ava';
import { alertEvaluation } from '../../processors/alerts/alert-evaluation.ts';
import { anomalyPoints } from '../../processors/anomaly-scores/anomaly-points.ts';
import type { Schedule } from '../../processors/engine/schedule.ts';
import { checkStates } from '../../processors/synthetics/check-states.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import { landIn, messageOf, metricsRequest, text } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';

const minuteMs = 60_000;
let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const request = async (method: string, path: string, body?: object) => {
  const response = await harness.request(method, path, { ...(body !== undefined && { body }) });
  if (response.status !== 200)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
};

/** Runs a schedule for one stored document at times after its creation. Returns the titles of events. */
const running = (schedule: Schedule, id: string) => {
  let state: unknown = schedule.state.empty();
  return async (minutes: readonly number[]): Promise<string[]> => {
    const titles: string[] = [];
    for (const minute of minutes) {
      const document = await harness.documents.forTenant('a').collection(schedule.collection).find(id);
      if (document === undefined) throw new Error(`${id} was deleted`);
      const dueMs = Math.floor(Date.parse(document.createdAt) / minuteMs) * minuteMs + minute * minuteMs;
      const ignored = (): void => undefined;
      const emit = new Proxy(
        { events: (event: unknown) => void titles.push((event as PlatformEvent).title) },
        { get: (known, name) => (name === 'events' ? known.events : ignored) },
      );
      state = await schedule.run(document, {
        tenantId: 'a',
        dueMs,
        emit,
        state: JSON.parse(JSON.stringify(state)),
        canWait: false,
        signal: new AbortController().signal,
        ports: { columns: harness.columns, documents: harness.documents },
      });
    }
    return titles;
  };
};

let offset = 0;
const landGauge = async (metric: string, atMs: number): Promise<void> => {
  const dataPoints = [{ timeUnixNano: String(BigInt(atMs) * 1_000_000n), asDouble: 1 }];
  const body = metricsRequest({
    resourceMetrics: [
      {
        resource: { attributes: [text('service.name', 'shop')] },
        scopeMetrics: [{ metrics: [{ name: metric, gauge: { dataPoints } }] }],
      },
    ],
  });
  const member = { length: body.length, size: body.length, records: 1, receivedAtMs: Date.now(), source: '' };
  const headers = {
    tenantId: 'a',
    projectId: '',
    signal: 'metrics',
    offset: offset++,
    members: [{ ...member, traceparent: '' }],
  };
  const { rejected } = await landIn(harness.columns)([messageOf([body], headers as never)], { sink: 'metrics' });
  if (rejected.length > 0) throw new Error(rejected[0]?.message);
};

const gauge = (metric: string) => ({ kind: 'metric', metric, overTime: 'last', across: 'sum', groupBy: [] });
const rule = (name: string, query: object, fields: object = {}) => ({
  name,
  condition: {
    kind: 'threshold',
    window: '5m',
    query,
    thresholds: [{ severity: 'critical', operator: 'above', value: 5 }],
  },
  ...fields,
});
const isListed = async (path: string, flag: boolean, id: string): Promise<boolean> =>
  (await request('GET', `${path}?hasNoData=${flag}&limit=1000`)).items.some((item: { id: string }) => item.id === id);

test('a rule over a misspelt metric is reported an hour after its creation, until its query has data', async (t) => {
  const path = '/api/alerts/rules';
  const { id, createdAt } = await request('POST', path, rule('Misspelt', gauge('no.such.metric')));
  const runAt = running(alertEvaluation, id);
  t.deepEqual(await runAt([1, 59]), []);
  t.false((await request('GET', `${path}/${id}`)).hasNoData);
  t.deepEqual(await runAt([61, 62, 63]), ['No data for the alert rule Misspelt']);
  t.true((await request('GET', `${path}/${id}`)).hasNoData);
  t.deepEqual([await isListed(path, true, id), await isListed(path, false, id)], [true, false]);
  await landGauge('no.such.metric', Date.parse(createdAt) + 63 * minuteMs);
  t.deepEqual(await runAt([65]), []);
  t.false((await request('GET', `${path}/${id}`)).hasNoData);
  t.deepEqual([await isListed(path, true, id), await isListed(path, false, id)], [false, true]);
  t.deepEqual(await runAt([200]), [], 'a rule that had data is not reported as empty');
});

const rulesWithoutReport: Readonly<Record<string, object>> = {
  'a count of no records is 0': rule('Count', {
    kind: 'aggregate',
    signal: 'logs',
    search: 'service:nobody',
    measures: [{ function: 'count' }],
    groupBy: ['service'],
  }),
  'a condition of Prometheus does not hold without data': {
    ...rule('Prometheus', {}),
    condition: {
      kind: 'threshold',
      window: '5m',
      query: { kind: 'promql', expression: 'no_such_metric > 5' },
      thresholds: [{ severity: 'critical', operator: 'any' }],
    },
  },
  'a rule whose alert reports missing data': rule('Unknown', gauge('no.such.other'), { noData: 'unknown' }),
  'a condition that data is absent': {
    ...rule('Absent', {}),
    condition: { kind: 'absence', window: '5m', severity: 'critical', query: gauge('no.such.other') },
  },
};

for (const [title, body] of Object.entries(rulesWithoutReport))
  test(`a rule for which no data is expected reports none: ${title}`, async (t) => {
    const { id } = await request('POST', '/api/alerts/rules', body);
    const titles = await running(alertEvaluation, id)([1, 61, 62]);
    t.deepEqual(
      titles.filter((one) => one.startsWith('No data')),
      [],
    );
    t.false((await request('GET', `/api/alerts/rules/${id}`)).hasNoData);
  });

test('the state of a rule restarts when its query changes, and ends while it is disabled', async (t) => {
  const path = '/api/alerts/rules';
  const { id } = await request('POST', path, rule('Changed', gauge('no.such.third')));
  const runAt = running(alertEvaluation, id);
  const hasNoData = async (): Promise<boolean> => (await request('GET', `${path}/${id}`)).hasNoData;
  t.is((await runAt([61])).length, 1);
  await request('PUT', `${path}/${id}`, rule('Changed', gauge('no.such.fourth')));
  t.deepEqual(await runAt([30]), [], 'the hour starts at the change');
  t.false(await hasNoData());
  t.is((await runAt([62])).length, 1);
  await request('PUT', `${path}/${id}`, rule('Changed', gauge('no.such.fourth'), { enabled: false }));
  t.deepEqual(await runAt([63]), []);
  t.false(await hasNoData());
});

test('a deleted rule leaves no report', async (t) => {
  const { id } = await request('POST', '/api/alerts/rules', rule('Deleted', gauge('no.such.fifth')));
  await running(alertEvaluation, id)([61]);
  await request('DELETE', `/api/alerts/rules/${id}`);
  t.false(await isListed('/api/alerts/rules', true, id));
  const { emptyResults } = await import('../../schemas/resources/empty-result.ts');
  t.is(await harness.documents.forTenant('a').collection(emptyResults).count({ resourceId: id }), 0);
});

test('a detector without a series is reported an hour after its creation', async (t) => {
  const path = '/api/ai/detectors';
  const { id } = await request('POST', path, { name: 'Silent', query: gauge('no.such.sixth'), step: '1m' });
  const runAt = running(anomalyPoints, id);
  t.deepEqual(await runAt([1, 59]), []);
  t.deepEqual(await runAt([61, 63]), ['No data for the anomaly detector Silent']);
  t.true((await request('GET', `${path}/${id}`)).hasNoData);
  t.true(await isListed(path, true, id));
  await request('DELETE', `${path}/${id}`);
  t.false(await isListed(path, true, id));
});

test('a check that no probe runs is reported an hour and an interval after its creation', async (t) => {
  const path = '/api/synthetics/checks';
  const { id: location } = await request('POST', '/api/synthetics/locations', { name: 'Nowhere' });
  const { id } = await request('POST', path, {
    name: 'Unrun',
    type: 'http',
    every: '10m',
    locations: [location],
    http: { steps: [{ url: 'https://shop.example.com/' }] },
  });
  const runAt = running(checkStates, id);
  t.deepEqual(await runAt([1, 61, 69]), []);
  t.deepEqual(await runAt([71, 72]), ['No results of the check Unrun']);
  t.true((await request('GET', `${path}/${id}`)).hasNoData);
  t.true(await isListed(path, true, id));
});
