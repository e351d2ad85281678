import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import { Matcher } from '../../../schemas/resources/alert-routing.ts';
import { getSilenceState, type Silence, SilenceFields, silences } from '../../../schemas/resources/silence.ts';
import { readFiringAlerts } from '../../../subjects/alerts/firing.ts';
import { compileMatchers, formatMatchers } from '../../../subjects/alerts/routing/matchers.ts';
import { validateMatchers } from '../../alert-matchers.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { defineResource } from '../../resources/resource.ts';
import type { ListFilter } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { storedView } from '../../resources/resource-spec.ts';

const states = ['pending', 'active', 'expired'] as const;

const View = z.strictObject({
  ...SilenceFields.shape,
  startsAt: z.string(),
  createdBy: z.string().describe('Creator: id of a user or service account'),
  state: z.enum(states),
  ...storedView,
});

/** Times are compared in their stored form, UTC. */
const stateFilter: ListFilter = {
  schema: z.enum(states).optional(),
  where(state, now) {
    if (state === 'expired') return { endsAt: { $lte: now } };
    return state === 'pending'
      ? { endsAt: { $gt: now }, startsAt: { $gt: now } }
      : { endsAt: { $gt: now }, startsAt: { $lte: now } };
  },
};

const matcherOptions = { isRestricted: false, advice: 'specify a value' };

export const silenceResource = defineResource<typeof SilenceFields, Silence, typeof View>({
  noun: 'silence',
  path: '/api/alerts/silences',
  collection: silences,
  verbs: ['list', 'create', 'read', 'replace'],
  roles: { read: 'viewer', write: 'editor' },
  fields: SilenceFields,
  example: {
    matchers: [{ name: 'service', operator: '=', value: 'cart' }],
    startsAt: '2026-12-01T20:00:00Z',
    endsAt: '2036-12-01T23:00:00Z',
    comment: 'Migration of the cart database',
  },
  view: View,
  live: true,
  nameOf: ({ matchers }) => formatMatchers(matchers),
  initial: ({ caller, ports }) => ({
    createdBy: caller.actor.id,
    startsAt: new Date(ports.clock.now()).toISOString(),
  }),
  prepare(after, { before, ports }) {
    const nowMs = ports.clock.now();
    validateMatchers(after.matchers, matcherOptions);
    const startsAt = new Date(after.startsAt ?? before?.startsAt ?? nowMs).toISOString();
    const endsAt = new Date(after.endsAt).toISOString();
    if (before !== undefined && getSilenceState(before, nowMs) === 'expired')
      throw new ApiError('CONFLICT', 'the silence is over and cannot be changed: create another');
    if (endsAt <= startsAt) throw createFieldError('endsAt', 'must be after startsAt');
    if (Date.parse(endsAt) <= nowMs) throw createFieldError('endsAt', 'must be in the future');
    return { ...after, startsAt, endsAt };
  },
  show: (documents, { ports }) =>
    documents.map((silence) => ({ ...silence, state: getSilenceState(silence, ports.clock.now()) })),
  list: {
    searched: ['comment'],
    sorts: ['endsAt', 'startsAt', 'createdAt', 'updatedAt'],
    filters: { state: stateFilter },
  },
});

export const expireSilence = defineOperation({
  method: 'DELETE',
  path: '/api/alerts/silences/{id}',
  operationId: 'expireSilence',
  summary: 'End a silence now; it stays in the list for 30 days',
  role: 'editor',
  audit: 'silence.expire',
  versions: 'write',
  params: idParameter,
  response: z.strictObject({}),
  async handler(input, { clock }) {
    const now = new Date(clock.now()).toISOString();
    await silenceResource.change(
      input.params.id,
      async (before) => {
        const fields = getFields(before);
        if (getSilenceState(before, Date.parse(now)) === 'expired') return fields;
        return {
          ...fields,
          startsAt: getSilenceState(before, Date.parse(now)) === 'pending' ? now : before.startsAt,
          endsAt: now,
        };
      },
      input,
    );
    return {};
  },
});

/** Maximum number of firing alerts that are checked */
const maxFiringAlerts = 10_000;
const maxItems = 200;

export const previewSilence = defineOperation({
  method: 'POST',
  path: '/api/alerts/silences/preview',
  operationId: 'previewSilence',
  summary: 'List the currently firing alerts that a silence would mute',
  role: 'viewer',
  auditExemption: 'read-only',
  body: z.strictObject({ matchers: z.array(Matcher).min(1).max(64) }),
  response: z.strictObject({
    firing: z.int().describe('Number of currently firing alerts; at most 10,000 are checked'),
    muted: z.int(),
    items: z.array(
      z.strictObject({
        alertId: z.string(),
        ruleId: z.string(),
        ruleName: z.string(),
        labels: z.record(z.string(), z.string()),
      }),
    ),
  }),
  async handler({ caller, body: { matchers } }, { columns }) {
    validateMatchers(matchers, matcherOptions);
    const { matches } = compileMatchers(matchers);
    const firing = await readFiringAlerts(columns.forTenant(caller.tenantId), maxFiringAlerts);
    const muted = firing.filter(({ labels }) => matches(labels));
    return { firing: firing.length, muted: muted.length, items: muted.slice(0, maxItems) };
  },
});
