/** SLOs measured from stored telemetry: slices, late records, gaps, the past before creation, changed indicators. */
import test from 'ava';
import { parseQuery } from '../../queries/run.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { platformAlerts } from '../../schemas/resources/platform-alert.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import type { SloSlices } from '../../schemas/slo-slices.ts';
import { isDataOverdue } from '../../subjects/empty-results/empty-results.ts';
import { getSeriesId } from '../../subjects/slos/measurement-times.ts';
import { parseStoredSlo } from '../../subjects/slos/parse-slo.ts';
import type { SloQuery } from '../../subjects/slos/query.ts';
import { decimalToFraction, divide, fractionToNumber } from '../../subjects/slos/slices/fraction.ts';
import { runSlo } from '../../subjects/slos/slices/run-slo.ts';
import { type MeasuredSlice, readSlices } from '../../subjects/slos/slices/slices.ts';
import { readSloStatuses } from '../../subjects/slos/status.ts';
import { measuring, minuteMs, telemetryIn } from '../cases/slos/measured-telemetry.ts';
import { type Harness, startHarness } from './api-harness.ts';

const hourMs = 60 * minuteMs;
const nowMs = Math.floor(Date.now() / hourMs) * hourMs;
let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const ratioOf = (service: string) => ({
  bad: count(`service:${service} AND severity:error`),
  total: count(`service:${service}`),
});
const create = async (fields: object): Promise<StoredSlo & StoredMetadata> => {
  const { status, body } = await harness.request('POST', '/api/slos', { as: 'editor', body: fields });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return (await harness.documents.forTenant('a').collection(slos).find(body.id)) as StoredSlo & StoredMetadata;
};
const slicesOf = (slo: StoredSlo & StoredMetadata, fromMs = 0, toMs = nowMs + hourMs): Promise<MeasuredSlice[]> =>
  readSlices(
    { columns: harness.columns.forTenant('a') },
    { sloId: slo.id, series: getSeriesId(parseStoredSlo(slo) as NonNullable<ReturnType<typeof parseStoredSlo>>) },
    { fromMs, toMs },
  );
const sumOf = (slices: readonly MeasuredSlice[]) =>
  slices.reduce<readonly [number, number]>(([good, total], slice) => [good + slice[1], total + slice[2]], [0, 0]);

test('past slices are measured when an SLO is created, and add up to the result of one query', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const input = Array.from({ length: 40 }, (_, index) => ({
    atMs: nowMs - (index + 1) * 97 * minuteMs,
    good: index * 3,
    bad: index % 4,
  }));
  await logs('before', input);
  const slo = await create({ name: 'Before', type: 'ratio', query: { sli: ratioOf('before') } });
  const measure = measuring(harness);
  await measure(slo, nowMs);
  const known = input.filter(({ good, bad }) => good + bad > 0);
  t.deepEqual(
    await slicesOf(slo),
    known
      .map(({ atMs, good, bad }): MeasuredSlice => [atMs, good, good + bad])
      .toSorted((one, other) => one[0] - other[0]),
  );
  const total = input.reduce((sum, { good, bad }) => sum + good + bad, 0);
  t.deepEqual(sumOf(await slicesOf(slo)), [input.reduce((sum, { good }) => sum + good, 0), total]);
});

test('an SLO that never has data is reported an hour after its creation, in status and list and once as an event', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create({ name: 'Silent', type: 'ratio', query: { sli: ratioOf('silent') } });
  const events: PlatformEvent[] = [];
  const measure = measuring({ ...harness, events });
  const createdMs = Math.floor(Date.parse(slo.createdAt) / minuteMs) * minuteMs;
  for (const minutes of [1, 59]) await measure(slo, createdMs + minutes * minuteMs);
  t.deepEqual(events, []);
  for (const minutes of [61, 62, 70]) await measure(slo, createdMs + minutes * minuteMs);
  t.deepEqual(
    events.map(({ title, details, severity }) => [title, details, severity]),
    [['No data for the SLO Silent', { sloId: slo.id }, 'warning']],
  );
  const read = async (): Promise<boolean[]> => [
    (await harness.request('GET', `/api/slos/${slo.id}/status`)).body.hasNoData,
    (await harness.request('GET', `/api/slos/${slo.id}`)).body.status.hasNoData,
  ];
  t.deepEqual(await read(), [false, false]);
  const active = await create({ name: 'Active', type: 'ratio', query: { sli: ratioOf('active') } });
  await logs('active', [{ atMs: createdMs - 2 * minuteMs, good: 1, bad: 0 }]);
  const activeEvents: PlatformEvent[] = [];
  const measureActive = measuring({ ...harness, events: activeEvents });
  for (const minutes of [1, 70]) await measureActive(active, createdMs + minutes * minuteMs);
  t.deepEqual(activeEvents, []);
  t.deepEqual(
    [isDataOverdue(slo.createdAt, createdMs + 59 * minuteMs), isDataOverdue(slo.createdAt, createdMs + 61 * minuteMs)],
    [false, true],
  );
});

