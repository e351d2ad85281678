import { z } from 'zod';
import {
  feedFormats,
  type ThreatFeed,
  type ThreatFeedState,
  threatFeedStates,
  threatFeeds,
} from '../../../schemas/resources/threat-intel.ts';
import { ApiError } from '../../errors.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { createSecretSchema, maskSecrets } from '../../resources/resource-secrets.ts';
import { storedView } from '../../resources/resource-spec.ts';

const HttpUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', {
    message: 'must not contain a user name: set it in authentication',
  });
const DayCount = z.number().min(1).max(3650);

export const FeedFields = z.strictObject({
  name: z.string().min(1).max(256).describe('Source name of its indicators'),
  description: z.string().max(4096).default(''),
  enabled: z.boolean().default(true),
  location: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('url'),
      url: HttpUrl,
      format: z.enum(feedFormats).describe('STIX 2.1, MISP (JSON of events), CSV, or a list with one value per line'),
    }),
    z.strictObject({
      type: z.literal('taxii'),
      apiRoot: HttpUrl.describe('API root of a TAXII 2.1 server'),
      collection: z.string().min(1).max(256).describe('Id of the collection'),
    }),
  ]),
  authentication: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('none') }),
      z.strictObject({
        type: z.literal('basic'),
        username: z.string().min(1).max(256),
        password: createSecretSchema(z.string().min(1).max(1024)),
      }),
      z.strictObject({
        type: z.literal('header'),
        header: z
          .string()
          .regex(/^[A-Za-z0-9-]{1,128}$/, 'must be the name of a header')
          .describe('Name of the header, such as Authorization or X-API-Key'),
        secret: createSecretSchema(
          z
            .string()
            .min(1)
            .max(4096)
            .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII'),
        ).describe('Complete value of the header'),
      }),
    ])
    .default({ type: 'none' }),
  everySeconds: z.int().min(300).max(604_800).default(3600).describe('Poll interval in seconds'),
  confidence: z
    .number()
    .min(0)
    .max(100)
    .default(50)
    .describe('Confidence of indicators for which the feed specifies none'),
  validDays: DayCount.nullable()
    .default(90)
    .describe('Validity of indicators without an end, after the feed last listed them; null for unlimited'),
  halfLifeDays: DayCount.nullable()
    .default(null)
    .describe('Half-life of the confidence in days; null for the default of the type'),
  maxBytes: z
    .int()
    .min(1024)
    .max(128 * 1024 * 1024)
    .default(32 * 1024 * 1024)
    .describe('Maximum size of a response; larger responses are rejected'),
  maxIndicators: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(100_000)
    .describe('Maximum indicators per poll; a larger poll is rejected'),
  raisesSignals: z
    .boolean()
    .default(false)
    .describe('Whether a match also raises a signal, with a severity according to its score'),
  retroHuntDays: z
    .int()
    .min(0)
    .max(365)
    .default(0)
    .describe('Days of stored logs that are searched for new indicators; 0 for none'),
});

const Status = z.strictObject({
  lastPolledAt: z.iso.datetime().nullable(),
  lastSucceededAt: z.iso.datetime().nullable(),
  nextPollAt: z.iso.datetime().nullable().describe('null: as soon as possible'),
  error: z.string().nullable().describe('Why the last poll failed; existing indicators are unchanged'),
  failures: z.int().describe('Failed polls since the last successful one'),
  counts: z
    .strictObject({ created: z.int(), updated: z.int(), unchanged: z.int(), refused: z.int() })
    .describe('Of the last poll with indicators'),
  refused: z
    .array(z.strictObject({ at: z.string(), message: z.string() }))
    .describe('Rejected entries: the first 100, each with the line or the object id'),
});

const toStatus = (state: ThreatFeedState | undefined): z.input<typeof Status> =>
  state === undefined
    ? {
        lastPolledAt: null,
        lastSucceededAt: null,
        nextPollAt: null,
        error: null,
        failures: 0,
        refused: [],
        counts: { created: 0, updated: 0, unchanged: 0, refused: 0 },
      }
    : {
        lastPolledAt: state.lastPolledAt,
        lastSucceededAt: state.lastSucceededAt,
        nextPollAt: state.nextPollAt,
        error: state.error,
        failures: state.failures,
        counts: state.counts,
        refused: [...state.refused],
      };

const destinationFields = ['location', 'authentication.type', 'authentication.username', 'authentication.header'];
const feedSecrets = ['authentication.password', 'authentication.secret'].map((path) => ({
  path,
  destination: destinationFields,
}));
const maxFeeds = 200;

const FeedView = z.strictObject({ ...FeedFields.shape, status: Status, ...storedView });

/**
 * Threat feeds. Existing indicators remain after their feed is changed or deleted, until they expire. A changed feed is
 * soon polled again from its beginning.
 */
export const feedResource = defineResource<typeof FeedFields, ThreatFeed, typeof FeedView>({
  noun: 'threat feed',
  path: '/api/siem/threat-intel/feeds',
  collection: threatFeeds,
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: FeedFields,
  example: {
    name: 'Partner sharing',
    location: { type: 'taxii', apiRoot: 'https://taxii.example.com/api1/', collection: 'indicators' },
    authentication: { type: 'basic', username: 'oiq', password: 'the password of the partner' },
  },
  secrets: feedSecrets,
  list: { searched: ['name', 'description'], filters: { type: createEqualsFilter('location.type') } },
  view: FeedView,
  live: true,
  async show(feeds, { caller, ports }) {
    const states = ports.documents.forTenant(caller.tenantId).collection(threatFeedStates);
    const { items } = await states.list({ filter: { id: { $in: feeds.map(({ id }) => id) } } });
    const statesByFeed = new Map(items.map((state) => [state.id, state]));
    return feeds.map((feed) => ({ ...maskSecrets(feed, feedSecrets), status: toStatus(statesByFeed.get(feed.id)) }));
  },
  async prepare(after, { forTenant, caller, before }) {
    if (before === undefined && (await forTenant(caller.tenantId).collection(threatFeeds).count()) >= maxFeeds)
      throw new ApiError('CONFLICT', `there are ${maxFeeds} feeds: delete one first`);
    return after;
  },
});
