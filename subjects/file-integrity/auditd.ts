/** Assembles auditd events: several records of one serial number (SYSCALL, CWD, PATH), in one or several bodies */
import { z } from 'zod';
import { keyValues } from '../detections/key-values.ts';
import { isAbsolute, modeOf, type ReadChange, timeIn, timeOr } from './read.ts';
import { effectOf } from './syscalls.ts';

const line = /\btype=(SYSCALL|CWD|PATH|PROCTITLE|EOE) msg=audit\((\d+\.\d+):(\d+)\):/;
const node = /\bnode=(\S+)/;

/** An auditd record */
export interface AuditLine {
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
export const auditLines = (body: string, recordMs: number): AuditLine[] => {
  if (!body.includes('msg=audit(')) return [];
  const found: AuditLine[] = [];
  for (const each of body.split('\n', maxLines)) {
    const match = line.exec(each);
    if (match === null) continue;
    const [, type = '', seconds = '', serial = ''] = match;
    found.push({
      type: type as AuditLine['type'],
      serial: `${seconds}:${serial}`,
      host: node.exec(each)?.[1] ?? '',
      timeMs: timeOr(timeIn(seconds), recordMs),
      // The fields that auditd adds in translated form follow a separator that is not a space.
      pairs: keyValues(each.slice(match.index).trimEnd().replace('\x1d', ' ')) ?? new Map(),
    });
  }
  return found;
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

const none = new Set(['(null)', '?', '4294967295', 'unset', '-1']);
const first = (pairs: ReadonlyMap<string, string>, names: readonly string[]): string => {
  for (const name of names) {
    const value = pairs.get(name);
    if (value !== undefined && value !== '' && !none.has(value)) return value.slice(0, 4_096);
  }
  return '';
};

/** Decodes the hexadecimal form that auditd uses for texts with spaces or control characters. */
const plain = (text: string): string => {
  if (!/^(?:[0-9A-F]{2})+$/.test(text)) return text;
  const decoded = Buffer.from(text, 'hex').toString('utf8');
  return /^[/.]/.test(decoded) || decoded.includes(' ') ? decoded.slice(0, 4_096).toWellFormed() : text;
};

const callOf = ({ pairs }: AuditLine): NonNullable<AuditEvent['call']> => ({
  effect: pairs.get('success') === 'no' ? 'none' : (effectOf(pairs) ?? 'none'),
  items: Number(pairs.get('items') ?? 0) || 0,
  user: first(pairs, ['AUID', 'UID', 'auid', 'uid']),
  process: plain(first(pairs, ['exe', 'comm'])),
  processId: first(pairs, ['pid']),
  key: plain(first(pairs, ['key'])),
});

const maxPaths = 64;

/** Returns the event with one more record. */
export const withLine = (event: AuditEvent, given: AuditLine, recordId: string): AuditEvent => {
  const { type, pairs } = given;
  if (type === 'SYSCALL') return { ...event, call: callOf(given) };
  if (type === 'CWD') return { ...event, cwd: plain(first(pairs, ['cwd'])) };
  if (type !== 'PATH') return { ...event, isOver: true };
  if (event.paths.length >= maxPaths) return event;
  const path = {
    recordId,
    item: first(pairs, ['item']),
    name: plain(first(pairs, ['name'])),
    nametype: first(pairs, ['nametype']),
    mode: first(pairs, ['mode']),
    owner: first(pairs, ['OUID', 'ouid']),
    group: first(pairs, ['OGID', 'ogid']),
  };
  return { ...event, paths: [...event.paths, path] };
};

/** Returns whether all records of the event have arrived. */
export const isWhole = ({ call, paths, isOver }: AuditEvent): boolean =>
  call !== null && (isOver || (call.items > 0 && paths.length >= call.items));

const resolved = (name: string, cwd: string): string => {
  if (isAbsolute(name) || cwd === '' || name === '') return name;
  const parts: string[] = [];
  for (const part of `${cwd}/${name}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
};

/** Returns the file changes of an event. Failed calls, and paths without a known operation, yield no changes. */
export const changesOf = ({
  call,
  paths,
  cwd,
  host,
  timeMs,
}: AuditEvent): (ReadChange & { readonly recordId: string; readonly item: string })[] => {
  if (call?.effect === 'none') return [];
  const change = (path: (typeof paths)[number], action: ReadChange['action'], pathBefore = '') => ({
    timeMs,
    host,
    source: 'auditd' as const,
    action,
    pathBefore,
    path: resolved(path.name, cwd),
    user: call?.user ?? '',
    process: call?.process ?? '',
    processId: call?.processId ?? '',
    rule: call?.key ?? '',
    before: {},
    after:
      action === 'deleted'
        ? {}
        : {
            ...(path.mode !== '' && { mode: modeOf(path.mode) }),
            ...(path.owner !== '' && { owner: path.owner }),
            ...(path.group !== '' && { group: path.group }),
          },
    changed: [],
    recordId: path.recordId,
    item: path.item,
  });
  const of = (nametype: string) => paths.filter((path) => path.nametype === nametype && path.name !== '');
  const [created, deleted, normal] = [of('CREATE'), of('DELETE'), of('NORMAL')];
  const [to] = created;
  const [from] = deleted;
  if (to !== undefined && from !== undefined) return [change(to, 'renamed', resolved(from.name, cwd))];
  const effect = call?.effect;
  return [
    ...created.map((path) => change(path, 'created')),
    ...deleted.map((path) => change(path, 'deleted')),
    ...(effect === undefined || effect === 'links' ? [] : normal.map((path) => change(path, effect))),
  ];
};