test('the slices that ended are measured each minute; a gap is unknown', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create({ name: 'Live', type: 'ratio', query: { sli: ratioOf('live') } });
  const measure = measuring(harness);
  const at = (minute: number): number => nowMs - 30 * minuteMs + minute * minuteMs;
  await measure(slo, at(0));
  await logs('live', [{ atMs: at(0) + 1000, good: 9, bad: 1 }]);
  await measure(slo, at(1));
  await measure(slo, at(2));
  await logs('live', [{ atMs: at(2) + 59_000, good: 5, bad: 0 }]);
  await measure(slo, at(3) + 20_000);
  t.deepEqual(await slicesOf(slo), [
    [at(0), 9, 10],
    [at(2), 5, 5],
  ]);
});

test('a late record counts at the next check for late records, and settledUpTo states how far that check reached', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create({ name: 'Late', type: 'ratio', query: { sli: ratioOf('late') } });
  const measure = measuring(harness);
  const atMs = nowMs - 10 * hourMs;
  await logs('late', [{ atMs, good: 10, bad: 0 }]);
  await measure(slo, nowMs);
  await logs('late', [{ atMs: atMs + 500, good: 0, bad: 2 }]);
  const lateSlices: (readonly [minute: number, ...slices: readonly SloSlices['slices'][]])[] = [];
  for (let minute = 1; minute <= 18; minute++) {
    const results = await measure(slo, nowMs + minute * minuteMs);
    const changed = results.flatMap(({ slices }) => slices);
    if (changed.length > 0) lateSlices.push([minute, changed]);
    const settledMs = nowMs + (lateSlices[0]?.[0] ?? 0) * minuteMs - 24 * hourMs;
    if (minute <= 9) t.is(results[0]?.settledUpToMs, settledMs, `after ${minute} minutes`);
  }
  t.deepEqual(
    lateSlices.map(([, slices]) => slices),
    [[[atMs, 10, 12]]],
  );
  t.true((lateSlices[0]?.[0] ?? 0) <= 9);
  t.deepEqual(await slicesOf(slo), [[atMs, 10, 12]]);
});

test('records that were stored long after their receipt count at the next check for late records', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create({ name: 'Lagging', type: 'ratio', query: { sli: ratioOf('lagging') } });
  const atMs = nowMs - 10 * hourMs;
  let landedMs = atMs + 500;
  const source = {
    forTenant: (tenantId: string) => ({ ...harness.columns.forTenant(tenantId), landedUpTo: async () => landedMs }),
  };
  const measure = measuring({ ...harness, source });
  await logs('lagging', [{ atMs, good: 10, bad: 0 }], 'a', landedMs);
  let minute = 0;
  // The check for late records runs every nine minutes.
  for (; minute < 10; minute++) await measure(slo, nowMs + minute * minuteMs);
  await logs('lagging', [{ atMs: atMs + 2 * minuteMs, good: 0, bad: 2 }], 'a', atMs + 2 * minuteMs + 500);
  landedMs = nowMs + minute * minuteMs;
  for (; minute < 20; minute++) await measure(slo, nowMs + minute * minuteMs);
  t.deepEqual(await slicesOf(slo), [
    [atMs, 10, 10],
    [atMs + 2 * minuteMs, 0, 2],
  ]);
});

