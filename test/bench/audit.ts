/**
 * The audit chain over embedded stores in one process: audited writes per second, and the cost of verification and
 * proofs. A write is a small document and its record in one transaction, synced to disk. `BENCH_SECONDS` sets the
 * duration.
 */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createTransact } from '../../api/changes.ts';
import { openEvidence } from '../../api/groups/audit/chain/evidence.ts';
import { hashLeaf } from '../../api/groups/audit/chain/merkle.ts';
import { computeInclusionRanges, computeRoots } from '../../api/groups/audit/chain/merkle-proofs.ts';
import { readRecordsInOrder } from '../../api/groups/audit/chain/record-pages.ts';
import { findNewestRecords } from '../../api/groups/audit/chain/record-search.ts';
import { verifyChain } from '../../api/groups/audit/chain/verify-chain.ts';
import { openJobs } from '../../runtime/jobs.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';

import { systemClock } from '../../schemas/ports/clock.ts';
import { type Documents, defineCollection } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { auditHeads, auditRecords } from '../../schemas/resources/audit-record.ts';
import { allTopics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10);
const chainLength = Number(process.env['BENCH_RECORDS'] ?? 100_000);
const items = defineCollection<{ name: string; state: string }>({ name: 'things', indexes: [['state']] });

const changesFor = (documents: Documents, tenantId: string) =>
  createTransact(
    { documents, clock: systemClock },
    {
      caller: { tenantId, actor: { type: 'user', id: 'u1', name: 'ann@a.example' } } as never,
      request: { requestId: '00000000-0000-4000-8000-000000000000', address: '192.0.2.1' },
      actions: ['thing.create'],
    },
  );

/** Writes from `writers` concurrently for the time of a run. Returns the number of writes. */
const write = async (documents: Documents, writers: number): Promise<number> => {
  const tenantId = `writers-${writers}`;
  const change = changesFor(documents, tenantId);
  let done = 0;
  const until = performance.now() + seconds * 1_000;
  const writer = async (): Promise<void> => {
    for (; performance.now() < until; done++) {
      const after = { name: `thing ${done}`, state: 'new' };
      await change(async ({ forTenant, record }) => {
        const { id } = await forTenant(tenantId).collection(items).insert(after);
        record({ id, name: after.name, after });
      });
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  return done;
};

/** Measures work that returns the number of records that it processed. */
const measured = async (what: string, work: () => Promise<number>): Promise<Row> => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const records = await work();
  const elapsedMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  return {
    what,
    records,
    's in all': elapsedMs / 1_000,
    'records/s': (records / elapsedMs) * 1_000,
    'CPU-µs a record': (user + system) / records,
    'loop held p99 ms': delay.percentile(99) / 1e6,
    'loop held max ms': delay.max / 1e6,
    'RSS MiB': process.memoryUsage().rss / 1024 ** 2,
  };
};

export const audit = async (): Promise<Row[]> => {
  const directory = scratch();
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const columns = await openChdbColumns({ directory: join(directory, 'columns') });
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  try {
    await migrate(columns, silentLog);
    await bus.ensureTopics(allTopics);
    await documents.ensureCollections([auditRecords, auditHeads, items]);
    const rows = [
      await measured('audited writes, one after the other', () => write(documents, 1)),
      await measured('audited writes, 16 at once', () => write(documents, 16)),
    ];
    const change = changesFor(documents, 'long');
    for (let created = 0; created < chainLength; created += 500)
      await change(async ({ record }) => {
        for (let n = 0; n < 500; n++)
          record({ id: `${created + n}`, name: 'thing', after: { name: 'thing', state: 'new' } });
      });
    const box = createSecretBox('a secret key of the benchmarks, long enough');
    const jobs = openJobs({ documents, clock: systemClock, log: silentLog, metrics: silentMetrics });
    const evidence = await openEvidence({ documents, columns, bus, box, clock: systemClock, log: silentLog, jobs });
    const all = async (work: () => Promise<unknown>): Promise<number> => {
      await work();
      return chainLength;
    };
    const leaves = async function* (): AsyncGenerator<Buffer> {
      for await (const { hash } of readRecordsInOrder(documents, 'long')) yield hashLeaf(Buffer.from(hash, 'hex'));
    };
    const searched = (requestId: string | undefined) => async (): Promise<number> => {
      await findNewestRecords(documents, 'long', { requestId }, { limit: 100 });
      return 100;
    };
    rows.push(
      await measured('signing a head every 1,000', () => all(() => evidence.signer.sign('long'))),
      await measured('verifying chain and heads', () =>
        all(() => verifyChain({ documents, clock: systemClock, ...evidence }, 'long')),
      ),
      await measured('proving one record', () =>
        all(() => computeRoots(computeInclusionRanges(7, chainLength), leaves())),
      ),
      await measured('listing the newest 100', searched(undefined)),
      await measured('searching what there is not', searched('none')),
    );
    await evidence.close();
    return rows;
  } finally {
    await bus.close();
    await columns.close();
    await documents.close();
  }
};
