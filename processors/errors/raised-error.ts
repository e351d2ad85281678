/** Error fields shared by all kinds of records. */

import { hashTemplate } from '../../queries/log-patterns/pattern-id.ts';
import { formatTime } from '../../queries/time.ts';
import { type ErrorTag, errorTags, type RaisedError } from '../../schemas/error-occurrences.ts';
import { NameSet } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { Span } from '../../schemas/records/span.ts';
import { embeddedNames } from '../../subjects/errors/embedded-exceptions.ts';
import { computeFingerprint, type RecordedError } from '../../subjects/errors/fingerprint.ts';
import { toPlainStack } from '../../subjects/errors/plain-stack.ts';
import { truncateStack } from '../../subjects/errors/stack.ts';

const maxType = 300;
const maxMessage = 4_096;
const maxTag = 256;
const truncate = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).toWellFormed();

/** Attribute names of tags, including older names that senders still use. */
const names = {
  'os.name': ['os.name', 'os.type'],
  'user_agent.name': ['user_agent.name', 'browser.name'],
  'http.request.method': ['http.request.method', 'http.method'],
  'http.response.status_code': ['http.response.status_code', 'http.status_code'],
  'db.system.name': ['db.system.name', 'db.system'],
} as const satisfies Partial<Record<ErrorTag, readonly string[]>>;
type OlderName = (typeof names)[keyof typeof names][number];
const olderNames: Readonly<Partial<Record<ErrorTag, readonly OlderName[]>>> = names;
/** Each tag with its attribute names. */
const namedTags = errorTags.map((tag): { tag: ErrorTag; names: readonly (ErrorTag | OlderName)[] } => ({
  tag,
  names: olderNames[tag] ?? [tag],
}));
const users = ['user.id', 'enduser.id', 'user.email', 'enduser.pseudo.id'] as const;
const environments = ['deployment.environment.name', 'deployment.environment'] as const;
const userAgents = ['user_agent.original', 'http.user_agent'] as const;
const exceptions = ['exception.type', 'exception.message', 'exception.stacktrace'] as const;

/** Attribute names that an attribute reader can return. */
const attributeNames = [
  ...namedTags.flatMap(({ names }) => names),
  ...users,
  ...environments,
  ...userAgents,
  ...exceptions,
  ...embeddedNames,
];
const attributeNameSet = new NameSet(attributeNames);

/** Returns the text of an attribute; undefined if absent. */
export type Read<Name extends string = (typeof attributeNames)[number]> = (name: Name) => string | undefined;

/** Returns the first of several attributes that is present and not empty. */
export const firstAttribute = <Name extends string>(read: Read<Name>, among: readonly Name[]): string => {
  for (const name of among) {
    const value = read(name);
    if (value !== undefined && value !== '') return value;
  }
  return '';
};

/** Returns a reader of error attributes. A record has few of them, so they are found in one scan. */
export const createAttributeReader = (record: LogRecord | Span): Read => {
  const presentNames = new Set<string>();
  record.visitAttributeNames(attributeNameSet, (name) => presentNames.add(name));
  return (name) => (presentNames.has(name) ? record.getAttribute(name) : undefined);
};

const browsers = /(Firefox|Edg|OPR|Chrome|Safari)\//g;
const browserNames: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };

/**
 * Returns the browser of a user agent. Browsers list compatible browsers first and themselves last, except Chrome,
 * which lists Safari after itself.
 */
const parseBrowser = (userAgent: string): string => {
  const matchedNames = [...userAgent.slice(0, 512).matchAll(browsers)].map(([, name = '']) => name);
  const browser = matchedNames.findLast((name) => name !== 'Safari') ?? matchedNames[0] ?? '';
  return browserNames[browser] ?? browser;
};

/** Error fields of a resource. */
interface ResourceFields {
  readonly attributes: unknown;
  readonly environment: string;
  readonly userId: string;
  /** In the order of `errorTags`. */
  readonly tags: readonly string[];
}
/** Cached for the latest resource, because most errors of a resource arrive consecutively. */
let latestResource: ResourceFields | undefined;
const readResourceFields = (record: LogRecord | Span): ResourceFields => {
  const attributes = record.resourceAttributes;
  if (latestResource?.attributes === attributes) return latestResource;
  const first = (names: readonly Parameters<Read>[0][]): string =>
    firstAttribute((name) => record.getResourceAttribute(name), names);
  const tags = namedTags.map(({ names }) => first(names));
  latestResource = { attributes, environment: first(environments), userId: first(users), tags };
  return latestResource;
};

