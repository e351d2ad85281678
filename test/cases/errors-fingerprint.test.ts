/** Which errors form one group, and why. */
import test from 'ava';
import { computeFingerprint } from '../../subjects/errors/fingerprint.ts';
import { maxStackLength, parseStack, truncateStack } from '../../subjects/errors/stack.ts';
import { stackCases, type Thrown } from './errors/stacks.ts';
import { seeded } from './random.ts';

const of = ({ type = '', message = '', stack = '' }: Thrown) => computeFingerprint({ type, message, stack });

for (const { title, same, others, frames } of stackCases)
  test(title, (t) => {
    const [first, ...rest] = same.map(of);
    for (const each of rest) t.deepEqual(each.components, first?.components);
    if (frames !== undefined)
      t.deepEqual(
        first?.components.filter(([name]) => name === 'frame').map(([, text]) => text),
        frames,
      );
    const ids = [first, ...others.map(of)].map((each) => each?.id);
    t.is(
      new Set(ids).size,
      ids.length,
      JSON.stringify(
        others.map((each) => of(each).components),
        null,
        1,
      ),
    );
  });

test('an id contains the version of the rules and a hash of the components only', (t) => {
  const { id, components } = of({ type: 'TypeError', message: 'x is not a function' });
  t.regex(id, /^f1-[0-9a-f]{16}$/);
  t.deepEqual(components, [
    ['type', 'TypeError'],
    ['message', 'x is not a function'],
  ]);
  // Assigned ids must not change: a change of this id requires a change of the version.
  t.is(id, 'f1-d60a450b635e54db');
});

const panic = (file: string): string =>
  `panic: no stock\n\ngoroutine 1 [running]:\nmain.handle(0x1)\n\t${file}:12 +0x1d\nmain.main()\n\t${file}:30 +0x2a\n`;
const programs: readonly (readonly [title: string, stack: string])[] = [
  ['a Go program’s package main', panic('/app/main.go')],
  [
    'index.js of an image',
    'Error: no stock\n    at handle (/usr/src/app/index.js:3:9)\n    at run (/usr/src/app/index.js:9:1)',
  ],
  [
    'handler.py of a function',
    'Traceback (most recent call last):\n  File "/var/task/handler.py", line 3, in handle\n    x()\nKeyError: 17',
  ],
];
for (const [title, stack] of programs)
  test(`${title} does not identify a program: errors of two services are two groups`, (t) => {
    const [cart, again, pay] = ['cart', 'cart', 'pay'].map((service) =>
      computeFingerprint({ type: '', message: 'm', stack, service }),
    );
    t.is(cart?.id, again?.id);
    t.not(cart?.id, pay?.id);
    t.deepEqual(cart?.components.at(-1), ['service', 'cart']);
  });

test('frames that identify the program form one group across all services', (t) => {
  const stack =
    'Error: no stock\n    at handle (/srv/app/index.js:3:9)\n    at reserve (/srv/app/stock/reserve.js:9:1)';
  const [cart, pay] = ['cart', 'pay'].map((service) => computeFingerprint({ type: '', message: 'm', stack, service }));
  t.is(cart?.id, pay?.id);
});

test('a failed span known only by its operation is grouped by service, with the operation as its culprit', (t) => {
  const failed = { type: '', message: '', stack: '', operation: 'consumer process orders' };
  const [cart, pay] = ['cart', 'pay'].map((service) => computeFingerprint({ ...failed, service }));
  t.not(cart?.id, pay?.id);
  t.is(cart?.culprit, 'consumer process orders');
  t.is(computeFingerprint({ ...failed, type: 'HTTP 500', service: 'cart' }).culprit, 'consumer process orders');
});

test('a long stack is read from both ends', (t) => {
  const many = '    at step (/srv/app/src/a.js:1:1)\n'.repeat(5_000);
  const cut = truncateStack(
    `Error: x\n    at first (/srv/app/src/a.js:1:1)\n${many}Caused by: RangeError: y\n    at last (/srv/app/src/b.js:1:1)`,
  );
  t.true(cut.length <= maxStackLength);
  t.is(truncateStack(cut), cut);
  t.deepEqual(
    parseStack(cut).chain.map(({ type, frames }) => [type, frames[0]?.function]),
    [
      ['', 'first'],
      ['RangeError', 'last'],
    ],
  );
});

test('any text in a stack is parsed, and parsed the same way again', (t) => {
  const random = seeded(17);
  const all = stackCases.flatMap(({ same, others }) => [...same, ...others]);
  const pieces = [
    '(',
    ')',
    '@',
    ' at ',
    ':1:1',
    '/',
    '\\',
    '$',
    '<',
    '>',
    '\n',
    ' ',
    '\u0000',
    '\ud800',
    '[',
    '`',
    "'",
    '---> ',
    'Caused by: ',
    '9'.repeat(40),
    '#1 ',
    '0x',
  ];
  const pick = <Each>(from: readonly Each[]): Each => from[random(from.length)] as Each;
  for (let round = 0; round < 4_000; round++) {
    let stack = pick(all).stack ?? '';
    for (let change = random(8); change >= 0; change--) {
      const at = random(stack.length + 1);
      const piece = random(8) === 0 ? pick(pieces).repeat(random(3_000)) : pick(pieces);
      stack = stack.slice(0, at) + piece + stack.slice(at + random(20));
    }
    const thrown = { type: pick(all).type ?? '', message: stack, stack };
    const { id, components } = of(thrown);
    t.regex(id, /^f1-[0-9a-f]{16}$/);
    t.is(of({ ...thrown, stack: truncateStack(stack) }).id, id);
    t.true(JSON.stringify(components).length < 8_000);
  }
});

test('cached state of other errors does not change the result', (t) => {
  const all = stackCases.flatMap(({ same, others }) => [...same, ...others]);
  const first = all.map(of);
  // More than the cache retains.
  for (let at = 0; at < 3_000; at++)
    of({ message: 'x'.repeat(900), stack: `Error: x\n    at f${at} (/srv/${'y'.repeat(900)}.js:1:1)` });
  t.deepEqual(all.map(of), first);
  t.deepEqual(all.map(of), first);
  const pairs: readonly (readonly [Thrown, Thrown])[] = [
    [
      { type: 'ab', message: 'c' },
      { type: 'a', message: 'bc' },
    ],
    [{ message: 'no stock' }, { type: 'no stock' }],
  ];
  for (const pair of pairs) t.is(new Set([...pair, ...pair].map((each) => of(each).id)).size, 2);
  const failed = { type: '', message: '', stack: '' };
  t.not(
    computeFingerprint({ ...failed, operation: 'a', service: 'b' }).id,
    computeFingerprint({ ...failed, operation: 'ab' }).id,
  );
});

test('a stack crafted to be slow is parsed', (t) => {
  const lines = [
    'at ',
    'at (',
    ' at a(b',
    '@',
    '#1 ',
    '#1 (',
    '1: ',
    '1# ',
    'File "',
    'a:1:in `',
    '/a',
    '(((',
    'x:1',
    '---> ',
    ' in ',
  ].flatMap((piece) => [
    piece.repeat(20_000),
    `${piece.repeat(300)}\n`.repeat(600),
    `at ${piece.repeat(300)}\n`.repeat(600),
    `#1 ${piece.repeat(300)}:1)\n`.repeat(600),
  ]);
  for (const stack of lines) t.truthy(of({ type: 'Error', message: stack, stack }).id);
});