test('records of a lagging partition count at the next check for late records, whatever was stored from other partitions meanwhile', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create({ name: 'Behind', type: 'ratio', query: { sli: ratioOf('behind') } });
  const atMs = nowMs - 10 * hourMs;
  let minute = 0;
  const source = {
    forTenant: (tenantId: string) => ({
      ...harness.columns.forTenant(tenantId),
      landedUpTo: async () => nowMs + minute * minuteMs,
    }),
  };
  const measure = measuring({ ...harness, source });
  const alerts = harness.documents.forTenant('a').collection(platformAlerts);
  const since = new Date(atMs + 2 * minuteMs).toISOString();
  await alerts.insert({ id: 'records-late', severity: 'error', reason: 'behind', since, startedAt: since });
  await logs('behind', [{ atMs, good: 10, bad: 0 }], 'a', atMs + 500);
  // The check for late records runs every nine minutes.
  for (; minute < 10; minute++) await measure(slo, nowMs + minute * minuteMs);
  await logs('behind', [{ atMs: atMs + 2 * minuteMs, good: 0, bad: 2 }], 'a', atMs + 2 * minuteMs - 500);
  await alerts.delete('records-late');
  for (; minute < 20; minute++) await measure(slo, nowMs + minute * minuteMs);
  t.deepEqual(await slicesOf(slo), [
    [atMs, 10, 10],
    [atMs + 2 * minuteMs, 0, 2],
  ]);
});

test('after a pause all slices that ended meanwhile are measured', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create({ name: 'Pause', type: 'ratio', query: { sli: ratioOf('pause') } });
  const measure = measuring(harness);
  await measure(slo, nowMs - 5 * hourMs);
  const input = [4, 3, 1].map((hours) => ({ atMs: nowMs - hours * hourMs, good: hours, bad: 1 }));
  await logs('pause', input);
  await measure(slo, nowMs);
  t.deepEqual(
    await slicesOf(slo),
    input.map(({ atMs, good, bad }): MeasuredSlice => [atMs, good, good + bad]),
  );
});

test('the short form counts requests of the service, by status or by duration', async (t) => {
  const { requests } = telemetryIn(harness.columns);
  await requests('shop', [
    { atMs: nowMs - 50 * minuteMs, good: 8, bad: 2, durationMs: 20 },
    { atMs: nowMs - 40 * minuteMs, good: 5, bad: 0, durationMs: 900 },
    { atMs: nowMs - 40 * minuteMs, good: 5, bad: 1, durationMs: 10 },
  ]);
  const availability = await create({ name: 'Available', service: 'shop' });
  await measuring(harness)(availability, nowMs);
  t.deepEqual(await slicesOf(availability), [
    [nowMs - 50 * minuteMs, 8, 10],
    [nowMs - 40 * minuteMs, 10, 11],
  ]);
  const latency = await create({ name: 'Fast', service: 'shop', type: 'latency', latencyThresholdMs: 300 });
  await measuring(harness)(latency, nowMs);
  t.deepEqual(await slicesOf(latency), [
    [nowMs - 50 * minuteMs, 8, 10],
    [nowMs - 40 * minuteMs, 5, 11],
  ]);
});

test('SLOs of the same time are counted with one statement', async (t) => {
  const { requests } = telemetryIn(harness.columns);
  const names = ['one', 'two', 'three'];
  for (const [index, service] of names.entries())
    await requests(service, [{ atMs: nowMs - 2 * minuteMs, good: index + 1, bad: 0, durationMs: 5 }]);
  const all = await Promise.all(names.map((service) => create({ name: `Of ${service}`, service })));
  let statements = 0;
  const source = {
    forTenant(tenantId: string) {
      const own = harness.columns.forTenant(tenantId);
      return {
        ...own,
        query: ((sql: string, parameters: QueryParameters, ...rest: []) => {
          if (sql.includes('FROM span_metrics') && parameters['to'] === (nowMs - minuteMs) / 1000) statements++;
          return own.query(sql, parameters, ...rest);
        }) as typeof own.query,
      };
    },
  };
  const measurements = all.map((slo) => ({
    slo,
    measure: measuring({ ...harness, source }),
  }));
  await Promise.all(measurements.map(({ slo, measure }) => measure(slo, nowMs - 3 * minuteMs)));
  await Promise.all(measurements.map(({ slo, measure }) => measure(slo, nowMs - minuteMs)));
  t.is(statements, 1, 'ended slices, of all slices');
  for (const [index, slo] of all.entries())
    t.deepEqual(await slicesOf(slo, nowMs - 2 * minuteMs, nowMs), [[nowMs - 2 * minuteMs, index + 1, index + 1]]);
});

