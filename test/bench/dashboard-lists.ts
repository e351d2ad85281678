/**
 * The cost of a list of dashboards for an organization with 10,000: CPU time of the process, and wall-clock time.
 *
 *     node bin/node.mjs test/bench/dashboard-lists.ts
 *
 * `BENCH_DASHBOARDS` (10,000), `BENCH_ROUNDS` (20). `BENCH_MONGODB` is the URL of a MongoDB to measure instead of
 * SQLite; the CPU time of its server is printed separately.
 */
import '../../subjects/query-kinds.ts';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { listDashboards } from '../../api/groups/dashboards/list.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { dashboardSummaries } from '../../schemas/resources/dashboard.ts';
import { scratch } from './scratch.ts';

const count = Number(process.env['BENCH_DASHBOARDS'] ?? 10_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 20);
const url = process.env['BENCH_MONGODB'];

const summary = (n: number) => ({
  name: `Service ${(n * 7919) % count} in area ${n % 97}`,
  description: `Requests, errors and durations by route, of the team that has the number ${n}`,
  folder: `team-${n % 50}/area-${n % 10}`,
  folders: [`team-${n % 50}`, `team-${n % 50}/area-${n % 10}`],
  tags: ['services', `tier-${n % 20}`],
  // One in ten belongs to another user.
  visibility: n % 10 === 0 ? 'private' : 'organization',
  ownerId: randomUUID(),
  changedBy: randomUUID(),
  documentVersion: 1,
  source: null,
  panels: 12,
  of: { version: 3, createdAt: '2026-11-24T08:00:00.000Z', updatedAt: '2026-11-24T09:00:00.000Z' },
});

const fill = async (documents: Documents): Promise<void> => {
  await documents.ensureCollections([dashboardSummaries]);
  for (let first = 0; first < count; first += 500)
    await documents.transaction(async (transaction) => {
      const staged = transaction.forTenant('a').collection(dashboardSummaries);
      for (let n = first; n < Math.min(first + 500, count); n++)
        await staged.insert(summary(n) as Parameters<typeof staged.insert>[0]);
    });
};

const documents =
  url === undefined
    ? await openSqliteDocuments({ path: join(scratch(), 'documents.sqlite') })
    : await openMongoDocuments({ url });
await fill(documents);

type Page = { items: readonly object[]; nextCursor: string | null };
const listPage = async (query: object): Promise<Page> => {
  const input = { caller: { tenantId: 'a', actor: { id: randomUUID() } }, params: {}, query, body: undefined };
  const ports = { documents, clock: { now: () => Date.now() } };
  // The only parts of the request and the ports that the list uses.
  type Given = Parameters<typeof listDashboards.run>;
  return (await listDashboards.run(input as unknown as Given[0], ports as unknown as Given[1])) as Page;
};

const server = url === undefined ? undefined : await new MongoClient(url).connect();

/** CPU time of the database process, which the embedded store does not have. */
const serverMs = async (): Promise<number> => {
  const { extra_info: spent } = (await server?.db('admin').command({ serverStatus: 1 })) ?? {};
  return spent === undefined ? 0 : (Number(spent.user_time_us) + Number(spent.system_time_us)) / 1000;
};

const measured = async (what: string, query: object): Promise<void> => {
  const durations: number[] = [];
  const { items } = await listPage(query);
  const serverBefore = await serverMs();
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    await listPage(query);
    durations.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(before);
  const p95 = durations.sort((one, other) => one - other)[Math.ceil(rounds * 0.95) - 1] ?? 0;
  const cpu = (user + system) / 1000 / rounds;
  const ofServer = ((await serverMs()) - serverBefore) / rounds;
  console.log(`| ${what} | ${items.length} | ${cpu.toFixed(1)} | ${ofServer.toFixed(1)} | ${p95.toFixed(1)} |`);
};

console.log('| what | found | CPU-ms | of the server | p95 ms |\n| --- | --- | --- | --- | --- |');
await measured('list', {});
await measured('by time, latest first', { sort: '-updatedAt' });
const { nextCursor } = await listPage({ limit: 1000 });
await measured('its page after 1,000', { cursor: nextCursor });
await measured('search, many', { search: 'service' });
await measured('search, few', { search: 'number 4711' });
await measured('search, none', { search: 'organization' });
await measured('tag of one in 20', { tag: 'tier-3' });
await measured('tag of all', { tag: 'services' });
await measured('folder', { folder: 'team-7' });
await measured('folder, tag and search', { folder: 'team-7', tag: 'tier-7', search: 'area 1' });
await measured('list with its tags and folders', { facets: 'true' });
await measured('folder, with the tags in it', { folder: 'team-7', facets: 'true' });
await measured('tag of all, with tags and folders', { tag: 'services', facets: 'true' });
await measured('folder, tag and search, with tags and folders', {
  folder: 'team-7',
  tag: 'tier-7',
  search: 'area 1',
  facets: 'true',
});
await measured('search that finds one, with tags and folders', { search: 'number 4711', facets: 'true' });
await measured('search that finds most, with tags and folders', { search: 'service', facets: 'true' });
await documents.close();
await server?.close();
process.exit(0);
