import type { Columns } from '../../../schemas/columns.ts';
import type { Counters } from '../../../schemas/counters.ts';
import type { Plan } from '../../../schemas/resources/plan.ts';
import type { Signal } from '../../../schemas/topics.ts';
import type { DeadLetter } from '../dead-letter/rows.ts';
import { type Finding, good, hint, problem } from './finding.ts';

/** When records of a project last landed, by signal, within the last day. */
export type Landed = Readonly<Record<Signal, string | null>>;

const tables: Readonly<Record<Signal, readonly string[]>> = {
  logs: ['logs'],
  metrics: ['samples', 'histograms', 'summaries'],
  traces: ['spans'],
};
const dayMs = 86_400_000;

/** Reads the last day's partitions only. */
export const landedOf = async (
  columns: Columns,
  { tenantId, projectId, nowMs }: { tenantId: string; projectId: string; nowMs: number },
): Promise<Landed> => {
  const selects = Object.entries(tables).flatMap(([signal, names]) =>
    names.map(
      (table) =>
        `SELECT '${signal}' AS signal, max(received_at) AS at FROM ${table} WHERE tenant_id = {tenant:String}
          AND project_id = {project:String} AND received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
    ),
  );
  const rows = await columns
    .of(tenantId)
    .query<{ signal: Signal; last: string }>(
      `SELECT signal, toString(toUnixTimestamp64Milli(max(at))) AS last FROM (${selects.join(' UNION ALL ')}) GROUP BY signal`,
      { project: projectId, since: Math.trunc(nowMs - dayMs) },
    );
  const landed: Record<Signal, string | null> = { logs: null, metrics: null, traces: null };
  for (const { signal, last } of rows) if (Number(last) > 0) landed[signal] = new Date(Number(last)).toISOString();
  return landed;
};

/** Whether the plan's volume of the day is used up. */
export const quotaFinding = async (counters: Counters, tenantId: string, plan: Plan): Promise<Finding | undefined> => {
  const limit = plan.limits.bytesPerDay;
  if (limit === null) return undefined;
  const { used } = await counters.spend(`ingest/bytes/${tenantId}`, limit, dayMs, 0);
  if (used < limit) return undefined;
  return problem(
    'over-quota',
    `the plan’s ${limit} bytes of today are used up`,
    'wait until 00:00 UTC, send less, or change the plan',
  );
};

/** What refused payloads of the key say, newest first; a hint where records of the signal landed after them. */
export const refusedFinding = (letters: readonly DeadLetter[], landed: Landed): Finding | undefined => {
  const [newest] = letters;
  if (newest === undefined) return undefined;
  const after = (landed as Readonly<Record<string, string | null>>)[newest.signal] ?? '';
  const say = Date.parse(after) > Date.parse(newest.receivedAt) ? hint : problem;
  const where = newest.position === null ? '' : ` at byte ${newest.position}`;
  return say(
    'refused-payload',
    `a body of ${newest.signal} was refused at ${newest.receivedAt}: ${newest.message}${where} (${newest.reason})`,
    actionOf(newest.reason),
  );
};

const actions: Readonly<Record<string, string>> = {
  'too-large': 'send smaller batches',
  'record-too-large': 'one record is larger than a message may be: shorten its body or attributes',
  'too-deep': 'nest attribute values less deeply',
  'bad-encoding': 'Content-Encoding must name how the body is compressed, and the whole of it must be compressed so',
  'bad-id': 'trace ids have 16 bytes and span ids 8',
  'bad-labels': 'label names must be valid, sorted and there once',
};

const actionOf = (reason: string): string =>
  actions[reason] ??
  'check that Content-Type says what the body is (protobuf or JSON of OTLP), and that nothing on the way changes it';

/** How long what was taken may need until it can be read. */
const landingMs = 60_000;

/** What was taken for the key against what landed for its project. */
export const arrivalFinding = (
  landed: Landed,
  { signal, lastUsedAt, nowMs }: { signal: Signal | undefined; lastUsedAt: string | null; nowMs: number },
): Finding => {
  const times = (signal === undefined ? Object.values(landed) : [landed[signal]]).filter((at) => at !== null);
  const newest = times.sort().at(-1);
  if (lastUsedAt !== null && (newest === undefined || Date.parse(newest) < Date.parse(lastUsedAt) - landingMs)) {
    const waiting = nowMs - Date.parse(lastUsedAt) < landingMs;
    return waiting
      ? hint(
          'not-indexed-yet',
          `something was taken for this key at ${lastUsedAt} and cannot be read yet`,
          'wait: what was taken can be read within seconds',
        )
      : problem(
          'not-indexed-yet',
          `something was taken for this key at ${lastUsedAt} and has not landed`,
          'it is safe on the bus: see oiq_consumer_lag of the sinks under /metrics, and their log',
        );
  }
  if (newest === undefined)
    return hint(
      'nothing-arrived',
      `nothing${signal === undefined ? '' : ` of ${signal}`} arrived for the key’s project within a day`,
      'say what was tried (endpoint, protocol, status, the error that the sender logs), and the doctor can tell more',
    );
  return good('working', `records of the key’s project can be read; the newest arrived at ${newest}`);
};
