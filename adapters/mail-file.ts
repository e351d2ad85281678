/**
 * Mail without a configured server: one JSON line per message, in a file that only the owner of the process can read.
 */
import { appendFile, chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runEvery } from '../runtime/interval.ts';
import { type Clock, systemClock } from '../schemas/ports/clock.ts';
import { type Mailer, validateMail } from '../schemas/ports/mail.ts';

/** Less than the time until a closed organization is erased, so that no address of its members remains. */
const retentionMs = 14 * 86_400_000;
const hourMs = 3_600_000;

const getTimeMs = (line: string): number => {
  try {
    return Date.parse((JSON.parse(line) as { readonly at: string }).at);
  } catch {
    // A line that a crash cut off.
    return Number.NaN;
  }
};

/** Messages are removed two weeks after they were written. */
export const createFileMailer = ({
  path,
  clock = systemClock,
}: {
  readonly path: string;
  readonly clock?: Clock;
}): Mailer => {
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
    const content = retained.map((line) => `${line}\n`).join('');
    await writeFile(`${path}.new`, content, { mode: 0o600, flush: true });
    await rename(`${path}.new`, path);
  };
  const removeOldSafely = (): void => {
    // The next run tries again; a message is written in any case.
    runExclusively(removeOld).catch(() => undefined);
  };
  removeOldSafely();
  const stop = runEvery(hourMs, removeOldSafely);
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
