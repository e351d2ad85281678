import test from 'ava';
import { parseKeyValues } from '../../subjects/detections/key-values.ts';
import { seeded } from './random.ts';

const pair = /(?<![\w.-])([A-Za-z_][\w.-]{0,63})=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"',;]*))/g;

/** The expected pairs, found by a regular expression. */
const byExpression = (text: string): Map<string, string> | undefined => {
  const pairs = new Map<string, string>();
  for (const [, key = '', quoted, single, plain] of text.matchAll(pair)) {
    if (!pairs.has(key)) pairs.set(key, quoted?.replaceAll(/\\(["\\])/g, '$1') ?? single ?? plain ?? '');
    if (pairs.size >= 200) break;
  }
  return pairs.size < 2 ? undefined : pairs;
};

const pieces = [
  ...['a', 'key', 'A-b.c', '_x', '9', '.', '-', '=', '=', '=', '==', '"', '"', "'", "'", '\\', '\\"', '\\\n', '\n'],
  ...[' ', ' ', '\t', '\u00a0', '\u2028', '\x1d', '\x7f', ',', ';', '/', 'é', '日本', '\u{1f600}', 'value', '{', '}'],
  'k'.repeat(63),
  'k'.repeat(64),
  'k'.repeat(65),
];

test('the key-value pairs of a text equal those that the regular expression finds', (t) => {
  const random = seeded(11);
  let some = 0;
  for (let round = 0; round < 30_000; round++) {
    const text = Array.from({ length: random(40) }, () => pieces[random(pieces.length)]).join('');
    const expected = byExpression(text);
    if (expected !== undefined) some++;
    t.deepEqual([...(parseKeyValues(text) ?? [])], [...(expected ?? [])], JSON.stringify(text));
  }
  t.true(some > 500, `${some} texts had pairs`);
});

test('at most two hundred key-value pairs of a text are read', (t) => {
  const text = Array.from({ length: 300 }, (_, at) => `key${at}=${at}`).join(' ');
  t.is(parseKeyValues(text)?.size, 200);
});
