/** How ava runs the suites of `test/`. */
export default {
  extensions: ['ts'],
  files: ['test/**/*.test.ts'],
  timeout: '15m',
  concurrency: 2,
  // Suites of whole processes take longest. They come first, so that a run ends with short ones, on all cores.
  sortTestFiles: (one, other) => other.localeCompare(one),
  nodeArguments: ['--disable-warning=ExperimentalWarning', '--disable-warning=TimeoutNegativeWarning'],
  environmentVariables: { UV_THREADPOOL_SIZE: '16' },
  require: ['./test/computing.ts'],
  workerThreads: false,
};
