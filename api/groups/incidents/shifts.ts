import { z } from 'zod';
import { parseMilliseconds } from '../../../queries/range.ts';
import { timeFormats, timeParameter } from '../../../queries/time-parameters.ts';
import { onCallSchedules } from '../../../schemas/resources/on-call-schedule.ts';
import { createShiftsCalendar } from '../../../subjects/on-call/calendar.ts';
import { readNames } from '../../../subjects/on-call/people.ts';
import { listUsers, readAbsences, readOnCall, readVersions } from '../../../subjects/on-call/read-on-call.ts';
import { computeShifts, gapReasons } from '../../../subjects/on-call/shifts.ts';
import { createLayerShifts, createShiftsResponse, maxRangeMs } from '../../../subjects/on-call/shifts-response.ts';
import { satisfiesAccess } from '../../callers/rights.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';

const calendarType = 'text/calendar; charset=utf-8';
const defaultRangeMs = 30 * 86_400_000;
const IsoTime = z.iso.datetime();
const GapReason = z.enum(gapReasons);
const Names = z.record(z.string(), z.string()).describe('Names of people by id, including former members');

const LayerShift = z.strictObject({
  from: IsoTime,
  to: IsoTime,
  userIds: z.array(z.string()),
  overrideId: z.string().nullable(),
});

/** Returns the requested range; by default 30 days from now. */
const parseShiftRange = (
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } => {
  const fromMs = parseMilliseconds('from', from, nowMs) ?? nowMs;
  const toMs = parseMilliseconds('to', to, nowMs) ?? fromMs + defaultRangeMs;
  if (toMs <= fromMs) throw createFieldError('to', 'must be after from');
  if (toMs - fromMs > maxRangeMs)
    throw createFieldError('to', 'is more than 400 days after from: request a shorter range');
  return { fromMs, toMs };
};

export const listShifts = defineOperation({
  method: 'GET',
  path: '/api/on-call/schedules/{id}/shifts',
  operationId: 'listOnCallShifts',
  summary: 'List shifts, gaps with their reasons, and the on-call load of each person; format=ics for a calendar',
  role: 'viewer',
  contentType: ['application/json; charset=utf-8', calendarType],
  params: idParameter,
  query: z.strictObject({
    from: timeParameter.optional().describe('ISO 8601, now-7d or epoch milliseconds; default: now'),
    to: timeParameter.optional().describe('At most 400 days after `from`; default: 30 days after it'),
    format: z.enum(['json', 'ics']).optional().describe('ics: iCalendar, like `Accept: text/calendar`'),
    perLayer: z.enum(['true', 'false']).default('false').describe('true: also the shifts of each layer on its own'),
  }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        from: IsoTime,
        to: IsoTime,
        userIds: z.array(z.string()),
        layer: z.string().nullable().describe('null: an override of all layers'),
        overrideId: z.string().nullable(),
      }),
    ),
    layers: z
      .array(z.strictObject({ name: z.string(), items: z.array(LayerShift) }))
      .optional()
      .describe('With perLayer=true: the shifts of each layer as if it were alone, from the highest layer'),
    gaps: z.array(z.strictObject({ from: IsoTime, to: IsoTime, reason: GapReason })),
    people: z.array(
      z.strictObject({
        userId: z.string(),
        hours: z.number(),
        nightHours: z.number().describe('From 22:00 to 06:00 in the time zone of the schedule'),
        weekendHours: z.number(),
      }),
    ),
    names: Names,
  }),
  async handler({ caller, params, query, request }, { documents, clock }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const nowMs = clock.now();
    const range = parseShiftRange(query, nowMs);
    const schedule = await tenantDocuments.collection(onCallSchedules).find(params.id);
    if (schedule === undefined) throw createNotFoundError('on-call schedule');
    const versions = await readVersions(tenantDocuments, params.id, range);
    const absences = await readAbsences(tenantDocuments, versions.flatMap(listUsers), {
      nowMs,
      sinceMs: range.fromMs,
    });
    const format = query.format ?? (request.header('accept').startsWith('text/calendar') ? 'ics' : 'json');
    const names = await readNames(documents, versions.flatMap(listUsers));
    if (format === 'ics') {
      const { id: scheduleId, name, updatedAt } = schedule;
      const slices = computeShifts(versions, absences, range);
      const content = createShiftsCalendar([{ scheduleId, name, changedMs: Date.parse(updatedAt), slices }], {
        name,
        getUserName: (userId) => names.get(userId) ?? userId,
      });
      return { contentType: calendarType, content };
    }
    const { items, gaps, people } = createShiftsResponse(versions, absences, range);
    return {
      items: items.map((item) => ({ ...item, userIds: [...item.userIds] })),
      ...(query.perLayer === 'true' ? { layers: createLayerShifts(versions, absences, range) } : {}),
      gaps: [...gaps],
      people: [...people],
      names: Object.fromEntries(names),
    };
  },
});

export const getOnCall = defineOperation({
  method: 'GET',
  path: '/api/on-call/now',
  operationId: 'getOnCall',
  summary: 'Show who is, was or will be on call',
  role: 'viewer',
  query: z.strictObject({
    at: timeParameter.optional().describe(`${timeFormats}; default: now`),
    scheduleId: z.string().min(1).max(128).optional().describe('Only this schedule'),
    names: z
      .enum(['on-call', 'all'])
      .default('on-call')
      .describe('Whose names are returned; all: all people who can be on call, for Editors and above'),
  }),
  response: z.strictObject({
    at: IsoTime,
    items: z
      .array(
        z.strictObject({
          scheduleId: z.string(),
          name: z.string(),
          userIds: z.array(z.string()),
          layer: z.string().nullable().describe('null: nobody, or an override of all layers'),
          overrideId: z.string().nullable(),
          reason: GapReason.nullable().describe('Why nobody is on call'),
        }),
      )
      .describe('One entry per schedule that existed at the time, by name'),
    names: Names,
  }),
  async handler({ caller, query }, { directory, documents, clock }) {
    if (query.names === 'all' && !satisfiesAccess(caller.role, 'editor'))
      throw new ApiError('FORBIDDEN', `the names of all people require the role editor; yours is ${caller.role}`);
    const nowMs = clock.now();
    const atMs = parseMilliseconds('at', query.at, nowMs) ?? nowMs;
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const { scheduleId } = query;
    const onCallEntries = await readOnCall(tenantDocuments, { atMs, nowMs, scheduleId });
    if (
      onCallEntries.length === 0 &&
      scheduleId !== undefined &&
      (await tenantDocuments.collection(onCallSchedules).find(scheduleId)) === undefined
    )
      throw createFieldError('scheduleId', 'the on-call schedule does not exist in this organization');
    const names = await readNames(
      documents,
      onCallEntries.flatMap(({ userIds }) => userIds),
    );
    const members = query.names === 'all' ? directory.listMembers(caller.tenantId) : [];
    const allNames = new Map(names);
    for (const { user, membership } of members)
      if (!user.disabled && membership.disabled !== true) allNames.set(user.id, user.name || user.email);
    return {
      at: new Date(atMs).toISOString(),
      names: Object.fromEntries(allNames),
      items: onCallEntries.map(({ userIds, layer = null, overrideId = null, reason = null, scheduleId: id, name }) => ({
        scheduleId: id,
        name,
        userIds: [...userIds],
        layer,
        overrideId,
        reason,
      })),
    };
  },
});
