/**
 * Regular expressions: RE2 in the engine and its port in this process accept and match the same, and the port takes
 * linear time.
 */
import test from 'ava';
import fc from 'fast-check';
import { compileRegex } from '../../queries/search/regex.ts';
import { openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const ofEngine = async (source: string, texts: readonly string[]): Promise<readonly boolean[] | undefined> => {
  try {
    const [row] = await tables.columns.query<{ found: readonly number[] }>(
      'SELECT arrayMap(text -> match(text, {source:String}), {texts:Array(String)}) AS found',
      { source, texts },
    );
    return row?.found.map((found) => found === 1);
  } catch {
    return undefined;
  }
};

const texts = [
  '',
  'a',
  'A',
  'ab',
  'abab',
  'b',
  'a b',
  'a\nb',
  '\n',
  'ab\n',
  '1',
  'a1_',
  'é',
  'É',
  'Ärger',
  '😀',
  'a😀b',
  '\u212a',
  'K',
  'k',
  's',
  'ſ',
  'a-b',
  'a.b',
  '[a]',
  '{2}',
  'a/b',
  '\t',
  '\u00a0',
  'x\0y',
  'α',
  'ǅ',
  '٣',
  '\\',
  'a*',
  `${'ab'.repeat(300)}c`,
];

const known = [
  'a',
  'a.b',
  '^a$',
  'a$',
  '^$',
  '\\bb',
  '\\Bb',
  '\\w',
  '\\W',
  '\\d',
  '\\s',
  '\\S+$',
  '[[:alpha:]]',
  '[^[:alpha:]]',
  '\\pL',
  '\\PL',
  '\\p{Greek}',
  '\\p{Lu}',
  '\\p{Lt}',
  '\\pN',
  '\\p{Nd}',
  '(?i)k',
  '(?i)s',
  '(?i)É',
  '(?i)ärger',
  '(?m)^b$',
  '(?s).',
  '(?-s).',
  '^(?-s:.)$',
  '(?U)a+b',
  '(?i:A)B',
  '(?P<n>a)',
  '(?<n>a)',
  'a{2}',
  '(ab){2,}',
  'a{,2}',
  'x{0}',
  '\\Qa.b\\E',
  '\\Qa*',
  '\\x61',
  '\\x{1F600}',
  '\\141',
  '\\07',
  '\\Aab',
  'b\\z',
  'a|',
  '()',
  '(|a)*',
  '[a-]',
  '[]a]',
  '[^]a]',
  '[\\w-]',
  '[\\]]',
  '\\/',
  '\\t',
  '\\n',
  '[\\n]',
  'a**',
  '(',
  ')',
  '[',
  'a{1001}',
  '((a{100}){100}){100}',
  '\\C',
  '\\Z',
  '\\u0061',
  '\\8',
  '(?=a)',
  '(?!a)',
  '(?<=a)b',
  '(?x) a',
  '\\p{Foo}',
  '[z-a]',
  '\\',
  '*a',
  '+',
  '?',
  'a++',
  '(?>a)',
  '\\1',
  '^*',
  '$*',
  '\\b+',
  '(?:)+',
  '(?i)\\p{Lu}',
  '(a{30}){30}',
  '(.{30}){30}',
  '(\\pL{9}){9}',
  '[^\\pL]{60}',
  '(?i)(straße|ärger){40}',
  '.{500}',
  '[^a]{500}',
  '(?i)[à-ý]{400}',
];

for (const source of known)
  test(`${source}: an accepted expression is also accepted by the engine, and both find the same`, async (t) => {
    const regex = compileRegex(source);
    if (typeof regex === 'string') t.not(regex, '');
    else
      t.deepEqual(
        texts.map((text) => regex.test(text)),
        await ofEngine(source, texts),
      );
  });

const piece = fc.constantFrom(
  'a',
  'b',
  'é',
  '.',
  '\\w',
  '\\d',
  '\\s',
  '\\b',
  '^',
  '$',
  '[ab]',
  '[^a]',
  '(?i:A)',
  '😀',
  '\\n',
  '-',
  '(?-s:.)',
  'ab',
);
const source = fc.letrec<{ any: string; row: string; choice: string; again: string; piece: string }>((tie) => ({
  any: fc.oneof({ maxDepth: 4, depthSize: 'medium' }, tie('piece'), tie('row'), tie('choice'), tie('again')),
  row: fc.tuple(tie('any'), tie('any')).map((parts) => parts.join('')),
  choice: fc.tuple(tie('any'), tie('any')).map((parts) => `(${parts.join('|')})`),
  again: fc
    .tuple(tie('any'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,3}'))
    .map(([inner, times]) => `(?:${inner})${times}`),
  piece,
})).any;

test('expressions that RE2 matches inside characters are rejected', (t) => {
  for (const expression of ['\\B', 'a\\Bb', '\\\\\\B']) t.is(compileRegex(expression), '`\\B` is not supported');
  t.not(typeof compileRegex('\\\\B'), 'string');
});

test('random expressions find the same texts in both', async (t) => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'A', 'é', ' ', '\n', '1', '-', '😀', '_'), { maxLength: 12 })
    .map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(source, fc.array(text, { minLength: 20, maxLength: 20 }), async (expression, some) => {
      const regex = compileRegex(expression);
      if (typeof regex === 'string') return;
      t.deepEqual(
        some.map((each) => regex.test(each)),
        await ofEngine(expression, some),
        expression,
      );
    }),
    { numRuns: 200, endOnFailure: true },
  );
});

// The regular expressions of JavaScript would practically never finish, so finishing is the assertion.
for (const expression of ['(x+x+)+y', '(x*)*y', '(x|x)*y', '(.*)(.*)(.*)(.*)(.*)z', '(\\b|x)*y'])
  test(`${expression} over a long text terminates`, (t) => {
    const regex = compileRegex(expression);
    t.false(typeof regex === 'string' || regex.test('x'.repeat(20_000)));
  });
