import './browser.ts';
/** History of queries: the last 20, each once; unrelated content of the browser storage is ignored. */
import test from 'ava';
import { type PastQuery, parseQueries, prependQuery } from '../../../web/search/query-history.ts';

const query = (title: string): PastQuery => ({ title, parameters: { search: title } });

test('a query that runs again moves to the start, and the twenty-first leaves the history', (t) => {
  const titles = Array.from({ length: 25 }, (_, index) => `query ${index}`);
  let queries: readonly PastQuery[] = [];
  for (const title of titles) queries = prependQuery(queries, query(title));
  t.deepEqual(
    queries.map(({ title }) => title),
    titles.slice(5).reverse(),
  );
  t.deepEqual(
    prependQuery(queries, query('query 7')).map(({ title }) => title),
    [
      'query 7',
      ...titles
        .slice(5)
        .reverse()
        .filter((title) => title !== 'query 7'),
    ],
  );
});

test('stored text that is not a history is ignored', (t) => {
  for (const text of [
    null,
    '',
    '{',
    '1',
    'null',
    '{"logs":1}',
    '{"logs":[null,{"title":1},{"title":"a","parameters":{"search":1}}]}',
  ])
    t.deepEqual(parseQueries(text)['logs'] ?? [], [], String(text));
  t.deepEqual(parseQueries(JSON.stringify({ logs: [query('a'), 1] })), { logs: [query('a')] });
});
