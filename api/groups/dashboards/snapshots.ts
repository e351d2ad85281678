import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import {
  ConflictError,
  type Filter,
  platformTenant,
  type Stored,
  type TenantDocuments,
} from '../../../schemas/ports/documents.ts';
import {
  type DashboardSnapshot,
  dashboardSnapshotContents,
  dashboardSnapshots,
} from '../../../schemas/resources/dashboard-snapshot.ts';
import { DashboardQuestion } from '../../../subjects/dashboards/query/question.ts';
import { dashboardAnswer } from '../../../subjects/dashboards/query/run-query.ts';
import {
  parseSnapshotContent,
  SnapshotContent,
  snapshotContent,
} from '../../../subjects/dashboards/snapshots/content.ts';
import { removeSnapshots } from '../../../subjects/dashboards/snapshots/remove.ts';
import { stripped } from '../../../subjects/dashboards/snapshots/stripped.ts';
import type { Caller } from '../../callers/caller.ts';
import { mayCall } from '../../callers/rights.ts';
import { ApiError, invalid, notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { type Listing, listParameters, readPage } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { parseSavedDashboard } from './dashboard.ts';
import { dashboardContextOf } from './query.ts';
import { foundDashboard } from './read.ts';

const dayMs = 86_400_000;
const defaultDays = 7;
/** Maximum number of unexpired snapshots per dashboard */
const maxSnapshots = 100;
/** A document can hold at most 4 MB. */
const maxCharacters = 3_500_000;
const purpose = 'dashboard snapshot';

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Only this installation can read the location of the snapshot from a token. Its secret is random, and only its hash is
 * stored.
 */
const newToken = ({ secretBox }: Ports, tenantId: string, id: string): string =>
  secretBox.seal(purpose, `${tenantId} ${id} ${randomBytes(32).toString('base64url')}`);

const { from, to, step, maxPoints, variables, panels } = DashboardQuestion.shape;

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

const viewOf = (snapshot: DashboardSnapshot & Stored): z.input<typeof SnapshotView> => {
  const { id, dashboardId, name, createdBy, createdAt, expiresAt, labels, bodies, opened } = snapshot;
  return { id, dashboardId, name, createdBy, createdAt, expiresAt, labels: [...labels], bodies, opened };
};

const iso = (ms: number): string => new Date(ms).toISOString();

const validOf = (dashboardId: string, { clock }: Ports): Filter => ({
  dashboardId,
  expiresAt: { $gt: iso(clock.now()) },
});

const expiryOf = (days: number | undefined, { settings, clock }: Ports): string => {
  const maxDays = settings.SNAPSHOT_DAYS;
  if (days !== undefined && days > maxDays)
    throw invalid('expiresInDays', `is ${days}, and at most ${maxDays} are allowed here (OIQ_SNAPSHOT_DAYS)`);
  return iso(clock.now() + (days ?? Math.min(defaultDays, maxDays)) * dayMs);
};

/** Its content, compressed. */
const contentOf = async (
  id: string,
  body: z.output<typeof Body>,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
  ports: Ports,
) => {
  const found = await foundDashboard(id, caller, ports);
  const { document } = parseSavedDashboard(found);
  const { labels, bodies, name = document.name, expiresInDays: _, ...question } = body;
  const context = await dashboardContextOf(document, caller, signal, ports);
  const answer = await dashboardAnswer(
    document,
    { ...question, annotations: false },
    { ...context, shownAs: (panel) => stripped(panel, { labels, bodies }) },
  );
  const content = snapshotContent({ name, createdAt: iso(ports.clock.now()) }, document, answer);
  const compressed = (await promisify(gzip)(JSON.stringify(content))).toString('base64');
  if (compressed.length > maxCharacters)
    throw invalid('panels', 'the data exceeds the maximum size of a snapshot: select fewer panels or a longer step');
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
    const expiresAt = expiryOf(body.expiresInDays, ports);
    const { name, compressed } = await contentOf(params.id, body, input, ports);
    const id = randomUUID();
    const token = newToken(ports, caller.tenantId, id);
    const { labels, bodies } = body;
    const fields = { dashboardId: params.id, name, createdBy: caller.actor.id, expiresAt, labels, bodies };
    const made = await change(async ({ of, record }) => {
      const documents = of(caller.tenantId);
      const stored = documents.collection(dashboardSnapshots);
      if ((await stored.count(validOf(params.id, ports))) >= maxSnapshots)
        throw new ApiError('CONFLICT', `the dashboard has ${maxSnapshots} snapshots: revoke one first`);
      const snapshot = { id, ...fields, tokenHash: hashOf(token), opened: 0 };
      await documents.collection(dashboardSnapshotContents).insert({ id, gzip: compressed });
      record({ id, name, after: fields });
      return stored.insert(snapshot);
    });
    return { ...viewOf(made), token, path: `/api/shared-snapshots/${token}` };
  },
});

