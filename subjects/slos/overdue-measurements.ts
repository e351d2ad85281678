/** Reports that an SLO has never had data, such as with a misspelt metric: its alerts cannot fire. */
import { computeHashId } from '../../runtime/hash-of.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { SloFields } from './document.ts';

/** Age of an SLO from which missing data is reported. */
const minAgeMs = 3_600_000;

/** Returns whether an SLO without data is old enough that this is not expected. */
export const isDataOverdue = ({ createdAt }: Pick<StoredMetadata, 'createdAt'>, nowMs: number): boolean =>
  nowMs - Date.parse(createdAt) >= minAgeMs;

/** Returns whether no slice of the window of an SLO has data, although it is old enough. */
export const hasNoData = (
  { coverage, measuredUpTo }: { readonly coverage: number | null; readonly measuredUpTo: string | null },
  document: Pick<StoredMetadata, 'createdAt'>,
  nowMs: number,
): boolean => measuredUpTo !== null && coverage === 0 && isDataOverdue(document, nowMs);

/** Returns the event that an SLO has no data. */
export const createNoDataEvent = (
  { id, name, service }: Pick<SloFields, 'name' | 'service'> & { readonly id: string },
  { tenantId, atMs, series }: { readonly tenantId: string; readonly atMs: number; readonly series: string },
): PlatformEvent => ({
  tenantId,
  projectId: '',
  kind: 'custom',
  severity: 'warning',
  service,
  environment: '',
  link: '',
  id: computeHashId('slo-no-data', id, series),
  at: new Date(atMs).toISOString(),
  title: `No data for the SLO ${name}`.slice(0, 256),
  text: 'None of its slices has had data so far, so its alerts cannot fire. Check its indicator, and whether its slice is longer than the interval of the points.',
  tags: {},
  actor: { type: 'system', id: 'slo-measurement' },
  details: { sloId: id },
});
