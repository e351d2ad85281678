/**
 * Sinks that kill themselves with SIGKILL between an insert and its commit: `node crashing-sinks.ts N` dies as soon as
 * the N-th insert into the table of log records has resolved. It exits with 0 if nothing is left to store before that.
 * The environment selects adapters as in `main.ts`.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { startSinks } from '../../sinks/index.ts';
import { rangeRecords } from './crash.ts';
import { lagOf } from './reliability.ts';

const settings = parseSettings(process.env);
const after = Number(process.argv[2]);

const stream: Bus =
  settings.KAFKA_BROKERS.length > 0
    ? await openKafkaBus({ brokers: settings.KAFKA_BROKERS, sessionTimeoutMs: 6000 })
    : await openSegmentsBus({ directory: join(settings.DATA_DIR, 'bus'), lockWaitMs: 10_000 });
const stored =
  settings.CLICKHOUSE_URL === undefined
    ? await openChdbColumns({ directory: join(settings.DATA_DIR, 'columns') })
    : await openClickhouseColumns({ urls: settings.CLICKHOUSE_URL });

/** Small ranges, so that there are many crashes. */
const bus: Bus = {
  ensureTopics: (topics) => stream.ensureTopics(topics),
  producer: () => stream.producer(),
  createConsumer: (options) => stream.createConsumer({ ...options, maxRecords: rangeRecords }),
  read: (topic, partition, from, to) => stream.read(topic, partition, from, to),
  createFollower: () => stream.createFollower(),
  offsets: (topic) => stream.offsets(topic),
  lag: (group, topics) => stream.lag(group, topics),
  members: (groups) => stream.members(groups),
  deleteGroup: (group) => stream.deleteGroup(group),
  check: () => stream.check(),
  close: () => stream.close(),
};

let inserts = 0;
const columns: Columns = {
  async insert(block, ...where) {
    await stored.insert(block, ...where);
    if (block.table === 'logs' && ++inserts === after) process.kill(process.pid, 'SIGKILL');
  },
  recordWatermark: (...landings) => stored.recordWatermark(...landings),
  forTenant: (tenantId) => stored.forTenant(tenantId),
  query: (sql, parameters, limits) => stored.query(sql, parameters, limits),
  execute: (sql) => stored.execute(sql),
  listServers: () => stored.listServers(),
  handleTablesChanged: () => stored.handleTablesChanged(),
  check: () => stored.check(),
  close: () => stored.close(),
};

const sinks = await startSinks({
  bus,
  columns,
  metrics: silentMetrics,
  log: silentLog,
  clock: systemClock,
  embedded: false,
  selectedNames: ['logs'],
});
do await delay(200);
while ((await lagOf(bus, 'sinks.logs')) > 0);
await sinks.stop();
await columns.close();
await bus.close();
