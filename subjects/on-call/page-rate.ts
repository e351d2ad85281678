/**
 * Limits the rate of pages per person: ten in five minutes, then one summary page for the remaining pages. A page counts
 * once, however many contacts of the person it uses.
 */
import type { PageRate } from '../../schemas/resources/notification-delivery.ts';

const maxPages = 10;
const windowMs = 5 * 60_000;
/** Maximum number of pages in one summary page; each further page replaces the last one */
const maxCountedPages = 1000;

/** Returns the key of a page, which all contacts of a person share: its incident and time. */
export const createPageKey = (incidentId: string, atMs: number): string => `${incidentId}@${atMs}`;

/** Returns the incident of a page key. */
export const getPageIncidentId = (pageKey: string): string => pageKey.replace(/@\d+$/, '');

/** Decision about a page */
export type PageDecision =
  | { readonly kind: 'send'; readonly rest: NonNullable<PageRate['rest']>['counted'] }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'counted'; readonly inId: string };

/** State of a person who received no recent pages */
export const noRecentPages: PageRate = { sent: [], rest: null };

/** Decides about a page. Pure, and idempotent for a page that is evaluated again. */
export const decidePage = (
  { sent: sentPages, rest }: PageRate,
  { id, title }: { readonly id: string; readonly title: string },
  nowMs: number,
): { readonly rate: PageRate; readonly decision: PageDecision } => {
  const recentPages = sentPages.filter(({ atMs }) => nowMs - atMs < windowMs);
  const isSummaryPage = rest?.id === id;
  const countedPages = isSummaryPage ? rest.counted : [];
  if (recentPages.some((page) => page.id === id))
    return { rate: { sent: recentPages, rest }, decision: { kind: 'send', rest: countedPages } };
  // A summary page that was not sent within the window after its due time is considered lost.
  if (rest !== null && !isSummaryPage && !rest.isSent && nowMs < rest.dueMs + windowMs) {
    const otherPages = rest.counted.filter((page) => page.id !== id).slice(0, maxCountedPages - 1);
    return {
      rate: { sent: recentPages, rest: { ...rest, counted: [...otherPages, { id, title }] } },
      decision: { kind: 'counted', inId: rest.id },
    };
  }
  const [oldestPage] = recentPages;
  if (recentPages.length < maxPages || oldestPage === undefined) {
    const nextRate = {
      sent: [...recentPages, { id, atMs: nowMs }],
      rest: isSummaryPage ? { ...rest, isSent: true } : rest,
    };
    return { rate: nextRate, decision: { kind: 'send', rest: countedPages } };
  }
  const dueMs = oldestPage.atMs + windowMs;
  return {
    rate: { sent: recentPages, rest: { id, dueMs, isSent: false, counted: countedPages } },
    decision: { kind: 'wait', untilMs: dueMs },
  };
};

/** Removes a withdrawn page, unless it counts other pages; in that case it is still sent. */
export const withdrawPage = (rate: PageRate, id: string): PageRate | undefined => {
  const { rest } = rate;
  if (rest?.id !== id || rest.isSent) return rate;
  return rest.counted.length > 0 ? undefined : { ...rate, rest: null };
};
