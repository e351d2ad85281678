/** What records of all kinds say about an error. */
import { formatTime } from '../../queries/time.ts';
import { type ErrorTag, errorTags, type RaisedError } from '../../schemas/error-occurrences.ts';
import { NameSet } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { Span } from '../../schemas/records/span.ts';
import { fingerprintOf, type Recorded } from '../../subjects/errors/fingerprint.ts';
import { cutStack } from '../../subjects/errors/stack.ts';
import { patternIdOf } from '../../subjects/log-patterns/pattern-id.ts';

const maxType = 300;
const maxMessage = 4_096;
const maxTag = 256;
const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).toWellFormed();

/** Older names, where there are some, that senders still use. */
const names = {
  'os.name': ['os.name', 'os.type'],
  'user_agent.name': ['user_agent.name', 'browser.name'],
  'http.request.method': ['http.request.method', 'http.method'],
  'http.response.status_code': ['http.response.status_code', 'http.status_code'],
  'db.system.name': ['db.system.name', 'db.system'],
} as const satisfies Partial<Record<ErrorTag, readonly string[]>>;
type OlderName = (typeof names)[keyof typeof names][number];
const olderNames: Readonly<Partial<Record<ErrorTag, readonly OlderName[]>>> = names;
const namesOf = (tag: ErrorTag): readonly (ErrorTag | OlderName)[] => olderNames[tag] ?? [tag];
const users = ['user.id', 'enduser.id', 'user.email', 'enduser.pseudo.id'] as const;
const environments = ['deployment.environment.name', 'deployment.environment'] as const;
const userAgents = ['user_agent.original', 'http.user_agent'] as const;
const exceptions = ['exception.type', 'exception.message', 'exception.stacktrace'] as const;

/** Names of all attributes that an error is made of: no other one can be read. */
const asked = [...errorTags.flatMap(namesOf), ...users, ...environments, ...userAgents, ...exceptions];
const askedSet = new NameSet(asked);

/** Text of an attribute; undefined without one. */
export type Read<Name extends string = (typeof asked)[number]> = (name: Name) => string | undefined;

/** The first of several attributes that is there and not empty. */
export const firstOf = <Name extends string>(read: Read<Name>, among: readonly Name[]): string => {
  for (const name of among) {
    const value = read(name);
    if (value !== undefined && value !== '') return value;
  }
  return '';
};

/** Reads what an error is made of. A record has little of it: what it has is found in one look. */
export const readingOf = (record: LogRecord | Span): Read => {
  const there = new Set<string>();
  record.attributesAmong(askedSet, (name) => there.add(name));
  return (name) => (there.has(name) ? record.attribute(name) : undefined);
};

const browsers = /(Firefox|Edg|OPR|Chrome|Safari)\//g;
const browserNames: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };

/** Browsers name those that they are like as well, and themselves last, but for Chrome, which names Safari behind it. */
const browserOf = (userAgent: string): string => {
  const found = [...userAgent.slice(0, 512).matchAll(browsers)].map(([, name = '']) => name);
  const own = found.findLast((name) => name !== 'Safari') ?? found[0] ?? '';
  return browserNames[own] ?? own;
};

const tagsOf = (read: Read, given: RaisedError['tags']): RaisedError['tags'] => {
  const tags: RaisedError['tags'] = {};
  for (const tag of errorTags) {
    const value = given[tag] ?? firstOf(read, namesOf(tag));
    if (value !== '') tags[tag] = cut(value, maxTag);
  }
  if (tags['user_agent.name'] === undefined) {
    const userAgent = read(userAgents[0]) ?? read(userAgents[1]);
    const browser = userAgent === undefined ? '' : browserOf(userAgent);
    if (browser !== '') tags['user_agent.name'] = browser;
  }
  return tags;
};

/** What differs between kinds of records. */
export interface Told
  extends Recorded,
    Pick<RaisedError, 'source' | 'recordId' | 'parentSpanId' | 'isStatusOnly' | 'handled'> {
  readonly timeNs: bigint;
  readonly tags: RaisedError['tags'];
  /** Attributes of the event and the record, without those of the resource. */
  readonly read: Read;
}

/** An error that a record tells of, with its fingerprint. */
export const raisedOf = (record: LogRecord | Span, told: Told): RaisedError => {
  const { read, source, recordId, parentSpanId, isStatusOnly, handled } = told;
  const stack = cutStack(told.stack);
  const type = cut(told.type, maxType);
  const message = cut(told.message, maxMessage);
  const { id, components, culprit, shortType } = fingerprintOf({
    type,
    message,
    stack,
    operation: told.operation,
    service: record.service,
  });
  const any: Read = (name) => firstOf(read, [name]) || record.resource(name);
  const receivedNs = BigInt(Math.trunc(record.receivedAtMs)) * 1_000_000n;
  const timeNs = told.timeNs < receivedNs ? told.timeNs : receivedNs;
  return {
    ...{ tenantId: record.tenantId, projectId: record.projectId, service: record.service, source, recordId },
    environment: firstOf(any, environments),
    release: record.resource('service.version') ?? '',
    ...{ fingerprint: id, components: components.map(([name, text]): [string, string] => [name, text]), culprit },
    ...{
      type: type === '' ? (components.find(([name]) => name === 'type')?.[1] ?? '') : type,
      message,
      stack,
      handled,
    },
    userId: cut(firstOf(any, users), maxTag),
    tags: tagsOf(any, told.tags),
    ...{ traceId: record.traceId, spanId: record.spanId, parentSpanId, isStatusOnly },
    at: formatTime(timeNs),
    timeMs: Number(timeNs / 1_000_000n),
    identity: `${shortType}/${patternIdOf(message)}`,
  };
};
