import { defineJob, type Jobs } from '../../../../runtime/jobs.ts';
import type { Clock } from '../../../../schemas/ports/clock.ts';
import { type Documents, defineCollection, type StoredMetadata } from '../../../../schemas/ports/documents.ts';
import type { Log } from '../../../../schemas/ports/log.ts';
import type { DeadLetterFilter } from '../../../../subjects/dead-letters/dead-letters.ts';
import type { DeadLetters, Progress, ReplayJob, ReplayJobs } from '../../../kernel/ports/dead-letters.ts';

export const replayJobs = defineCollection<ReplayJob>({ name: 'dead-letter-replays' });

const maxResults = 1_000;
const startWaitMs = 2_000;
const saveEveryMs = 1_000;
/** A running job without an update for this long is lost: the instance that ran it has stopped. */
const lostAfterMs = 60_000;

const isLost = ({ state, updatedAt }: ReplayJob & StoredMetadata, now: number): boolean =>
  state === 'running' && now - Date.parse(updatedAt) >= lostAfterMs;

/** Shows a lost job as stopped if no instance can continue it: jobs of an earlier version have no stored filter. */
const withLostState = <Job extends ReplayJob & StoredMetadata>(now: number, job: Job): Job =>
  !isLost(job, now) || job.filter !== undefined
    ? job
    : {
        ...job,
        state: 'stopped',
        error: 'the instance that ran it has stopped; start the replay again: replayed dead letters stay replayed',
      };

/**
 * Adds the progress of a run to earlier progress. A dead letter whose mark is not stored yet is processed again, and
 * counts as `already`.
 */
const addProgress = (before: ReplayJob, now: Progress): Progress =>
  before.dryRun
    ? now
    : {
        matched: Math.max(before.matched, now.matched),
        done: before.done + now.done,
        already: now.already,
        failed: now.failed,
        failedByReason: now.failedByReason,
      };

/** Lists replays requested through the API, the newest first; of all tenants without a tenant. */
export const listReplays = async (
  { documents, clock }: { readonly documents: Documents; readonly clock: Clock },
  tenantId?: string,
): Promise<(ReplayJob & StoredMetadata & { readonly tenantId: string })[]> => {
  const jobs: (ReplayJob & StoredMetadata & { readonly tenantId: string })[] = [];
  for await (const job of documents.findInAllTenants(replayJobs))
    if (tenantId === undefined || job.tenantId === tenantId) jobs.push(withLostState(clock.now(), job));
  return jobs.sort((left, right) => (left.startedAt < right.startedAt ? 1 : -1));
};

const createJob = (request: Pick<ReplayJob, 'dryRun' | 'actor' | 'filter' | 'startedAt'>): ReplayJob => ({
  ...request,
  state: 'running',
  finishedAt: null,
  error: null,
  matched: 0,
  done: 0,
  already: 0,
  failed: 0,
  failedByReason: {},
  results: [],
});

export const createReplayJobs = (ports: {
  deadLetters: DeadLetters;
  documents: Documents;
  clock: Clock;
  log: Log;
  jobs: Jobs;
}): ReplayJobs => {
  const { deadLetters, documents, clock, log, jobs } = ports;
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();

  const execute = async (
    tenantId: string,
    id: string,
    initialJob: ReplayJob,
    filter: DeadLetterFilter,
  ): Promise<void> => {
    const stored = documents.forTenant(tenantId).collection(replayJobs);
    const results = initialJob.dryRun ? [] : [...initialJob.results];
    let job = initialJob;
    let savedAtMs = clock.now();
    try {
      const progress = await deadLetters.replay(filter, {
        actor: job.actor,
        dryRun: job.dryRun,
        signal: stopping.signal,
        async onProgress(progress, newResults) {
          for (const { tenantId: _, ...result } of newResults) if (results.length < maxResults) results.push(result);
          job = { ...job, ...addProgress(initialJob, progress), results: [...results] };
          if (clock.now() - savedAtMs < saveEveryMs) return;
          savedAtMs = clock.now();
          await stored.replace(id, job);
        },
      });
      job = { ...job, ...addProgress(initialJob, progress), state: 'finished' };
      // Keep it running, so that another instance, or this one after its next start, continues it.
      if (stopping.signal.aborted) return void (await stored.replace(id, { ...job, state: 'running' }));
    } catch (error) {
      log.error({ error, replay: id }, 'a replay of dead letters failed');
      job = { ...job, state: 'failed', error: error instanceof Error ? error.message : String(error) };
    }
    await stored.replace(id, { ...job, finishedAt: new Date(clock.now()).toISOString() });
  };

  jobs.start(
    defineJob({
      name: 'dead-letter-replays',
      summary: 'Continue replays of dead letters whose instance stopped',
      everyMs: lostAfterMs,
      scope: 'installation',
      async run() {
        for await (const { tenantId, ...job } of documents.findInAllTenants(replayJobs, { state: 'running' }))
          if (isLost(job, clock.now()) && job.filter !== undefined && !stopping.signal.aborted)
            await execute(tenantId, job.id, job, job.filter);
      },
    }),
    undefined,
  );

  return {
    async start(tenantId, filter, { actor, dryRun, change }) {
      const stored = documents.forTenant(tenantId).collection(replayJobs);
      const job = createJob({
        dryRun,
        actor,
        filter: { ...filter, tenantId },
        startedAt: new Date(clock.now()).toISOString(),
      });
      const inserted = await change(async ({ forTenant, record }) => {
        const insertedJob = await forTenant(tenantId).collection(replayJobs).insert(job);
        record({ id: insertedJob.id, after: { ...filter, dryRun } });
        return insertedJob;
      });
      const { id } = inserted;
      const work = execute(tenantId, id, job, { ...filter, tenantId }).catch((error: unknown) =>
        log.error({ error, replay: id }, 'the end of a replay of dead letters was not written'),
      );
      running.add(work);
      const finished = work.then(() => running.delete(work));
      await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, startWaitMs).unref())]);
      return (await stored.find(id)) ?? inserted;
    },
    async find(tenantId, id) {
      const job = await documents.forTenant(tenantId).collection(replayJobs).find(id);
      return job && withLostState(clock.now(), job);
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
};
