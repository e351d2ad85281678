import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import {
  ConflictError,
  type Filter,
  platformTenant,
  type StoredMetadata,
  type TenantDocuments,
} from '../../../schemas/ports/documents.ts';
import {
  type DashboardSnapshot,
  dashboardSnapshotContents,
  dashboardSnapshots,
} from '../../../schemas/resources/dashboard-snapshot.ts';
import { DashboardQuery, type DashboardResponse } from '../../../subjects/dashboards/query/dashboard-query.ts';
import { runDashboardQuery } from '../../../subjects/dashboards/query/run-query.ts';
import {
  createSnapshotContent,
  parseSnapshotContent,
  SnapshotContent,
} from '../../../subjects/dashboards/snapshots/content.ts';
import { removeSnapshots } from '../../../subjects/dashboards/snapshots/remove.ts';
import { createResultStripper } from '../../../subjects/dashboards/snapshots/result-stripper.ts';
import type { Caller } from '../../callers/caller.ts';
import { satisfiesAccess } from '../../callers/rights.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createListParameters, type ListDefinition, readPage } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { parseSavedDashboard } from './dashboard.ts';
import { createDashboardContext } from './query.ts';
import { findDashboard } from './read.ts';

const dayMs = 86_400_000;
const defaultDays = 7;
/** Maximum number of unexpired snapshots per dashboard */
const maxSnapshots = 100;
/** A document can hold at most 4 MB. */
const maxCharacters = 3_500_000;
const purpose = 'dashboard snapshot';

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Creates the token of a snapshot. It contains the organization and id of the snapshot, encrypted, and a random secret.
 * Only the hash of the token is stored.
 */
const createToken = ({ secretBox }: Ports, tenantId: string, id: string): string =>
  secretBox.seal(purpose, `${tenantId} ${id} ${randomBytes(32).toString('base64url')}`);

const { from, to, step, maxPoints, variables, panels } = DashboardQuery.shape;

const Body = z.strictObject({
  from,
  to,
  step,
  maxPoints,
  variables,
  panels,
  name: z.string().min(1).max(256).optional().describe('Title for viewers; default: that of the dashboard'),
  labels: z
    .array(z.string().min(1).max(512))
    .max(100)
    .default([])
    .describe('Labels and fields whose values are included; all others, and ids of records, are always removed'),
  bodies: z.boolean().default(false).describe('Whether bodies of log records are included'),
  expiresInDays: z
    .int()
    .min(1)
    .max(90)
    .optional()
    .describe('Days until it expires; default 7. OIQ_SNAPSHOT_DAYS may allow fewer than 90'),
});

const SnapshotView = z.strictObject({
  id: z.string(),
  dashboardId: z.string(),
  name: z.string(),
  createdBy: z.string().describe('Creator: id of a user or service account'),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  labels: z.array(z.string()),
  bodies: z.boolean(),
  opened: z.int().describe('Number of views'),
});

const toView = (snapshot: DashboardSnapshot & StoredMetadata): z.input<typeof SnapshotView> => {
  const { id, dashboardId, name, createdBy, createdAt, expiresAt, labels, bodies, opened } = snapshot;
  return { id, dashboardId, name, createdBy, createdAt, expiresAt, labels: [...labels], bodies, opened };
};

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

const unexpiredFilter = (dashboardId: string, { clock }: Ports): Filter => ({
  dashboardId,
  expiresAt: { $gt: toIsoTime(clock.now()) },
});

const computeExpiry = (days: number | undefined, { settings, clock }: Ports): string => {
  const maxDays = settings.SNAPSHOT_DAYS;
  if (days !== undefined && days > maxDays)
    throw createFieldError('expiresInDays', `is ${days}, and at most ${maxDays} are allowed here (OIQ_SNAPSHOT_DAYS)`);
  return toIsoTime(clock.now() + (days ?? Math.min(defaultDays, maxDays)) * dayMs);
};

