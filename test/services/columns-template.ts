/**
 * The embedded tables as a first start makes them, made once for a run (`make-columns-template.ts`): data directories of tests
 * begin with a copy, which takes a quarter of the CPU time that migrating takes. Without it each test migrates by itself.
 */
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The program that makes it, in the directory of its argument. */
export const templateProgram = fileURLToPath(new URL('make-columns-template.ts', import.meta.url));

/** The environment's variable that says where it is. */
export const templateVariable = 'TEST_COLUMNS_TEMPLATE';

/** Gives a directory of columns that holds none yet those of the template, if there is one. */
export const copyColumns = (directory: string): void => {
  const template = process.env[templateVariable];
  if (template !== undefined) cpSync(template, directory, { recursive: true });
};
