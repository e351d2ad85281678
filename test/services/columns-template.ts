/**
 * The embedded tables as a first start makes them, made once for a run by the first test that wants them (`make-columns-template.ts`):
 * data directories of tests begin with a copy, which takes a quarter of the CPU time that migrating takes.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The environment's variable that says where it is, or is to be made. */
export const templateVariable = 'TEST_COLUMNS_TEMPLATE';

/** Makes it beside its place first: the one that is finished first stays, and who comes later has its own for nothing. */
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

/** Gives a directory of columns that holds none yet those of the template, if the run has one. Without, tests make their tables themselves. */
export const copyColumns = (directory: string): void => {
  const template = process.env[templateVariable];
  if (template === undefined) return;
  if (!existsSync(template)) make(template);
  cpSync(template, directory, { recursive: true });
};
