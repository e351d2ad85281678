import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type MaintenanceWindow, MaintenanceWindowFields } from '../../../schemas/resources/maintenance-window.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import {
  createDowntimeTest,
  createMatchers,
  parseScope,
  readWindows,
  referencesChecks,
  type Window,
} from '../../../subjects/synthetics/downtimes.ts';
import { type IdentifiedCheck, readChecks } from '../../../subjects/synthetics/read-checks.ts';
import { createFieldErrors, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { formatEtag, parsePrecondition } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import {
  maintenanceWindowResource,
  statusFields,
  toStatusView,
  validateWindow,
} from '../incidents/maintenance-window.ts';

/** A downtime has the fields of a maintenance window, with checks as its scope. */
const DowntimeFields = MaintenanceWindowFields.omit({ matchers: true }).extend({
  checkIds: z.array(z.string().min(1).max(128)).max(100).default([]).describe('Ids of checks'),
  labels: CheckFields.shape.labels.describe('Checks that have all of these labels; limited to `checkIds`, if any'),
});

const View = z.strictObject({
  ...DowntimeFields.shape,
  matchers: MaintenanceWindowFields.shape.matchers.describe(
    'The same scope, as matchers of the maintenance window with this id',
  ),
  checks: z.array(z.strictObject({ id: z.string(), name: z.string() })).describe('Checks currently in scope'),
  ...statusFields,
});

const toView = (window: Window, checks: readonly IdentifiedCheck[], nowMs: number): z.input<typeof View> => ({
  ...window,
  ...parseScope(window),
  checkIds: [...parseScope(window).checkIds],
  checks: checks.filter(createDowntimeTest(window)).map(({ id, name }) => ({ id, name })),
  ...toStatusView(window, nowMs),
});

/** Returns whether a maintenance window is a downtime: it references checks (also deleted ones) or applies to a current check. */
const isDowntime = (window: MaintenanceWindow & StoredMetadata, checks: readonly IdentifiedCheck[]): boolean =>
  referencesChecks(window) || checks.some(createDowntimeTest(window));

export const listDowntimes = defineOperation({
  method: 'GET',
  path: '/api/synthetics/downtimes',
  operationId: 'listSyntheticDowntimes',
  summary: 'List planned downtimes: the maintenance windows for checks',
  role: 'viewer',
  query: z.strictObject({ checkId: z.string().min(1).max(128).optional().describe('Only downtimes of this check') }),
  response: z.strictObject({ items: z.array(View), nextCursor: z.null() }),
  async handler({ caller, query: { checkId } }, { documents, clock }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const [windows, allChecks] = await Promise.all([readWindows(tenantDocuments), readChecks(tenantDocuments)]);
    const selectedChecks = checkId === undefined ? allChecks : allChecks.filter(({ id }) => id === checkId);
    if (checkId !== undefined && selectedChecks.length === 0)
      throw createFieldErrors([{ path: 'checkId', message: `synthetic check ${checkId} does not exist` }]);
    const items = windows.filter((window) =>
      checkId === undefined ? isDowntime(window, allChecks) : selectedChecks.some(createDowntimeTest(window)),
    );
    return { items: items.map((window) => toView(window, allChecks, clock.now())), nextCursor: null };
  },
});

/** Throws if the scope is empty, or references a check that does not exist. */
const requireValidScope = async (
  { checkIds, labels }: z.output<typeof DowntimeFields>,
  tenantDocuments: TenantDocuments,
): Promise<readonly IdentifiedCheck[]> => {
  if (checkIds.length === 0 && Object.keys(labels).length === 0)
    throw createFieldErrors([
      { path: 'checkIds', message: 'and labels are both empty: specify checks or labels of checks' },
    ]);
  const checks = await readChecks(tenantDocuments);
  const knownCheckIds = new Set(checks.map(({ id }) => id));
  const problems = checkIds.flatMap((id, index) =>
    knownCheckIds.has(id) ? [] : [{ path: `checkIds.${index}`, message: `synthetic check ${id} does not exist` }],
  );
  if (problems.length > 0) throw createFieldErrors(problems);
  return checks;
};

export const createDowntime = defineOperation({
  method: 'POST',
  path: '/api/synthetics/downtimes',
  operationId: 'createSyntheticDowntime',
  summary: 'Plan a downtime of checks, once or recurring, as a maintenance window; its start may be in the past',
  role: 'editor',
  audit: 'maintenance-window.create',
  body: DowntimeFields.meta({
    examples: [
      {
        name: 'Upgrade of the shop',
        timeZone: 'Europe/Zurich',
        startsAt: '2026-01-04T22:00',
        durationMinutes: 120,
        recurrence: 'FREQ=WEEKLY;BYDAY=SU',
        labels: { team: 'shop' },
      },
    ],
  }),
  response: View,
  async handler({ caller, body: { checkIds, labels, ...fields }, request, change }, { clock }) {
    const { made: window, checks } = await change(async (scope) => {
      const currentChecks = await requireValidScope({ checkIds, labels, ...fields }, scope.forTenant(caller.tenantId));
      const window = validateWindow({
        ...fields,
        matchers: createMatchers({ checkIds, labels }),
        createdBy: caller.actor.id,
      });
      return {
        made: await maintenanceWindowResource.createWriter(scope, caller).create(window),
        checks: currentChecks,
      };
    });
    request.reply('ETag', formatEtag(window));
    return toView(window, checks, clock.now());
  },
});

export const deleteDowntime = defineOperation({
  method: 'DELETE',
  path: '/api/synthetics/downtimes/{id}',
  operationId: 'deleteSyntheticDowntime',
  summary: 'Delete a planned downtime, which is a maintenance window',
  role: 'editor',
  audit: 'maintenance-window.delete',
  versions: 'write',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params: { id }, request, change }) {
    await change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const window = await tenantDocuments.collection(maintenanceWindowResource.collection).find(id);
      if (window === undefined || !isDowntime(window, await readChecks(tenantDocuments)))
        throw createNotFoundError('downtime');
      await maintenanceWindowResource
        .createWriter(scope, caller)
        .remove(id, { precondition: parsePrecondition(request) });
    });
    return {};
  },
});
