/**
 * Slashes: the order of terms, including paths and regular expressions, does not change the meaning, or the search is
 * rejected.
 */
import test from 'ava';
import fc from 'fast-check';
import { QueryError } from '../../queries/errors.ts';
import { parseSearch } from '../../queries/search/parse.ts';

/** A search tree as text, regardless of the order of its parts. */
const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(textOf).sort().join()}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value).map(([key, each]) => `${key}:${textOf(each)}`)}}`;
};

const meaning = (search: string): string => {
  try {
    return textOf(parseSearch(search, 'traces'));
  } catch (error) {
    if (error instanceof QueryError) return `refused: ${error.message}`;
    throw error;
  }
};

const paths = ['/', '/checkout', '/api/users', '/cart/{id}', '/cart/*', '/a-b.c', '"/api/users/"', '"/"', '"/a b/"'];
const expressions = ['/^POST/', '/x/', '/a\\/b/', '/\\d+ms$/', '/(?i)get (one|two)/', '/order accepted [0-9]+/'];
const words = ['checkout', 'cart/', 'usr/lib/', 'https://a.example/', '"two words"', 'na*', 'a/b', '(one OR two)'];
const values = fc.constantFrom(...paths, ...expressions, ...words);
const names = fc.constantFrom('', '', 'name:', 'http.route:', 'app.kubernetes.io/name:', '"n n":');
const term = fc
  .tuple(fc.constantFrom('', '', '', 'NOT ', '('), names, values)
  .map(([before, name, value]) => `${before}${name}${value}${before === '(' ? ')' : ''}`);

const refused = /^refused/;

const quoteRequestPattern = /^refused: column \d+: this may be a path or a regular expression: quote the path/;

test('a search of two terms gives the same result in reverse order', (t) => {
  const understood = { true: 0, false: 0 };
  fc.assert(
    fc.property(term, term, (first, second) => {
      const meanings = [meaning(`${first} ${second}`), meaning(`${second} ${first}`)] as const;
      const problems = meanings.filter((each) => refused.test(each));
      understood[`${problems.length === 0}`]++;
      for (const problem of problems) t.regex(problem, quoteRequestPattern, `${first} ${second}`);
      if (problems.length === 0) t.is(...meanings, `${first} ${second}`);
    }),
    { numRuns: 5_000 },
  );
  t.true(understood.true > understood.false, 'most are understood');
});

test('a term has the same meaning alone and with another term', (t) => {
  fc.assert(
    fc.property(term, term, (first, second) => {
      const [one, other, both] = [meaning(first), meaning(second), meaning(`(${first}) AND (${second})`)];
      const plain = meaning(`${first} AND ${second}`);
      if (![one, other, both, plain].some((each) => refused.test(each))) t.is(both, plain, `${first} AND ${second}`);
    }),
    { numRuns: 2_000 },
  );
});

test('a path before a regular expression is a path', (t) => {
  const quoted = meaning('http.route:"/checkout" name:/^POST/');
  t.is(meaning('http.route:/checkout name:/^POST/'), quoted);
  t.is(meaning('(http.route:/checkout) name:/^POST/'), quoted);
  t.is(
    meaning('http.route:/api/users AND (name:/^POST/ OR x)'),
    meaning('http.route:"/api/users" (name:/^POST/ OR x)'),
  );
});

test('an ambiguous path or regular expression is rejected, and the error suggests a fix', (t) => {
  for (const search of [
    '/api/users/',
    '/GET /api/',
    '/checkout cart/',
    'http.route:/checkout name:cart/',
    'http.route:(/a OR /b/)',
  ])
    t.is(
      meaning(search),
      `refused: column ${search.indexOf('/') + 1}: this may be a path or a regular expression: quote the path, or write \\/ and \\s for slashes and spaces in the expression`,
      search,
    );
});

test('a regular expression can contain spaces and escaped slashes', (t) => {
  for (const search of ['/order [0-9]+ accepted/', '/GET \\/api/', '/a\\sb\\/c/'])
    t.regex(meaning(search), /regex:/, search);
});
