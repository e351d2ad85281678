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
/** Each tag, with the names that it is read by. */
const namedTags = errorTags.map((tag): { tag: ErrorTag; names: readonly (ErrorTag | OlderName)[] } => ({
  tag,
  names: olderNames[tag] ?? [tag],
}));
const users = ['user.id', 'enduser.id', 'user.email', 'enduser.pseudo.id'] as const;
const environments = ['deployment.environment.name', 'deployment.environment'] as const;
const userAgents = ['user_agent.original', 'http.user_agent'] as const;
const exceptions = ['exception.type', 'exception.message', 'exception.stacktrace'] as const;

/** Names of all attributes that an error is made of: no other one can be read. */
const attributeNames = [
  ...namedTags.flatMap(({ names }) => names),
  ...users,
  ...environments,
  ...userAgents,
  ...exceptions,
];
const attributeNameSet = new NameSet(attributeNames);

/** Text of an attribute; undefined without one. */
export type Read<Name extends string = (typeof attributeNames)[number]> = (name: Name) => string | undefined;

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
  record.attributesAmong(attributeNameSet, (name) => there.add(name));
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

/** What a resource says of its errors. */
interface OfResource {
  readonly attributes: unknown;
  readonly environment: string;
  readonly userId: string;
  /** In the order of `errorTags`. */
  readonly tags: readonly string[];
}
/** Of the latest one: most errors of a resource come one after the other. */
let latest: OfResource | undefined;
const ofResource = (record: LogRecord | Span): OfResource => {
  const attributes = record.resourceAttributes;
  if (latest?.attributes === attributes) return latest;
  const first = (names: readonly Parameters<Read>[0][]): string => firstOf((name) => record.resource(name), names);
  const tags = namedTags.map(({ names }) => first(names));
  latest = { attributes, environment: first(environments), userId: first(users), tags };
  return latest;
};

/** Reads attributes of the record, and those of its resource. */
class Reading {
  readonly #record: LogRecord | Span;
  readonly #own: Read;

  constructor(record: LogRecord | Span, own: Read) {
    this.#record = record;
    this.#own = own;
  }

  any(name: Parameters<Read>[0]): string | undefined {
    return this.#own(name) || this.#record.resource(name);
  }

  /** The first of several attributes that is not empty; `there` is what the resource alone says. Its newer name goes before the record's older one. */
  first(names: readonly Parameters<Read>[0][], there: string): string {
    return firstOf(this.#own, names) === '' ? there : firstOf((name) => this.any(name), names);
  }
}

const tagsOf = (reading: Reading, there: readonly string[], given: RaisedError['tags']): RaisedError['tags'] => {
  const tags: RaisedError['tags'] = {};
  // Entries of a list are lists of their own: more garbage than all else of an error.
  for (let at = 0; at < namedTags.length; at++) {
    const { tag, names } = namedTags[at] as (typeof namedTags)[number];
    const value = given[tag] ?? reading.first(names, there[at] ?? '');
    if (value !== '') tags[tag] = cut(value, maxTag);
  }
  if (tags['user_agent.name'] === undefined) {
    const userAgent = reading.any(userAgents[0]) ?? reading.any(userAgents[1]);
    const browser = userAgent === undefined ? '' : browserOf(userAgent);
    if (browser !== '') tags['user_agent.name'] = browser;
  }
  return tags;
};

/** What differs between kinds of records. */
export interface RaisedInput
  extends Recorded,
    Pick<RaisedError, 'source' | 'recordId' | 'parentSpanId' | 'isStatusOnly' | 'handled'> {
  readonly timeNs: bigint;
  readonly tags: RaisedError['tags'];
  /** Attributes of the event and the record, without those of the resource. */
  readonly read: Read;
}

/** An error that a record tells of, with its fingerprint. */
export const raisedOf = (record: LogRecord | Span, input: RaisedInput): RaisedError => {
  const { read, source, recordId, parentSpanId, isStatusOnly, handled } = input;
  const stack = cutStack(input.stack);
  const type = cut(input.type, maxType);
  const message = cut(input.message, maxMessage);
  const { id, components, culprit, shortType } = fingerprintOf({
    type,
    message,
    stack,
    operation: input.operation,
    service: record.service,
  });
  const there = ofResource(record);
  const reading = new Reading(record, read);
  const receivedNs = BigInt(Math.trunc(record.receivedAtMs)) * 1_000_000n;
  const timeNs = input.timeNs < receivedNs ? input.timeNs : receivedNs;
  return {
    tenantId: record.tenantId,
    projectId: record.projectId,
    service: record.service,
    environment: reading.first(environments, there.environment),
    release: record.resource('service.version') ?? '',
    source,
    fingerprint: id,
    components: components as [string, string][],
    type: type === '' ? (components.find(([name]) => name === 'type')?.[1] ?? '') : type,
    message,
    culprit,
    stack,
    handled,
    userId: cut(reading.first(users, there.userId), maxTag),
    tags: tagsOf(reading, there.tags, input.tags),
    traceId: record.traceId,
    spanId: record.spanId,
    at: formatTime(timeNs),
    recordId,
    timeMs: Number(timeNs / 1_000_000n),
    parentSpanId,
    identity: `${shortType}/${patternIdOf(message)}`,
    isStatusOnly,
  };
};