/** Reads attributes of the record and its resource. */
class AttributeLookup {
  readonly #record: LogRecord | Span;
  readonly #readAttribute: Read;

  constructor(record: LogRecord | Span, readAttribute: Read) {
    this.#record = record;
    this.#readAttribute = readAttribute;
  }

  find(name: Parameters<Read>[0]): string | undefined {
    return this.#readAttribute(name) || this.#record.getResourceAttribute(name);
  }

  /**
   * Returns the first of several attributes that is not empty; `there` is the resource's own value. A newer name of the
   * resource takes precedence over an older name of the record.
   */
  first(names: readonly Parameters<Read>[0][], resourceValue: string): string {
    return firstAttribute(this.#readAttribute, names) === ''
      ? resourceValue
      : firstAttribute((name) => this.find(name), names);
  }
}

const collectTags = (
  lookup: AttributeLookup,
  resourceTags: readonly string[],
  inputTags: RaisedError['tags'],
): RaisedError['tags'] => {
  const tags: RaisedError['tags'] = {};
  // Iterating over entries would create a list each: more garbage than the rest of an error.
  for (let index = 0; index < namedTags.length; index++) {
    const { tag, names } = namedTags[index] as (typeof namedTags)[number];
    const value = inputTags[tag] ?? lookup.first(names, resourceTags[index] ?? '');
    if (value !== '') tags[tag] = truncate(value, maxTag);
  }
  if (tags['user_agent.name'] === undefined) {
    const userAgent = lookup.find(userAgents[0]) ?? lookup.find(userAgents[1]);
    const browser = userAgent === undefined ? '' : parseBrowser(userAgent);
    if (browser !== '') tags['user_agent.name'] = browser;
  }
  return tags;
};

/** Fields that differ between kinds of records. */
export interface RaisedInput
  extends RecordedError,
    Pick<RaisedError, 'source' | 'recordId' | 'parentSpanId' | 'isStatusOnly' | 'handled'> {
  readonly timeNs: bigint;
  readonly tags: RaisedError['tags'];
  /** Attributes of the event and the record, excluding those of the resource. */
  readonly read: Read;
}

/** Returns the error of a record, with its fingerprint. */
export const toRaisedError = (record: LogRecord | Span, input: RaisedInput): RaisedError => {
  const { read, source, recordId, parentSpanId, isStatusOnly, handled } = input;
  const stack = truncateStack(toPlainStack(input.stack));
  const type = truncate(input.type, maxType);
  const message = truncate(input.message, maxMessage);
  const { id, components, culprit, shortType } = computeFingerprint({
    type,
    message,
    stack,
    operation: input.operation,
    service: record.service,
    projectId: record.projectId,
  });
  const resourceFields = readResourceFields(record);
  const lookup = new AttributeLookup(record, read);
  const receivedNs = BigInt(Math.trunc(record.receivedAtMs)) * 1_000_000n;
  const timeNs = input.timeNs < receivedNs ? input.timeNs : receivedNs;
  return {
    tenantId: record.tenantId,
    projectId: record.projectId,
    service: record.service,
    environment: lookup.first(environments, resourceFields.environment),
    release: record.getResourceAttribute('service.version') ?? '',
    source,
    fingerprint: id,
    components: components as [string, string][],
    type: type === '' ? (components.find(([name]) => name === 'type')?.[1] ?? '') : type,
    message,
    culprit,
    stack,
    handled,
    userId: truncate(lookup.first(users, resourceFields.userId), maxTag),
    tags: collectTags(lookup, resourceFields.tags, input.tags),
    traceId: record.traceId,
    spanId: record.spanId,
    at: formatTime(timeNs),
    recordId,
    timeMs: Number(timeNs / 1_000_000n),
    parentSpanId,
    identity: `${shortType}/${hashTemplate(message)}`,
    isStatusOnly,
  };
};
