import { parseSavedDueMs } from '../../runtime/due-time.ts';
import { defineJob, type Jobs } from '../../runtime/jobs.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import { ConflictError, type Documents, type Feed, type StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import { type OutgoingMail, outgoingMails, outgoingMailsTenant } from '../../schemas/resources/outgoing-mail.ts';
import { openMail } from './queue.ts';

const minuteMs = 60_000;
/** Waits between attempts, slightly more than a day in total. If the attempt after the last wait fails, the message is marked as failed. */
const defaultRetryWaitsMs = [
  10_000,
  minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * 60 * minuteMs,
  8 * 60 * minuteMs,
  16 * 60 * minuteMs,
];
/** Longer than an attempt can take, so that no other instance tries at the same time. */
const leaseMs = 2 * minuteMs;
/** How long failed entries are stored, so that their state can be read */
const retentionMs = 30 * 86_400_000;
const maxSleepMs = 60 * minuteMs;

/**
 * Sends queued mail soon after its commit, whichever instance wrote it; one instance at a time sends a message. A
 * message may arrive twice (the server accepted it and this process ended before recording it), but is never lost:
 * failed attempts are retried, also after a restart, until the last one.
 */
export const startMailDelivery = async (ports: {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Log;
  readonly box: SecretBox;
  readonly mailer: Mailer;
  readonly jobs: Jobs;
  readonly waitsMs?: readonly number[];
}): Promise<Pick<Feed, 'close'>> => {
  const { documents, clock, log, box, mailer, jobs, waitsMs = defaultRetryWaitsMs } = ports;
  const mailCollection = documents.forTenant(outgoingMailsTenant).collection(outgoingMails);
  /** Due messages, from the feed: the store is not queried while nothing is due. */
  const dueById = new Map<string, number>();

  const computeDueMs = ({ dueAt, attempts, failedAt }: OutgoingMail): number =>
    parseSavedDueMs(
      dueAt,
      clock.now(),
      failedAt === null ? Math.max(leaseMs, waitsMs[attempts - 1] ?? 0) : retentionMs,
    );

  const toFutureTime = (ms: number): string => new Date(clock.now() + ms).toISOString();

  const markFailed = async (entry: OutgoingMail & StoredMetadata, problem: string): Promise<void> => {
    log.warn({ mail: entry.id, attempts: entry.attempts, problem }, 'a message could not be sent and is dropped');
    const failedAt = toFutureTime(0);
    await mailCollection.update(entry.id, {
      sealed: '',
      failedAt,
      problem,
      expiresAt: toFutureTime(retentionMs),
      dueAt: toFutureTime(retentionMs),
    });
  };

  const sendEntry = async (entry: OutgoingMail & StoredMetadata): Promise<void> => {
    const mail = openMail(box, entry);
    if (mail === undefined) return markFailed(entry, 'it was encrypted with another secret key');
    if (Date.parse(entry.expiresAt) <= clock.now())
      return markFailed(entry, `it is too old; last problem: ${entry.problem}`);
    try {
      if (mail !== null) await mailer.send({ ...mail, id: entry.id });
    } catch (error) {
      const problem = (error instanceof Error ? error.message : String(error)).slice(0, 500);
      const waitMs = waitsMs[entry.attempts - 1];
      if (error instanceof PermanentError || waitMs === undefined) return markFailed(entry, problem);
      log.warn({ mail: entry.id, attempts: entry.attempts, problem }, 'a message could not be sent; retrying');
      await mailCollection.update(entry.id, { dueAt: toFutureTime(waitMs), problem });
      return;
    }
    await mailCollection.delete(entry.id);
  };

  const processEntry = async (id: string): Promise<void> => {
    const entry = await mailCollection.find(id);
    if (entry === undefined) {
      dueById.delete(id);
      return;
    }
    // Retry after the lease, unless the feed reports a change before.
    dueById.set(id, clock.now() + leaseMs);
    if (computeDueMs(entry) > clock.now()) return void dueById.set(id, computeDueMs(entry));
    if (entry.failedAt !== null) return void (await mailCollection.delete(id));
    const claim = { dueAt: toFutureTime(leaseMs), attempts: entry.attempts + 1 };
    await sendEntry(await mailCollection.update(id, claim, entry.version));
  };

  const processDueEntries = async (signal: AbortSignal): Promise<void> => {
    for (const [id, dueAtMs] of [...dueById]) {
      if (signal.aborted) return;
      if (dueAtMs > clock.now()) continue;
      await processEntry(id).catch((error: unknown) => {
        // Another instance has claimed the message.
        if (error instanceof ConflictError) return;
        log.warn({ error, mail: id }, 'the queue of mail could not be read or written; retrying');
        dueById.set(id, clock.now() + (waitsMs[0] ?? minuteMs));
      });
    }
  };

  const job = jobs.start(
    defineJob({
      name: 'mail-delivery',
      summary: 'Send queued mail',
      everyMs: maxSleepMs,
      scope: 'process',
      async run(_, signal) {
        await processDueEntries(signal);
        if (dueById.size > 0) job.wake(Math.min(...dueById.values()));
      },
    }),
    undefined,
  );

  const feed = await documents.follow(outgoingMails, ({ id, document }) => {
    if (document === undefined) dueById.delete(id);
    else dueById.set(id, computeDueMs(document));
    job.wake(Math.min(...dueById.values()));
  });

  return feed;
};
