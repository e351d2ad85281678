/** Errors counted by whole hours equal the individual errors, whatever the start and end of the range. */
import test from 'ava';
import fc from 'fast-check';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { buildCountedOccurrencesSql } from '../../subjects/errors/counted-occurrences.ts';
import { createErrorScope } from '../../subjects/errors/scope.ts';
import { openTables, type Tables } from './sink-tables.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Within an hour of reception. */
const nowMs = Date.UTC(2026, 4, 20, 10, 25);

let tables: Tables;
test.before(async () => {
  tables = await openTables();
  // Hourly counts begin at some minute.
  const hoursStartAt = `fromUnixTimestamp64Milli(toInt64(${nowMs - 18 * dayMs}), 'UTC')`;
  await insert('a', `received_at < ${hoursStartAt}`);
  await tables.columns.execute('TRUNCATE TABLE error_hours');
  await insert('a', `received_at >= ${hoursStartAt}`);
  await insert('canary', 'true');
});
test.after.always(() => tables?.close());

/** Errors of four weeks; most are received at once, some days later. A user has several. */
const insert = (tenant: string, condition: string): Promise<void> => {
  const hash = (salt: number, max: number): string => `cityHash64(number, ${salt}) % ${max}`;
  return tables.columns.execute(`INSERT INTO error_occurrences (tenant_id, project_id, timestamp, received_at, fingerprint, source, service, environment, release, handled, user_id)
    SELECT '${tenant}', concat('p', toString(${hash(1, 2)})), fromUnixTimestamp64Milli(toInt64(${nowMs} - ${hash(2, 28 * dayMs)}), 'UTC') AS at,
      least(addMilliseconds(at, if(${hash(3, 10)} = 0, ${hash(4, 3 * dayMs)}, ${hash(5, 20_000)})), fromUnixTimestamp64Milli(toInt64(${nowMs}), 'UTC')) AS received_at,
      concat('f', toString(${hash(6, 5)})), if(${hash(7, 2)} = 0, 'log', 'span'), concat('s', toString(${hash(8, 3)})), 'live', 'v1',
      ['', 'true', 'false'][1 + ${hash(9, 3)}], if(${hash(10, 3)} = 0, '', concat('u', toString(${hash(11, 40)})))
    FROM numbers(8000) WHERE ${condition}`);
};

const figures = `fingerprint, toString(sum(occurrences)) AS total, toString(uniqExactArray(met_by)) AS users, toString(sum(not_handled)) AS unhandled,
  toString(min(first_seen)) AS first, toString(max(last_seen)) AS last, arraySort(groupUniqArray(service)) AS services`;
const byHand = `fingerprint, toString(count()) AS total, toString(uniqExactIf(user_id, user_id != '')) AS users, toString(countIf(handled = 'false')) AS unhandled,
  toString(min(timestamp)) AS first, toString(max(timestamp)) AS last, arraySort(groupUniqArray(service)) AS services`;

const createReader = (days: { logs: number; traces: number }): TenantReader =>
  ({
    columns: tables.columns.forTenant('a'),
    nowMs,
    plan: { name: 'plan', entitlements: ['logs', 'traces'], retentionDays: { ...days, metrics: 1 } },
  }) as unknown as TenantReader;

test('figures of a range equal those of its occurrences', async (t) => {
  let hours = 0;
  const time = fc
    .integer({ min: 0, max: 29 * 24 * 60 })
    .map((minutes) => BigInt(nowMs - minutes * 60_000) * 1_000_000n);
  await fc.assert(
    fc.asyncProperty(
      ...[time, time, fc.constantFrom(1, 7, 30), fc.constantFrom(1, 7, 30), fc.constantFrom(undefined, 's1')],
      fc.constantFrom(0, 30, 60, 3 * 24 * 60),
      async (one, other, logs, traces, service, ago) => {
        const range = one < other ? { from: one, to: other } : { from: other, to: one };
        const reader = createReader({ logs, traces });
        const scope = createErrorScope(reader, range, { scope: 'account', service }, nowMs - ago * 60_000);
        const sql = (await buildCountedOccurrencesSql(reader, range, scope))('');
        if (sql.includes('error_hours')) hours++;
        const read = (select: string, from: string) =>
          reader.columns.query(
            `SELECT ${select} FROM ${from} GROUP BY fingerprint ORDER BY fingerprint`,
            scope.parameters,
          );
        t.deepEqual(await read(figures, sql), await read(byHand, `error_occurrences WHERE ${scope.condition}`));
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
  t.true(hours > 20, 'hours are read where there are whole ones');
});

test('a range within an hour, and an organization without hourly rows, read only occurrences', async (t) => {
  const reader = createReader({ logs: 30, traces: 30 });
  const from = BigInt(nowMs - dayMs) * 1_000_000n;
  const sqlOf = async (of: TenantReader, to: bigint) =>
    (await buildCountedOccurrencesSql(of, { from, to }, createErrorScope(of, { from, to }, { scope: 'account' })))('');
  t.false((await sqlOf(reader, from + 60_000_000_000n)).includes('error_hours'));
  const other = { ...reader, columns: tables.columns.forTenant('nobody') } as TenantReader;
  t.false((await sqlOf(other, from + BigInt(dayMs) * 1_000_000n)).includes('error_hours'));
});
