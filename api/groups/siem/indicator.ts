import { z } from 'zod';
import { indicatorTypes, scoreOf } from '../../../queries/threat-intel/indicator.ts';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import { threatIndicators } from '../../../schemas/resources/threat-intel.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { storedView } from '../../resources/resource-spec.ts';

const time = z.iso.datetime({ offset: true });

/** What is said of an indicator. */
export const IndicatorFields = z.strictObject({
  type: z.enum(indicatorTypes),
  value: z
    .string()
    .min(1)
    .max(4096)
    .describe('As it is compared: lower case, without the marks that keep people from opening it'),
  source: z.string().min(1).max(256).default('manual').describe('Who says so'),
  name: z.string().max(256).default(''),
  description: z.string().max(4096).default(''),
  tags: z.array(z.string().min(1).max(256)).max(64).default([]),
  confidence: z.number().min(0).max(100).default(50),
  validFrom: time.nullable().default(null),
  validUntil: time.nullable().default(null).describe('It matches nothing from then on'),
  isRevoked: z.boolean().default(false),
});

type Document = z.output<typeof IndicatorFields> & { readonly seenAt: string };

const IndicatorView = z.strictObject({
  ...IndicatorFields.shape,
  seenAt: z.iso.datetime().describe('When its source last told of it'),
  score: z
    .int()
    .describe(
      'How much it is believed now: its confidence, halved with each half-life of its type; 0 once it is not valid',
    ),
  ...storedView,
});

export const indicatorResource = defineResource<typeof IndicatorFields, Document, typeof IndicatorView>({
  noun: 'threat indicator',
  path: '/api/siem/threat-intel/indicators',
  collection: threatIndicators as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['list', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'siem',
  fields: IndicatorFields,
  example: { type: 'domain', value: 'evil.example', confidence: 80, tags: ['c2'] },
  view: IndicatorView,
  live: true,
  nameOf: ({ type, value }) => `${type} ${value}`,
  show: (documents, { ports }) =>
    documents.map((document) => ({
      ...document,
      score: scoreOf(document, { seenMs: Date.parse(document.seenAt), nowMs: ports.clock.now() }),
    })),
  list: {
    searched: ['value', 'name'],
    sorts: ['seenAt', 'createdAt', 'value', 'confidence'],
    filters: {
      type: equals('type', z.enum(indicatorTypes)),
      source: equals('source'),
      tag: equals('tags'),
      value: equals('value', z.string().min(1).max(4096)),
      state: {
        schema: z.enum(['valid', 'ended']).optional(),
        where: (value, now) => {
          const ended = { $or: [{ isRevoked: true }, { validUntil: { $ne: null, $lte: now } }] };
          return value === 'ended' ? ended : { $nor: [ended] };
        },
      },
    },
  },
});