test('a threshold SLI counts each slice once, and a changed indicator starts a new series', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const atMs = nowMs - 20 * minuteMs;
  await logs('value', [
    { atMs, good: 3, bad: 0 },
    { atMs: atMs + minuteMs, good: 8, bad: 0 },
  ]);
  const sli = { value: count('service:value'), operator: 'lte', threshold: 5 };
  const slo = await create({ name: 'Value', type: 'threshold', query: { sli } });
  const measure = measuring(harness);
  await measure(slo, nowMs);
  t.deepEqual(await slicesOf(slo), [
    [atMs, 1, 1],
    [atMs + minuteMs, 0, 1],
  ]);
  const changed = { ...slo, query: { ...slo.query, sli: { ...sli, threshold: 10 } } };
  t.deepEqual(await slicesOf(changed), []);
  await measure(changed, nowMs + minuteMs);
  t.deepEqual(await slicesOf(changed), [
    [atMs, 1, 1],
    [atMs + minuteMs, 1, 1],
  ]);
});

test('an SLO that cannot be measured states why, and measuring resumes from its last position', async (t) => {
  const query = { sli: { value: { kind: 'promql', expression: 'up' }, operator: 'gte', threshold: 1 } };
  const slo = await create({ name: 'Broken', type: 'threshold', query });
  const slices = await measuring(harness)(slo, nowMs);
  t.is(slices.length, 1);
  t.not(slices[0]?.error, '');
  t.deepEqual(slices[0]?.slices, []);
});

const statusOf = async (slo: StoredMetadata) => (await harness.request('GET', `/api/slos/${slo.id}/status`)).body;

test('the status of each budgeting method is exact', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  // 144 bad of 10,000 in 100 slices: 1 % in each of 10 slices, 1.1 % in each of 40, none in the others.
  const baseMs = Math.floor(Date.now() / minuteMs) * minuteMs - 130 * minuteMs;
  const input = Array.from({ length: 50 }, (_, index) => ({
    atMs: baseMs + index * minuteMs,
    bad: index < 24 ? 6 : 0,
    good: index < 24 ? 194 : 200,
  }));
  await logs('exact', input);
  const query = { sli: ratioOf('exact') };
  const more = { type: 'ratio', windowDays: 1, targetPct: 99.9 };
  const byEvents = await create({ name: 'By events', ...more, query });
  const bySlices = await create({
    name: 'By slices',
    ...more,
    targetPct: 99,
    query: { ...query, budgeting: 'timeslices', sliceTarget: 0.98 },
  });
  const byRatios = await create({
    name: 'By ratios',
    ...more,
    targetPct: 99,
    query: { ...query, budgeting: 'ratio-timeslices' },
  });
  const measuredAtMs = baseMs + 125 * minuteMs;
  for (const slo of [byEvents, bySlices, byRatios]) await measuring(harness)(slo, measuredAtMs);
  t.like(await statusOf(byEvents), {
    sli: 0.9856,
    good: 9856,
    total: 10_000,
    coverage: 50 / 1440,
    error: null,
    budget: { total: 10, remaining: -134, remainingPct: -1340 },
    measuredUpTo: new Date(measuredAtMs).toISOString(),
    settledUpTo: new Date(measuredAtMs - 24 * hourMs).toISOString(),
  });
  const { burnRates } = await statusOf(byEvents);
  t.deepEqual(
    burnRates.find(({ window }: { window: string }) => window === '6h'),
    { window: '6h', rate: 14.4, good: 9856, total: 10_000 },
  );
  t.deepEqual(
    burnRates.find(({ window }: { window: string }) => window === '5m'),
    { window: '5m', rate: null, good: 0, total: 0 },
  );
  t.like(await statusOf(bySlices), {
    sli: 0.52,
    good: 26,
    total: 50,
    budget: {
      total: 14.4,
      remaining: -9.6,
      remainingPct: fractionToNumber(divide(decimalToFraction(-960), decimalToFraction(14.4))),
    },
  });
  t.like(await statusOf(byRatios), {
    sli: 0.9856,
    good: 49.28,
    total: 50,
    budget: { total: 14.4, remaining: 13.68, remainingPct: 95 },
  });
});

