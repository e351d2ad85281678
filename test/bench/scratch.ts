import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for files of a benchmark, deleted with the process: the log of its broker alone has gigabytes. */
export const scratch = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-bench-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
