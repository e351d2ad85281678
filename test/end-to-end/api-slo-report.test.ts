/** SLO reports: targets in force, maintenance, incidents, and frozen periods. */
import test from 'ava';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import { sloReports } from '../../schemas/resources/slo-report.ts';
import type { IdentifiedSlo } from '../../subjects/slos/document.ts';
import { parseStoredSlo } from '../../subjects/slos/parse-slo.ts';
import { readReport } from '../../subjects/slos/report.ts';
import { findPeriod } from '../../subjects/slos/slices/windows.ts';
import { readSloStatuses, readStatus } from '../../subjects/slos/status.ts';
import { measuring, minuteMs, telemetryIn } from '../cases/slos/measured-telemetry.ts';
import { type Harness, startHarness } from './api-harness.ts';

const dayMs = 1440 * minuteMs;
let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const sli = { bad: count('service:reported AND severity:error'), total: count('service:reported') };

test('an ended and settled period is frozen in the audit chain, and a later change creates a new revision', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
  await logs('reported', [
    { atMs: todayMs - 3 * dayMs + 600 * minuteMs, good: 99, bad: 1 },
    { atMs: todayMs - 4 * dayMs, good: 90, bad: 10 },
    { atMs: todayMs - 4 * dayMs - minuteMs, good: 1, bad: 0 },
  ]);
  const body = { name: 'Reported', type: 'ratio', targetPct: 99, windowDays: 7, query: { sli } };
  const { id } = (await harness.request('POST', '/api/slos', { as: 'editor', body })).body;
  const find = async () =>
    (await harness.documents.forTenant('a').collection(slos).find(id)) as StoredSlo & StoredMetadata;
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  // Two checks for late records include those older than four days.
  const measure = async (fromMs: number): Promise<void> => {
    const runMeasurement = measuring(harness);
    for (const minute of [0, 1]) await runMeasurement(await find(), fromMs + minute * minuteMs);
  };
  await measure(nowMs - 10 * minuteMs);
  const range = `from=${todayMs - 4 * dayMs}&to=${todayMs - 2 * dayMs - 1}`;
  const path = `/api/slos/${id}/report?period=day&${range}`;
  const first = await harness.request('GET', path, { as: 'viewer' });
  t.is(first.status, 200, JSON.stringify(first.body));
  t.like(first.body, { period: 'day', timeZone: 'UTC' });
  t.is(first.body.items.length, 2);
  t.like(first.body.items[0], {
    from: new Date(todayMs - 4 * dayMs).toISOString(),
    targetPct: 99,
    isMet: false,
    sli: 0.9,
    total: 100,
    hasEnded: true,
    isSettled: true,
    incidents: [],
    withMaintenance: null,
    revision: 1,
    coverage: 1 / 1440,
  });
  t.like(first.body.items[1], { isMet: true, sli: 0.99, budget: { total: 1, remaining: 0 }, revision: 1 });
  t.deepEqual((await harness.request('GET', path)).body, first.body, 'a repeated request writes nothing');
  // A slice that is replaced later creates a new revision of its period. The other period stays unchanged.
  await logs('reported', [{ atMs: todayMs - 4 * dayMs + 1, good: 100, bad: 0 }]);
  await measure(nowMs - 5 * minuteMs);
  const { items } = (await harness.request('GET', path)).body;
  t.like(items[0], { sli: 0.95, total: 200, revision: 2 });
  t.is(items[1].revision, 1);
  t.not(items[0].sha256, first.body.items[0].sha256);
  const storedReports = (
    await harness.documents
      .forTenant('a')
      .collection(sloReports)
      .list({ filter: { sloId: id } })
  ).items;
  t.is(storedReports.length, 3);
  const records = (await harness.request('GET', '/api/audit?action=slo-report.freeze', { as: 'auditor' })).body.items;
  const audited: string[] = [];
  for (const record of records as StoredMetadata[])
    audited.push(JSON.stringify((await harness.request('GET', `/api/audit/${record.id}`, { as: 'auditor' })).body));
  for (const { sha256 } of storedReports)
    t.true(
      audited.some((text) => text.includes(sha256)),
      `${sha256} in ${audited.length} records`,
    );
  // In other time zones the report has current values and is not frozen.
  const other = (await harness.request('GET', `${path}&timeZone=Asia/Kolkata`)).body.items;
  t.true(other.every(({ revision }: { revision: number | null }) => revision === null));
  const csv = await harness.request('GET', `${path}&format=csv`);
  t.regex(csv.body, /^"from","to","targetPct"/);
  t.is(csv.body.trim().split('\r\n').length, 3);
});