/** Throws 403 if the caller may not read a part of the dashboard, which its link would show. */
const requireComplete = ({ items, variables, annotations }: DashboardResponse): void => {
  for (const { error } of [...items, ...variables, ...annotations])
    if (error?.code === 'FORBIDDEN') throw new ApiError('FORBIDDEN', error.message);
};

/** Runs the queries of the dashboard and returns the compressed content of a snapshot. */
const buildContent = async (
  id: string,
  body: z.output<typeof Body>,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
  ports: Ports,
) => {
  const dashboard = await findDashboard(id, caller, ports);
  const { document } = parseSavedDashboard(dashboard);
  const { labels, bodies, name = document.name, expiresInDays: _, ...dashboardQuery } = body;
  const context = await createDashboardContext(document, caller, signal, ports);
  const queryResponse = await runDashboardQuery(
    document,
    { ...dashboardQuery, annotations: false },
    { ...context, shownAs: (panel) => createResultStripper(panel, { labels, bodies }) },
  );
  requireComplete(queryResponse);
  const content = createSnapshotContent({ name, createdAt: toIsoTime(ports.clock.now()) }, document, queryResponse);
  const compressed = (await promisify(gzip)(JSON.stringify(content))).toString('base64');
  if (compressed.length > maxCharacters)
    throw createFieldError(
      'panels',
      'the data exceeds the maximum size of a snapshot: select fewer panels or a longer step',
    );
  return { name, compressed };
};

export const createDashboardSnapshot = defineOperation({
  method: 'POST',
  path: '/api/dashboards/{id}/snapshots',
  operationId: 'createDashboardSnapshot',
  summary:
    "Create a snapshot of a dashboard's content behind an expiring link, without queries, ids, links and unlisted labels",
  role: 'editor',
  audit: 'dashboard-snapshot.create',
  params: idParameter,
  body: Body,
  response: z.strictObject({
    ...SnapshotView.shape,
    token: z.string().describe('Shown only once: it is not stored'),
    path: z.string().describe('Path at which it can be read without a session'),
  }),
  async handler(input, ports) {
    const { caller, params, body, change } = input;
    const expiresAt = computeExpiry(body.expiresInDays, ports);
    const { name, compressed } = await buildContent(params.id, body, input, ports);
    const id = randomUUID();
    const token = createToken(ports, caller.tenantId, id);
    const { labels, bodies } = body;
    const fields = { dashboardId: params.id, name, createdBy: caller.actor.id, expiresAt, labels, bodies };
    const insertedSnapshot = await change(async ({ forTenant, record }) => {
      const documents = forTenant(caller.tenantId);
      const snapshots = documents.collection(dashboardSnapshots);
      if ((await snapshots.count(unexpiredFilter(params.id, ports))) >= maxSnapshots)
        throw new ApiError('CONFLICT', `the dashboard has ${maxSnapshots} snapshots: revoke one first`);
      const snapshot = { id, ...fields, tokenHash: hashToken(token), opened: 0 };
      await documents.collection(dashboardSnapshotContents).insert({ id, gzip: compressed });
      record({ id, name, after: fields });
      return snapshots.insert(snapshot);
    });
    return { ...toView(insertedSnapshot), token, path: `/api/shared-snapshots/${token}` };
  },
});

const listing: ListDefinition = { sorts: ['createdAt', 'expiresAt', 'name'] };

export const listDashboardSnapshots = defineOperation({
  method: 'GET',
  path: '/api/dashboards/{id}/snapshots',
  operationId: 'listDashboardSnapshots',
  summary: 'List the unexpired snapshots of a dashboard',
  role: 'viewer',
  params: idParameter,
  query: createListParameters(listing),
  response: z.strictObject({ items: z.array(SnapshotView), nextCursor: z.string().nullable() }),
  async handler({ caller, params, query }, ports) {
    const { id } = await findDashboard(params.id, caller, ports);
    const snapshots = ports.documents.forTenant(caller.tenantId).collection(dashboardSnapshots);
    const now = toIsoTime(ports.clock.now());
    const { items, nextCursor } = await readPage(snapshots, listing, { query, now, where: unexpiredFilter(id, ports) });
    return { items: items.map(toView), nextCursor };
  },
});

