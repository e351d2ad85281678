import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { encodePosition, getSortedPage } from '../../../queries/sorted-page.ts';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { EventLink, type PlatformEvent } from '../../../schemas/events.ts';
import { findEvent, toDisplayedEvent } from '../../../subjects/events/events.ts';
import { Deployment, readDeployments, toRecordedDeployment } from '../../../subjects/services/deployments.ts';
import { parseEventTime } from '../../event-moment.ts';
import { requireKnownProjects } from '../../kernel/known-project.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseServiceCursor } from './parameters.ts';

const cursorKind = 'deployments';
const NameText = z.string().min(1).max(512);

export const recordDeployment = defineOperation({
  method: 'POST',
  path: '/api/deployments',
  operationId: 'recordDeployment',
  summary: 'Record a deployment of a version of a service. It appears in lists a second or two later',
  role: 'editor',
  audit: 'deployment.create',
  body: z.strictObject({
    id: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Id chosen by the caller, for example of a pipeline run: a repeated id records nothing'),
    service: NameText,
    version: NameText,
    environment: z.string().max(512).default(''),
    projectId: z.string().max(128).default('').describe('Empty: it belongs to all projects'),
    time: timeParameter.optional().describe('Default: now; from 30 days ago to an hour from now'),
    commit: z.string().max(128).default(''),
    link: EventLink.default('').describe('http or https'),
    description: z.string().max(8192).default(''),
  }),
  response: Deployment,
  async handler(input, ports) {
    const { caller, body, change } = input;
    await requireKnownProjects(input, ports);
    const { id = randomUUID(), service, version, environment, projectId, link, commit, description } = body;
    const nowMs = ports.clock.now();
    const eventTime = parseEventTime(body.time, nowMs);
    const existing =
      body.id === undefined ? undefined : await findEvent(createQueryReader(caller, ports), 'deployment', id);
    const event: PlatformEvent = {
      tenantId: caller.tenantId,
      projectId,
      id,
      kind: 'deployment',
      at: eventTime,
      severity: 'info',
      title: `${service} ${version}`.slice(0, 256),
      text: description,
      service,
      environment,
      tags: {},
      link,
      actor: { type: caller.actor.type, id: caller.actor.id },
      details: { version, commit },
    };
    if (existing === undefined) await ports.events.publish(event);
    await change(async ({ record, markUnchanged }) => {
      if (existing === undefined) record({ id, name: event.title, after: { ...body, time: eventTime } });
      else markUnchanged();
    });
    return toRecordedDeployment(existing ?? toDisplayedEvent(event));
  },
});

export const listDeployments = defineOperation({
  method: 'GET',
  path: '/api/deployments',
  operationId: 'listDeployments',
  summary:
    'List recorded deployments and those detected from service.version in a time range, newest first (rollbacks count; restarts and additional instances of a version do not)',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    from: rangeParameters.from.describe('Default: now-24h'),
    ...projectScopeParameters,
    service: NameText.optional(),
    environment: NameText.optional(),
  }),
  response: z.strictObject({
    items: z.array(Deployment),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, query }, ports) {
    requireProjectScope(query);
    const reader = createQueryReader(caller, ports);
    const page = query.cursor === undefined ? undefined : parseServiceCursor(cursorKind, query.cursor, reader);
    const rangeQuery = { ...query, from: query.from ?? 'now-24h' };
    const range =
      page?.range ?? parseRetainedRange(rangeQuery, { caller: reader, signal: 'traces', nowMs: reader.nowMs });
    const { deployments, partial } = await readDeployments(reader, { ...query, range });
    const { pageItems, last } = getSortedPage(
      deployments,
      { getName: ({ id }) => id, getSortValue: ({ time }) => time, direction: 'descending' },
      { limit: query.limit, after: page?.after },
    );
    return {
      items: [...pageItems],
      nextCursor: last === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, encodePosition(last)]),
      partial: [...partial],
    };
  },
});
