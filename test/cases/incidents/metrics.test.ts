/** Metrics of incidents, compared with values calculated by hand. */
import test from 'ava';
import { type Incident, IncidentFields } from '../../../schemas/resources/incident.ts';
import { computeDurations, computeMetrics, computeMetricsBy } from '../../../subjects/incidents/metrics.ts';

const openedMs = Date.parse('2026-11-25T10:00:00.000Z');
const after = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(openedMs + seconds * 1000).toISOString();
const incident = (
  status: Incident['status'],
  [acknowledged, resolved]: readonly [number | null, number | null],
  services: string[] = [],
): Incident => ({
  ...IncidentFields.parse({ title: 'down', status, services }),
  openedBy: 'u1',
  openedAt: new Date(openedMs).toISOString(),
  evidenceHash: null,
  reopenedAt: null,
  groupId: null,
  escalationPolicyId: null,
  firstAcknowledgedAt: after(acknowledged),
  acknowledgedAt: after(acknowledged),
  acknowledgedBy: null,
  resolvedAt: after(resolved),
  resolvedBy: null,
});

test('durations have median, mean and p90, and no values if there are none', (t) => {
  t.deepEqual(computeDurations([]), { count: 0, median: null, mean: null, p90: null });
  t.deepEqual(computeDurations([7]), { count: 1, median: 7, mean: 7, p90: 7 });
  t.deepEqual(computeDurations([40, 10, 30, 20]), { count: 4, median: 25, mean: 25, p90: 37 });
});

test('merged incidents are counted, but excluded from all durations', (t) => {
  const figures = computeMetrics([
    incident('open', [null, null]),
    incident('resolved', [60, 600]),
    incident('resolved', [null, 1200]),
    incident('merged', [10, null]),
  ]);
  t.is(figures.incidents, 4);
  t.is(figures.merged, 1);
  t.is(figures.neverAcknowledged, 2);
  t.deepEqual(figures.timeToAcknowledge, { count: 1, median: 60, mean: 60, p90: 60 });
  t.deepEqual(figures.timeToResolve, { count: 2, median: 900, mean: 900, p90: 1140 });
});

test('an incident with several services counts once for each service', (t) => {
  const by = computeMetricsBy(
    [incident('open', [null, null], ['cart', 'pay', 'cart']), incident('open', [null, null], ['cart'])],
    ({ services }) => services,
  );
  t.deepEqual(
    by.map(({ key, incidents }) => [key, incidents]),
    [
      ['cart', 2],
      ['pay', 1],
    ],
  );
});
