/**
 * Mail without a configured server: one JSON line per message, in a file that only the owner of the process can read.
 */
import { appendFile, chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runEvery } from '../runtime/interval.ts';
import { type Clock, systemClock } from '../schemas/ports/clock.ts';
import { type Log, silentLog } from '../schemas/ports/log.ts';
import { type Mailer, validateMail } from '../schemas/ports/mail.ts';

const dayMs = 86_400_000;
/** Less than the time until a closed organization is erased, so that no address of its members remains. */
const retentionMs = 14 * dayMs;
const hourMs = 3_600_000;

const getTimeMs = (line: string): number => {
  try {
    return Date.parse((JSON.parse(line) as { readonly at: string }).at);
  } catch {
    // A line that a crash cut off.
    return Number.NaN;
  }
};

export interface FileMailerOptions {
  readonly path: string;
  readonly clock?: Clock;
  /** Whether other processes may write to the file */
  readonly isShared?: boolean;
  /** Receives a warning about old messages in a shared file */
  readonly log?: Log;
}

/**
 * Messages are removed two weeks after they were written. In a shared file they remain, because a message that another
 * process writes during the removal would be lost.
 */
export const createFileMailer = ({
  path,
  clock = systemClock,
  isShared = false,
  log = silentLog,
}: FileMailerOptions): Mailer => {
  let lastWork: Promise<unknown> = Promise.resolve();
  const runExclusively = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = lastWork.then(work);
    lastWork = result.catch(() => undefined);
    return result;
  };
  const removeOld = async (): Promise<void> => {
    const text = await readFile(path, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    const retained = lines.filter((line) => getTimeMs(line) > clock.now() - retentionMs);
    if (retained.length === lines.length) return;
    if (isShared) {
      const messages = lines.length - retained.length;
      log.warn(
        { path, messages },
        'old messages are not removed, because other processes may write to the file: remove it, and set OIQ_SMTP_URL',
      );
      return;
    }
    const content = retained.map((line) => `${line}\n`).join('');
    await writeFile(`${path}.new`, content, { mode: 0o600, flush: true });
    await rename(`${path}.new`, path);
  };
  const removeOldSafely = (): void => {
    // The next run tries again; a message is written in any case.
    runExclusively(removeOld).catch(() => undefined);
  };
  removeOldSafely();
  const stop = runEvery(isShared ? dayMs : hourMs, removeOldSafely);
  return {
    isDelivering: false,
    send: (mail) =>
      runExclusively(async () => {
        const { to, subject, text } = validateMail(mail);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const line = `${JSON.stringify({ at: new Date(clock.now()).toISOString(), to, subject, text })}\n`;
        await appendFile(path, line, { mode: 0o600, flush: true });
        // The mode above only applies to a newly created file.
        await chmod(path, 0o600);
      }),
    async close() {
      stop();
      await lastWork;
    },
  };
};
