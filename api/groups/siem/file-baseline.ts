import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { rangeParameters } from '../../../queries/range.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import {
  ApprovedState,
  type BaselineFile,
  baselineStates,
  type FileBaseline,
  fileBaselineParts,
  fileBaselines,
} from '../../../schemas/resources/file-baseline.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { parseEventsRange } from '../../../subjects/events/events.ts';
import { readFiles } from '../../../subjects/file-integrity/read-changes.ts';
import { type Caller, requireUser } from '../../callers/caller.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { parsePrecondition } from '../../resources/preconditions.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { storedView } from '../../resources/resource-spec.ts';

/** Fields of a baseline that callers can write. */
const BaselineFields = z.strictObject({
  name: z.string().min(1).max(256),
  note: z.string().max(4096).default(''),
  hosts: z
    .array(z.string().min(1).max(512))
    .max(100)
    .default([])
    .describe('Host names, in which * matches any text, such as web-*; empty for every host'),
  paths: z
    .array(z.string().min(1).max(4096))
    .min(1)
    .max(100)
    .describe('Files at and below these paths. A change of hosts or paths resets an approved baseline to proposed'),
  state: z
    .enum(baselineStates)
    .default('proposed')
    .describe(
      'Only an approved baseline counts, and only people can approve, not API tokens; a retired one counts for changes before its retirement',
    ),
});
type Fields = z.output<typeof BaselineFields>;
type Document = FileBaseline & Fields;

const BaselineView = z.strictObject({
  ...BaselineFields.shape,
  files: z.int().describe('Number of files'),
  contentHash: z.string().describe('SHA-256 of the files with their states, as approved'),
  capturedFrom: z.iso
    .datetime()
    .nullable()
    .describe('Start of the changes that were read; null for files given in the request'),
  capturedUntil: z.iso.datetime(),
  capturedBy: z.string().describe('Id of the user or service account'),
  approvedAt: z.iso.datetime().nullable(),
  approvedBy: z.string().nullable(),
  retiredAt: z.iso.datetime().nullable(),
  ...storedView,
});

const hasNewCoverage = (after: Document, before: Document | undefined): boolean =>
  before !== undefined &&
  (['hosts', 'paths'] as const).some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

/** Updates the approval fields after a change of state. A change of the hosts or paths of an approved baseline resets it to proposed. */
const updateApproval = (after: Document, before: Document | undefined, caller: Caller, now: string): Document => {
  const isSameState = after.state === before?.state;
  if (isSameState && hasNewCoverage(after, before) && after.state === 'approved')
    return updateApproval({ ...after, state: 'proposed' }, before, caller, now);
  if (isSameState) return after;
  if (after.state === 'proposed') return { ...after, approvedAt: null, approvedBy: null, retiredAt: null };
  if (after.state === 'retired') return { ...after, retiredAt: now };
  if (after.files === 0)
    throw createFieldError(
      'state',
      'cannot be approved: no file was observed there. Try again after changes were stored, or specify "files"',
    );
  return { ...after, approvedAt: now, approvedBy: requireUser(caller).actor.id, retiredAt: null };
};

/** Maximum number per organization */
const maxBaselines = 200;

