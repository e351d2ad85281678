import { z } from 'zod';
import { parseTime } from '../../../queries/time.ts';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  AlertRouting,
  alertRoutingId,
  alertRoutings,
  defaultRouting,
} from '../../../schemas/resources/alert-routing.ts';
import { escalationPolicies } from '../../../schemas/resources/escalation-policy.ts';
import { notificationChannels } from '../../../schemas/resources/notification-channel.ts';
import { readAlertmanagerInWorker } from '../../../subjects/alerts/routing/alertmanager.ts';
import { mergeRouting } from '../../../subjects/alerts/routing/merge-routing.ts';
import { findRoutingProblems } from '../../../subjects/alerts/routing/problems.ts';
import { findTimeMuteReason } from '../../../subjects/alerts/routing/times.ts';
import {
  compileRoutes,
  createGroupKey,
  explainRoutes,
  findRoutes,
  selectGroupLabels,
} from '../../../subjects/alerts/routing/tree.ts';
import { createFieldError, createFieldErrors } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';

const noun = 'alert routing';
const maxBodyBytes = 2 * 1024 * 1024;

/** The stored document, or the default one with version 0. */
const readRouting = async (documents: TenantDocuments): Promise<AlertRouting & Pick<StoredMetadata, 'version'>> =>
  (await documents.collection(alertRoutings).find(alertRoutingId)) ?? { ...defaultRouting, version: 0 };

const toView = (routing: AlertRouting & Pick<StoredMetadata, 'version'>): AlertRouting =>
  AlertRouting.parse(pickRoutingFields(routing));

const pickRoutingFields = ({ route, receivers, inhibitRules, timeIntervals }: AlertRouting): AlertRouting => ({
  route,
  receivers,
  inhibitRules,
  timeIntervals,
});

export const getAlertRouting = defineOperation({
  method: 'GET',
  path: '/api/v2/alerts/routing',
  operationId: 'getAlertRouting',
  summary: 'Get the routing of alert notifications',
  role: 'viewer',
  versions: 'read',
  response: AlertRouting,
  async handler({ caller, request }, { documents }) {
    const routing = await readRouting(documents.forTenant(caller.tenantId));
    request.reply('ETag', formatEtag(routing));
    return toView(routing);
  },
});

/** Throws if a receiver references an unknown escalation policy. */
const requireKnownPolicies = async (documents: TenantDocuments, { receivers }: AlertRouting): Promise<void> => {
  const policies = documents.collection(escalationPolicies);
  for (const [index, { escalationPolicyId: id }] of receivers.entries())
    if (id !== undefined && (await policies.find(id)) === undefined)
      throw createFieldError(
        `receivers.${index}.escalationPolicyId`,
        `names ${id}, which is not the id of an escalation policy`,
      );
};

const requireKnownChannels = async (documents: TenantDocuments, { receivers }: AlertRouting): Promise<void> => {
  const channels = documents.collection(notificationChannels);
  const knownChannelIds = new Set<string>();
  for (const [index, { channelIds }] of receivers.entries())
    for (const id of channelIds) {
      if (!knownChannelIds.has(id) && (await channels.find(id)) === undefined)
        throw createFieldError(`receivers.${index}.channelIds`, `names ${id}, which is not a notification channel`);
      knownChannelIds.add(id);
    }
};

export const setAlertRouting = defineOperation({
  method: 'PUT',
  path: '/api/v2/alerts/routing',
  operationId: 'setAlertRouting',
  summary: 'Replace the routing of alert notifications: tree of matchers, grouping, waits, inhibition, time intervals',
  role: 'editor',
  audit: 'alert-routing.update',
  versions: 'require',
  maxBodyBytes,
  body: AlertRouting,
  response: AlertRouting,
  async handler({ caller, body, request, change }) {
    const problems = findRoutingProblems(body);
    if (problems.length > 0) throw createFieldErrors(problems);
    const precondition = parsePrecondition(request);
    const updatedRouting = await change(async (scope) => {
      const documents = scope.forTenant(caller.tenantId);
      const before = await readRouting(documents);
      requireVersion(before, precondition, { noun, requiresIfMatch: true });
      if (JSON.stringify(toView(before)) === JSON.stringify(body)) {
        scope.markUnchanged();
        return before;
      }
      await requireKnownChannels(documents, body);
      await requireKnownPolicies(documents, body);
      const routingCollection = documents.collection(alertRoutings);
      const storedRouting =
        before.version === 0
          ? await routingCollection.insert({ id: alertRoutingId, ...body })
          : await routingCollection.replace(alertRoutingId, body, before.version);
      scope.record({
        id: alertRoutingId,
        name: noun,
        before: pickRoutingFields(before),
        after: getFields(storedRouting),
      });
      return storedRouting;
    });
    request.reply('ETag', formatEtag(updatedRouting));
    return toView(updatedRouting);
  },
});

