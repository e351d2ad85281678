import test from 'ava';
import { decodeAttributes, decodeValue } from '../../queries/attributes.ts';
import { decodeCursor, encodeCursor, int64Pattern } from '../../queries/cursor.ts';

const values: readonly (readonly [string, string, unknown])[] = [
  ['s', '42', '42'],
  ['i', '42', 42],
  ['i', '9007199254740993', '9007199254740993'],
  ['i', '-9223372036854775808', '-9223372036854775808'],
  ['d', '1.5', 1.5],
  ['d', '1e300', 1e300],
  ['d', 'NaN', 'NaN'],
  ['d', '-Infinity', '-Infinity'],
  ['b', 'true', true],
  ['b', 'false', false],
  ['j', '[1,{"a":9007199254740993}]', [1, { a: '9007199254740993' }]],
  ['j', 'no json', 'no json'],
  ['y', 'AAE=', 'AAE='],
  ['n', '', null],
];

for (const [type, text, expected] of values)
  test(`an attribute of type ${type} with the text ${text} is restored`, (t) =>
    t.deepEqual(decodeValue(text, type), expected));

test('attributes preserve unusual keys, and integer-like keys do not change the types', (t) => {
  const attributes = decodeAttributes(['b', '10', '__proto__', '2'], ['x', '5', 'y', 'true'], 'sisb');
  t.is(JSON.stringify(attributes), '{"2":true,"10":5,"b":"x","__proto__":"y"}');
});

test('a cursor of another list, a modified cursor and an invalid cursor are rejected', (t) => {
  const cursor = encodeCursor('logs', [5n, -7]);
  t.deepEqual(decodeCursor('logs', cursor, [int64Pattern, int64Pattern]), ['5', '-7']);
  for (const [kind, text] of [
    ['traces', cursor],
    ['logs', encodeCursor('logs', ['5', "1' OR 1"])],
    ['logs', encodeCursor('logs', ['5'])],
    ['logs', 'nonsense'],
    ['logs', ''],
  ] as const)
    t.throws(() => decodeCursor(kind, text, [int64Pattern, int64Pattern]), { message: /is not a cursor/ });
});
