/** How many pages a person is sent: ten in five minutes, then one that counts the rest. */
import type { PageRate } from '../../schemas/resources/notification-delivery.ts';

const maxPages = 10;
const withinMs = 5 * 60_000;
/** Pages that are counted in one: more are counted as if they were the last. */
const maxCounted = 1000;

/** What is done with a page now. */
export type PageDecision =
  | { readonly kind: 'send'; readonly rest: NonNullable<PageRate['rest']>['counted'] }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'counted'; readonly inId: string };

/** What a person who was sent nothing of late is kept as. */
export const noPages: PageRate = { sent: [], rest: null };

/** Whose turn it is: pure, and the same for a page that asks again. */
export const decidePage = (
  { sent: all, rest }: PageRate,
  { id, title }: { readonly id: string; readonly title: string },
  nowMs: number,
): { readonly rate: PageRate; readonly decision: PageDecision } => {
  const sent = all.filter(({ atMs }) => nowMs - atMs < withinMs);
  const isRest = rest?.id === id;
  const counted = isRest ? rest.counted : [];
  if (sent.some((one) => one.id === id)) return { rate: { sent, rest }, decision: { kind: 'send', rest: counted } };
  // One that has not been sent long after it was due is not there any more.
  if (rest !== null && !isRest && !rest.isSent && nowMs < rest.dueMs + withinMs) {
    const others = rest.counted.filter((one) => one.id !== id).slice(0, maxCounted - 1);
    return {
      rate: { sent, rest: { ...rest, counted: [...others, { id, title }] } },
      decision: { kind: 'counted', inId: rest.id },
    };
  }
  const [oldest] = sent;
  if (sent.length < maxPages || oldest === undefined) {
    const after = { sent: [...sent, { id, atMs: nowMs }], rest: isRest ? { ...rest, isSent: true } : rest };
    return { rate: after, decision: { kind: 'send', rest: counted } };
  }
  const dueMs = oldest.atMs + withinMs;
  return { rate: { sent, rest: { id, dueMs, isSent: false, counted } }, decision: { kind: 'wait', untilMs: dueMs } };
};

/** A page that is withdrawn waits no more, unless others are counted in it: then it is sent for them. */
export const withdrawn = (rate: PageRate, id: string): PageRate | undefined => {
  const { rest } = rate;
  if (rest?.id !== id || rest.isSent) return rate;
  return rest.counted.length > 0 ? undefined : { ...rate, rest: null };
};
