/** Texts that caused quadratic time in regular expressions, given to the functions that parse such texts. */
import test from 'ava';
import { getThreadCpuMs } from '../../runtime/thread-time.ts';
import { getTextBefore, trimTrailing } from '../../schemas/text.ts';
import { parseMatchers } from '../../subjects/alerts/routing/alertmanager.ts';
import { EventPaths, SigmaEvent } from '../../subjects/detections/event.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { fillEvent } from '../../subjects/detections/record-event.ts';
import { compileRegex } from '../../subjects/detections/regex.ts';
import { parseAuditRecords } from '../../subjects/file-integrity/auditd.ts';
import { isBelow } from '../../subjects/file-integrity/scope.ts';
import { IndicatorIndex } from '../../subjects/threat-intel/indicator-index.ts';
import { matchEvent } from '../../subjects/threat-intel/match.ts';

const paths = new EventPaths(fieldTables);
const indicators = new IndicatorIndex();
const matchBody = (body: string): void => {
  matchEvent(indicators, fillEvent(new SigmaEvent(paths), { body, attributes: [], resource: [] }));
};

/** CPU time in milliseconds; values below ten are too small to compare. */
const costOf = (run: () => void): number => {
  let min = Number.POSITIVE_INFINITY;
  for (let count = 0; count < 3; count++) {
    const before = getThreadCpuMs();
    run();
    min = Math.min(min, getThreadCpuMs() - before);
  }
  return Math.max(10, min);
};

const cases: readonly [
  what: string,
  read: (text: string) => unknown,
  textOf: (size: number) => string,
  size: number,
][] = [
  ['slashes at an end', (text) => trimTrailing(text, '/'), (size) => `${'/'.repeat(size)}a`, 50_000],
  ['marks without an end', (text) => getTextBefore(text, '('), (size) => `${'('.repeat(size)}\n`, 50_000],
  ['a matcher with blanks', parseMatchers, (size) => `a=b${' '.repeat(size)}c d"`, 1_000],
  ['matchers without a value', parseMatchers, (size) => `a${' '.repeat(size)}`, 20_000],
  ['an open quotation mark', parseMatchers, (size) => '"\\'.repeat(size), 4_000],
  ['a folder of slashes', (text) => isBelow('/etc', text), (size) => `${'/'.repeat(size)}a`, 50_000],
  [
    'records of auditd in one line',
    (text) => parseAuditRecords(text, 0),
    (size) => `${'type=PATH msg=audit(1.1:1):'.repeat(size)}\u2028`,
    5_000,
  ],
  ['full stops in a word', matchBody, (size) => `a${'.'.repeat(size)}b.c`, 50_000],
  ['brackets in an address', matchBody, (size) => `http://a.b/${')'.repeat(size)}c`, 50_000],
  ['the zone of an address', matchBody, (size) => `http://[::1${'%'.repeat(size)}\n`, 50_000],
  ['any text in an expression', (text) => compileRegex(text, []), (size) => `${'.*'.repeat(size)}x`, 5_000],
];

for (const [what, read, textOf, size] of cases)
  test(`time is proportional to the text: ${what}`, (t) => {
    const [small, large] = [textOf(size), textOf(16 * size)];
    // Quadratic time would be a factor of 256; linear time can exceed 16 because of garbage collection.
    const ratio = costOf(() => read(large)) / costOf(() => read(small));
    t.true(ratio < 80, `sixteen times the text took ${ratio.toFixed(1)} times as long`);
  });
