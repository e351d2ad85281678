/**
 * The cost of the status of SLOs with slices of every minute: one over 400 days, and a list of 200 over 30 days.
 *
 *     node bin/node.mjs test/bench/slo-status.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { updateDaySums } from '../../sinks/slo-days.ts';
import { type IdentifiedSlo, SloFields } from '../../subjects/slos/document.ts';
import { getSeriesId } from '../../subjects/slos/measurement-times.ts';
import { readSloStatuses, readStatus, toSloObjective } from '../../subjects/slos/status.ts';
import { scratchDirectory } from '../services/scratch.ts';

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const directory = mkdtempSync(join(scratchDirectory(), 'oiq-bench-slos-'));
const columns = await openChdbColumns({ directory });
await migrate(columns, silentLog);
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;

const ways = [
  { budgeting: 'occurrences' },
  { budgeting: 'timeslices', sliceTarget: 0.99 },
  { budgeting: 'ratio-timeslices' },
] as const;

/** Creates an SLO with slices for all minutes of its window, and measures it once. */
const create = async (id: string, days: number, way: (typeof ways)[number]) => {
  const slo = SloFields.parse({
    name: id,
    service: id,
    windowDays: Math.min(days, 366),
    query: {
      ...way,
      ...(days > 366 && { calendar: { period: 'year', timeZone: 'UTC', startsAt: '2026-01-01T00:00' } }),
    },
  });
  const fromMs = nowMs - days * dayMs;
  await columns.execute(`INSERT INTO slo_slices (tenant_id, slo_id, series, begin, good, total, look_ms)
    SELECT 'a', '${id}', '${getSeriesId(slo)}', toDateTime(${fromMs / 1000} + number * 60, 'UTC'), 900 + number % 100, 1000, ${nowMs}
    FROM numbers(${days * 1440})`);
  await columns.execute(`INSERT INTO slo_looks (tenant_id, slo_id, series, look_ms, last_seen, from_ms, up_to_ms, settled_up_to_ms, error, objective)
    SELECT 'a', '${id}', '${getSeriesId(slo)}', ${nowMs}, now64(3), ${fromMs}, ${nowMs}, ${fromMs}, '', '${JSON.stringify(toSloObjective(slo))}'`);
  return { id, slo };
};

const reader = { columns: columns.forTenant('a') };
const measured = async (name: string, rounds: number, run: () => Promise<unknown>): Promise<void> => {
  await run();
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    await run();
    times.push(performance.now() - startedMs);
  }
  const { user, system } = process.cpuUsage(before);
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]?.toFixed(0);
  console.log(`${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, ${((user + system) / 1000 / rounds).toFixed(0)} CPU-ms`);
};

const long = await Promise.all(ways.map((way) => create(`long ${way.budgeting}`, 400, way)));
const listed: IdentifiedSlo[] = [];
for (let index = 0; index < 200; index++)
  listed.push(await create(`slo ${index}`, index % 2 === 0 ? 30 : 28, ways[index % 10 === 0 ? 1 : 0]));

for (const what of ['slices alone', 'days']) {
  if (what === 'days') {
    const startedMs = performance.now();
    await columns.execute('OPTIMIZE TABLE slo_slices');
    let days = 0;
    for (let more = 1; more > 0; days += more) more = await updateDaySums(columns, nowMs + dayMs);
    console.log(`${days} days summed up in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    // Simulates the writes of one minute: today's slices, and late records of the day before.
    await columns.execute(`INSERT INTO slo_slices SELECT tenant_id, slo_id, series, begin, good, total, look_ms + 1 FROM slo_slices FINAL
      WHERE begin >= toDateTime(${(nowMs - dayMs) / 1000}, 'UTC')`);
  }
  for (const one of long)
    await measured(`status, 400 days, ${one.slo.query.budgeting}, ${what}`, 30, () =>
      readStatus(reader, one, { nowMs }),
    );
  await measured(`list of 200, ${what}`, 20, () => readSloStatuses(reader, listed, { nowMs }));
  await measured(`50 objectives of 30 days, ${what}`, 20, () =>
    readSloStatuses(
      reader,
      listed.slice(0, 100).filter(({ slo }) => slo.windowDays === 30),
      { nowMs },
    ),
  );
}
await columns.close();
rmSync(directory, { recursive: true, force: true });
process.exit(0);
