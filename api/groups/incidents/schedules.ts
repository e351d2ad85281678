import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { calendarFeeds } from '../../../schemas/resources/calendar-feed.ts';
import {
  type OnCallSchedule,
  OnCallScheduleFields,
  OverrideFields,
  onCallSchedules,
} from '../../../schemas/resources/on-call-schedule.ts';
import { findDifferences } from '../../../subjects/on-call/differences.ts';
import { listUsers, readAbsences } from '../../../subjects/on-call/read-on-call.ts';
import { saveOnCallVersion } from '../../../subjects/on-call/versions.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { findUnknownMember } from '../../resources/members.ts';
import { parsePrecondition, requireVersion } from '../../resources/preconditions.ts';
import { defineResource } from '../../resources/resource.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { storedView } from '../../resources/resource-spec.ts';

/** Maximum number per organization */
const maxSchedules = 200;
const dayMs = 86_400_000;

export const OverrideView = z.strictObject({ ...OverrideFields.shape, id: z.string() });

const View = z.strictObject({
  ...OnCallScheduleFields.shape,
  overrides: z.array(OverrideView).describe('Later overrides take precedence'),
  ...storedView,
});

type Documents = Pick<TenantDocuments, 'collection'>;

/**
 * Rejects people outside the organization unless they were already in the schedule, and the removal of layers that
 * overrides reference.
 */
const validateSchedule = async (
  documents: Documents,
  after: OnCallSchedule,
  before: OnCallSchedule | undefined,
): Promise<OnCallSchedule> => {
  const previousUserIds = new Set(before?.userIds);
  for (const [index, { participants }] of after.layers.entries()) {
    const unknownUserId = await findUnknownMember(
      documents,
      participants.flat().filter((id) => !previousUserIds.has(id)),
    );
    if (unknownUserId !== undefined)
      throw createFieldError(`layers.${index}.participants`, `${unknownUserId} is not a user of this organization`);
  }
  const names = new Set(after.layers.map(({ name }) => name));
  const orphanedOverride = after.overrides.find(({ layer }) => layer !== undefined && !names.has(layer));
  if (orphanedOverride !== undefined)
    throw createFieldError(
      'layers',
      `the override ${orphanedOverride.id} replaces the layer “${orphanedOverride.layer}”: keep it, or delete the override first`,
    );
  return { ...after, userIds: listUsers(after) };
};

/** Stores the new version of a schedule, and revokes the calendar feeds of a deleted one. */
const storeScheduleChange = async (
  tenantDocuments: TenantDocuments,
  change: Parameters<typeof saveOnCallVersion>[1],
): Promise<void> => {
  await saveOnCallVersion(tenantDocuments, change);
  if (change.after !== undefined || change.before === undefined) return;
  const feeds = tenantDocuments.collection(calendarFeeds);
  const { items } = await feeds.list({ filter: { scheduleId: change.before.id }, limit: 1000 });
  for (const { id } of items) await feeds.delete(id);
};

export const toView = ({ userIds: _, ...visibleFields }: OnCallSchedule & StoredMetadata): z.input<typeof View> => ({
  ...visibleFields,
  overrides: [...visibleFields.overrides],
});

export const scheduleResource = defineResource<typeof OnCallScheduleFields, OnCallSchedule, typeof View>({
  noun: 'on-call schedule',
  path: '/api/on-call/schedules',
  collection: onCallSchedules,
  verbs: ['list', 'create', 'read', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: OnCallScheduleFields,
  example: {
    name: 'Shop',
    description: 'The team of the shop',
    timeZone: 'Europe/Zurich',
    layers: [
      {
        name: 'Primary',
        startsAt: '2026-03-23T09:00',
        rotation: { every: 1, unit: 'weeks' },
        participants: [[]],
      },
    ],
  },
  view: View,
  initial: () => ({ overrides: [], userIds: [] }),
  maxCount: maxSchedules,
  prepare: (after, { before, forTenant, caller }) => validateSchedule(forTenant(caller.tenantId), after, before),
  show: (documents) => documents.map(toView),
  alongside: storeScheduleChange,
  list: { searched: ['name', 'description'] },
});

const Difference = z.strictObject({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  before: z.array(z.string()).describe('People on call before the change'),
  after: z.array(z.string()).describe('People on call after the change'),
});

export const replaceSchedule = defineOperation({
  method: 'PUT',
  path: '/api/on-call/schedules/{id}',
  operationId: 'replaceOnCallSchedule',
  summary: 'Replace an on-call schedule; `dryRun` previews who would be on call instead',
  role: 'editor',
  audit: 'on-call-schedule.update',
  versions: 'write',
  params: idParameter,
  query: z.strictObject({
    dryRun: z.enum(['true', 'false']).default('false').describe('true: nothing is written'),
    days: z.coerce.number().int().min(1).max(400).default(30).describe('Number of days that a dry run compares'),
  }),
  body: OnCallScheduleFields.meta({ examples: [scheduleResource.example] }),
  serverOwned: ['overrides'],
  response: z.strictObject({
    ...View.shape,
    differences: z.array(Difference).optional().describe('Differences in a dry run'),
  }),
  async handler(input, ports) {
    const { caller, params, body, query, request, change } = input;
    const toNextSchedule = (own: Documents, before: OnCallSchedule & StoredMetadata) =>
      validateSchedule(own, { ...getFields(before), ...body }, before);
    if (query.dryRun === 'false') {
      const after = await scheduleResource.change(
        params.id,
        (before, { forTenant }) => toNextSchedule(forTenant(caller.tenantId), before),
        input,
      );
      return scheduleResource.sendView(after, input, ports);
    }
    const nowMs = ports.clock.now();
    return change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const before = await scheduleResource.createWriter(scope, caller).find(params.id);
      requireVersion(before, parsePrecondition(request), { noun: scheduleResource.noun, requiresIfMatch: false });
      const after = await toNextSchedule(tenantDocuments, before);
      scope.markUnchanged();
      const absences = await readAbsences(tenantDocuments, [...before.userIds, ...after.userIds], {
        nowMs,
        sinceMs: nowMs,
      });
      const differences = findDifferences(before, after, absences, {
        fromMs: nowMs,
        toMs: nowMs + query.days * dayMs,
      });
      return { ...toView({ ...before, ...after }), differences };
    });
  },
});
