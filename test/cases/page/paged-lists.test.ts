/** Lists with many pages: which pages are loaded, released and reloaded during scrolling. */
import './browser.ts';

import test from 'ava';
import type { z } from 'zod';
import type { Call } from '../../../web/client/call.ts';
import { PagedList } from '../../../web/client/pages.ts';
import { eventually, pagePatienceMs } from '../../waiting.ts';
import { answerWith, json, requests } from './browser.ts';

interface Page {
  readonly items: readonly number[];
  readonly nextCursor: string | null;
}
interface Operation {
  readonly method: 'GET';
  readonly path: '/api/things';
  readonly query: z.ZodType<unknown, Record<string, string | number>>;
  readonly response: z.ZodType<Page>;
}
const call: Call<Operation> = { method: 'GET', path: '/api/things' };

const perPage = 10;
const pages = 20;
/** Responds with the items of a page: the cursor is the page number. */
const answerWithPages = (): void =>
  answerWith(({ address }) => {
    const page = Number(new URL(address, 'https://oiq.example').searchParams.get('cursor') ?? 0);
    const items = Array.from({ length: perPage }, (_, index) => page * perPage + index);
    return json({ items, nextCursor: page + 1 < pages ? String(page + 1) : null });
  });

const soon = (what: string, condition: () => boolean): Promise<void> => eventually(what, condition, pagePatienceMs);

const openList = async (): Promise<PagedList<Operation, number>> => {
  answerWithPages();
  const list = new PagedList(call, ({ items }) => items, { laterPageSize: perPage });
  list.load({ query: { search: 'a', limit: 100 } });
  await soon('the first page', () => list.items.value.length > 0);
  return list;
};

/** Scrolls down by a page until the given one is the last loaded page. */
const scrollTo = async (list: PagedList<Operation, number>, page: number): Promise<void> => {
  for (let at = list.slots.value.length / perPage; at <= page; at++) {
    list.reportVisible((at - 1) * perPage, at * perPage - 1);
    await soon(`page ${at}`, () => list.slots.value.length > at * perPage && !list.isLoadingMore.value);
  }
};

/** Numbers of the pages in memory. */
const loaded = (list: PagedList<Operation, number>): number[] => [
  ...new Set(list.items.value.map((item) => Math.floor(item / perPage))),
];
const cursors = (): (string | null)[] =>
  requests.map(({ address }) => new URL(address, 'https://oiq.example').searchParams.get('cursor'));

test.serial('the next page is loaded at the end of the list, with the same parameters', async (t) => {
  const list = await openList();
  list.reportVisible(0, perPage - 2);
  t.is(requests.length, 1);
  await scrollTo(list, 1);
  t.deepEqual(
    requests.map(({ address }) => address),
    ['/api/things?search=a&limit=100', `/api/things?search=a&limit=${perPage}&cursor=1`],
  );
  t.deepEqual(list.items.value, [...Array(20).keys()]);
  t.true(list.hasMore.value);
});

test.serial(
  'pages are released only when they are more than five pages away, and loaded again on return',
  async (t) => {
    const list = await openList();
    await scrollTo(list, 12);
    list.reportVisible(12 * perPage, 12 * perPage + 1);
    t.deepEqual(loaded(list), [0, 7, 8, 9, 10, 11, 12], 'the first page and those near remain');
    t.is(list.slots.value.length, 13 * perPage, 'released rows remain empty rows');
    requests.length = 0;
    for (const page of [11, 10, 9, 8]) list.reportVisible(page * perPage, page * perPage + 1);
    t.deepEqual(cursors(), [], 'nothing near is loaded again');
    // The view reports the visible rows again when a page has arrived.
    await soon('page 6', () => {
      list.reportVisible(6 * perPage, 6 * perPage + 1);
      return loaded(list).includes(6);
    });
    t.deepEqual(cursors(), ['5', '6']);
    t.deepEqual(list.slots.value.slice(60, 62), [60, 61]);
  },
);

test.serial('a list that fails to load a page shows the reason, and a new search starts anew', async (t) => {
  const list = await openList();
  answerWith(() => json({ message: 'Too many.' }, 429));
  list.loadMore();
  await soon('the error', () => list.loadMoreError.value !== undefined);
  t.is(list.loadMoreError.value?.message, 'Too many.');
  t.is(list.items.value.length, perPage);
  answerWithPages();
  list.load({ query: { search: 'b' } });
  t.is(list.loadMoreError.value, undefined);
  await soon('the first page', () => !list.first.state.value.isLoading);
  t.deepEqual(
    requests.map(({ address }) => address),
    ['/api/things?search=b'],
  );
});

test.serial('cancelling a list cancels the page that is loading', async (t) => {
  const list = await openList();
  answerWith(() => new Promise(() => undefined));
  list.loadMore();
  list.loadMore();
  t.is(requests.length, 1, 'a page is loaded once');
  list.cancel();
  t.true(requests[0]?.signal?.aborted);
  t.false(list.isLoadingMore.value);
});
