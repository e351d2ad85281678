/**
 * Converts monitors of Gatus (`endpoints` of its configuration) and Uptime Kuma (`monitorList` of a backup) to checks, and
 * targets of Blackbox exporter. A module of it that no document uses has no target.
 */
import { isFields, toFields } from '../../runtime/fields.ts';
import type { Problem } from './assertions.ts';
import { type BlackboxModules, listUsedModules, readBlackboxTargets } from './blackbox.ts';
import type { OtherMonitor } from './other-monitor.ts';

const toText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const comparisons: Readonly<Record<string, string>> = {
  '==': 'is',
  '!=': 'isNot',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
};
const hoursPerDay = 24;

/** Returns the assertions of a condition of Gatus; `undefined` if it is not supported. */
const convertCondition = (condition: string): object[] | undefined => {
  const [left = '', sign = '', ...rest] = condition.split(' ');
  const right = rest.join(' ').trim();
  const operator = comparisons[sign];
  if (operator === undefined || right === '') return undefined;
  if (left === '[CONNECTED]' && right === 'true' && operator === 'is') return [];
  const number = Number(right);
  if (left === '[STATUS]' && Number.isFinite(number)) return [{ source: 'status', operator, value: number }];
  if (left === '[RESPONSE_TIME]' && Number.isFinite(number)) return [{ source: 'duration', operator, value: number }];
  const hours = Number(right.slice(0, -1));
  if (left === '[CERTIFICATE_EXPIRATION]' && right.endsWith('h') && Number.isFinite(hours))
    return [{ source: 'certificate', name: 'daysLeft', operator, value: hours / hoursPerDay }];
  // Functions, such as `pat(…)` and `any(…)`, and placeholders have another meaning than their text.
  if (right.includes('(') || right.includes('[')) return undefined;
  if (left === '[BODY]') return [{ source: 'body', operator, value: right }];
  return left.startsWith('[BODY].')
    ? [{ source: 'json', name: `$${left.slice('[BODY]'.length)}`, operator, value: right }]
    : undefined;
};

/** Returns the target of a URL with its type of check; `undefined` for other protocols. */
const convertTarget = (
  url: string,
  step: object,
  assertions: readonly object[],
): Readonly<Record<string, unknown>> | undefined => {
  if (url.startsWith('http://') || url.startsWith('https://'))
    return { type: 'http', http: { steps: [{ ...step, url, assertions }] } };
  const { protocol, hostname: host, port } = URL.parse(url) ?? {};
  if (protocol === 'icmp:') return { type: 'icmp', icmp: { host, assertions } };
  return protocol === 'tcp:' ? { type: 'tcp', tcp: { host, port: Number(port), assertions } } : undefined;
};

const gatusFields = new Set(['name', 'group', 'enabled', 'url', 'method', 'headers', 'body', 'interval', 'conditions']);
/** Notifications and appearance, which do not affect a check */
const ignoredGatusFields = new Set(['alerts', 'ui', 'extra-labels', 'maintenance-windows']);

const convertEndpoint = (endpoint: unknown, index: number): OtherMonitor => {
  const path = `endpoints.${index}`;
  const values = toFields(endpoint);
  const [name, group, url = ''] = [toText(values['name']), toText(values['group']), toText(values['url'])];
  const { method, headers, body, interval, enabled, conditions } = values;
  const problems: Problem[] = Object.keys(values)
    .filter((field) => !(gatusFields.has(field) || ignoredGatusFields.has(field)))
    .map((field) => ({ path: `${path}.${field}`, message: 'is a field of Gatus that cannot be imported' }));
  const assertions = (Array.isArray(conditions) ? conditions : []).flatMap((condition, conditionIndex) => {
    const converted = convertCondition(String(condition));
    if (converted === undefined)
      problems.push({
        path: `${path}.conditions.${conditionIndex}`,
        message: 'is a condition of Gatus that cannot be imported: write an assertion',
      });
    return converted ?? [];
  });
  const step = {
    ...(method !== undefined && { method }),
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
  };
  const target = convertTarget(url, step, assertions);
  if (target === undefined)
    problems.push({
      path: `${path}.url`,
      message: 'is not http, https, tcp or icmp: only these endpoints of Gatus are imported',
    });
  return {
    path,
    name: name === undefined ? null : group ? `${group}/${name}` : name,
    fields: { every: interval ?? '1m', enabled: enabled ?? true, ...target },
    problems,
  };
};

