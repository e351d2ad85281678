/**
 * A template of the embedded tables, created once a run by the first test that needs it (`make-columns-template.ts`).
 * Data directories of tests start as copies, which take a quarter of the CPU time of a migration.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Environment variable with the path of the template, which may not exist yet. */
export const templateVariable = 'TEST_COLUMNS_TEMPLATE';

/**
 * Creates the template in a temporary directory and renames it. If several processes do so at once, the first rename
 * wins.
 */
const make = (template: string): void => {
  const folder = mkdtempSync(`${template}-`);
  const program = fileURLToPath(new URL('make-columns-template.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, [program, folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`the template of tables was not made: ${program} ended with ${status}`);
  try {
    renameSync(folder, template);
  } catch {
    rmSync(folder, { recursive: true });
  }
};

/**
 * Copies the template to a directory without tables, if the run has a template. Otherwise tests create their tables.
 */
export const copyColumns = (directory: string): void => {
  const template = process.env[templateVariable];
  if (template === undefined) return;
  if (!existsSync(template)) make(template);
  cpSync(template, directory, { recursive: true });
};