const labelsSchema = z.record(z.string().max(256), z.string().max(16_384));

export const testAlertRouting = defineOperation({
  method: 'POST',
  path: '/api/v2/alerts/routing/test',
  operationId: 'testAlertRouting',
  summary: 'Show which receivers a set of labels reaches, and why, with the current document or another one',
  role: 'editor',
  auditExemption: 'read-only',
  maxBodyBytes,
  body: z.strictObject({
    labels: labelsSchema,
    at: z
      .string()
      .max(64)
      .default('now')
      .describe('Time for time intervals: ISO 8601, or an expression such as now+2h'),
    routing: AlertRouting.optional().describe('Document to use instead of the current one'),
  }),
  response: z.strictObject({
    receivers: z.array(
      z.strictObject({
        name: z.string(),
        routeId: z.string().describe('Path in the tree: 0 is the root, 0/2 its third child route'),
        channels: z.array(z.strictObject({ id: z.string(), name: z.string().nullable(), enabled: z.boolean() })),
        groupKey: z.string(),
        groupLabels: labelsSchema,
        groupWaitSeconds: z.number(),
        groupIntervalSeconds: z.number(),
        repeatIntervalSeconds: z.number(),
        mutedBy: z.string().nullable().describe('Why no notification is sent at that time'),
      }),
    ),
    routes: z.array(
      z.strictObject({
        id: z.string(),
        receiver: z.string(),
        matchers: z.string(),
        outcome: z.enum(['reached', 'passed on', 'not matched', 'not tried']),
        reason: z.string(),
      }),
    ),
  }),
  async handler({ caller, body: { labels, at, routing } }, { documents, clock }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const problems = routing === undefined ? [] : findRoutingProblems(routing);
    if (problems.length > 0)
      throw createFieldErrors(problems.map(({ path, message }) => ({ path: `routing.${path}`, message })));
    const time = parseTime(at, clock.now());
    if (time === undefined) throw createFieldError('at', 'must be ISO-8601 or an expression such as now+2h');
    const document = routing ?? (await readRouting(tenantDocuments));
    const root = compileRoutes(document);
    const channels = tenantDocuments.collection(notificationChannels);
    const receivers = findRoutes(root, labels).map(async (route) => {
      const receiver = document.receivers.find(({ name }) => name === route.receiver);
      const groupLabels = selectGroupLabels(route, labels);
      const notifiedChannels = (receiver?.channelIds ?? []).map(async (id) => {
        const channel = await channels.find(id);
        return { id, name: channel?.name ?? null, enabled: channel?.enabled ?? false };
      });
      return {
        name: route.receiver,
        routeId: route.id,
        channels: await Promise.all(notifiedChannels),
        groupKey: createGroupKey(route, groupLabels),
        groupLabels,
        groupWaitSeconds: route.groupWaitMs / 1000,
        groupIntervalSeconds: route.groupIntervalMs / 1000,
        repeatIntervalSeconds: route.repeatIntervalMs / 1000,
        mutedBy: findTimeMuteReason(document, route, Number(time / 1_000_000n)) ?? null,
      };
    });
    return { receivers: await Promise.all(receivers), routes: explainRoutes(root, labels) };
  },
});

export const importAlertRouting = defineOperation({
  method: 'POST',
  path: '/api/v2/alerts/routing/import',
  operationId: 'importAlertRouting',
  summary:
    'Convert a configuration file of Alertmanager to a routing document, which is returned and not stored; receivers keep their channels',
  role: 'editor',
  auditExemption: 'it stores nothing',
  maxBodyBytes,
  body: z.strictObject({
    yaml: z
      .string()
      .min(1)
      .max(1024 * 1024),
  }),
  response: z.strictObject({
    routing: AlertRouting,
    notes: z
      .array(z.string())
      .describe('Parts of the file that the document does not contain, and of the current routing that it replaces'),
  }),
  async handler({ caller, body, signal }, { documents }) {
    const importResult = await readAlertmanagerInWorker(
      { tenantId: caller.tenantId, callerId: caller.actor.id, signal },
      body.yaml,
    );
    if ('problems' in importResult)
      throw createFieldErrors(
        importResult.problems.map(({ path, message }) => ({ path: path === '' ? 'yaml' : `yaml: ${path}`, message })),
      );
    const current = await readRouting(documents.forTenant(caller.tenantId));
    const merged = mergeRouting(importResult, current);
    return { routing: merged.routing, notes: [...merged.notes] };
  },
});