/** Returns assertions for a range of status codes such as `200-299`. */
const convertStatusCodes = (codes: unknown): object[] | undefined => {
  if (!Array.isArray(codes) || codes.length === 0) return [];
  const [first, last = first] = String(codes[0]).split('-').map(Number);
  if (codes.length > 1 || !(Number.isFinite(first) && Number.isFinite(last))) return undefined;
  return [
    { source: 'status', operator: 'gte', value: first },
    { source: 'status', operator: 'lte', value: last },
  ];
};

const parseHeaders = (headers: unknown): unknown => {
  if (typeof headers !== 'string') return headers ?? undefined;
  try {
    return headers === '' ? undefined : (JSON.parse(headers) as unknown);
  } catch {
    return headers;
  }
};

const convertMonitor = (monitor: unknown, index: number): OtherMonitor => {
  const path = `monitorList.${index}`;
  const values = toFields(monitor);
  const { type, hostname: host, port, method, body, interval, active, keyword, invertKeyword } = values;
  const problems: Problem[] = [];
  const statusAssertions = convertStatusCodes(values['accepted_statuscodes']);
  const headers = parseHeaders(values['headers']);
  const toStep = () => ({
    url: values['url'],
    ...(typeof method === 'string' && { method }),
    ...(headers !== undefined && { headers }),
    ...(typeof body === 'string' && body !== '' && { body }),
    assertions: [
      ...(statusAssertions ?? []),
      ...(type === 'keyword'
        ? [{ source: 'body', operator: invertKeyword === true ? 'notContains' : 'contains', value: keyword }]
        : []),
    ],
  });
  if (statusAssertions === undefined)
    problems.push({ path: `${path}.accepted_statuscodes`, message: 'must be one range, such as 200-299' });
  const target =
    type === 'http' || type === 'keyword'
      ? { type: 'http', http: { steps: [toStep()] } }
      : type === 'port'
        ? { type: 'tcp', tcp: { host, port } }
        : type === 'ping'
          ? { type: 'icmp', icmp: { host } }
          : undefined;
  if (target === undefined)
    problems.push({
      path: `${path}.type`,
      message: `is ${String(type)}: of Uptime Kuma only monitors of the types http, keyword, port and ping are imported`,
    });
  return {
    path,
    name: toText(values['name']) ?? null,
    fields: {
      every: typeof interval === 'number' ? `${interval}s` : '1m',
      enabled: active !== false && active !== 0,
      ...target,
    },
    problems,
  };
};

const rejectModule = (name: string): OtherMonitor => ({
  path: `modules.${name}`,
  name,
  fields: {},
  problems: [
    {
      path: `modules.${name}`,
      message:
        'is a module of Blackbox exporter, which has no target: add the scrape_configs or Probe that use it as another document, or write a check',
    },
  ],
});

/** Modules of Blackbox exporter in a text, and the names of those that its documents use */
export interface BlackboxContext {
  readonly modules: BlackboxModules;
  readonly usedModules: ReadonlySet<string>;
}

/** Returns the modules in the documents of a text. */
export const findBlackboxModules = (values: readonly unknown[]): BlackboxContext => {
  const modules: BlackboxModules = new Map(
    values.flatMap((value) =>
      Object.entries(toFields(toFields(value)['modules'])).map(([name, module]) => [name, toFields(module)] as const),
    ),
  );
  return { modules, usedModules: new Set(values.flatMap((value) => listUsedModules(value, modules))) };
};

/** Returns the monitors of a document of another format; `undefined` for other documents. */
export const readOtherFormat = (
  value: unknown,
  { modules: knownModules, usedModules }: BlackboxContext,
): readonly OtherMonitor[] | undefined => {
  if (!isFields(value) || 'type' in value) return undefined;
  const { endpoints, monitorList, modules } = value;
  if (Array.isArray(endpoints)) return endpoints.map(convertEndpoint);
  if (Array.isArray(monitorList)) return monitorList.map(convertMonitor);
  if (isFields(modules))
    return Object.keys(modules)
      .filter((name) => !usedModules.has(name))
      .map(rejectModule);
  return readBlackboxTargets(value, knownModules);
};
