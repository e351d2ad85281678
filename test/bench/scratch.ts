import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what a benchmark puts on disk, gone when the process ends: the log of its broker alone takes gigabytes. */
export const scratch = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-bench-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
