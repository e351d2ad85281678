/** How well runbooks are found by texts of alerts, among each other and the handbook. */
import { readHandbook } from '../../../subjects/runbooks/handbook.ts';
import { PassageIndex, type Source } from '../../../subjects/runbooks/passage-index.ts';
import { readDocument } from '../../../subjects/runbooks/passages.ts';
import type { Written } from './grown-with.ts';

/**
 * The shares of alerts whose runbook ranks first, and among the first five; `missed` has the titles of the others with
 * the top result.
 */
export const foundFor = async (queries: readonly Written[], among: readonly Written[]) => {
  const index = new PassageIndex();
  for (const book of await readHandbook()) await index.add(`handbook:${book.id}`, book);
  for (const { title, content } of among) {
    const { passages } = readDocument(content, 'markdown');
    await index.add(title, { source: 'document', id: title, title, url: '', passages });
  }
  const from: ReadonlySet<Source> = new Set<Source>(['document', 'handbook']);
  const places = queries.map(({ title, alert }) => {
    const books = [...new Set(index.search(alert, { from, limit: 50 }).map(({ origin }) => origin.id))];
    return { title, place: books.indexOf(title) + 1 || Number.POSITIVE_INFINITY, first: books[0] };
  });
  const within = (max: number): number => places.filter(({ place }) => place <= max).length / places.length;
  return { first: within(1), five: within(5), missed: places.filter(({ place }) => place > 1) };
};
