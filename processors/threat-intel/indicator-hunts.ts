/** Searches stored records for threat indicators that were added later. */
import { z } from 'zod';
import { QueryError } from '../../queries/errors.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { type IndicatorHunt, indicatorHunts } from '../../schemas/resources/threat-intel.ts';
import { topics } from '../../schemas/topics.ts';
import { type HuntResult, huntIndicators } from '../../subjects/threat-intel/hunt.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { huntScheduleOptions, maxHuntMs, storageDelayMs } from '../hunting.ts';

const describeHunt = ({ records, isComplete, matches }: HuntResult): string => {
  const summary = `${records} log records were scanned, and ${matches.length} matches found.`;
  return isComplete
    ? summary
    : `${summary} The range has more records than one hunt scans: add fewer indicators, or shorten the range.`;
};

/** Builds the platform event with the result of a hunt. */
const toEvent = (
  tenantId: string,
  { id, toMs, sources }: IndicatorHunt & StoredMetadata,
  text: string,
): PlatformEvent => ({
  tenantId,
  projectId: '',
  kind: 'signal',
  severity: 'info',
  service: '',
  environment: '',
  link: '',
  id: computeHashId('indicator-hunt', id),
  at: new Date(toMs).toISOString(),
  title: `Hunt for indicators of ${sources.join(', ')} in stored logs`.slice(0, 256),
  text,
  tags: {},
  actor: { type: 'system', id: 'indicator-hunts' },
  details: { huntId: id },
});

/** Schedule of indicator hunts. Matches are emitted once with the state; the next run removes the document. */
export const indicatorHunting = defineSchedule({
  name: 'indicator-hunts',
  summary: 'Searches stored log records for new threat indicators.',
  ...huntScheduleOptions,
  collection: indicatorHunts,
  everyMs: () => 1000,
  state: { version: 1, schema: z.boolean(), empty: () => false },
  emits: { matches: topics.threatMatches, events: topics.events },
  async run(hunt, { tenantId, state: isDone, emit, signal, ports }) {
    const nowMs = Date.now();
    if (isDone) {
      await ports.documents.forTenant(tenantId).collection(indicatorHunts).delete(hunt.id);
      return true;
    }
    if (nowMs < hunt.toMs + storageDelayMs) return false;
    const reader = await openTenantReader(ports, tenantId, nowMs);
    if (reader === undefined) return true;
    const deadlineMs = performance.now() + maxHuntMs;
    try {
      const isTimeOver = (): boolean => signal.aborted || performance.now() > deadlineMs;
      const result = await huntIndicators(hunt, { reader, tenantId }, { isTimeUp: isTimeOver });
      for (const match of result.matches) emit.matches(match);
      emit.events(toEvent(tenantId, hunt, describeHunt(result)));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      emit.events(toEvent(tenantId, hunt, `The hunt failed: ${error.message}`));
    }
    return true;
  },
});
