/** Sums calls of models by hour. Queries over many calls then read these sums, and other calls one by one. */

import { buildKnownPricesSql } from '../queries/signals/llm-calls-source.ts';
import { defineJob } from '../runtime/jobs.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns, ServerColumns } from '../schemas/ports/columns.ts';
import { quoteString } from '../schemas/tables/literal.ts';
import { type HourChanges, insertHourSums, selectHoursWithOtherPrices } from '../subjects/llm/hours.ts';

const intervalMs = 60_000;
/** Recently written hours are skipped: their rows and their count become visible one after the other, within seconds. */
const minAgeMs = 60_000;
/** Maximum number of hours and of their changes per statement. */
const maxHoursPerStatement = 48;
const maxChangesPerStatement = 1_000_000;
const maxHoursPerRun = 20_000;
/** Prices are part of a statement. Calls of an organization with more of them are read one by one. */
const maxPriceCharacters = 200_000;

interface StaleHour extends HourChanges {
  readonly tenant: string;
}

/** Reads the prices of organizations, as JSON texts by organization. */
const readPrices = async (columns: Columns): Promise<ReadonlyMap<string, readonly string[]>> => {
  const rows = await columns.query<{ tenant: string; rates: string[] }>(
    'SELECT tenant_id AS tenant, groupArray(rates) AS rates FROM llm_prices FINAL GROUP BY tenant_id',
  );
  return new Map(rows.map(({ tenant, rates }) => [tenant, rates]));
};

/** Returns the hours of a server whose sums are missing or outdated, and that were written before a time. */
const findChangedHours = (columns: ServerColumns, changedBeforeMs: number): Promise<StaleHour[]> =>
  columns.query<StaleHour>(
    `SELECT tenant_id AS tenant, toUnixTimestamp(hour) AS hour, toString(current_changes) AS changes
    FROM (
      SELECT tenant_id, hour, sum(changes) AS current_changes FROM llm_hour_changes
      GROUP BY tenant_id, hour HAVING max(changed_at) <= toDateTime({rested:UInt32}, 'UTC')
    ) AS current
    LEFT JOIN (SELECT tenant_id, hour, changes AS summed_changes FROM llm_hours FINAL) AS summed USING (tenant_id, hour)
    WHERE summed_changes != current_changes
    ORDER BY tenant_id, hour LIMIT ${maxHoursPerRun}`,
    { rested: Math.floor(changedBeforeMs / 1000) },
  );

/** Divides hours into those of one statement each. */
const divideHours = (hours: readonly HourChanges[]): HourChanges[][] => {
  const parts: HourChanges[][] = [];
  let changes = 0;
  for (const hour of hours.toSorted((left, right) => left.hour - right.hour)) {
    const part = parts.at(-1);
    changes += Number(hour.changes);
    const first = part?.[0]?.hour ?? hour.hour;
    if (part !== undefined && changes <= maxChangesPerStatement && hour.hour - first < maxHoursPerStatement * 3_600)
      part.push(hour);
    else {
      parts.push([hour]);
      changes = Number(hour.changes);
    }
  }
  return parts;
};

/**
 * Updates the outdated sums of all organizations. Returns the number of updated hours. On several shards, each server sums
 * its own calls, and the sums of an hour add up.
 */
export const updateHourSums = async (
  columns: Columns,
  changedBeforeMs: number,
  signal?: AbortSignal,
): Promise<number> => {
  const prices = await readPrices(columns);
  const getOwnPrices = (tenant: string): string => buildKnownPricesSql(prices.get(tenant) ?? []);
  const isTooLong = (tenant: string): boolean => getOwnPrices(tenant).length > maxPriceCharacters;
  let updated = 0;
  for (const { columns: server } of columns.listServers()) {
    const stale = await findChangedHours(server, changedBeforeMs);
    for (const tenant of prices.keys()) {
      if (isTooLong(tenant)) continue;
      const hours = await server.query<HourChanges>(
        selectHoursWithOtherPrices(quoteString(tenant), getOwnPrices(tenant)),
      );
      const known = new Set(stale.filter((each) => each.tenant === tenant).map(({ hour }) => hour));
      stale.push(...hours.filter(({ hour }) => !known.has(hour)).map((hour) => ({ ...hour, tenant })));
    }
    for (const [tenant, hours] of Map.groupBy(stale, (each) => each.tenant)) {
      if (isTooLong(tenant)) continue;
      for (const part of divideHours(hours)) {
        signal?.throwIfAborted();
        await server.execute(insertHourSums(part, { tenant: quoteString(tenant), ownPrices: getOwnPrices(tenant) }));
        updated += part.length;
      }
    }
  }
  return updated;
};

export const sumLlmHoursJob = defineJob<{ readonly columns: Columns; readonly clock: Clock }>({
  name: 'llm-hours',
  summary: 'Sums the changed hours of calls of models',
  everyMs: intervalMs,
  scope: 'installation',
  async run({ columns, clock }, signal) {
    await updateHourSums(columns, clock.now() - minAgeMs, signal);
  },
});
