/** Sums time slices of SLOs by day. Queries over many days then read these sums, and read slices only at both ends of the window. */

import { defineJob } from '../runtime/jobs.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import { quoteString } from '../schemas/tables/literal.ts';
import { sloMeasurementsTable } from '../schemas/tables/slos.ts';
import { countParts } from '../subjects/slos/slices/counts.ts';
import { hasEventsSql } from '../subjects/slos/slices/slices.ts';
import { countedForSql, parseDailySumKey, sliceCountSql } from '../subjects/slos/slices/tallies.ts';

const intervalMs = 5 * 60_000;
/** Recently written days are skipped: their rows and their count become visible one after the other, within seconds. */
const minAgeMs = 2 * 60_000;
/** Maximum number of days per statement and per query. */
const maxDaysPerQuery = 500;
const maxDaysPerRun = 20_000;

interface Day {
  readonly tenant: string;
  readonly slo: string;
  readonly series: string;
  readonly day: string;
  readonly written: string;
  readonly required: string;
}

/** Days whose sums are missing, outdated, or for another budgeting method. */
const findStaleDays = (columns: Columns, changedBeforeMs: number): Promise<Day[]> =>
  columns.query<Day>(
    `SELECT tenant_id AS tenant, slo_id AS slo, series, toString(day) AS day, toString(changes_now) AS written, required
    FROM (
      SELECT tenant_id, slo_id, series, day, sum(changes) AS changes_now FROM slo_day_changes
      GROUP BY tenant_id, slo_id, series, day HAVING max(changed_at) <= toDateTime({changedBefore:UInt32}, 'UTC')
    ) AS current
    LEFT JOIN (SELECT tenant_id, slo_id, series, day, changes AS summed, counted_for FROM slo_days FINAL) AS days USING (tenant_id, slo_id, series, day)
    LEFT JOIN (
      SELECT tenant_id, slo_id, series, argMax(objective, look_ms) AS objective, ${countedForSql} AS required
      FROM ${sloMeasurementsTable.name} GROUP BY tenant_id, slo_id, series
    ) AS measurements USING (tenant_id, slo_id, series)
    WHERE summed != changes_now OR (counted_for != required AND required NOT IN ('', 'occurrences'))
    ORDER BY tenant_id, slo_id, series, day LIMIT {limit:UInt32}`,
    { changedBefore: Math.floor(changedBeforeMs / 1000), limit: maxDaysPerRun },
  );

const dayKeyColumnList = ['tenant_id', 'slo_id', 'series', 'day'].join(', ');

/**
 * Stores the change count from before the slices are read: if more slices are written in the meantime, the sums
 * count as outdated. With several shards, each server sums its own slices, and the parts of a day add up.
 */
const insertDaySums = (columns: Columns, days: readonly Day[], budgeting: string): Promise<void> => {
  const { own, every, known, enough, parts, by_total } = sliceCountSql(parseDailySumKey(budgeting));
  const keys = days.map(
    ({ tenant, slo, series, day }) =>
      `${quoteString(tenant)}, ${quoteString(slo)}, ${quoteString(series)}, toDate(${quoteString(day)})`,
  );
  const daysWithChanges = keys.map((key, index) => `(${key}, toUInt64(${days[index]?.written ?? 0}))`);
  return columns.execute(
    `INSERT INTO slo_days (${dayKeyColumnList}, changes, summed_at, good, total, slices, counted_for, reached, shares, good_by_total, good_billionths, total_billionths)
    SELECT ${dayKeyColumnList}, changes, now64(3, 'UTC'), toUInt64(intDiv(own, ${countParts})), toUInt64(intDiv(every, ${countParts})), known, ${quoteString(budgeting)}, enough, parts, by_total,
      toUInt32(own % ${countParts}), toUInt32(every % ${countParts})
    FROM (
      SELECT named.1 AS tenant_id, named.2 AS slo_id, named.3 AS series, named.4 AS day, named.5 AS changes
      FROM (SELECT arrayJoin([${daysWithChanges.join(', ')}]) AS named)
    ) AS asked
    LEFT JOIN (
      SELECT toString(tenant_id) AS tenant_id, toString(slo_id) AS slo_id, toString(series) AS series, toDate(begin) AS day,
        ${own} AS own, ${every} AS every, ${known} AS known, ${enough} AS enough, ${parts} AS parts, ${by_total} AS by_total
      FROM slo_slices FINAL
      WHERE (tenant_id, slo_id, series, toDate(begin)) IN (${keys.map((key) => `(${key})`).join(', ')}) AND ${hasEventsSql}
      GROUP BY ${dayKeyColumnList}
    ) AS counted USING (${dayKeyColumnList})`,
  );
};

/** Updates the outdated day sums of all organizations. Returns the number of updated days. */
export const updateDaySums = async (
  columns: Columns,
  changedBeforeMs: number,
  signal?: AbortSignal,
): Promise<number> => {
  const days = await findStaleDays(columns, changedBeforeMs);
  for (const [budgeting, daysOfBudgeting] of Map.groupBy(days, (day) => day.required || 'occurrences'))
    for (let from = 0; from < daysOfBudgeting.length; from += maxDaysPerQuery) {
      signal?.throwIfAborted();
      await insertDaySums(columns, daysOfBudgeting.slice(from, from + maxDaysPerQuery), budgeting);
    }
  return days.length;
};

export const sumSloDaysJob = defineJob<{ readonly columns: Columns; readonly clock: Clock }>({
  name: 'slo-days',
  summary: 'Sums the changed days of SLO time slices',
  everyMs: intervalMs,
  scope: 'installation',
  async run({ columns, clock }, signal) {
    await updateDaySums(columns, clock.now() - minAgeMs, signal);
  },
});
