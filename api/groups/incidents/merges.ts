/** Finds incidents that may be duplicates, with the evidence. */
import { withTimeout } from '../../../runtime/timeout.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import {
  findMergeable,
  type MergeSuggestion,
  mergeableWithinMs,
  suggestMerges,
} from '../../../subjects/incidents/merges.ts';
import { readCallsBetween } from '../../../subjects/services/calls.ts';
import type { TimelineContext } from './timeline-sources.ts';

/** Maximum number of compared incidents, the newest first */
const maxComparedIncidents = 100;
const maxReadMs = 4000;
/** Time range of calls before and after the opening of the later incident */
const callMarginMs = 1_800_000;

const toIsoTime = (ms: number): string => new Date(ms).toISOString();
const toNanoseconds = (ms: number): bigint => BigInt(ms) * 1_000_000n;

/**
 * Returns the suggested merges. If the calls between services cannot be read, `missing` says so, and only incidents of
 * the same service are suggested.
 */
export const readMergeSuggestions = async (
  incident: Incident & StoredMetadata,
  { tenantId, reader, ports }: TimelineContext,
): Promise<{ readonly suggestions: readonly MergeSuggestion[]; readonly missing: readonly string[] }> => {
  const openedMs = Date.parse(incident.openedAt);
  const { items } = await ports.documents
    .forTenant(tenantId)
    .collection(incidents)
    .list({
      filter: {
        status: { $in: ['open', 'acknowledged'] },
        openedAt: { $gte: toIsoTime(openedMs - mergeableWithinMs), $lte: toIsoTime(openedMs + mergeableWithinMs) },
      },
      sort: { openedAt: -1 },
      limit: maxComparedIncidents,
    });
  const candidates = findMergeable(incident, items).filter(({ services }) => services.length > 0);
  if (candidates.length === 0) return { suggestions: [], missing: [] };
  const services = [...new Set([incident, ...candidates].flatMap((each) => each.services))];
  const laterMs = Math.max(openedMs, ...candidates.map((candidate) => Date.parse(candidate.openedAt)));
  const range = { from: toNanoseconds(openedMs - callMarginMs), to: toNanoseconds(laterMs + callMarginMs) };
  const [callsResult] = await Promise.allSettled([withTimeout(maxReadMs, readCallsBetween(reader, services, range))]);
  if (callsResult.status === 'rejected')
    ports.log.warn({ error: callsResult.reason }, 'calls between services could not be read');
  const calls = callsResult.status === 'fulfilled' ? callsResult.value : [];
  return {
    suggestions: suggestMerges(incident, candidates, calls),
    missing: callsResult.status === 'fulfilled' ? [] : ['calls between services'],
  };
};
