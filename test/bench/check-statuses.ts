/**
 * The states and uptimes of one page of the list of checks: one statement over 300 checks with three locations each,
 * which changed three times a day for 800 days. `BENCH_PAGES` (10).
 *
 *     node bin/node.mjs test/bench/check-statuses.ts
 */
import { loadavg } from 'node:os';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { readCheckStatuses } from '../../subjects/synthetics/stored-results.ts';
import { table } from './report.ts';
import { scratch } from './scratch.ts';

const pages = Number(process.env['BENCH_PAGES'] ?? 10);
const nowMs = Date.now();
const columns = await openChdbColumns({ directory: scratch() });
await migrate(columns, silentLog);
// Inserted in parts, as from a sink.
for (let part = 0; part < 8; part++)
  await columns.execute(
    `INSERT INTO synthetic_states SELECT 'a', concat('check-', toString(c.number)), arrayElement(['', 'l1', 'l2', 'l3'], 1 + l.number),
      fromUnixTimestamp64Milli(toInt64(${nowMs} - n.number * 28800000 - cityHash64(c.number, l.number) % 10000000)),
      arrayElement(['up', 'down', 'degraded', 'unknown'], 1 + n.number % 4)
    FROM numbers(300) AS c CROSS JOIN numbers(4) AS l CROSS JOIN numbers(2400) AS n WHERE n.number % 8 = ${part}
    SETTINGS max_partitions_per_insert_block = 0`,
  );
const reader = { columns: columns.forTenant('a'), nowMs } as unknown as TenantReader;
const page = Array.from({ length: 100 }, (_, index) => `check-${index}`);
const readStatuses = () => readCheckStatuses(reader, page, nowMs);
await readStatuses();
const [began, before] = [performance.now(), process.cpuUsage()];
for (let index = 0; index < pages; index++) await readStatuses();
const { user, system } = process.cpuUsage(before);
console.log(
  table([
    {
      'checks of a page': (await readStatuses()).size,
      'CPU ms a page': (user + system) / 1000 / pages,
      'ms a page': (performance.now() - began) / pages,
      'load of the machine': loadavg()[0] ?? 0,
    },
  ]),
);
await columns.close();
