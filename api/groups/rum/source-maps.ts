import { z } from 'zod';
import {
  type PreparedMap,
  readArchiveMapsInWorker,
  readSingleMapInWorker,
  type UploadResult,
} from '../../../subjects/rum/source-maps/read-upload.ts';
import {
  deleteMap,
  listExcessMaps,
  type StoreOutcome,
  storeMap,
} from '../../../subjects/rum/source-maps/store-maps.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Transact } from '../../changes.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';

const Item = z.strictObject({
  name: z.string().describe('Path of the map in the archive; empty for a single map'),
  file: z.string().describe('Path of the bundle, by which its frames are found; empty if refused'),
  outcome: z.enum(['created', 'replaced', 'unchanged', 'refused']),
  message: z.string().describe('Why the map was refused; otherwise empty'),
  debugId: z.string().nullable(),
  bundleId: z.string().nullable().describe('Bundle id of Grafana Faro'),
  sources: z.int().describe('Source files of the map'),
  bytes: z.int(),
});
type Item = z.output<typeof Item>;

const Query = z.strictObject({
  application: z.string().min(1).max(512).describe('`service.name` of the pages that load the bundles'),
  release: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe('`service.version` of these pages; optional for maps with a debug id or bundle id'),
  bundleId: z
    .string()
    .regex(/^[\w.-]{1,128}$/)
    .optional()
    .describe('Bundle id of Grafana Faro, for bundles in which it is not found'),
  file: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('Path of the bundle of a single map, such as `assets/app.js`; default: the `file` of the map'),
});

/** Body of an upload: the bytes of a map or of an archive. */
interface Upload {
  readonly format: 'map' | 'archive';
  readonly bytes: Uint8Array;
}

const toUpload =
  (format: Upload['format']) =>
  (bytes: Uint8Array): Upload => ({ format, bytes });

const isUpload = (body: object): body is Upload => 'bytes' in body && body.bytes instanceof Uint8Array;

const readUpload = async (
  { format, bytes }: Upload,
  {
    file = '',
    caller,
    signal,
  }: { readonly file: string | undefined; readonly caller: Caller; readonly signal: AbortSignal },
): Promise<readonly UploadResult[]> => {
  const requester = { tenantId: caller.tenantId, callerId: caller.actor.id, signal };
  if (format === 'archive') {
    if (file !== '') throw createFieldError('file', 'is for a single map: an archive has the paths of its files');
    const results = await readArchiveMapsInWorker(requester, bytes);
    if ('problem' in results) throw createFieldError('', results.problem);
    if (results.length === 0) throw createFieldError('', 'the archive contains no source map: no file ends with .map');
    return results;
  }
  const results = await readSingleMapInWorker(requester, bytes, file);
  const [result] = results;
  if (result !== undefined && 'problem' in result) throw createFieldError('', result.problem);
  return results;
};

/** Documents of one transaction have at most this size, unless a map alone is larger. */
const maxBatchLength = 8_000_000;
/** Names of files in an audit record */
const maxRecordedFiles = 100;

/** Splits maps by the size of their content. */
const splitBySize = (maps: readonly PreparedMap[]): PreparedMap[][] => {
  const batches: PreparedMap[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const map of maps) {
    if (length + map.content.length > maxBatchLength) {
      batches.push([]);
      length = 0;
    }
    length += map.content.length;
    batches.at(-1)?.push(map);
  }
  return batches;
};

const toRejectedItem = (name: string, message: string): Item => ({
  name,
  file: '',
  outcome: 'refused',
  message,
  debugId: null,
  bundleId: null,
  sources: 0,
  bytes: 0,
});

/** Returns why a map cannot be stored: nothing identifies its bundle. */
const findRejection = (map: PreparedMap, { release, bundleId }: z.output<typeof Query>): string | undefined => {
  if (map.file === '') return 'file: is required, because the map does not name its bundle';
  if (release === undefined && bundleId === undefined && map.debugId === '' && map.bundleId === '')
    return 'release: is required, because the map has no debug id and its bundle no bundle id';
  return undefined;
};

