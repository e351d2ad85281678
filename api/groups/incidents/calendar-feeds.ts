import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { platformTenant, type StoredMetadata, type TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type CalendarFeed, calendarFeeds } from '../../../schemas/resources/calendar-feed.ts';
import { onCallSchedules } from '../../../schemas/resources/on-call-schedule.ts';
import { readPlan } from '../../../schemas/resources/tenant-plan.ts';
import { createShiftsCalendar } from '../../../subjects/on-call/calendar.ts';
import { readMember, readNames } from '../../../subjects/on-call/people.ts';
import { readShifts } from '../../../subjects/on-call/read-on-call.ts';
import { requireUser } from '../../callers/caller.ts';
import { satisfiesAccess } from '../../callers/rights.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';

const dayMs = 86_400_000;
/** Time range of a feed: calendars retain past shifts. */
const feedRange = { beforeMs: 14 * dayMs, afterMs: 180 * dayMs };
/** Maximum number per person */
const maxFeeds = 50;
const maxSchedules = 200;
const purpose = 'calendar feed';
const calendarType = 'text/calendar; charset=utf-8';

const hashToken = (token: string): string => hash('sha256', token);

const View = z.strictObject({
  id: z.string(),
  scheduleId: z.string().nullable().describe('null: all shifts of its creator'),
  userId: z.string().describe('Creator'),
  createdAt: z.iso.datetime(),
});
const toView = ({ id, scheduleId, userId, createdAt }: CalendarFeed & StoredMetadata): z.output<typeof View> => ({
  id,
  scheduleId,
  userId,
  createdAt,
});

export const createCalendarFeed = defineOperation({
  method: 'POST',
  path: '/api/on-call/calendar-feeds',
  operationId: 'createCalendarFeed',
  summary: 'Create a calendar feed of the shifts of a schedule, or of all my shifts',
  role: 'viewer',
  people: true,
  audit: 'calendar-feed.create',
  body: z.strictObject({
    scheduleId: z.string().min(1).max(128).nullable().default(null).describe('null: all my shifts, in every schedule'),
  }),
  response: z.strictObject({
    ...View.shape,
    path: z.string().describe('Path for calendars. Shown only once: it is not stored'),
    url: z.string().describe('Path with the public address of the installation; empty if there is none'),
  }),
  async handler({ caller, body, change }, { secretBox, settings }) {
    const { tenantId } = caller;
    const { userId } = requireUser(caller);
    const { scheduleId } = body;
    const id = randomUUID();
    // The token contains the organization and the id of the feed, which only this installation can decrypt, and a random secret.
    const token = secretBox.seal(purpose, `${tenantId} ${id} ${randomBytes(32).toString('base64url')}`);
    const insertedFeed = await change(async ({ forTenant, record }) => {
      const tenantDocuments = forTenant(tenantId);
      const schedule =
        scheduleId === null ? undefined : await tenantDocuments.collection(onCallSchedules).find(scheduleId);
      if (scheduleId !== null && schedule === undefined)
        throw createFieldError('scheduleId', 'is not an on-call schedule');
      const stored = tenantDocuments.collection(calendarFeeds);
      if ((await stored.count({ userId })) >= maxFeeds)
        throw new ApiError('CONFLICT', `you have ${maxFeeds} feeds: revoke one first`);
      record({ id, name: schedule?.name ?? '', after: { scheduleId, userId } });
      return stored.insert({ id, scheduleId, userId, tokenHash: hashToken(token) });
    });
    const path = `/api/on-call/calendars/${token}`;
    const { PUBLIC_URL: publicUrl } = settings;
    return {
      ...toView(insertedFeed),
      path,
      url: publicUrl === undefined ? '' : `${publicUrl.replace(/\/$/, '')}${path}`,
    };
  },
});

export const listCalendarFeeds = defineOperation({
  method: 'GET',
  path: '/api/on-call/calendar-feeds',
  operationId: 'listCalendarFeeds',
  summary: 'List my calendar feeds; for an Admin, those of all users',
  role: 'viewer',
  response: z.strictObject({ items: z.array(View) }),
  async handler({ caller }, { documents }) {
    const filter = satisfiesAccess(caller.role, 'admin') ? {} : { userId: caller.actor.id };
    const stored = documents.forTenant(caller.tenantId).collection(calendarFeeds);
    const { items } = await stored.list({ filter, sort: { createdAt: -1 }, limit: 1000 });
    return { items: items.map(toView) };
  },
});

