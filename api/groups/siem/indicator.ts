import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { indicatorTypes, type ThreatIndicator, threatIndicators } from '../../../schemas/resources/threat-intel.ts';
import { computeScore, toScoreInputs } from '../../../subjects/threat-intel/indicator.ts';
import { addBlock } from '../../../subjects/threat-intel/write-indicators.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import {
  createEqualsFilter,
  createListParameters,
  type ListDefinition,
  type ListParameters,
  readPage,
} from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { storedView } from '../../resources/resource-spec.ts';

const TimeWithOffset = z.iso.datetime({ offset: true });

/** Fields of an indicator */
export const IndicatorFields = z.strictObject({
  type: z.enum(indicatorTypes),
  value: z.string().min(1).max(4096).describe('Normalized for comparison: lower case and refanged'),
  source: z.string().min(1).max(256).default('manual').describe('Source of the indicator'),
  name: z.string().max(256).default(''),
  description: z.string().max(4096).default(''),
  tags: z.array(z.string().min(1).max(256)).max(64).default([]),
  confidence: z.number().min(0).max(100).default(50),
  validFrom: TimeWithOffset.nullable().default(null),
  validUntil: TimeWithOffset.nullable().default(null).describe('Time after which it matches nothing'),
  isRevoked: z.boolean().default(false),
  raisesSignals: z
    .boolean()
    .default(false)
    .describe('Whether a match also raises a signal, with a severity according to its score'),
});

const IndicatorView = z.strictObject({
  ...IndicatorFields.shape,
  seenAt: z.iso.datetime().describe('Last time its source listed it; updated once a day for unchanged indicators'),
  halfLifeDays: z.number().nullable().describe('Half-life from its feed; null for the default of the type'),
  score: z.int().describe('Current score: its confidence, halved after each half-life; 0 once it is no longer valid'),
  ...storedView,
});

/** Filters and sort keys of the list */
const listDefinition: ListDefinition = {
  searched: ['value', 'name'],
  sorts: ['seenAt', 'createdAt', 'value', 'confidence'],
  filters: {
    type: createEqualsFilter('type', z.enum(indicatorTypes)),
    source: createEqualsFilter('source'),
    tag: createEqualsFilter('tags'),
    value: createEqualsFilter('value', z.string().min(1).max(4096)),
    state: {
      schema: z.enum(['valid', 'ended']).optional(),
      where: (value, now) => {
        const endedFilter = { $or: [{ isRevoked: true }, { validUntil: { $ne: null, $lte: now } }] };
        return value === 'ended' ? endedFilter : { $nor: [endedFilter] };
      },
    },
  },
};

const toView = (
  {
    key: _key,
    givenId: _givenId,
    halfLifeDays = null,
    raisesSignals = false,
    ...indicator
  }: ThreatIndicator & StoredMetadata,
  nowMs: number,
): z.input<typeof IndicatorView> => ({
  ...indicator,
  halfLifeDays,
  raisesSignals,
  tags: [...indicator.tags],
  score: computeScore(toScoreInputs({ ...indicator, halfLifeDays }), nowMs),
});

export const listIndicators = defineOperation({
  method: 'GET',
  path: '/api/siem/threat-intel/indicators',
  operationId: 'listThreatIndicators',
  summary: 'List threat indicators',
  role: 'viewer',
  query: createListParameters(listDefinition),
  response: z.strictObject({ items: z.array(IndicatorView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { documents, clock }) {
    const nowMs = clock.now();
    const { items, nextCursor } = await readPage(
      documents.forTenant(caller.tenantId).collection(threatIndicators),
      listDefinition,
      {
        query: query as ListParameters,
        now: new Date(nowMs).toISOString(),
      },
    );
    return { items: items.map((item) => toView(item, nowMs)), nextCursor };
  },
});

export const deleteIndicator = defineOperation({
  method: 'DELETE',
  path: '/api/siem/threat-intel/indicators/{id}',
  operationId: 'deleteThreatIndicator',
  summary: 'Delete a threat indicator; its source may add it again',
  role: 'editor',
  audit: 'threat-indicator.delete',
  params: idParameter,
  response: IndicatorView,
  handler: ({ caller, params, change }, { clock }) =>
    change(async (scope) => {
      const indicatorCollection = scope.forTenant(caller.tenantId).collection(threatIndicators);
      const before = await indicatorCollection.find(params.id);
      if (before === undefined) throw createNotFoundError('threat indicator');
      await indicatorCollection.delete(before.id, before.version);
      const seenAt = new Date(clock.now()).toISOString();
      await addBlock(scope.forTenant, caller.tenantId, [{ ...before, isRevoked: true, seenAt }]);
      const view = toView(before, clock.now());
      scope.record({ id: before.id, name: `${before.type} ${before.value}`, before: view });
      return view;
    }),
});
