/** Limits the duration of a whole run: on a slow machine, a file that would start too late is skipped and reported. */
import { registerHooks } from 'node:module';
import { latestMinutes } from './order.ts';

/** Environment variable with the start of a whole run, in Unix milliseconds. */
export const beganVariable = 'TEST_BEGAN_MS';

/** Title of the placeholder test of a skipped file. */
const tooLate = 'is left out: the run has taken long enough';

/** Returns the path of the skipped file from the title of its placeholder test. */
export const leftOutBy = (title: string): string | undefined => {
  const parts = title.split(' › ');
  return parts.pop() === tooLate ? `test/${parts.join('/')}.test.ts` : undefined;
};

/** Called by ava in the process of a test file, before the file is loaded. */
const leaveOutWhatIsLate = async (): Promise<void> => {
  const began = process.env[beganVariable];
  if (began === undefined) return;
  // A nested ava run is part of its test, however late it starts.
  delete process.env[beganVariable];
  const { default: test } = await import('ava');
  const { file } = test.meta;
  if (Date.now() - Number(began) < latestMinutes(file) * 60_000) return;
  const source = `import test from 'ava'; test('${tooLate}', (t) => t.pass());`;
  registerHooks({
    load: (url, context, next) =>
      url === file ? { format: 'module', shortCircuit: true, source } : next(url, context),
  });
};

// biome-ignore lint/style/noDefaultExport: ava calls the default export of what it requires
export default leaveOutWhatIsLate;
