/**
 * Groups and counts the pages of each person. A page counts once, even if several contacts delivered it; pages at
 * night are also counted separately.
 */
import type { EscalationAction } from '../../schemas/resources/escalation.ts';
import { isNightAt } from './hours.ts';

/** A page of one person or channel */
export interface PageEntry {
  /** Id of the page's first delivery */
  readonly id: string;
  readonly incidentId: string;
  /** ISO-8601. */
  readonly at: string;
  readonly to: { readonly kind: 'person' | 'channel'; readonly id: string; readonly name: string };
  readonly round: number;
  /** Step of the policy; `null` for pages of the owners */
  readonly step: number | null;
  /** Names of the contacts that were notified; empty for the account's email */
  readonly contacts: readonly string[];
  readonly isAtNight: boolean;
}

/** Returns pages in the order of the escalation actions. Nights are those of the time zone. */
export const groupPages = (
  actions: readonly (EscalationAction & { readonly id: string })[],
  timeZone: string,
): PageEntry[] => {
  const pages = new Map<string, PageEntry>();
  for (const { id, incidentId, at, kind, round, step, to } of actions) {
    if (kind !== 'page' || to === null) continue;
    const key = JSON.stringify([incidentId, at, round, step, to.kind, to.id]);
    const contacts = [...(pages.get(key)?.contacts ?? []), ...(to.contact === undefined ? [] : [to.contact])];
    const isAtNight = isNightAt(Date.parse(at), timeZone);
    const { kind: recipientKind, id: recipientId, name } = to;
    const page = {
      id,
      incidentId,
      at,
      to: { kind: recipientKind, id: recipientId, name },
      round,
      step,
      contacts,
      isAtNight,
    };
    pages.set(key, { ...page, id: pages.get(key)?.id ?? id });
  }
  return [...pages.values()];
};

export interface PageCounts {
  readonly pages: number;
  readonly atNight: number;
}

export const countPages = (pages: readonly PageEntry[]): PageCounts => ({
  pages: pages.length,
  atNight: pages.filter(({ isAtNight }) => isAtNight).length,
});

/** Returns the page counts of each paged person, in descending order of pages. */
export const countPagesByUser = (pages: readonly PageEntry[]): (PageCounts & { readonly userId: string })[] =>
  [
    ...Map.groupBy(
      pages.filter(({ to }) => to.kind === 'person'),
      ({ to }) => to.id,
    ),
  ]
    .map(([userId, personPages]) => ({ userId, ...countPages(personPages) }))
    .sort((left, right) => right.pages - left.pages || (left.userId < right.userId ? -1 : 1));
