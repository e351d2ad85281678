/** Changes of files and packages on hosts, as log records report them. */
import { z } from 'zod';

/** Kinds of changes. `read` is not a change: a watched file was read. */
export const fileActions = ['created', 'changed', 'deleted', 'renamed', 'attributes-changed', 'read'] as const;
export type FileAction = (typeof fileActions)[number];

/** Tools that report changes. */
export const fileSources = ['osquery', 'falco', 'auditd', 'wazuh', 'opentelemetry'] as const;

/** Known state of a file, limited to the data of the record. Hashes are lowercase hexadecimal. A Unix mode is octal. */
export const FileState = z.strictObject({
  sha256: z.string().optional(),
  sha1: z.string().optional(),
  md5: z.string().optional(),
  mode: z.string().optional(),
  owner: z.string().optional(),
  group: z.string().optional(),
  size: z.string().optional().describe('Size in bytes'),
});
export type FileState = z.output<typeof FileState>;

/** A change of a file. Changes with the same ID are duplicates. */
export const FileChange = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('ID derived from the reporting record'),
  recordId: z.string().describe('ID of the record for `GET /api/logs/{id}`'),
  timeMs: z.number(),
  service: z.string().describe('Service of the record'),
  source: z.enum(fileSources),
  action: z.enum(fileActions),
  path: z.string(),
  pathBefore: z.string().describe('Former path of a renamed file; empty if unknown'),
  host: z.string().describe('Host name; empty if the record contains none'),
  user: z.string(),
  process: z.string().describe('Path or name of the program'),
  processId: z.string(),
  before: FileState,
  after: FileState,
  changed: z.array(z.string()).describe('Changed attributes, with the names of the source'),
  rule: z.string().describe('Falco rule, auditd key, osquery category or Wazuh rule'),
});
export type FileChange = z.output<typeof FileChange>;

export const packageActions = ['installed', 'upgraded', 'removed'] as const;
export type PackageAction = (typeof packageActions)[number];

/** A package that a package manager installed, upgraded or removed. */
export const PackageChange = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string(),
  recordId: z.string(),
  timeMs: z.number(),
  host: z.string(),
  manager: z.string(),
  action: z.enum(packageActions),
  package: z.string(),
  version: z.string(),
});
export type PackageChange = z.output<typeof PackageChange>;
