import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { eventSeverities, PlatformEvent } from '../../../schemas/events.ts';
import { FeedEvent, findEvent, toDisplayedEvent } from '../../../subjects/events/events.ts';
import { parseEventTime } from '../../event-moment.ts';
import { requireKnownProjects } from '../../kernel/known-project.ts';
import { defineOperation } from '../../kernel/operation.ts';

const { title, text, tags, link, service, environment } = PlatformEvent.shape;

export const addEvent = defineOperation({
  method: 'POST',
  path: '/api/events',
  operationId: 'addEvent',
  summary: 'Add a custom event to the feed. It becomes visible a second or two later',
  role: 'editor',
  audit: 'event.create',
  body: z.strictObject({
    id: z.string().min(1).max(128).optional().describe('Id chosen by the caller: a repeated id adds nothing'),
    title,
    text: text.default(''),
    time: timeParameter.optional().describe('Default: now; from 30 days ago to an hour from now'),
    severity: z.enum(eventSeverities).default('info'),
    service: service.default(''),
    environment: environment.default(''),
    projectId: z.string().max(128).default('').describe('Empty: it belongs to all projects'),
    tags: tags.default({}).refine((given) => Object.keys(given).length <= 32, 'has more than 32 tags'),
    link: link.default('').describe('http or https'),
  }),
  response: FeedEvent,
  async handler(input, ports) {
    const { caller, body, change } = input;
    const { columns, clock, events } = ports;
    await requireKnownProjects(input, ports);
    const { id = randomUUID(), time, ...fields } = body;
    const at = parseEventTime(time, clock.now());
    const reader = { columns: columns.forTenant(caller.tenantId) };
    const existing = body.id === undefined ? undefined : await findEvent(reader, 'custom', id);
    const { type, id: actorId } = caller.actor;
    const event: PlatformEvent = {
      ...fields,
      tenantId: caller.tenantId,
      id,
      kind: 'custom',
      at,
      actor: { type, id: actorId },
      details: {},
    };
    if (existing === undefined) await events.publish(event);
    await change(async ({ record, markUnchanged }) => {
      if (existing === undefined) record({ id, name: body.title, after: { ...fields, time: at } });
      else markUnchanged();
    });
    return existing ?? toDisplayedEvent(event);
  },
});
