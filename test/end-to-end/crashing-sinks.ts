/**
 * Sinks that SIGKILL themselves between an insert and its commit: `node crashing-sinks.ts N` dies as soon as the N-th
 * insert into the table of log records has resolved, and exits with 0 when there is nothing left to land before that.
 * The environment selects adapters as `main.ts` does.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kafkaBus } from '../../processors/adapters/bus-kafka.ts';
import { segmentsBus } from '../../processors/adapters/bus-segments.ts';
import type { Bus } from '../../schemas/bus.ts';
import { systemClock } from '../../schemas/clock.ts';
import type { Columns } from '../../schemas/columns.ts';
import { silent } from '../../schemas/log.ts';
import { noMetrics } from '../../schemas/metrics.ts';
import { settingsOf } from '../../schemas/settings.ts';
import { chdbColumns } from '../../sinks/adapters/columns-chdb.ts';
import { clickhouseColumns } from '../../sinks/adapters/columns-clickhouse.ts';
import { startSinks } from '../../sinks/index.ts';
import { rangeRecords } from './crash.ts';
import { lagOf } from './reliability.ts';

const settings = settingsOf(process.env);
const after = Number(process.argv[2]);

const stream: Bus =
  settings.KAFKA_BROKERS.length > 0
    ? await kafkaBus({ brokers: settings.KAFKA_BROKERS, sessionTimeoutMs: 6000 })
    : await segmentsBus({ directory: join(settings.DATA_DIR, 'bus'), lockWaitMs: 10_000 });
const stored =
  settings.CLICKHOUSE_URL === undefined
    ? await chdbColumns({ directory: join(settings.DATA_DIR, 'columns') })
    : await clickhouseColumns({ url: settings.CLICKHOUSE_URL });

/** Small ranges, so that there are many to crash in. */
const bus: Bus = {
  ensureTopics: (topics) => stream.ensureTopics(topics),
  producer: () => stream.producer(),
  consumer: (options) => stream.consumer({ ...options, maxRecords: rangeRecords }),
  read: (topic, partition, from, to) => stream.read(topic, partition, from, to),
  offsets: (topic) => stream.offsets(topic),
  lag: (group, topics) => stream.lag(group, topics),
  forget: (group) => stream.forget(group),
  check: () => stream.check(),
  close: () => stream.close(),
};

let inserts = 0;
const columns: Columns = {
  async insert(block, token) {
    await stored.insert(block, token);
    if (block.table === 'logs' && ++inserts === after) process.kill(process.pid, 'SIGKILL');
  },
  of: (tenantId) => stored.of(tenantId),
  query: (sql, parameters, limits) => stored.query(sql, parameters, limits),
  execute: (sql) => stored.execute(sql),
  check: () => stored.check(),
  close: () => stored.close(),
};

const sinks = await startSinks({
  ...{ bus, columns, metrics: noMetrics, log: silent, clock: systemClock },
  ...{ embedded: false, only: ['logs'] },
});
do await delay(200);
while ((await lagOf(bus, 'logs')) > 0);
await sinks.stop();
await columns.close();
await bus.close();