export const revokeCalendarFeed = defineOperation({
  method: 'DELETE',
  path: '/api/on-call/calendar-feeds/{id}',
  operationId: 'revokeCalendarFeed',
  summary: 'Revoke one of my calendar feeds; an Admin can revoke any',
  role: 'viewer',
  audit: 'calendar-feed.revoke',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }) {
    await change(async ({ forTenant, record }) => {
      const stored = forTenant(caller.tenantId).collection(calendarFeeds);
      const calendarFeed = await stored.find(params.id);
      if (
        calendarFeed === undefined ||
        (calendarFeed.userId !== caller.actor.id && !satisfiesAccess(caller.role, 'admin'))
      )
        throw createNotFoundError('calendar feed');
      await stored.delete(calendarFeed.id);
      const { scheduleId, userId } = calendarFeed;
      record({ id: calendarFeed.id, name: '', before: { scheduleId, userId } });
    });
    return {};
  },
});

/**
 * Returns the feed of a valid token. The same steps are taken for any other text, so that the response time does not
 * reveal why it is invalid.
 */
const findFeedByToken = async (token: string, { secretBox, documents }: Ports) => {
  const [tenantId = platformTenant, id = 'none'] = secretBox.open(purpose, token)?.split(' ') ?? [];
  const calendarFeed = await documents.forTenant(tenantId).collection(calendarFeeds).find(id);
  const tokenHash = Buffer.from(hashToken(token));
  const hasMatchingHash = timingSafeEqual(
    tokenHash,
    Buffer.from(calendarFeed?.tokenHash ?? '0'.repeat(tokenHash.length)),
  );
  const member = calendarFeed && (await readMember(documents, tenantId, calendarFeed.userId));
  const isClosed = calendarFeed && (await readPlan(documents, tenantId)) === undefined;
  if (calendarFeed === undefined || !hasMatchingHash || !member?.isActive || isClosed)
    throw new ApiError('NOT_FOUND', 'the calendar does not exist or was revoked');
  return { tenantId, found: calendarFeed, member };
};

/** Returns the schedules whose shifts are in a feed. */
const readSchedules = async (own: TenantDocuments, { scheduleId, userId }: CalendarFeed) => {
  const stored = own.collection(onCallSchedules);
  if (scheduleId === null)
    return (await stored.list({ filter: { userIds: userId }, sort: { name: 1 }, limit: maxSchedules })).items;
  const calendarFeed = await stored.find(scheduleId);
  return calendarFeed === undefined ? [] : [calendarFeed];
};

export const getSharedCalendar = defineOperation({
  method: 'GET',
  path: '/api/on-call/calendars/{token}',
  operationId: 'getSharedCalendar',
  summary: 'Get the shifts of a calendar feed as iCalendar; unknown and revoked feeds return the same 404',
  role: 'none',
  limit: { rate: 2, burst: 60 },
  contentType: calendarType,
  params: z.strictObject({ token: z.string().min(1).max(512) }),
  response: z.string(),
  async handler({ params, request }, ports) {
    const { documents, clock } = ports;
    request.reply('X-Robots-Tag', 'noindex, nofollow');
    request.reply('Referrer-Policy', 'no-referrer');
    const { tenantId, found: calendarFeed, member } = await findFeedByToken(params.token, ports);
    const { scheduleId, userId } = calendarFeed;
    const tenantDocuments = documents.forTenant(tenantId);
    const nowMs = clock.now();
    const items = await readSchedules(tenantDocuments, calendarFeed);
    const todayMs = Math.floor(nowMs / dayMs) * dayMs;
    const range = { fromMs: todayMs - feedRange.beforeMs, toMs: todayMs + feedRange.afterMs };
    const schedules = [];
    for (const { id, name, updatedAt } of items) {
      const { slices, userIds } = await readShifts(tenantDocuments, id, { ...range, nowMs });
      schedules.push({ scheduleId: id, name, changedMs: Date.parse(updatedAt), slices, userIds });
    }
    const names = await readNames(
      documents,
      schedules.flatMap(({ userIds }) => userIds),
    );
    return createShiftsCalendar(schedules, {
      name: scheduleId === null ? `On call: ${member.name}` : (items[0]?.name ?? ''),
      ...(scheduleId === null && { userId }),
      getUserName: (id) => names.get(id) ?? id,
    });
  },
});
