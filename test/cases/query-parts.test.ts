/** What a request selects in addition to its search. */
import test from 'ava';
import { parseSearch } from '../../queries/search/parse.ts';
import { toQueryParts } from '../../queries/search/query-parts.ts';
import type { Search } from '../../queries/search/tree.ts';

const searches = ['payment', 'a OR b', '\\', 'payment \\', 'took:a\\', '"payment failed"', '/re\\//', '-a'];

/** Removes the functions of expressions. */
const shape = (search: Search): unknown => JSON.parse(JSON.stringify(search));

for (const search of searches)
  test(`${search} has the same meaning in combination with a service`, (t) => {
    const alone = parseSearch(search, 'logs');
    t.deepEqual(shape(parseSearch(toQueryParts('logs', { search }).search ?? '', 'logs')), shape(alone));
    const { search: both = '' } = toQueryParts('logs', { search, service: 'shop' });
    const expected = `service:shop AND (${search} )`;
    t.deepEqual(shape(parseSearch(both, 'logs')), shape(parseSearch(expected, 'logs')));
  });
