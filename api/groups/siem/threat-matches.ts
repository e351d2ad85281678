import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  buildIndicatorKey,
  indicatorTypes,
  type ThreatIndicator,
  threatIndicators,
} from '../../../schemas/resources/threat-intel.ts';
import { finishHistoryPage, historyParameters, parseHistoryPage } from '../../../subjects/events/history-page.ts';
import { readMatches, type StoredMatch } from '../../../subjects/threat-intel/stored-matches.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const ShortText = z.string().min(1).max(512).optional();

const MatchView = z.strictObject({
  id: z.string(),
  time: z.iso.datetime().describe('Time of the first record'),
  lastTime: z.iso.datetime().describe('Time of the latest known record'),
  count: z.int().describe('Records of the same entity that contain it, within an hour'),
  indicator: z.strictObject({
    type: z.enum(indicatorTypes),
    value: z.string(),
    source: z.string(),
    score: z.int().describe('Score at the time of the first record'),
    id: z.string().nullable().describe('null if it no longer exists'),
    name: z.string(),
    tags: z.array(z.string()),
  }),
  field: z.string().describe('Field of the first record that contains it'),
  observed: z.string().describe('Value in the first record, in original spelling'),
  recordId: z.string().describe('Id of the first record for `GET /api/logs/{id}`'),
  projectId: z.string(),
  service: z.string(),
  host: z.string(),
  user: z.string(),
  retroHunt: z.boolean().describe('Whether it was found in records stored before the indicator'),
});

const getIndicatorKey = ({ source, type, value }: StoredMatch): string => buildIndicatorKey(source, type, value);

const readIndicators = async (
  tenantDocuments: TenantDocuments,
  matches: readonly StoredMatch[],
): Promise<ReadonlyMap<string, ThreatIndicator & StoredMetadata>> => {
  const keys = [...new Set(matches.map(getIndicatorKey))];
  const { items } = await tenantDocuments
    .collection(threatIndicators)
    .list({ filter: { key: { $in: keys } }, limit: Math.max(1, keys.length) });
  return new Map(items.map((item) => [item.key, item]));
};

const toView = (
  match: StoredMatch,
  indicator: (ThreatIndicator & StoredMetadata) | undefined,
): z.input<typeof MatchView> => ({
  id: match.id,
  time: new Date(Number(match.ms)).toISOString(),
  count: Number(match.total),
  lastTime: new Date(Number(match.last_ms)).toISOString(),
  indicator: {
    type: match.type,
    value: match.value,
    source: match.source,
    score: match.score,
    id: indicator?.id ?? null,
    name: indicator?.name ?? '',
    tags: [...(indicator?.tags ?? [])],
  },
  field: match.field,
  observed: match.observed,
  recordId: match.record_id,
  projectId: match.project,
  service: match.service,
  host: match.host,
  user: match.user,
  retroHunt: match.retro_hunt,
});

export const listThreatMatches = defineOperation({
  method: 'GET',
  path: '/api/siem/threat-intel/matches',
  operationId: 'listThreatMatches',
  summary: 'List matches of threat indicators in log records, the newest first',
  role: 'viewer',
  query: z.strictObject({
    ...historyParameters,
    type: z.enum(indicatorTypes).optional(),
    value: z.string().min(1).max(4096).optional().describe('Value of the indicator'),
    source: ShortText.describe('Source of the indicator: a feed, or the name given to an import'),
    field: ShortText.describe('Field of the record'),
    service: ShortText,
    host: ShortText,
    user: ShortText,
    minScore: z.coerce.number().int().min(1).max(100).optional().describe('Minimum score'),
    projectId: z.string().max(128).optional(),
  }),
  response: z.strictObject({ items: z.array(MatchView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = parseHistoryPage('threat-matches', query, reader);
    const rows = await readMatches(reader, query, page);
    const { shown: pageMatches, nextCursor } = finishHistoryPage('threat-matches', rows, {
      ...page,
      limit: query.limit,
      getId: ({ id }) => id,
    });
    const indicators = await readIndicators(ports.documents.forTenant(caller.tenantId), pageMatches);
    return { items: pageMatches.map((match) => toView(match, indicators.get(getIndicatorKey(match)))), nextCursor };
  },
});
