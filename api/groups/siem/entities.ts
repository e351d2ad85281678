import { z } from 'zod';
import {
  cursorParameter,
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  nonEmptyTextPattern,
  uint64Pattern,
} from '../../../queries/cursor.ts';
import { getRetentionDays } from '../../../queries/range.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { signalSeverities } from '../../../schemas/signals.ts';
import { type EntityRisk, type RiskQuery, readEntityRisk } from '../../../subjects/detections/entity-risk.ts';
import { entityTypes } from '../../../subjects/detections/fields/entities.ts';
import type { Caller } from '../../callers/caller.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { readDecidedSignalIds } from './decided-signals.ts';

const parameters = {
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(90)
    .default(14)
    .describe('Number of days whose signals count, within the retention'),
  halfLifeHours: z.coerce
    .number()
    .int()
    .min(1)
    .max(2160)
    .default(24)
    .describe(
      "Half-life of a signal's risk in hours: half of the risk remains after this time, a quarter after twice this time",
    ),
};

const Entity = z.strictObject({
  type: z.string(),
  value: z.string(),
  score: z.number().describe('Sum of the shares of its signals'),
  signals: z.int(),
  lastSignalAt: z.iso.datetime(),
  shares: z
    .array(
      z.strictObject({
        signalId: z.string(),
        ruleId: z.string(),
        ruleTitle: z.string(),
        severity: z.enum(signalSeverities),
        time: z.iso.datetime(),
        riskScore: z.number().describe('Risk score of the signal at detection'),
        share: z.number().describe('Current share: riskScore * 0.5 ^ (hours since its time / halfLifeHours)'),
      }),
    )
    .describe('Signals with the largest shares'),
});

const commonFields = {
  asOf: z.iso.datetime().describe('Time of the scores'),
  days: z.int().describe('Number of days whose signals were counted'),
  halfLifeHours: z.int(),
};

const toEntityView = ({ entity, score, signals, lastMs, shares }: EntityRisk): z.input<typeof Entity> => ({
  type: entity.slice(0, entity.indexOf(' ')),
  value: entity.slice(entity.indexOf(' ') + 1),
  score,
  signals,
  lastSignalAt: new Date(lastMs).toISOString(),
  shares: shares.map(({ share, ms, id, ...signal }) => ({
    signalId: id,
    ...signal,
    share,
    time: new Date(ms).toISOString(),
  })),
});

/** Returns the risk query of both operations. Signals that were closed as false positives are excluded. */
const createRiskQuery = async (
  query: { readonly days: number; readonly halfLifeHours: number },
  atMs: number,
  { caller, ports, reader }: { readonly caller: Caller; readonly ports: Ports; readonly reader: TenantReader },
): Promise<Omit<RiskQuery, 'shares'>> => {
  const days = Math.min(query.days, getRetentionDays(reader.plan, 'detections'));
  // A decision is never earlier than its signal.
  const since = new Date(atMs - days * 86_400_000).toISOString();
  const filter = { state: 'closed', verdict: 'false-positive', changedAt: { $gte: since } };
  const falsePositiveIds = await readDecidedSignalIds(ports.documents.forTenant(caller.tenantId), filter);
  return { atMs, days, halfLifeHours: query.halfLifeHours, excludedIds: falsePositiveIds };
};

const cursorKind = 'siem-entities';

export const listEntities = defineOperation({
  method: 'GET',
  path: '/api/siem/entities',
  operationId: 'listSiemEntities',
  summary: 'List users, hosts, processes and addresses by their risk, which decays, with the contributing signals',
  role: 'viewer',
  query: z.strictObject({
    ...parameters,
    type: z.enum(entityTypes).optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ ...commonFields, items: z.array(Entity), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const atMs = page?.atMs ?? Math.trunc(reader.nowMs);
    const riskQuery = await createRiskQuery(query, atMs, { caller, ports, reader });
    const entityRisks = await readEntityRisk(
      reader,
      { ...riskQuery, type: query.type, shares: 5 },
      { limit: query.limit + 1, after: page?.after },
    );
    const items = entityRisks.slice(0, query.limit);
    const last = entityRisks.length > query.limit ? items.at(-1) : undefined;
    return {
      asOf: new Date(atMs).toISOString(),
      days: riskQuery.days,
      halfLifeHours: query.halfLifeHours,
      items: items.map(toEntityView),
      nextCursor:
        last === undefined
          ? null
          : encodeCursor(cursorKind, [BigInt(atMs), encodeText(String(last.score)), encodeText(last.entity)]),
    };
  },
});

const parseCursor = (cursor: string) => {
  const [at = '', score = '', entity = ''] = decodeCursor(cursorKind, cursor, [
    uint64Pattern,
    nonEmptyTextPattern,
    nonEmptyTextPattern,
  ]);
  return { atMs: Number(at), after: { score: Number(decodeText(score)), entity: decodeText(entity) } };
};

export const getEntity = defineOperation({
  method: 'GET',
  path: '/api/siem/entities/{type}/{value}',
  operationId: 'getSiemEntity',
  summary: 'Get the risk of a user, host, process or address, and the share of each of its signals',
  role: 'viewer',
  params: z.strictObject({
    type: z.string().min(1).max(512).describe(entityTypes.join(', ')),
    value: z.string().min(1).max(512),
  }),
  query: z.strictObject(parameters),
  response: z.strictObject({ ...commonFields, ...Entity.shape }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const atMs = Math.trunc(reader.nowMs);
    const riskQuery = await createRiskQuery(query, atMs, { caller, ports, reader });
    const entity = `${params.type} ${params.value}`;
    const [entityRisk] = await readEntityRisk(reader, { ...riskQuery, entity, shares: 200 }, { limit: 1 });
    if (entityRisk === undefined) throw createNotFoundError('entity with signals');
    return {
      asOf: new Date(atMs).toISOString(),
      days: riskQuery.days,
      halfLifeHours: query.halfLifeHours,
      ...toEntityView(entityRisk),
    };
  },
});
