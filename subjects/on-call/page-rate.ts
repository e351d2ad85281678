/** Rate limit of pages per person: ten in five minutes, then one page with the number of the others */
import type { PageRate } from '../../schemas/resources/notification-delivery.ts';

const maxPages = 10;
const windowMs = 5 * 60_000;
/** Maximum number of pages counted in one summary page; further pages count as the last one */
const maxCountedPages = 1000;

/** Decision about a page */
export type PageDecision =
  | { readonly kind: 'send'; readonly rest: NonNullable<PageRate['rest']>['counted'] }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'counted'; readonly inId: string };

/** State of a person who received no recent pages */
export const noRecentPages: PageRate = { sent: [], rest: null };

/** Decides about a page. Pure, and idempotent for a page that is evaluated again. */
export const decidePage = (
  { sent: all, rest }: PageRate,
  { id, title }: { readonly id: string; readonly title: string },
  nowMs: number,
): { readonly rate: PageRate; readonly decision: PageDecision } => {
  const sent = all.filter(({ atMs }) => nowMs - atMs < windowMs);
  const isSummaryPage = rest?.id === id;
  const counted = isSummaryPage ? rest.counted : [];
  if (sent.some((one) => one.id === id)) return { rate: { sent, rest }, decision: { kind: 'send', rest: counted } };
  // A summary page that was not sent long after its due time no longer exists.
  if (rest !== null && !isSummaryPage && !rest.isSent && nowMs < rest.dueMs + windowMs) {
    const others = rest.counted.filter((one) => one.id !== id).slice(0, maxCountedPages - 1);
    return {
      rate: { sent, rest: { ...rest, counted: [...others, { id, title }] } },
      decision: { kind: 'counted', inId: rest.id },
    };
  }
  const [oldest] = sent;
  if (sent.length < maxPages || oldest === undefined) {
    const after = { sent: [...sent, { id, atMs: nowMs }], rest: isSummaryPage ? { ...rest, isSent: true } : rest };
    return { rate: after, decision: { kind: 'send', rest: counted } };
  }
  const dueMs = oldest.atMs + windowMs;
  return { rate: { sent, rest: { id, dueMs, isSent: false, counted } }, decision: { kind: 'wait', untilMs: dueMs } };
};

/** Removes a withdrawn page, unless it counts other pages; in that case it is still sent. */
export const withdrawPage = (rate: PageRate, id: string): PageRate | undefined => {
  const { rest } = rate;
  if (rest?.id !== id || rest.isSent) return rate;
  return rest.counted.length > 0 ? undefined : { ...rate, rest: null };
};
