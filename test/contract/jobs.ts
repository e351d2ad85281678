/** Jobs on any documents store: `scope: 'installation'` runs in one process at a time, despite failures. */
import test from 'ava';
import { defineJob, type Jobs, openJobs } from '../../runtime/jobs.ts';
import { acquireLease, leases } from '../../runtime/leases.ts';
import { type Documents, platformTenant } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { type MetricName, type Metrics, silentMetrics } from '../../schemas/ports/metrics.ts';
import { eventually, stretched } from '../waiting.ts';

const clock = { now: () => Date.now() };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A store that can become unreachable for one process. */
const reachableWhile = (documents: Documents, reachable: () => boolean): Pick<Documents, 'forTenant'> => ({
  forTenant: (tenantId) => ({
    tenantId,
    collection(definition) {
      const collection = documents.forTenant(tenantId).collection(definition);
      return new Proxy(collection, {
        get: (target, name) => {
          if (!reachable()) throw new Error('the store cannot be reached');
          const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
          return method.bind(target);
        },
      });
    },
  }),
});

export const jobsContract = (open: () => Promise<Documents>): void => {
  let documents: Documents;
  test.before(async () => {
    documents = await open();
    await documents.ensureCollections([leases]);
  });
  test.after.always(() => documents.close());

  const opened = (leaseMs?: number, metrics: Metrics = silentMetrics): Jobs =>
    openJobs({ documents, clock, log: silentLog, metrics, ...(leaseMs !== undefined && { leaseMs }) });

  test('one of three processes runs a job of the installation, and every process runs a job of the process', async (t) => {
    const processes = [opened(), opened(), opened()];
    let underWay = 0;
    let maxConcurrent = 0;
    const shared: number[] = [];
    const own: number[] = [];
    for (const [index, jobs] of processes.entries()) {
      jobs.start(
        defineJob({
          name: 'shared',
          summary: 'Counts itself',
          everyMs: 5,
          scope: 'installation',
          async run() {
            underWay++;
            maxConcurrent = Math.max(maxConcurrent, underWay);
            shared.push(index);
            await pause(2);
            underWay--;
          },
        }),
        undefined,
      );
      jobs.start(
        defineJob({
          name: 'own',
          summary: 'Counts itself',
          everyMs: 5,
          scope: 'process',
          run: async () => void own.push(index),
        }),
        undefined,
      );
    }
    await eventually('every job ran', () => shared.length >= 10 && new Set(own).size === 3);
    for (const jobs of processes) await jobs.stop();
    t.is(maxConcurrent, 1);
  });

  test('a job of the installation that ran in one process does not run in another before its time, unless it is woken', async (t) => {
    const [first, second] = [opened(), opened()];
    const runs: string[] = [];
    const job = (by: string) =>
      defineJob({
        name: 'hourly',
        summary: 'Counts itself',
        everyMs: 3_600_000,
        firstMs: 0,
        scope: 'installation',
        run: async () => void runs.push(by),
      });
    first.start(job('first'), undefined);
    await eventually('the first process ran it', () => runs.length === 1);
    await eventually('its lease is released', async () => {
      const lease = await documents.forTenant(platformTenant).collection(leases).find('hourly');
      return Date.parse(lease?.notBefore ?? '') > Date.now();
    });
    const running = second.start(job('second'), undefined);
    await pause(50);
    t.deepEqual(runs, ['first']);
    running.wake();
    await eventually('the second process ran it', () => runs.length === 2);
    t.deepEqual(runs, ['first', 'second']);
    await Promise.all([first.stop(), second.stop()]);
  });

  test('a lease of a vanished process is taken over when it expires, and the vanished process is notified of the loss', async (t) => {
    let away = false;
    const vanished = await acquireLease('vanishing', {
      documents: reachableWhile(documents, () => !away),
      clock,
      holder: 'vanished',
      durationMs: 60,
    });
    away = true;
    if ('freeAtMs' in vanished) return t.fail('the lease was free');
    const jobs = opened(60);
    let hasClaimed = false;
    jobs.start(
      defineJob({
        name: 'vanishing',
        summary: 'Waits for its lease',
        everyMs: 10,
        scope: 'installation',
        async run() {
          hasClaimed = true;
        },
      }),
      undefined,
    );
    await eventually('the lease is taken over', () => hasClaimed);
    await eventually('the first process learns of it', () => vanished.lost.aborted);
    await jobs.stop();
    t.true(vanished.lost.aborted);
  });

  test('a lease set or released by a process whose clock is ahead does not keep others waiting', async (t) => {
    const ahead = { now: () => Date.now() + 3_600_000 };
    const held = await acquireLease('ahead', { documents, clock: ahead, holder: 'ahead' });
    t.false('freeAtMs' in held, 'it was free');
    const everyMs = 60_000;
    const first = await acquireLease('ahead', { documents, clock, holder: 'first' }, { everyMs });
    if ('freeAtMs' in first) return t.fail('it counts as free');
    await first.release(ahead.now());
    const second = await acquireLease('ahead', { documents, clock, holder: 'second' }, { everyMs });
    if ('freeAtMs' in second) return t.fail('it may be taken again');
    await second.release(Date.now() + everyMs / 2);
    const third = await acquireLease('ahead', { documents, clock, holder: 'third' }, { everyMs });
    t.true('freeAtMs' in third, 'a time within the interval holds');
  });

  test('a lease is renewed while the work runs, however long it takes', async (t) => {
    const durationMs = stretched(2_000);
    const lease = await acquireLease('long', { documents, clock, holder: 'one', durationMs });
    if ('freeAtMs' in lease) return t.fail('the lease was free');
    const first = await documents.forTenant(platformTenant).collection(leases).find('long');
    await eventually('the lease is renewed', async () => {
      const now = await documents.forTenant(platformTenant).collection(leases).find('long');
      return Date.parse(now?.until ?? '') > Date.parse(first?.until ?? '') + durationMs;
    });
    t.true('freeAtMs' in (await acquireLease('long', { documents, clock, holder: 'two', durationMs })));
    await lease.release();
    const next = await acquireLease('long', { documents, clock, holder: 'two', durationMs });
    t.false('freeAtMs' in next);
    if (!('freeAtMs' in next)) await next.release();
  });

  test('a failed run is counted and retried, and a successful run is counted with its time', async (t) => {
    const counted: string[] = [];
    const metrics: Metrics = {
      ...silentMetrics,
      add: (name: MetricName, _: number, labels: object) =>
        void counted.push(`${name} ${Object.values(labels).join(' ')}`),
    };
    const jobs = opened(undefined, metrics);
    let runs = 0;
    jobs.start(
      defineJob({
        name: 'failing',
        summary: 'Fails once',
        everyMs: 5,
        scope: 'process',
        async run() {
          if (runs++ === 0) throw new Error('the first run fails');
        },
      }),
      undefined,
    );
    await eventually('runs are counted', () => runs >= 2 && counted.length >= 2);
    await jobs.stop();
    t.deepEqual(counted.slice(0, 2), ['oiq_job_runs_total failing failure', 'oiq_job_runs_total failing success']);
  });

  test('a stop aborts the current run and releases its lease for the next process', async (t) => {
    const jobs = opened();
    let begun = false;
    jobs.start(
      defineJob({
        name: 'stopped',
        summary: 'Ends when it is told to',
        everyMs: 3_600_000,
        firstMs: 0,
        scope: 'installation',
        async run(_, signal) {
          begun = true;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      }),
      undefined,
    );
    await eventually('the run began', () => begun);
    await jobs.stop();
    const next = await acquireLease('stopped', { documents, clock, holder: 'next' });
    t.false('freeAtMs' in next);
    if (!('freeAtMs' in next)) await next.release();
  });
};
