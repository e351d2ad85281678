/** How ava runs the suites of `test/`. */

/**
 * What takes longest, the longest first: it begins first, so that nobody waits for it in the end. The other files follow by their folders,
 * whole processes first.
 */
const longest = [
  'end-to-end/chart-processes',
  'contract/escalation-mongodb',
  'contract/processors-once-kafka',
  'contract/processors-once-segments',
  'end-to-end/reliability-outages',
  'end-to-end/schemathesis',
  'end-to-end/recording-kills',
  'end-to-end/reliability-cluster-kills',
  'end-to-end/alert-kills',
  'end-to-end/probe-kills',
  'end-to-end/check-kills',
  'end-to-end/reliability-dead-letter',
  'end-to-end/reliability-brokers',
  'end-to-end/page-cluster',
  'contract/reads-bounded-mongodb',
  'end-to-end/image',
  'cases/chart-rules',
  'security/isolation',
  'security/fences',
  'contract/resources',
  'contract/schemas-hostile',
  'cases/dashboards/templates',
];

/** Its place in that list, or behind all of them. */
const placeOf = (file) => {
  const place = longest.findIndex((path) => file.includes(`test/${path}`));
  return place < 0 ? longest.length : place;
};

export default {
  extensions: ['ts'],
  files: ['test/**/*.test.ts'],
  timeout: '15m',
  concurrency: 2,
  sortTestFiles: (one, other) => placeOf(one) - placeOf(other) || other.localeCompare(one),
  // Modules are found with fewer steps, as the product's processes find them (`bin/imports.mjs`).
  nodeArguments: [
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=TimeoutNegativeWarning',
    '--import=./bin/imports.mjs',
    // What a file loads stays: marking it again and again while it grows is some tenths of a second of each file.
    '--initial-old-space-size=256',
  ],
  environmentVariables: { UV_THREADPOOL_SIZE: '16' },
  require: ['./test/computing.ts'],
  workerThreads: false,
};