test('maintenance windows marked for exclusion are excluded from an SLO that requests it, in status, list and queries', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const endMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const maintainedMs = endMs - 120 * minuteMs;
  await logs('maintained', [
    { atMs: maintainedMs, good: 0, bad: 60 },
    { atMs: maintainedMs + 9 * minuteMs, good: 0, bad: 30 },
    { atMs: maintainedMs + 10 * minuteMs, good: 9, bad: 1 },
    { atMs: maintainedMs - minuteMs, good: 90, bad: 0 },
  ]);
  const window = {
    timeZone: 'UTC',
    durationMinutes: 10,
    excludedFromSlos: true,
    name: 'Deploys',
    startsAt: new Date(maintainedMs).toISOString().slice(0, 16),
  };
  const about = [{ name: 'slo', value: 'Maintained' }];
  const others = [
    { ...window, name: 'Of others', matchers: [{ name: 'slo', value: 'Other' }], durationMinutes: 100 },
    { ...window, name: 'Mutes only', excludedFromSlos: false, matchers: about, durationMinutes: 100 },
  ];
  for (const body of [{ ...window, matchers: about }, ...others])
    t.is((await harness.request('POST', '/api/maintenance-windows', { as: 'editor', body })).status, 200);
  const more = { type: 'ratio', windowDays: 1, targetPct: 90 };
  const query = { sli: ratioOf('maintained') };
  const slo = await create({ name: 'Maintained', ...more, query: { ...query, excludeMaintenance: true } });
  const plain = await create({ name: 'Maintained and counted', ...more, query });
  for (const one of [slo, plain]) await measuring(harness)(one, endMs);
  const all = { sli: 99 / 190, good: 99, total: 190, budget: { total: 19, remaining: -72 }, coverage: 4 / 1440 };
  const status = await statusOf(slo);
  t.like(status, {
    sli: 0.99,
    good: 99,
    total: 100,
    budget: { total: 10, remaining: 9, remainingPct: 90 },
    coverage: 2 / 1430,
    withMaintenance: all,
  });
  t.is(status.burnRates.find((each: { window: string }) => each.window === '6h').rate, 0.1);
  t.like(await statusOf(plain), { ...all, withMaintenance: null });
  const { body } = await harness.request('GET', '/api/slos?search=Maintained&limit=10');
  t.deepEqual(body.items.map(({ status }: { status: { total: number } }) => status.total).toSorted(), [100, 190]);
  const range = { from: 0n, to: BigInt(endMs) * 1_000_000n - 1n };
  const figure = parseQuery({ kind: 'slo', sloId: slo.id, figure: 'budget-left' });
  const { rows } = await runSlo(figure as SloQuery, { columns: harness.columns.forTenant('a') }, { range });
  t.deepEqual(rows[0]?.slice(0, 3), [0.9, 1, 100]);
});

test('all figures of an SLO that was not measured yet are unknown', async (t) => {
  const slo = await create({ name: 'New', service: 'new' });
  t.like(await statusOf(slo), { sli: null, good: 0, total: 0, coverage: 0, measuredUpTo: null, settledUpTo: null });
});