const listing: Listing = { sorts: ['createdAt', 'expiresAt', 'name'] };

export const listDashboardSnapshots = defineOperation({
  method: 'GET',
  path: '/api/dashboards/{id}/snapshots',
  operationId: 'listDashboardSnapshots',
  summary: 'List the unexpired snapshots of a dashboard',
  role: 'viewer',
  params: idParameter,
  query: listParameters(listing),
  response: z.strictObject({ items: z.array(SnapshotView), nextCursor: z.string().nullable() }),
  async handler({ caller, params, query }, ports) {
    const { id } = await foundDashboard(params.id, caller, ports);
    const stored = ports.documents.of(caller.tenantId).collection(dashboardSnapshots);
    const now = iso(ports.clock.now());
    const { items, nextCursor } = await readPage(stored, listing, { query, now, where: validOf(id, ports) });
    return { items: items.map(viewOf), nextCursor };
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
    const stored = ports.documents.of(caller.tenantId).collection(dashboardSnapshots);
    const found = await stored.find(params.id);
    if (found === undefined) throw notFound('snapshot');
    const isOwn = found.createdBy === caller.actor.id;
    if (!isOwn && !mayCall(caller.role, 'admin')) {
      // Only callers who may see the dashboard learn that the snapshot exists.
      await foundDashboard(found.dashboardId, caller, ports).catch(() => Promise.reject(notFound('snapshot')));
      throw new ApiError('FORBIDDEN', 'the snapshot was made by somebody else: an Admin can revoke it');
    }
    await change(async ({ of, record }) => {
      await removeSnapshots(of(caller.tenantId), { id: found.id });
      const { tokenHash: _, opened: __, ...before } = found;
      record({ id: found.id, name: found.name, before });
    });
    return {};
  },
});

/**
 * Returns the snapshot of a valid token. Any other text takes the same steps, so that the response time does not reveal
 * the reason.
 */
const snapshotOf = async (token: string, { secretBox, documents, clock }: Ports) => {
  const [tenantId = platformTenant, id = 'none'] = secretBox.open(purpose, token)?.split(' ') ?? [];
  const own = documents.of(tenantId);
  const found = await own.collection(dashboardSnapshots).find(id);
  const hash = Buffer.from(hashOf(token));
  const isIts = timingSafeEqual(hash, Buffer.from(found?.tokenHash ?? '0'.repeat(hash.length)));
  if (found === undefined || !isIts || found.expiresAt <= iso(clock.now()))
    throw new ApiError('NOT_FOUND', 'the snapshot does not exist, has expired or was revoked');
  const content = await own.collection(dashboardSnapshotContents).find(id);
  if (content === undefined) throw new ApiError('NOT_FOUND', 'the snapshot does not exist, has expired or was revoked');
  return { found, own, gzip: content.gzip };
};

/** Two concurrent views may count once: the number shows whether a snapshot is used and is not exact. */
const countOpening = async (
  own: TenantDocuments,
  { id, opened, version }: DashboardSnapshot & Stored,
): Promise<void> => {
  try {
    await own.collection(dashboardSnapshots).update(id, { opened: opened + 1 }, version);
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
    const { found, own, gzip } = await snapshotOf(params.token, ports);
    await countOpening(own, found);
    const text = (await promisify(gunzip)(Buffer.from(gzip, 'base64'))).toString('utf8');
    return { expiresAt: found.expiresAt, ...parseSnapshotContent(text) };
  },
});
