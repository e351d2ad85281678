/** Assembles auditd events: several records of one serial number (SYSCALL, CWD, PATH), in one or several bodies */
import { z } from 'zod';
import { parseKeyValues } from '../detections/key-values.ts';
import { clampToPlausibleTime, isAbsolute, normalizeMode, type ParsedChange, parseTime } from './read.ts';
import { findEffect } from './syscalls.ts';

const recordPattern = /\btype=(SYSCALL|CWD|PATH|PROCTITLE|EOE) msg=audit\((\d+\.\d+):(\d+)\):/;
const nodePattern = /\bnode=(\S+)/;

/** An auditd record */
export interface AuditRecord {
  readonly type: 'SYSCALL' | 'CWD' | 'PATH' | 'PROCTITLE' | 'EOE';
  /** Serial number of the event, per host */
  readonly serial: string;
  /** Host; empty if the record has none */
  readonly host: string;
  readonly timeMs: number;
  readonly pairs: ReadonlyMap<string, string>;
}

const maxLines = 500;

/** Returns the auditd records in a text. */
export const parseAuditRecords = (body: string, recordMs: number): AuditRecord[] => {
  if (!body.includes('msg=audit(')) return [];
  const records: AuditRecord[] = [];
  for (const line of body.split('\n', maxLines)) {
    const match = recordPattern.exec(line);
    if (match === null) continue;
    const [, type = '', seconds = '', serial = ''] = match;
    records.push({
      type: type as AuditRecord['type'],
      serial: `${seconds}:${serial}`,
      host: nodePattern.exec(line)?.[1] ?? '',
      timeMs: clampToPlausibleTime(parseTime(seconds), recordMs),
      // The fields that auditd adds in translated form follow a separator that is not a space.
      pairs: parseKeyValues(line.slice(match.index).trimEnd().replace('\x1d', ' ')) ?? new Map(),
    });
  }
  return records;
};

const Path = z.strictObject({
  recordId: z.string(),
  item: z.string(),
  name: z.string(),
  nametype: z.string(),
  mode: z.string(),
  owner: z.string(),
  group: z.string(),
});

/** Data of an event received so far */
export const AuditEvent = z.strictObject({
  timeMs: z.number(),
  projectId: z.string(),
  service: z.string(),
  host: z.string(),
  cwd: z.string(),
  call: z
    .strictObject({
      effect: z.enum(['changed', 'attributes-changed', 'read', 'links', 'none']),
      items: z.number(),
      user: z.string(),
      process: z.string(),
      processId: z.string(),
      key: z.string(),
    })
    .nullable(),
  paths: z.array(Path),
  isOver: z.boolean(),
});
export type AuditEvent = z.output<typeof AuditEvent>;

const emptyValues = new Set(['(null)', '?', '4294967295', 'unset', '-1']);
const findFirstValue = (pairs: ReadonlyMap<string, string>, names: readonly string[]): string => {
  for (const name of names) {
    const value = pairs.get(name);
    if (value !== undefined && value !== '' && !emptyValues.has(value)) return value.slice(0, 4_096);
  }
  return '';
};

/** Decodes the hexadecimal form that auditd uses for texts with spaces or control characters. */
const decodeText = (text: string): string => {
  if (!/^(?:[0-9A-F]{2})+$/.test(text)) return text;
  const decoded = Buffer.from(text, 'hex').toString('utf8');
  return /^[/.]/.test(decoded) || decoded.includes(' ') ? decoded.slice(0, 4_096).toWellFormed() : text;
};

const toCall = ({ pairs }: AuditRecord): NonNullable<AuditEvent['call']> => ({
  effect: pairs.get('success') === 'no' ? 'none' : (findEffect(pairs) ?? 'none'),
  items: Number(pairs.get('items') ?? 0) || 0,
  user: findFirstValue(pairs, ['AUID', 'UID', 'auid', 'uid']),
  process: decodeText(findFirstValue(pairs, ['exe', 'comm'])),
  processId: findFirstValue(pairs, ['pid']),
  key: decodeText(findFirstValue(pairs, ['key'])),
});

const maxPaths = 64;

/** Returns the event with one more record. */
export const addRecord = (event: AuditEvent, record: AuditRecord, recordId: string): AuditEvent => {
  const { type, pairs } = record;
  if (type === 'SYSCALL') return { ...event, call: toCall(record) };
  if (type === 'CWD') return { ...event, cwd: decodeText(findFirstValue(pairs, ['cwd'])) };
  if (type !== 'PATH') return { ...event, isOver: true };
  if (event.paths.length >= maxPaths) return event;
  const path = {
    recordId,
    item: findFirstValue(pairs, ['item']),
    name: decodeText(findFirstValue(pairs, ['name'])),
    nametype: findFirstValue(pairs, ['nametype']),
    mode: findFirstValue(pairs, ['mode']),
    owner: findFirstValue(pairs, ['OUID', 'ouid']),
    group: findFirstValue(pairs, ['OGID', 'ogid']),
  };
  return { ...event, paths: [...event.paths, path] };
};

/** Returns whether all records of the event have arrived. */
export const isComplete = ({ call, paths, isOver }: AuditEvent): boolean =>
  call !== null && (isOver || (call.items > 0 && paths.length >= call.items));

const resolvePath = (name: string, cwd: string): string => {
  if (isAbsolute(name) || cwd === '' || name === '') return name;
  const parts: string[] = [];
  for (const part of `${cwd}/${name}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
};

/** Returns the file changes of an event. Failed calls, and paths without a known operation, yield no changes. */
export const toFileChanges = ({
  call,
  paths,
  cwd,
  host,
  timeMs,
}: AuditEvent): (ParsedChange & { readonly recordId: string; readonly item: string })[] => {
  if (call?.effect === 'none') return [];
  const createChange = (path: (typeof paths)[number], action: ParsedChange['action'], pathBefore = '') => ({
    timeMs,
    host,
    source: 'auditd' as const,
    action,
    pathBefore,
    path: resolvePath(path.name, cwd),
    user: call?.user ?? '',
    process: call?.process ?? '',
    processId: call?.processId ?? '',
    rule: call?.key ?? '',
    before: {},
    after:
      action === 'deleted'
        ? {}
        : {
            ...(path.mode !== '' && { mode: normalizeMode(path.mode) }),
            ...(path.owner !== '' && { owner: path.owner }),
            ...(path.group !== '' && { group: path.group }),
          },
    changed: [],
    recordId: path.recordId,
    item: path.item,
  });
  const pathsOfType = (nametype: string) => paths.filter((path) => path.nametype === nametype && path.name !== '');
  const [created, deleted, normal] = [pathsOfType('CREATE'), pathsOfType('DELETE'), pathsOfType('NORMAL')];
  const [createdPath] = created;
  const [deletedPath] = deleted;
  if (createdPath !== undefined && deletedPath !== undefined)
    return [createChange(createdPath, 'renamed', resolvePath(deletedPath.name, cwd))];
  const effect = call?.effect;
  return [
    ...created.map((path) => createChange(path, 'created')),
    ...deleted.map((path) => createChange(path, 'deleted')),
    ...(effect === undefined || effect === 'links' ? [] : normal.map((path) => createChange(path, effect))),
  ];
};
