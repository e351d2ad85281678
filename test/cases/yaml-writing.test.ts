/** YAML that the product writes, parsed by the rules of YAML 1.1 and 1.2. */
import test from 'ava';
import fc from 'fast-check';
import { parse } from 'yaml';
import { formatYamlComment, writeYaml } from '../../queries/yaml-writing.ts';

const readAs = (text: string) => [
  parse(text, { version: '1.2' }),
  parse(text, { version: '1.1', merge: true, maxAliasCount: 0 }),
];

const texts = [
  ...[
    'no',
    'On',
    'y',
    'null',
    '~',
    '',
    ' ',
    '1:20',
    '0o17',
    '0b1',
    '0x1F',
    '1_000',
    '.inf',
    '2026-02-31',
    '2026-11-25 25:00:00',
  ],
  ...['=', '<<', '- a', '#', 'a: b', '*a', '&a', '!x', '%x', '@', '`', '{', 'a\nb', ' a\n', '\t', '---', '...'],
  ...[
    '\x07',
    '\x1b',
    '\x7f',
    '\x80',
    '\x85',
    '\xa0',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\ufffe',
    '\uffff',
    'a\x7f\nb',
    '😀',
  ],
];

for (const text of texts)
  test(`${JSON.stringify(text).replace(/[\x7f-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16)}`)} is read back as a string, as a value and as a key`, (t) => {
    const value = { value: text, [`${text} `]: 1, [text]: [text] };
    for (const read of readAs(writeYaml(value))) t.deepEqual(read, value);
  });

test('any strings are read back, with any line width, and the output is printable', (t) => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...texts)).map((each) => each.toWellFormed());
  const value = fc.record({
    list: fc.array(text),
    map: fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      text,
    ),
  });
  fc.assert(
    fc.property(value, fc.constantFrom(0, 80), (input, lineWidth) => {
      const written = writeYaml(input, { lineWidth });
      t.notRegex(written, /[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]/);
      // A dictionary from fast-check has no prototype.
      for (const read of readAs(written)) t.deepEqual(JSON.stringify(read), JSON.stringify(input));
    }),
  );
});

test('a comment stays on one line', (t) => {
  t.is(formatYamlComment('a\nb: 1\r\u2028c\x85d\x7f'), '# a b: 1  c d \n');
});
