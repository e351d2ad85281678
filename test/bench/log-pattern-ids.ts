/**
 * The cost of finding the pattern of a log record: by matching when records are read, or stored with them, either by
 * the scan threads of the sink or by the processor in a separate table. 200,000 records of 300 patterns in ten
 * services.
 *
 *     node bin/node.mjs test/bench/log-pattern-ids.ts
 */

import { z } from 'zod';
import { Miner } from '../../processors/log-patterns/miner.ts';
import { findPatternIds } from '../../queries/log-patterns/pattern-ids.ts';
import { Tokens } from '../../queries/log-patterns/tokens.ts';
import { readLogPage } from '../../queries/logs/pages.ts';
import { createCondition } from '../../queries/records.ts';
import { landedPosition, partitionByDayReceived } from '../../schemas/tables/parts.ts';
import { buildBodyHasAllWords } from '../../schemas/tables/search.ts';
import { buildCreateTable, defineTable } from '../../schemas/tables/table.ts';
import { defineTopic } from '../../schemas/topic.ts';
import { defineValueSink } from '../../sinks/engine/land-values.ts';
import { readPatternLogs } from '../../subjects/log-patterns/pattern-records.ts';
import { logsRequest, messageOf, openTables, text } from '../cases/sink-tables.ts';

const records = 200_000;
const perMessage = 1_000;
const services = Array.from({ length: 10 }, (_, at) => `service-${at}`);

let seed = 1;
const below = (limit: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return (seed >>> 8) % limit;
};
const words = (
  'request order payment user session cache queue worker retry timeout connection upstream handler finished started ' +
  'failed accepted rejected shard replica commit index segment flush'
).split(' ');
const templates = Array.from({ length: 300 }, (_, at) =>
  Array.from({ length: 10 + (at % 5) }, () => words[below(words.length)] as string),
);
// One pattern whose words are in most others, and one without words.
templates[0] = ['request', 'user'];
templates[1] = [];
/** A tenth of the patterns have nine tenths of the records. The last one is rare. */
const anyTemplate = (): number => (below(10) > 0 ? below(30) : below(299));
const bodyOf = (template: number): string => {
  const own = (templates[template] ?? []).flatMap((word, at) =>
    at % 3 === 1 ? [word, `id=${below(1e9).toString(16)}7`] : [word],
  );
  return [...own, `${below(100_000)}`, `/api/v1/orders/${below(99_999)}`, `"${'x'.repeat(80)} ${below(99)}"`].join(' ');
};

/** CPU of the process, which includes the embedded engine. */
const cpu = async (work: () => Promise<unknown> | unknown): Promise<{ seconds: number }> => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return { seconds: (user + system) / 1e6 };
};
const perMillion = (seconds: number): string => `${((seconds * 1e6) / records).toFixed(2)} CPU-s per million`;
const median = async (work: () => Promise<unknown>): Promise<string> => {
  const times: number[] = [];
  for (let round = 0; round < 7; round++) times.push((await cpu(work)).seconds * 1000);
  return `${times.sort((one, two) => one - two)[3]?.toFixed(0)} CPU-ms`;
};
const line = (name: string, value: string): void => console.log(`${name.padEnd(62)} ${value}`);

const PatternIds = z.strictObject({ tenantId: z.string(), partition: z.int(), at: z.int(), ids: z.array(z.string()) });
const topic = defineTopic({ name: 'pattern-ids', summary: 'Ids', key: 'tenant', value: z.array(PatternIds) });
const idsTable = defineTable({
  name: 'log_pattern_ids',
  summary: 'Ids',
  retention: 'logs',
  columns: {
    tenant_id: 'LowCardinality(String)',
    log_partition: 'UInt16',
    log_offset: 'UInt64 CODEC(Delta, ZSTD(1))',
    log_ordinal: 'UInt32 CODEC(Delta, ZSTD(1))',
    pattern_id: 'LowCardinality(String)',
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'log_partition', 'log_offset', 'log_ordinal'],
});
const idsSink = defineValueSink({
  topic,
  table: idsTable,
  row: (values) =>
    values.flatMap(({ tenantId, partition, at, ids }) =>
      ids.map((id, index) => ({
        tenant_id: tenantId,
        log_partition: partition,
        log_offset: at,
        log_ordinal: index,
        pattern_id: id,
      })),
    ),
});

