/**
 * After an erasure, no erased byte is on the disk. The files are searched, because reading through the stores would
 * miss bytes.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { collections } from '../../api/collections.ts';
import { deriveEvidenceKey } from '../../api/groups/audit/chain/evidence-key.ts';
import { eraseDueOrganizations } from '../../api/identity/accounts/erase-organizations.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { FleetAgentReport } from '../../schemas/fleet-agents.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { eventually } from '../waiting.ts';
import { landIn, logsRequest, messageOf, text, tracesRequest } from './sink-tables.ts';

export const canary = 'canary-4f1d';
const dayMs = 86_400_000;
const otherTenant = 'a';
const erased = 'b';

/** A clock that the test advances. */
export interface MovableClock {
  now(): number;
  moveByDays(days: number): void;
}

export const createClock = (): MovableClock => {
  let now = Date.parse('2026-03-20T15:30:00Z');
  return {
    now: () => now,
    moveByDays(days) {
      now += days * dayMs;
    },
  };
};

/** A directory that is removed when the test process ends. */
export const createDirectory = (): { readonly directory: string; remove(): void } => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-erased-'));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
};

/** Files below a directory. The engine may remove its files and folders meanwhile. */
const listFiles = (directory: string): string[] => {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? listFiles(path) : entry.isFile() ? [path] : [];
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

const hasCanary = (path: string): boolean => {
  try {
    return readFileSync(path).includes(canary);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

/** Files that contain the canary. */
export const findCanary = (directory: string): string[] => listFiles(directory).filter(hasCanary);

const landTelemetry = async (columns: Columns, tenantId: string, word: string): Promise<void> => {
  const land = landIn(columns);
  const resource = { attributes: [text('service.name', word)] };
  const nowNs = `${Date.now()}000000`;
  const log = { timeUnixNano: nowNs, body: { stringValue: `${word} in a body` }, attributes: [text('key', word)] };
  const span = {
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, 1),
    name: word,
    startTimeUnixNano: nowNs,
    endTimeUnixNano: nowNs,
    attributes: [text('key', word)],
  };
  const message = (signal: 'logs' | 'traces', body: Uint8Array) => messageOf([body], { tenantId, signal });
  await land([message('logs', logsRequest({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [log] }] }] }))]);
  const report: FleetAgentReport = {
    tenantId,
    projectId: 'default',
    agentId: word,
    instanceUid: word,
    atMs: Date.now(),
    parts: [{ kind: 'description', attributes: { 'host.name': word } }],
  };
  await land([{ offset: 0, headers: { tenant: tenantId }, value: Buffer.from(JSON.stringify([report])) }], {
    sink: 'fleet-agents',
  });
  await land([message('traces', tracesRequest({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }))], {
    sink: 'traces',
  });
};

/** Stores with two organizations. The second one is deleted, and its telemetry contains the canary. */
export const seedStores = async (
  { columns, documents }: { readonly columns: Columns; readonly documents: Documents },
  clock: MovableClock,
): Promise<void> => {
  await migrate(columns, silentLog);
  // By default, the engine retains replaced files for eight minutes.
  for (const { name } of await columns.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
  ))
    await columns.execute(`ALTER TABLE ${name} MODIFY SETTING old_parts_lifetime = 1`);
  for (const [tenant, word] of [
    [otherTenant, 'other'],
    [erased, canary],
  ] as const) {
    await landTelemetry(columns, tenant, word);
    await documents.forTenant(tenant).collection(memberships).insert({ id: tenant, role: 'owner' });
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({
        id: tenant,
        name: `Organization ${tenant}`,
        disabled: tenant === erased,
        ...(tenant === erased && {
          closed: {
            at: new Date(clock.now()).toISOString(),
            eraseAt: new Date(clock.now() + 30 * dayMs).toISOString(),
            erased: false,
          },
        }),
      } as never);
  }
};

/** Runs the erasure of the product. */
export const eraseDeletedOrganization = async (
  { columns, documents }: { readonly columns: Columns; readonly documents: Documents },
  clock: MovableClock,
): Promise<void> => {
  await eraseDueOrganizations({
    documents,
    columns,
    clock,
    log: silentLog,
    collections,
    evidenceKey: deriveEvidenceKey(createSecretBox('k'.repeat(40))),
  });
};

/** Asserts that no file contains the canary, and that the telemetry of the other organization remains. */
export const expectErased = async (t: ExecutionContext, columns: Columns, directory: string): Promise<void> => {
  try {
    await eventually('no file has the canary', () => findCanary(directory).length === 0);
  } catch {
    // The assertion names the files.
    t.deepEqual(findCanary(directory), []);
  }
  for (const table of ['logs', 'spans', 'fleet_agents'])
    t.deepEqual(await columns.query(`SELECT DISTINCT tenant_id FROM ${table}`), [{ tenant_id: otherTenant }]);
};
