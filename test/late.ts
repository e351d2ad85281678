/** A run on a slow machine ends while it is of use: a file that would begin late is left out, and told. */
import { registerHooks } from 'node:module';
import { latestMinutes } from './order.ts';

/** The environment's variable that says when a whole run began, in milliseconds since 1970. */
export const beganVariable = 'TEST_BEGAN_MS';

/** The title of what stands for the tests of such a file. */
const tooLate = 'is left out: the run has taken long enough';

/** The path of the file that was left out, of the title of a test in a run of several files. */
export const leftOutBy = (title: string): string | undefined => {
  const parts = title.split(' › ');
  return parts.pop() === tooLate ? `test/${parts.join('/')}.test.ts` : undefined;
};

/** Called by ava in the process of a test file, before that is loaded. */
const leaveOutWhatIsLate = async (): Promise<void> => {
  const began = process.env[beganVariable];
  if (began === undefined) return;
  // Runs of ava within a test are a part of it, however late they begin.
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
