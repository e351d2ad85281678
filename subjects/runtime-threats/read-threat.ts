/** Reads events of sensors from log records, by the tables of `shapes.ts`. */
import { isFields } from '../../runtime/fields.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import type { RuntimeThreat } from '../../schemas/runtime-threats.ts';
import { truncateText } from '../../schemas/text.ts';
import { clampToPlausibleTime, parseTime } from '../file-integrity/read.ts';
import { type ThreatFormat, threatFormats } from './shapes.ts';

/** A record as the tables see it */
export interface ThreatRecord {
  readonly body: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly resourceAttributes: ReadonlyMap<string, string>;
  readonly severity: string;
  readonly timeMs: number;
  readonly projectId: string;
}

export type ParsedThreat = Omit<RuntimeThreat, 'tenantId' | 'projectId' | 'id' | 'recordId' | 'service'>;

const maxTextLength = 1_024;
const maxHeadLength = 256;
const emptyValues = new Set(['', '<NA>', 'null', 'N/A']);

const parseObject = (body: string): unknown => {
  // The JSON follows the header of syslog or of a container runtime.
  const start = body.slice(0, maxHeadLength).indexOf('{');
  if (start < 0 || !body.trimEnd().endsWith('}')) return undefined;
  try {
    return JSON.parse(body.slice(start));
  } catch {
    return undefined;
  }
};

const toText = (value: unknown): string => {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? value.map(toText).join(' ') : '';
};

/** Finds a value by its path. Names with dots may be keys as a whole, as in Falco's fields. */
const findValue = (object: unknown, path: string): unknown => {
  if (Array.isArray(object)) return findInArray(object, path);
  if (!isFields(object)) return undefined;
  if (Object.hasOwn(object, path)) return object[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(object, name)) return findValue(object[name], path.slice(dot + 1));
  }
  return undefined;
};

const findInArray = (values: readonly unknown[], path: string): unknown => {
  const dot = path.indexOf('.');
  const value = values[Number(dot < 0 ? path : path.slice(0, dot))];
  return dot < 0 ? value : findValue(value, path.slice(dot + 1));
};

type GetText = (names: readonly string[]) => string;

const createGetter = (record: ThreatRecord, object: unknown, { roots }: ThreatFormat): GetText => {
  const objects = [...roots.map((root) => findValue(object, root)), object];
  const get = (name: string): string => {
    for (const item of objects) {
      const text = toText(findValue(item, name));
      if (!emptyValues.has(text)) return text;
    }
    const text = record.attributes.get(name) ?? record.resourceAttributes.get(name) ?? '';
    return emptyValues.has(text) ? '' : text;
  };
  return (names) => {
    for (const name of names) {
      const text = get(name);
      if (text !== '') return truncateText(text, maxTextLength);
    }
    return '';
  };
};

const uuidPattern = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** Runs of letters and digits with a digit among them, of six or more characters, and numbers */
const changingPattern = /\b(?=[A-Za-z]{0,32}\d)[A-Za-z0-9]{6,128}\b|\d+/g;

/** Replaces what changes between occurrences: ids, numbers, and random names. */
export const maskTarget = (target: string): string =>
  target.replaceAll(uuidPattern, '<*>').replaceAll(changingPattern, '<*>');

/** Returns the owner of a pod: its name without the hashes of a Deployment, or the number of a StatefulSet. */
const toOwner = (pod: string): string => pod.replace(/(?:-[0-9a-f]{6,10})?-[a-z0-9]{5}$|-\d{1,6}$/, '');

const toRepository = (image: string): string => (image.split('@', 1)[0] as string).replace(/:[\w.-]{1,128}$/, '');

const techniquePattern = /\bT\d{4}(?:\.\d{3})?\b/g;

const parseWith = (record: ThreatRecord, object: unknown, format: ThreatFormat): ParsedThreat | undefined => {
  const getText = createGetter(record, object, format);
  if (!format.needs.every((names) => getText(names) !== '')) return undefined;
  if (format.matches?.some(([names, pattern]) => !pattern.test(getText(names)))) return undefined;
  const reported = getText(format.severity) || record.severity;
  const [pod, host, image] = [getText(format.pod), getText(format.host), toRepository(getText(format.image))];
  const owner = getText(format.owner) || (pod === '' ? '' : toOwner(pod));
  const namespace = getText(format.namespace);
  const workload = owner === '' ? image || host : [namespace, owner].filter((name) => name !== '').join('/');
  const [rule, program, target] = [getText(format.rule), getText(format.program), getText(format.target)];
  const targetPattern = maskTarget(target);
  return {
    groupId: computeHashId('threat', record.projectId, format.source, rule, workload, program, targetPattern),
    timeMs: clampToPlausibleTime(parseTime(getText(format.time)), record.timeMs),
    source: format.source,
    rule,
    severity: format.severities.find(([pattern]) => pattern.test(reported))?.[1] ?? 'informational',
    message: getText(format.message) || (object === undefined ? truncateText(record.body, maxTextLength) : ''),
    host,
    workload,
    namespace,
    pod,
    image,
    program,
    commandLine: getText(format.commandLine),
    target,
    targetPattern,
    user: getText(format.user),
    action: getText(format.action),
    techniques: [...new Set(getText(format.tags).toUpperCase().match(techniquePattern) ?? [])],
  };
};

/** Returns the event of a record; undefined if it has none. */
export const parseThreat = (record: ThreatRecord): ParsedThreat | undefined => {
  const object = parseObject(record.body);
  for (const format of threatFormats) {
    const threat = parseWith(record, object, format);
    if (threat !== undefined) return threat;
  }
  return undefined;
};
