/** Searches stored records for threat indicators that were added later. */
import { z } from 'zod';
import { QueryError } from '../../queries/errors.ts';
import { hashOf } from '../../runtime/hash-of.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import { type IndicatorHunt, indicatorHunts } from '../../schemas/resources/threat-intel.ts';
import { topics } from '../../schemas/topics.ts';
import { type Hunted, huntIndicators } from '../../subjects/threat-intel/hunt.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { tenantReading } from '../engine/tenant-reading.ts';
import { hunting, huntMs, landedAfterMs } from '../hunting.ts';

const textOf = ({ records, isComplete, matches }: Hunted): string => {
  const found = `${records} log records were scanned, and ${matches.length} matches found.`;
  return isComplete
    ? found
    : `${found} The range has more records than one hunt scans: add fewer indicators, or shorten the range.`;
};

/** Builds the platform event with the result of a hunt. */
const toEvent = (tenantId: string, { id, toMs, sources }: IndicatorHunt & Stored, text: string): PlatformEvent => ({
  tenantId,
  projectId: '',
  kind: 'signal',
  severity: 'info',
  service: '',
  environment: '',
  link: '',
  id: hashOf('indicator-hunt', id),
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
  ...hunting,
  collection: indicatorHunts,
  everyMs: () => 1000,
  state: { version: 1, schema: z.boolean(), empty: () => false },
  emits: { matches: topics.threatMatches, events: topics.events },
  async run(hunt, { tenantId, state: isDone, emit, signal, ports }) {
    const nowMs = Date.now();
    if (isDone) {
      await ports.documents.of(tenantId).collection(indicatorHunts).delete(hunt.id);
      return true;
    }
    if (nowMs < hunt.toMs + landedAfterMs) return false;
    const reading = await tenantReading(ports, tenantId, nowMs);
    if (reading === undefined) return true;
    const until = performance.now() + huntMs;
    try {
      const isOver = (): boolean => signal.aborted || performance.now() > until;
      const found = await huntIndicators(hunt, { reading, tenantId }, { isOver });
      for (const match of found.matches) emit.matches(match);
      emit.events(toEvent(tenantId, hunt, textOf(found)));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      emit.events(toEvent(tenantId, hunt, `The hunt failed: ${error.message}`));
    }
    return true;
  },
});