test('the report uses the target in force at that time, and too many periods are refused', async (t) => {
  const body = { name: 'Targets', type: 'ratio', targetPct: 99, windowDays: 7, query: { sli } };
  const { id } = (await harness.request('POST', '/api/slos', { as: 'editor', body })).body;
  await harness.request('PUT', `/api/slos/${id}`, { as: 'editor', body: { targetPct: 95 } });
  const { items } = (await harness.request('GET', `/api/slos/${id}/report?period=month`)).body;
  t.is(items.at(-1).targetPct, 95);
  t.is(items[0].targetPct, 99);
  t.like(items[0], { isMet: null, sli: null, revision: null });
  const refused = await harness.request('GET', `/api/slos/${id}/report?period=day&from=now-200d`);
  t.is(refused.body.details[0].path, 'from');
});

for (const slice of ['1m', '15m'])
  test(`status and report of slices of ${slice} agree after measuring stopped: later slices are missing`, async (t) => {
    const { logs } = telemetryIn(harness.columns);
    const name = `stopped-${slice}`;
    const sli = { bad: count(`service:${name} AND severity:error`), total: count(`service:${name}`) };
    const calendar = { period: 'day', timeZone: 'UTC', startsAt: '2026-01-01T00:00' };
    const query = { sli, slice, calendar };
    const body = { name, type: 'ratio', targetPct: 99, query };
    const { id } = (await harness.request('POST', '/api/slos', { as: 'editor', body })).body;
    const stored = (await harness.documents.forTenant('a').collection(slos).find(id)) as StoredSlo & StoredMetadata;
    const known = { id, slo: parseStoredSlo(stored) } as IdentifiedSlo;
    const fromMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
    const sliceMs = Number.parseInt(slice, 10) * minuteMs;
    const slices = 20;
    await logs(
      name,
      Array.from({ length: slices }, (_, index) => ({ atMs: fromMs + index * sliceMs, good: 1, bad: 0 })),
    );
    const measuredAtMs = fromMs + slices * sliceMs;
    const measure = measuring(harness);
    for (const minute of [-1, 0]) await measure(stored, measuredAtMs + minute * minuteMs);
    const reader = { columns: harness.columns.forTenant('a') };
    const assertAgreesAt = async (nowMs: number) => {
      const status = await readStatus(reader, known, { nowMs });
      const [snapshot] = await readSloStatuses(reader, [known], { nowMs });
      const periods = [findPeriod({ ...calendar, period: 'day' }, fromMs)];
      const report = await readReport(reader, known, { periods, nowMs, maintenance: [], targetAt: () => 99 });
      const [period] = report.periods;
      for (const one of [snapshot, period])
        t.like(one, { sli: status.sli, total: status.total, budget: status.budget, coverage: status.coverage });
      const { measuredUpTo, settledUpTo, error } = status;
      for (const one of [snapshot, report]) t.like(one, { measuredUpTo, settledUpTo, error });
      t.is(measuredUpTo, new Date(measuredAtMs).toISOString());
      return status.coverage;
    };
    t.is(await assertAgreesAt(measuredAtMs + 5000), 1);
    t.is(await assertAgreesAt(measuredAtMs + sliceMs + 5000), 1, 'the next slice is pending');
    t.is(await assertAgreesAt(measuredAtMs + 30 * sliceMs), 20 / 50, 'measuring has stopped');
  });
