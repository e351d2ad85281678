/** Reports that an SLO has never had data, such as with a misspelt metric: its alerts cannot fire. */
import type { PlatformEvent } from '../../schemas/events.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { createNoDataEvent, isDataOverdue } from '../empty-results/empty-results.ts';
import type { SloFields } from './document.ts';

/** Returns whether no slice of the window of an SLO has data, although it is old enough. */
export const hasNoData = (
  { coverage, measuredUpTo }: { readonly coverage: number | null; readonly measuredUpTo: string | null },
  { createdAt }: Pick<StoredMetadata, 'createdAt'>,
  nowMs: number,
): boolean => measuredUpTo !== null && coverage === 0 && isDataOverdue(createdAt, nowMs);

/** Returns the event that an SLO has no data. */
export const createSloNoDataEvent = (
  { id, name, service }: Pick<SloFields, 'name' | 'service'> & { readonly id: string },
  { series, ...context }: { readonly tenantId: string; readonly atMs: number; readonly series: string },
): PlatformEvent =>
  createNoDataEvent(
    {
      title: `No data for the SLO ${name}`,
      text: 'None of its slices has had data so far, so its alerts cannot fire. Check its indicator, and whether its slice is longer than the interval of the points.',
      service,
      details: { sloId: id },
    },
    { ...context, projectId: null, version: series, actorId: 'slo-measurement' },
  );
