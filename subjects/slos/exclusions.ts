/** Maintenance windows that an SLO excludes */

import type { StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import { type MaintenanceWindow, maintenanceWindows } from '../../schemas/resources/maintenance-window.ts';
import { compileMatchers } from '../alerts/routing/matchers.ts';
import { findOccurrencesInRange } from '../maintenance-windows/windows.ts';
import type { IdentifiedSlo, SloFields } from './document.ts';
import type { Window } from './slices/windows.ts';

/** Maximum number of excluded periods of an SLO; the latest are used */
const maxPeriods = 2000;

/** Returns the labels by which a window applies to an SLO: those of all its alerts. */
const createSloLabels = ({ id, slo }: IdentifiedSlo): Record<string, string> => ({
  ...slo.query.alerting.labels,
  slo: slo.name,
  slo_id: id,
  ...(slo.service !== '' && { service: slo.service }),
});

/** A window with projects applies to their alerts, and an SLO belongs to no project. */
const appliesTo = (
  identifiedSlo: IdentifiedSlo,
  { excludedFromSlos, matchers, projectIds }: MaintenanceWindow,
): boolean =>
  excludedFromSlos && projectIds.length === 0 && compileMatchers(matchers).matches(createSloLabels(identifiedSlo));

/** Returns disjoint periods in order; adjacent ones are merged. */
const mergePeriods = (times: readonly Window[]): Window[] => {
  const result: Window[] = [];
  for (const time of times.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const last = result.at(-1);
    if (last !== undefined && time.fromMs <= last.toMs)
      result[result.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, time.toMs) };
    else result.push(time);
  }
  return result;
};

/**
 * Returns the periods that an SLO excludes from a range: full slices that overlap maintenance. Empty if the SLO does
 * not exclude maintenance.
 */
export const findExcludedPeriods = (
  identifiedSlo: IdentifiedSlo,
  windows: readonly MaintenanceWindow[],
  range: Window,
  sliceMs: number,
): Window[] => {
  if (!identifiedSlo.slo.query.excludeMaintenance) return [];
  const occurrences = windows
    .filter((window) => appliesTo(identifiedSlo, window))
    .flatMap((window) => findOccurrencesInRange(window, range));
  const slicePeriods = occurrences.map(({ fromMs, toMs }) => ({
    fromMs: Math.max(Math.floor(fromMs / sliceMs) * sliceMs, range.fromMs),
    toMs: Math.min(Math.ceil(toMs / sliceMs) * sliceMs, range.toMs),
  }));
  return mergePeriods(slicePeriods.filter(({ fromMs, toMs }) => fromMs < toMs)).slice(-maxPeriods);
};

/** Returns the maintenance windows of an organization that SLOs exclude. */
export const readExclusions = async (
  documents: Pick<TenantDocuments, 'collection'>,
  slos: readonly Pick<SloFields, 'query'>[],
): Promise<readonly (MaintenanceWindow & StoredMetadata)[]> => {
  if (!slos.some(({ query }) => query.excludeMaintenance)) return [];
  const { items } = await documents
    .collection(maintenanceWindows)
    .list({ filter: { excludedFromSlos: true }, limit: 1000 });
  return items;
};