export const baselineResource = defineResource<typeof BaselineFields, Document, typeof BaselineView>({
  noun: 'file baseline',
  path: '/api/siem/fim/baselines',
  collection: fileBaselines as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['list', 'read', 'patch'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'siem',
  fields: BaselineFields,
  example: {
    name: 'Web servers, as installed',
    note: 'After the upgrade',
    hosts: ['web-*'],
    paths: ['/etc', '/usr/bin'],
  },
  view: BaselineView,
  requiresIfMatch: true,
  show: (documents) => documents,
  list: { filters: { state: createEqualsFilter('state', z.enum(baselineStates)) } },
  prepare(after, { before, caller, ports }) {
    return updateApproval(after, before, caller, new Date(ports.clock.now()).toISOString());
  },
});

/** Maximum files of a baseline, and of one of the documents that store them. */
const maxFiles = 10_000;
const filesPerPart = 500;

const BaselineFileView = z.strictObject({
  path: z.string().min(1).max(4096),
  states: z.array(ApprovedState).min(1).max(64).describe('Approved states of the file'),
});

const CaptureRequest = z.strictObject({
  ...BaselineFields.shape,
  from: rangeParameters.from.describe(
    'Start of the changes that determine the state of files; default: the whole retention',
  ),
  to: rangeParameters.to,
  files: z
    .array(BaselineFileView)
    .min(1)
    .max(maxFiles)
    .optional()
    .describe('The files with their states; default: the last observed states'),
});

const getLongestRetentionDays = ({ plan }: TenantReader): number =>
  Math.max(...signals.map((signal) => plan.retentionDays[signal]));

const readObservedFiles = async (
  { hosts, paths, from, to }: z.output<typeof CaptureRequest>,
  reader: TenantReader,
): Promise<{ readonly files: readonly BaselineFile[]; readonly from: bigint; readonly to: bigint }> => {
  const range = parseEventsRange({ from: from ?? `now-${getLongestRetentionDays(reader)}d`, to }, reader);
  const files = await readFiles(reader, { hosts, paths }, range);
  if (files === undefined || files.length > maxFiles)
    throw new ApiError('CONFLICT', `a baseline can have at most ${maxFiles} files: specify fewer paths or hosts`);
  return { files, ...range };
};

const toIsoTime = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString();

export const captureFileBaseline = defineOperation({
  method: 'POST',
  path: '/api/siem/fim/baselines',
  operationId: 'takeFileBaseline',
  summary:
    'Create a baseline of files from their last observed or the specified states; it takes effect when it is approved',
  role: 'editor',
  audit: 'file-baseline.create',
  maxBodyBytes: 8_000_000,
  body: CaptureRequest,
  response: BaselineView,
  async handler({ caller, body, change, request }, ports) {
    const reader = createQueryReader(caller, ports);
    const now = new Date(ports.clock.now()).toISOString();
    const snapshot = body.files === undefined ? await readObservedFiles(body, reader) : undefined;
    const sortedFiles = (snapshot?.files ?? body.files ?? []).toSorted((first, second) =>
      first.path < second.path ? -1 : 1,
    );
    const files = [...new Map(sortedFiles.map((file) => [file.path, file])).values()];
    const { from: _from, to: _to, files: _files, ...fields } = body;
    const after = await change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      if ((await tenantDocuments.collection(fileBaselines).count()) >= maxBaselines)
        throw new ApiError('CONFLICT', `an organization has at most ${maxBaselines} baselines: delete one`);
      const id = randomUUID();
      const document: Document = {
        ...fields,
        files: files.length,
        contentHash: createHash('sha256').update(JSON.stringify(files)).digest('hex'),
        capturedFrom: snapshot === undefined ? null : toIsoTime(snapshot.from),
        capturedUntil: snapshot === undefined ? now : toIsoTime(snapshot.to),
        capturedBy: caller.actor.id,
        approvedAt: null,
        approvedBy: null,
        retiredAt: null,
      };
      const createdBaseline = await baselineResource
        .createWriter(scope, caller)
        .create({ ...updateApproval(document, undefined, caller, now), id } as Document);
      for (let partIndex = 0; partIndex * filesPerPart < files.length; partIndex++)
        await tenantDocuments.collection(fileBaselineParts).insert({
          id: `${id}-${partIndex}`,
          baselineId: id,
          part: partIndex,
          files: files.slice(partIndex * filesPerPart, (partIndex + 1) * filesPerPart),
        });
      return createdBaseline;
    });
    return baselineResource.sendView(after, { caller, request }, ports);
  },
});

export const listBaselineFiles = defineOperation({
  method: 'GET',
  path: '/api/siem/fim/baselines/{id}/files',
  operationId: 'listBaselineFiles',
  summary: 'List the files of a baseline with their states, 500 per page',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    cursor: z
      .string()
      .regex(/^\d{1,4}$/, 'is not a cursor of this list')
      .optional()
      .describe('As returned by the previous page'),
  }),
  response: z.strictObject({ items: z.array(BaselineFileView), nextCursor: z.string().nullable() }),
  async handler({ caller, params, query }, { documents }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const baseline = await tenantDocuments.collection(fileBaselines).find(params.id);
    if (baseline === undefined) throw createNotFoundError('file baseline');
    const partIndex = Number(query.cursor ?? 0);
    const filesPart = await tenantDocuments.collection(fileBaselineParts).find(`${baseline.id}-${partIndex}`);
    const hasNext = (partIndex + 1) * filesPerPart < baseline.files;
    return {
      items: (filesPart?.files ?? []).map(({ path, states }) => ({
        path,
        states: states.map((state) => ({ ...state })),
      })),
      nextCursor: hasNext ? String(partIndex + 1) : null,
    };
  },
});

export const deleteFileBaseline = defineOperation({
  method: 'DELETE',
  path: '/api/siem/fim/baselines/{id}',
  operationId: 'deleteFileBaseline',
  summary: 'Delete a baseline and its approvals; to preserve the approvals, retire it instead',
  role: 'editor',
  audit: 'file-baseline.delete',
  versions: 'require',
  params: idParameter,
  response: z.strictObject({ id: z.string() }),
  async handler({ caller, params, change, request }) {
    const precondition = parsePrecondition(request);
    return await change(async (scope) => {
      const { id } = await baselineResource.createWriter(scope, caller).remove(params.id, { precondition });
      const parts = scope.forTenant(caller.tenantId).collection(fileBaselineParts);
      for await (const part of iterateDocuments(parts, { filter: { baselineId: id } })) await parts.delete(part.id);
      return { id };
    });
  },
});
