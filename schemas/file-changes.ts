/** What happened to files and packages of hosts, as log records tell it. */
import { z } from 'zod';

/** What a change was. `read` is none: somebody read a file that is watched. */
export const fileActions = ['created', 'changed', 'deleted', 'renamed', 'attributes-changed', 'read'] as const;
export type FileAction = (typeof fileActions)[number];

/** Who told of it. */
export const fileSources = ['osquery', 'falco', 'auditd', 'wazuh', 'opentelemetry'] as const;

/** What is known of a file: only what the record tells. Hashes are hexadecimal in lower case, the mode is octal where it is one of Unix. */
export const FileState = z.strictObject({
  sha256: z.string().optional(),
  sha1: z.string().optional(),
  md5: z.string().optional(),
  mode: z.string().optional(),
  owner: z.string().optional(),
  group: z.string().optional(),
  size: z.string().optional().describe('Bytes'),
});
export type FileState = z.output<typeof FileState>;

/** A change of a file. One that is emitted again under its id is the same. */
export const FileChange = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('A function of the record that told of it'),
  recordId: z.string().describe('As `GET /api/logs/{id}` knows the record'),
  timeMs: z.number(),
  service: z.string().describe('Of the record'),
  source: z.enum(fileSources),
  action: z.enum(fileActions),
  path: z.string(),
  pathBefore: z.string().describe('Of a file that was renamed; empty where it is not known'),
  host: z.string().describe('Empty where the record names none'),
  user: z.string(),
  process: z.string().describe('Path or name of the program'),
  processId: z.string(),
  before: FileState,
  after: FileState,
  changed: z.array(z.string()).describe('Attributes that differ, as the source names them'),
  rule: z.string().describe("Falco's rule, auditd's key, osquery's category, Wazuh's rule"),
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
