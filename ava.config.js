/** How ava runs the suites of `test/`. */
import { inOrder } from './test/file-order.ts';

export default {
  extensions: ['ts'],
  files: ['test/**/*.test.ts'],
  timeout: '15m',
  concurrency: 2,
  sortTestFiles: inOrder,
  // Modules are found with fewer steps, as the product's processes find them (`bin/imports.mjs`).
  nodeArguments: [
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=TimeoutNegativeWarning',
    '--import=./bin/imports.mjs',
    // What a file loads stays: marking it again and again while it grows is some tenths of a second of each file.
    '--initial-old-space-size=256',
  ],
  environmentVariables: { UV_THREADPOOL_SIZE: '16' },
  require: ['./test/cpu-times.ts', './test/skip-late-files.ts'],
  workerThreads: false,
};