export const revokeDashboardSnapshot = defineOperation({
  method: 'DELETE',
  path: '/api/snapshots/{id}',
  operationId: 'revokeDashboardSnapshot',
  summary: 'Revoke a snapshot: Editors their own, Admins all',
  role: 'editor',
  audit: 'dashboard-snapshot.revoke',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }, ports) {
    const snapshots = ports.documents.forTenant(caller.tenantId).collection(dashboardSnapshots);
    const snapshot = await snapshots.find(params.id);
    if (snapshot === undefined) throw createNotFoundError('snapshot');
    const isOwn = snapshot.createdBy === caller.actor.id;
    if (!isOwn && !satisfiesAccess(caller.role, 'admin')) {
      // Only callers who may see the dashboard learn that the snapshot exists.
      await findDashboard(snapshot.dashboardId, caller, ports).catch(() =>
        Promise.reject(createNotFoundError('snapshot')),
      );
      throw new ApiError('FORBIDDEN', 'the snapshot was created by another user: an Admin can revoke it');
    }
    await change(async ({ forTenant, record }) => {
      await removeSnapshots(forTenant(caller.tenantId), { id: snapshot.id });
      const { tokenHash: _, opened: __, ...before } = snapshot;
      record({ id: snapshot.id, name: snapshot.name, before });
    });
    return {};
  },
});

/**
 * Returns the snapshot of a valid token. The same steps are taken for any other text, so that the response time does not
 * reveal why it is invalid.
 */
const findSnapshotByToken = async (token: string, { secretBox, documents, clock }: Ports) => {
  const [tenantId = platformTenant, id = 'none'] = secretBox.open(purpose, token)?.split(' ') ?? [];
  const tenantDocuments = documents.forTenant(tenantId);
  const snapshot = await tenantDocuments.collection(dashboardSnapshots).find(id);
  const hash = Buffer.from(hashToken(token));
  const hasMatchingHash = timingSafeEqual(hash, Buffer.from(snapshot?.tokenHash ?? '0'.repeat(hash.length)));
  if (snapshot === undefined || !hasMatchingHash || snapshot.expiresAt <= toIsoTime(clock.now()))
    throw new ApiError('NOT_FOUND', 'the snapshot does not exist, has expired or was revoked');
  const content = await tenantDocuments.collection(dashboardSnapshotContents).find(id);
  if (content === undefined) throw new ApiError('NOT_FOUND', 'the snapshot does not exist, has expired or was revoked');
  return { found: snapshot, own: tenantDocuments, gzip: content.gzip };
};

/** Two concurrent views may count once: the number shows whether a snapshot is used and is not exact. */
const countView = async (
  tenantDocuments: TenantDocuments,
  { id, opened, version }: DashboardSnapshot & StoredMetadata,
): Promise<void> => {
  try {
    await tenantDocuments.collection(dashboardSnapshots).update(id, { opened: opened + 1 }, version);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
};

export const getSharedSnapshot = defineOperation({
  method: 'GET',
  path: '/api/shared-snapshots/{token}',
  operationId: 'getSharedSnapshot',
  summary: 'Get a snapshot by its link; unknown, expired and revoked links all return the same 404',
  role: 'none',
  limit: { rate: 2, burst: 60 },
  params: z.strictObject({ token: z.string().min(1).max(512) }),
  response: z.strictObject({ expiresAt: z.iso.datetime(), ...SnapshotContent.shape }),
  async handler({ params, request }, ports) {
    request.reply('X-Robots-Tag', 'noindex, nofollow');
    request.reply('Referrer-Policy', 'no-referrer');
    const { found, own, gzip } = await findSnapshotByToken(params.token, ports);
    await countView(own, found);
    const text = (await promisify(gunzip)(Buffer.from(gzip, 'base64'))).toString('utf8');
    return { expiresAt: found.expiresAt, ...parseSnapshotContent(text) };
  },
});