test('burn rates over time use windows that end step by step', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const baseMs = nowMs - 3 * hourMs;
  await logs('rates', [
    { atMs: baseMs, good: 9, bad: 1 },
    { atMs: baseMs + 10 * minuteMs, good: 10, bad: 0 },
  ]);
  const slo = await create({ name: 'Rates', type: 'ratio', targetPct: 99, query: { sli: ratioOf('rates') } });
  await measuring(harness)(slo, nowMs);
  const path = `/api/slos/${slo.id}/burn-rate`;
  const range = `from=${baseMs}&to=${baseMs + 40 * minuteMs}`;
  const { status, body } = await harness.request('GET', `${path}?window=30m&${range}`);
  t.is(status, 200, JSON.stringify(body));
  t.is(body.step, '1m');
  t.is(body.items.length, 40);
  const at = (minute: number) =>
    body.items.find((item: { at: string }) => Date.parse(item.at) === baseMs + minute * minuteMs);
  t.like(at(1), { rate: 10, good: 9, total: 10 });
  t.like(at(11), { rate: 5, good: 19, total: 20 });
  t.like(at(30), { rate: 5, good: 19, total: 20 });
  t.like(at(31), { rate: 0, good: 10, total: 10 });
  t.is((await harness.request('GET', `${path}?window=90s`)).body.details[0].path, 'window');
  t.is((await harness.request('GET', `${path}?window=1m&from=now-30d`)).body.details[0].path, 'from');
  const hostile = await harness.request('GET', `${path}?window=30d&from=-62135596800000&to=253402300799000`);
  t.true([200, 400].includes(hostile.status), JSON.stringify(hostile.body));
});

test('a forecast is unknown with a reason at first, and later states when the budget runs out', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const young = await create({ name: 'Young', type: 'ratio', query: { sli: ratioOf('young') } });
  const unknown = await harness.request('GET', `/api/slos/${young.id}/forecast`);
  t.like(unknown.body, { runsOutAt: null, interval: null, breachChance: null });
  t.regex(unknown.body.reason, /fifth/);
  const endMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const input = Array.from({ length: 16 * 60 }, (_, index) => ({
    atMs: endMs - (index + 1) * minuteMs,
    good: index % 8 === 0 ? 0 : 1,
    bad: index % 8 === 0 ? 1 : 0,
  }));
  await logs('spent', input);
  const query = { sli: ratioOf('spent'), budgeting: 'timeslices', sliceTarget: 1 };
  const slo = await create({ name: 'Spent', type: 'ratio', windowDays: 1, targetPct: 90, query });
  await measuring(harness)(slo, endMs);
  const { body, status } = await harness.request('GET', `/api/slos/${slo.id}/forecast`);
  t.is(status, 200, JSON.stringify(body));
  // 120 of 144 are spent in 16 hours, 7.5 per hour: the rest lasts about 3 hours.
  t.is(body.reason, null);
  t.true(body.interval.from <= body.runsOutAt);
  const hours = (Date.parse(body.runsOutAt) - endMs) / hourMs;
  t.true(hours > 1.5 && hours < 6, `${hours} hours`);
});

test('the list shows the status of each SLO, and reads windows of the same length together', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const names = ['one', 'two', 'three'];
  for (const [index, name] of names.entries())
    await logs(`listed-${name}`, [{ atMs: nowMs - 10 * minuteMs, good: 90, bad: 1 + index }]);
  const all = await Promise.all(
    names.map((name, index) =>
      create({
        name: `Listed ${name}`,
        type: 'ratio',
        windowDays: index === 0 ? 1 : 3,
        query: { sli: ratioOf(`listed-${name}`) },
      }),
    ),
  );
  const unmeasured = await create({
    name: 'Listed, not measured',
    type: 'ratio',
    query: { sli: ratioOf('listed-none') },
  });
  for (const slo of all) await measuring(harness)(slo, nowMs);
  const { body } = await harness.request('GET', '/api/slos?search=Listed&limit=10', { as: 'viewer' });
  const byId = new Map(body.items.map((item: { id: string }) => [item.id, item]));
  for (const slo of all) {
    const { sli, good, total, budget, coverage, measuredUpTo } = await statusOf(slo);
    t.like(byId.get(slo.id), { status: { sli, good, total, budget, measuredUpTo } });
    t.true(coverage > 0);
  }
  t.like(byId.get(unmeasured.id), { status: null });
  let statements = 0;
  const own = harness.columns.forTenant('a');
  const columns = {
    ...own,
    query: ((...of: Parameters<typeof own.query>) => {
      statements++;
      return own.query(...of);
    }) as typeof own.query,
  };
  const known = all.map(({ id, ...stored }) => ({
    id,
    slo: parseStoredSlo(stored) as NonNullable<ReturnType<typeof parseStoredSlo>>,
  }));
  t.is((await readSloStatuses({ columns }, known, { nowMs }))[2]?.total, 93);
  t.is(statements, 3, 'progress, and slices of a day and of three days');
});
