/** SLOs of one organization for benchmarks: their telemetry, stored measurements, and alert rules. */
import '../../subjects/query-kinds.ts';
import { encodeSlot } from '../../processors/engine/schedule-snapshot.ts';
import { computePhase, toItemKey, toSlot } from '../../processors/engine/schedule-times.ts';
import { openStates } from '../../runtime/states.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { slos } from '../../schemas/resources/slo.ts';
import { createAlertRules } from '../../subjects/slos/alert-rules.ts';
import { SloFields } from '../../subjects/slos/document.ts';
import { getSeriesId } from '../../subjects/slos/measurement-times.ts';
import { parseStoredSlo } from '../../subjects/slos/parse-slo.ts';

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
/** A service has five SLOs: three over requests and two over log records. */
const ofService = 5;

interface Filled {
  readonly tenantId: string;
  /** The number of SLOs. */
  readonly count: number;
  /** The start of the measurement. Telemetry begins a day before. */
  readonly startMs: number;
}

/** Stores requests and log records of the services, from a day before the start up to `untilMs`. */
export const fillTelemetry = async (
  columns: Columns,
  { tenantId, count, startMs, untilMs }: Filled & { readonly untilMs: number },
): Promise<void> => {
  const services = Math.ceil(count / ofService);
  const filledMs = untilMs - startMs + dayMs;
  const filledMinutes = filledMs / minuteMs;
  const end = `toDateTime(${untilMs / 1000}, 'UTC')`;
  await columns.execute(`INSERT INTO span_metrics (tenant_id, project_id, day, minute, service, endpoint, kind, requests, errors, duration_sum, duration_max, duration_buckets, error_buckets)
    SELECT '${tenantId}', 'default', today(), ${end} - 60 * (1 + intDiv(number, ${services * 4})), concat('service-', toString(intDiv(number, 4) % ${services})),
      concat('GET /', toString(number % 4)), 2, 1000, number % 7 = 0, 1e11, 1e9, map(200, 500, 220, 400, 240, 100), map(200, number % 7 = 0)
    FROM numbers(${filledMinutes * services * 4})`);
  const logsOfService = filledMinutes * 6;
  await columns.execute(`INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
    SELECT '${tenantId}', 'default', now64(3), 0, 1, number, toDateTime64(${untilMs / 1000}, 9) - 10 * intDiv(number, ${services}) - 1, now64(9), concat('service-', toString(number % ${services})),
      if(intDiv(number, ${services}) % 50 = 0, 17, 9), '', 'a line', 's' FROM numbers(${logsOfService * services})`);
};

const counted = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const kinds: readonly ((service: string) => object)[] = [
  () => ({}),
  () => ({ type: 'latency', latencyThresholdMs: 300 }),
  () => ({ type: 'latency', latencyThresholdMs: 1000 }),
  ...['error', 'warn'].map((severity) => (service: string) => ({
    type: 'ratio',
    query: { sli: { bad: counted(`service:${service} severity:${severity}`), total: counted(`service:${service}`) } },
  })),
];

/** Stores SLOs with four rules each, and slices of two days as if all had been measured. */
export const fillObjectives = async (
  { documents, columns }: { readonly documents: Documents; readonly columns: Columns },
  { tenantId, count, startMs }: Filled,
): Promise<void> => {
  await documents.transaction(async (transaction) => {
    const own = transaction.forTenant(tenantId);
    for (let index = 0; index < count; index++) {
      const service = `service-${Math.floor(index / ofService)}`;
      const slo = SloFields.parse({ name: `slo ${index}`, service, ...kinds[index % ofService]?.(service) });
      const id = `slo-${index}`;
      await own.collection(slos).insert({ id, ...slo, queryVersion: 1 });
      for (const [ruleId, rule] of createAlertRules(id, slo))
        await own.collection(alertRules).insert({ id: ruleId, ...rule, queryVersion: 1 });
    }
  });

  const measuredMs = startMs - 2 * dayMs;
  const saved = new Map<number, Map<string, { born: string; dueMs: number; state: string }>>();
  const found = (await documents.forTenant(tenantId).collection(slos).list({ limit: count })).items;
  const seriesOfKind = kinds.map(() => new Map<string, string>());
  for (const document of found) {
    const slo = parseStoredSlo(document);
    if (slo === undefined) throw new Error('an objective cannot be read');
    const index = Number(document.id.slice('slo-'.length));
    seriesOfKind[index % ofService]?.set(`service-${Math.floor(index / ofService)}`, getSeriesId(slo));
    const key = toItemKey(tenantId, document.id);
    const slot = toSlot(computePhase(key));
    const state = { series: getSeriesId(slo), fromMs: measuredMs, upToMs: startMs, lateMs: startMs, allMs: startMs };
    const items = saved.get(slot) ?? new Map();
    saved.set(slot, items.set(key, { born: document.createdAt, dueMs: startMs, state: JSON.stringify(state) }));
  }
  const states = openStates({ documents, clock: { now: () => startMs } });
  for (const [slot, items] of saved) {
    const empty = { stateVersion: 1, emitter: `bench-${slot}`, emitted: 0, outbox: [] };
    await states.save(`schedules/slo-measurement/${slot}`, encodeSlot({ ...empty, items }), undefined);
  }
  const list = (values: Iterable<string>): string => `[${[...values].map((value) => `'${value}'`).join(', ')}]`;
  const goods = [
    'sum(requests) - sum(errors)',
    'toUInt64(sum(requests) * 0.9) - sum(errors)',
    'toUInt64(sum(requests) * 0.9) - sum(errors)',
    'countIf(severity_number < 17)',
    'count()',
  ];
  for (const [kind, series] of seriesOfKind.entries()) {
    const [table, minute, all] =
      kind < 3 ? ['span_metrics', 'minute', 'sum(requests)'] : ['logs', 'toStartOfMinute(timestamp)', 'count()'];
    await columns.execute(`INSERT INTO slo_slices (tenant_id, slo_id, series, begin, good, total, look_ms)
      SELECT '${tenantId}', concat('slo-', toString(toUInt32(splitByChar('-', toString(service))[2]) * ${ofService} + ${kind})),
        transform(toString(service), ${list(series.keys())}, ${list(series.values())}, ''), toDateTime(${minute}, 'UTC') AS slice, ${goods[kind]}, ${all}, 1
      FROM ${table} WHERE ${minute} < toDateTime(${startMs / 1000}, 'UTC') GROUP BY service, slice`);
  }
};
