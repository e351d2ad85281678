/** Limits the duration of a whole run: on a slow machine, a file that would start too late is skipped and reported. */
import { registerHooks } from 'node:module';
import { latestMinutes } from './file-order.ts';

/** Environment variable with the start of a whole run, in Unix milliseconds. */
export const startVariable = 'TEST_BEGAN_MS';

/** Title of the placeholder test of a skipped file. */
const skipTitle = 'is skipped: the run has taken too long';

/** Returns the path of the skipped file from the title of its placeholder test. */
export const parseSkippedFile = (title: string): string | undefined => {
  const parts = title.split(' › ');
  return parts.pop() === skipTitle ? `test/${parts.join('/')}.test.ts` : undefined;
};

/** Called by ava in the process of a test file, before the file is loaded. */
const skipLateFile = async (): Promise<void> => {
  const startMs = process.env[startVariable];
  if (startMs === undefined) return;
  // A nested ava run is part of its test, however late it starts.
  delete process.env[startVariable];
  const { default: test } = await import('ava');
  const { file } = test.meta;
  if (Date.now() - Number(startMs) < latestMinutes(file) * 60_000) return;
  const source = `import test from 'ava'; test('${skipTitle}', (t) => t.pass());`;
  registerHooks({
    load: (url, context, next) =>
      url === file ? { format: 'module', shortCircuit: true, source } : next(url, context),
  });
};

// biome-ignore lint/style/noDefaultExport: ava calls the default export of what it requires
export default skipLateFile;