const tables = await openTables();
const reader = tables.columns.forTenant('acme');
const miner = new Miner();
const found = new Map<string, string[]>();
const stored: Buffer[] = [];
let landSeconds = 0;
let pending: ReturnType<typeof messageOf>[] = [];
/** Many messages per insert, like a sink. */
const perInsert = 50;
const firstNs = BigInt(Date.now() - 3_600_000) * 1_000_000n;
const bodies: { service: string; body: string }[] = [];
for (let offset = 0; offset < records / perMessage; offset++) {
  const service = services[offset % 10] as string;
  const lines = Array.from({ length: perMessage }, () => bodyOf(anyTemplate()));
  if (offset === 100) for (let rare = 0; rare < 5; rare++) lines[rare * 100] = bodyOf(299);
  const ids = lines.map((body) => {
    const { id, isNew, merged, pattern } = miner.add(service, body);
    if (isNew || merged.length > 0)
      found.set(`${service} ${id} ${pattern.hashes}`, [
        service,
        id,
        String(pattern.structure),
        pattern.template,
        `[${pattern.hashes}]`,
      ]);
    return id;
  });
  stored.push(Buffer.from(JSON.stringify([{ tenantId: 'acme', partition: 0, at: offset, ids }])));
  if (offset < 20) bodies.push(...lines.map((body) => ({ service, body })));
  const request = logsRequest({
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', service)] },
        scopeLogs: [
          {
            logRecords: lines.map((body, at) => ({
              timeUnixNano: `${firstNs + BigInt(offset * perMessage + at) * 1_000n}`,
              severityNumber: 9,
              body: { stringValue: body },
              attributes: [text('http.route', `/orders/${at % 9}`), text('host', `h${at % 50}`)],
            })),
          },
        ],
      },
    ],
  });
  pending.push(messageOf([request], { offset }));
  if (pending.length < perInsert) continue;
  landSeconds += (await cpu(() => tables.land(pending))).seconds;
  pending = [];
}
await tables.columns.execute('OPTIMIZE TABLE logs FINAL');
const rows = [...found.values()].map(
  ([service, id, structure, template, places]) =>
    `('acme', '${service}', ${structure}, '${id}', ${places}, 0, '${template?.replaceAll("'", "\\'")}', '', '[]', now64(3), now64(3))`,
);
for (let at = 0; at < rows.length; at += 500)
  await tables.columns.execute(
    `INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, shard, template, sample, parameters, first_seen, last_seen) VALUES ${rows.slice(at, at + 500).join(', ')}`,
  );
line('landing without ids', perMillion(landSeconds));
line('patterns known', `${rows.length} of ${services.length} services`);

console.log('found again by matching');
const tokens = new Tokens();
const read = await cpu(() => {
  for (let round = 0; round < 10; round++) for (const { body } of bodies) tokens.read(body);
});
line('  reading a body', `${((read.seconds * 1e6) / bodies.length / 10).toFixed(2)} CPU-µs`);
for (const size of [100, 1_000]) {
  const page = Array.from(
    { length: size },
    (_, at) => bodies[(at * 19) % bodies.length] as { service: string; body: string },
  );
  line(`  ids of a page of ${size} records, query included`, await median(() => findPatternIds(reader, page)));
  line(
    `  the whole page, ids included`,
    await median(() => readLogPage(reader, createCondition('logs.timestamp > 0'), { limit: size })),
  );
}
const idOf = (template: number): string => miner.add(services[0] as string, bodyOf(template)).id;
const chosen = {
  'a frequent pattern': idOf(7),
  'a pattern of two frequent words': idOf(0),
  'a pattern without a word': idOf(1),
  'a pattern of five records': idOf(299),
};
for (const [name, id] of Object.entries(chosen)) {
  const { found: page } = await readPatternLogs(reader, id, createCondition('logs.timestamp > 0'), { limit: 100 });
  line(
    `  ${page.length} records of ${name}`,
    await median(() => readPatternLogs(reader, id, createCondition('logs.timestamp > 0'), { limit: 100 })),
  );
}
const words100 = await median(() =>
  readLogPage(reader, createCondition(buildBodyHasAllWords('request user order')), { limit: 100 }),
);
line('  for comparison: 100 records with three words', words100);
line('  bytes a record, CPU on landing', 'none');

console.log('stored by the scan threads of the sink');
const bytes = bodies.map(({ body }) => Buffer.from(body));
const scan = await cpu(() => {
  for (let round = 0; round < 10; round++) for (const body of bytes) tokens.read(body.toString());
});
line(
  '  reading bodies, beside scanning',
  `${((scan.seconds * 1e6) / bytes.length / 10).toFixed(2)} CPU-s per million; the form alone, not the pattern`,
);

console.log('stored in a table beside, by the processor');
await tables.columns.execute(buildCreateTable(idsTable));
const scanner = await idsSink.scanner();
const checkingCost = await cpu(async () => {
  const messages = stored.map((value, offset) => ({ offset, value, headers: { tenant: 'acme' } }));
  for (let at = 0; at < messages.length; at += perInsert)
    await tables.land(messages.slice(at, at + perInsert), { scanner });
});
const merge = await cpu(() => tables.columns.execute('OPTIMIZE TABLE log_pattern_ids FINAL'));
line('  bus', `${(stored.reduce((sum, { length }) => sum + length, 0) / records).toFixed(1)} bytes a record`);
line('  checking, landing', perMillion(checkingCost.seconds));
line('  one merge', perMillion(merge.seconds));
const [size] = await tables.read<{ bytes: string }>(
  "SELECT toString(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE active AND table = 'log_pattern_ids'",
);
line('  table', `${(Number(size?.bytes) / records).toFixed(2)} bytes a record`);
const ordinals = Array.from({ length: 1_000 }, (_, at) => `(${records / perMessage - 1}, ${at})`).join(', ');
line(
  '  ids of a page of 1000 records',
  await median(() =>
    tables.read(
      `SELECT log_offset, log_ordinal, pattern_id FROM log_pattern_ids WHERE tenant_id = 'acme' AND (log_offset, log_ordinal) IN (${ordinals})`,
    ),
  ),
);
for (const [name, id] of Object.entries(chosen))
  line(
    `  100 records of ${name}`,
    await median(() =>
      readLogPage(
        reader,
        createCondition(
          `(logs.offset, logs.ordinal) IN (SELECT log_offset, log_ordinal FROM log_pattern_ids WHERE tenant_id = {tenant:String} AND pattern_id = '${id}')`,
        ),
        { limit: 100 },
      ),
    ),
  );
await tables.close();
