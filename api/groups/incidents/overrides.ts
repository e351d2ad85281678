import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import { OverrideFields } from '../../../schemas/resources/on-call-schedule.ts';
import { listUsers } from '../../../subjects/on-call/read-on-call.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { findUnknownMember } from '../../resources/members.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { OverrideView, scheduleResource } from './schedules.ts';

/** Maximum number per schedule, without past overrides */
const maxOverrides = 500;

/** Returns the overrides that have not ended. Past overrides remain in earlier versions of the schedule. */
const withoutPast = <One extends { readonly to: string }>(overrides: readonly One[], nowMs: number): One[] =>
  overrides.filter(({ to }) => Date.parse(to) > nowMs);

export const addOverride = defineOperation({
  method: 'POST',
  path: '/api/on-call/schedules/{id}/overrides',
  operationId: 'addOnCallOverride',
  summary: 'Put people on call for a time, instead of one layer or of all layers',
  role: 'editor',
  audit: 'on-call-schedule.update',
  versions: 'write',
  params: idParameter,
  body: OverrideFields.meta({
    examples: [{ from: '2036-12-24T08:00:00Z', to: '2036-12-26T20:00:00Z', userIds: ['the-id-of-a-user'] }],
  }),
  response: OverrideView,
  async handler(input, { clock }) {
    const { caller, params, body } = input;
    const nowMs = clock.now();
    const override = { ...body, id: randomUUID() };
    if (Date.parse(body.to) <= nowMs)
      throw createFieldError('to', 'must be in the future: past shifts cannot be changed');
    await scheduleResource.change(
      params.id,
      async (before, { forTenant }) => {
        const { layer } = override;
        if (layer !== undefined && !before.layers.some(({ name }) => name === layer))
          throw createFieldError('layer', `the schedule has no layer “${layer}”`);
        const unknownUserId = await findUnknownMember(forTenant(caller.tenantId), override.userIds);
        if (unknownUserId !== undefined)
          throw createFieldError('userIds', `${unknownUserId} is not a user of this organization`);
        const overrides = [...withoutPast(before.overrides, nowMs), override];
        if (overrides.length > maxOverrides)
          throw new ApiError('CONFLICT', `the schedule has ${maxOverrides} overrides: delete one first`);
        return { ...getFields(before), overrides, userIds: listUsers({ ...before, overrides }) };
      },
      input,
    );
    return override;
  },
});

export const deleteOverride = defineOperation({
  method: 'DELETE',
  path: '/api/on-call/schedules/{id}/overrides/{overrideId}',
  operationId: 'deleteOnCallOverride',
  summary: 'Delete an override from now on; its past part stays',
  role: 'editor',
  audit: 'on-call-schedule.update',
  versions: 'write',
  params: idParameter.extend({ overrideId: z.string().min(1).max(128) }),
  response: z.strictObject({}),
  async handler(input, { clock }) {
    const { params } = input;
    const nowMs = clock.now();
    await scheduleResource.change(
      params.id,
      async (before) => {
        if (!before.overrides.some(({ id }) => id === params.overrideId)) throw createNotFoundError('override');
        const overrides = withoutPast(before.overrides, nowMs).filter(({ id }) => id !== params.overrideId);
        return { ...getFields(before), overrides, userIds: listUsers({ ...before, overrides }) };
      },
      input,
    );
    return {};
  },
});
