/**
 * Mail without a configured server: one JSON line per message, in a file that only the owner of the process can read.
 */
import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runEvery } from '../runtime/interval.ts';
import { type Clock, systemClock } from '../schemas/ports/clock.ts';
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
  /** Whether other processes may write to the same place; then each day has its own file. */
  readonly isShared?: boolean;
}

/** Returns the file of a day (`YYYY-MM-DD`), such as `outbox-2026-03-20.jsonl`. */
const getDayPath = (path: string, day: string): string => path.replace(/(\.[^./]*)?$/, `-${day}$1`);

/**
 * Messages are removed two weeks after they were written. In a shared place whole files are removed, because a message
 * that another process writes while a file is replaced would be lost.
 */
export const createFileMailer = ({ path, clock = systemClock, isShared = false }: FileMailerOptions): Mailer => {
  let lastWork: Promise<unknown> = Promise.resolve();
  const runExclusively = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = lastWork.then(work);
    lastWork = result.catch(() => undefined);
    return result;
  };
  const getPath = (): string => (isShared ? getDayPath(path, new Date(clock.now()).toISOString().slice(0, 10)) : path);
  const removeOldMessages = async (): Promise<void> => {
    const text = await readFile(path, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    const retained = lines.filter((line) => getTimeMs(line) > clock.now() - retentionMs);
    if (retained.length === lines.length) return;
    const content = retained.map((line) => `${line}\n`).join('');
    await writeFile(`${path}.new`, content, { mode: 0o600, flush: true });
    await rename(`${path}.new`, path);
  };
  const removeOldFiles = async (): Promise<void> => {
    const directory = dirname(path);
    for (const name of await readdir(directory).catch(() => [])) {
      const file = join(directory, name);
      const [day] = /\d{4}-\d{2}-\d{2}/.exec(name) ?? [];
      // Former versions wrote to one file for all days. Processes of one may still do so.
      if (file !== path && (day === undefined || file !== getDayPath(path, day))) continue;
      const lastWriteMs = day === undefined ? (await stat(file)).mtimeMs : Date.parse(day) + dayMs;
      if (lastWriteMs <= clock.now() - retentionMs) await rm(file, { force: true });
    }
  };
  const removeOld = isShared ? removeOldFiles : removeOldMessages;
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
        const file = getPath();
        await appendFile(file, line, { mode: 0o600, flush: true });
        // The mode above only applies to a newly created file.
        await chmod(file, 0o600);
      }),
    async close() {
      stop();
      await lastWork;
    },
  };
};
