/** Searches as the page parses them: the same errors as the API, and suggestions at the caret. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { QueryError } from '../../queries/errors.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { insertSuggestion, nameFormat, nameListFormat, parseInput } from '../../web/search/completion.ts';
import { findSearchProblem } from '../../web/search/problem.ts';

const reference = readFileSync(new URL('../../docs/reference/search-language.md', import.meta.url), 'utf8');
/** All searches in the tables of the reference page. */
const searches = [...reference.matchAll(/^\| `(.*?)` \| ?(.*?) ?\|$/gm)].map(([, search = '']) =>
  search.replaceAll('\\|', '|'),
);

const apiProblem = (search: string, signal: 'logs' | 'traces'): string | undefined => {
  try {
    parseSearch(search, signal);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};

for (const signal of ['logs', 'traces'] as const)
  test(`the page gives the same errors as the API for searches of ${signal}, except for RE2 expressions`, (t) => {
    t.true(searches.length > 60);
    for (const search of searches) {
      const problem = apiProblem(search, signal);
      t.is(findSearchProblem(search, signal), problem?.includes('expression of RE2') ? undefined : problem, search);
    }
  });

const cases: readonly (readonly [text: string, typed: object | undefined, chosen?: string, becomes?: string])[] = [
  ['|', { kind: 'name', prefix: '' }, 'service', 'service:|'],
  ['step serv|', { kind: 'name', prefix: 'serv' }, 'service', 'step service:|'],
  ['(-http.r|', { kind: 'name', prefix: 'http.r' }, 'http.route', '(-http.route:|'],
  ['order i|', { kind: 'name', prefix: 'i' }, 'order id', 'order "order id":|'],
  ['service:|', { kind: 'value', name: 'service', prefix: '' }, 'cart', 'service:cart |'],
  ['service:ca| declined', { kind: 'value', name: 'service', prefix: 'ca' }, 'cart', 'service:cart| declined'],
  ['took:>=1|', { kind: 'value', name: 'took', prefix: '1' }, '12.5', 'took:>=12.5 |'],
  ['"order id":4|', { kind: 'value', name: 'order id', prefix: '4' }, '42', '"order id":42 |'],
  ['user:"an|', { kind: 'value', name: 'user', prefix: 'an' }, 'an "x"', 'user:"an \\"x\\"" |'],
  ['"a phrase ser|', undefined],
  ['user:"ann"|', undefined],
];
for (const [marked, typed, chosen, becomes] of cases)
  test(`typed ${marked}: ${typed === undefined ? 'nothing is suggested' : becomes}`, (t) => {
    const caret = marked.indexOf('|');
    const text = marked.replace('|', '');
    const found = parseInput(text, caret);
    if (typed === undefined) {
      t.is(found, undefined);
      return;
    }
    t.like(found, typed);
    if (found === undefined || chosen === undefined) return;
    const next = insertSuggestion(text, found, chosen);
    t.is(`${next.text.slice(0, next.caret)}|${next.text.slice(next.caret)}`, becomes ?? '');
  });

test('in a list of names, a suggestion replaces the name at the caret', (t) => {
  for (const [marked, prefix, becomes] of [
    ['ser|', 'ser', 'service|'],
    ['host.name, |', '', 'host.name, service|'],
    ['host.name, se|r , zone', 'se', 'host.name, service| , zone'],
  ] as const) {
    const caret = marked.indexOf('|');
    const text = marked.replace('|', '');
    const typed = nameListFormat.parse(text, caret);
    if (typed === undefined) throw new Error(marked);
    t.is(typed.prefix, prefix, marked);
    const next = nameListFormat.insert(text, typed, 'service');
    t.is(`${next.text.slice(0, next.caret)}|${next.text.slice(next.caret)}`, becomes);
  }
  const typed = nameFormat.parse('old name', 3);
  t.is(typed === undefined ? '' : nameFormat.insert('old name', typed, 'new').text, 'new');
});