interface StoreContext {
  readonly caller: Caller;
  readonly query: z.output<typeof Query>;
  readonly change: Transact;
}

/** Stores the maps of an upload, with one audit record per transaction. */
const storeMaps = async (maps: readonly PreparedMap[], { caller, query, change }: StoreContext): Promise<Item[]> => {
  const { application, release = '', bundleId = '' } = query;
  const owner = { application, release, bundleId, uploadedBy: caller.actor.id };
  const items: Item[] = [];
  for (const batch of splitBySize(maps)) {
    const outcomes = await change(async (scope) => {
      const documents = scope.forTenant(caller.tenantId);
      const stored: StoreOutcome[] = [];
      for (const map of batch) stored.push(await storeMap(documents, owner, map));
      const changed = batch.filter((_, index) => stored[index] !== 'unchanged');
      const files = changed.slice(0, maxRecordedFiles).map(({ file }) => file);
      if (changed.length === 0) scope.markUnchanged();
      else
        scope.record({
          id: application,
          name: [application, release].filter(Boolean).join(' '),
          after: { release, count: changed.length, files },
        });
      return stored;
    });
    for (const [index, { name, file, debugId, sources, bytes, ...map }] of batch.entries())
      items.push({
        name,
        file,
        outcome: outcomes[index] ?? 'unchanged',
        message: '',
        debugId: debugId || null,
        bundleId: map.bundleId || bundleId || null,
        sources,
        bytes,
      });
  }
  return items;
};

/** Deletes the oldest maps above the limits of the organization. Returns their number. */
const evictMaps = async (
  application: string,
  { caller, change }: Pick<StoreContext, 'caller' | 'change'>,
  { documents, settings }: Pick<Ports, 'documents' | 'settings'>,
): Promise<number> => {
  const excess = await listExcessMaps(documents.forTenant(caller.tenantId), {
    maxMaps: settings.SOURCE_MAPS_MAX_COUNT,
    maxBytes: settings.SOURCE_MAPS_MAX_BYTES,
  });
  if (excess.length === 0) return 0;
  await change(async (scope) => {
    for (const map of excess) await deleteMap(scope.forTenant(caller.tenantId), map);
    scope.record({ id: application, name: `${excess.length} oldest source maps`, action: 'source-map.evict' });
  });
  return excess.length;
};

export const uploadSourceMaps = defineOperation({
  method: 'POST',
  path: '/api/rum/source-maps',
  operationId: 'uploadSourceMaps',
  summary:
    'Upload source maps of a release: one as JSON, or a zip archive of a build. They are not returned; a repeated upload changes nothing',
  role: 'editor',
  audit: ['source-map.upload', 'source-map.evict'],
  maxBodyBytes: 48 * 1024 * 1024,
  budgetMs: 120_000,
  query: Query,
  body: z.looseObject({}).describe('A source map (ECMA-426); in application/zip, an archive with maps and bundles'),
  alsoAccepts: {
    'application/json': toUpload('map'),
    'application/octet-stream': toUpload('map'),
    'application/zip': toUpload('archive'),
  },
  response: z.strictObject({
    items: z.array(Item),
    evicted: z.int().describe('Oldest maps of the organization that were deleted, because its limit was reached'),
  }),
  async handler({ caller, query, body, change, signal }, ports) {
    if (!isUpload(body))
      throw createFieldError('', 'send the map as application/json, or an archive as application/zip');
    const results = await readUpload(body, { file: query.file, caller, signal });
    const rejected: Item[] = [];
    const accepted: PreparedMap[] = [];
    for (const result of results) {
      const problem = 'problem' in result ? result.problem : findRejection(result, query);
      if (problem !== undefined) rejected.push(toRejectedItem(result.name, problem));
      else accepted.push(result as PreparedMap);
    }
    if (body.format === 'map' && rejected[0] !== undefined) throw createFieldError('', rejected[0].message);
    const items = await storeMaps(accepted, { caller, query, change });
    const evicted = await evictMaps(query.application, { caller, change }, ports);
    return { items: [...items, ...rejected].sort((left, right) => (left.name < right.name ? -1 : 1)), evicted };
  },
});
