/** Pages as people had them: each once, however many contacts told of it; and how many each person had, of these at night. */
import type { EscalationAction } from '../../schemas/resources/escalation.ts';
import { isNightAt } from './hours.ts';

/** A page of one person, or of a channel. */
export interface Paged {
  /** That of its first delivery. */
  readonly id: string;
  readonly incidentId: string;
  /** ISO-8601. */
  readonly at: string;
  readonly to: { readonly kind: 'person' | 'channel'; readonly id: string; readonly name: string };
  readonly round: number;
  /** `null` for pages of the owners. */
  readonly step: number | null;
  /** What the person calls the contacts that were told; none for mail to the account. */
  readonly contacts: readonly string[];
  readonly isAtNight: boolean;
}

/** Pages, in the order of what escalation did. Nights are those of the time zone. */
export const pagedBy = (
  actions: readonly (EscalationAction & { readonly id: string })[],
  timeZone: string,
): Paged[] => {
  const pages = new Map<string, Paged>();
  for (const { id, incidentId, at, kind, round, step, to } of actions) {
    if (kind !== 'page' || to === null) continue;
    const key = JSON.stringify([incidentId, at, round, step, to.kind, to.id]);
    const contacts = [...(pages.get(key)?.contacts ?? []), ...(to.contact === undefined ? [] : [to.contact])];
    const isAtNight = isNightAt(Date.parse(at), timeZone);
    const { kind: whom, id: whomId, name } = to;
    const page = { id, incidentId, at, to: { kind: whom, id: whomId, name }, round, step, contacts, isAtNight };
    pages.set(key, { ...page, id: pages.get(key)?.id ?? id });
  }
  return [...pages.values()];
};

export interface PagedFigures {
  readonly pages: number;
  readonly atNight: number;
}

export const pagedFigures = (pages: readonly Paged[]): PagedFigures => ({
  pages: pages.length,
  atNight: pages.filter(({ isAtNight }) => isAtNight).length,
});

/** Of each person who was paged, those with the most pages first. */
export const pagedByPerson = (pages: readonly Paged[]): (PagedFigures & { readonly userId: string })[] =>
  [
    ...Map.groupBy(
      pages.filter(({ to }) => to.kind === 'person'),
      ({ to }) => to.id,
    ),
  ]
    .map(([userId, own]) => ({ userId, ...pagedFigures(own) }))
    .sort((one, other) => other.pages - one.pages || (one.userId < other.userId ? -1 : 1));
