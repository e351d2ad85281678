/** Reads checked AgentToServer messages: first what every message needs, and the parts of a status only if they changed. */
import { createHash } from 'node:crypto';
import { PermanentError } from '../../schemas/errors.ts';
import type { AgentComponent, AgentConfiguration, AgentDescription, AgentHealth } from '../../schemas/fleet-agents.ts';
import { decodeText, readValueText } from '../../schemas/otlp/any-value.ts';
import { toUnsignedBigint, WireCursor } from '../../schemas/protobuf/cursor.ts';
import { findInvalidUtf8 } from '../../schemas/protobuf/utf8.ts';
import { truncateText } from '../../schemas/text.ts';
import { maskConfiguration, maskText } from './mask.ts';
import { checkAgentMessage } from './messages.ts';

export const uidBytes = 16;
/** Limits of what is stored of a status. */
const maxAttributes = 64;
const maxKeyLength = 128;
const maxValueLength = 512;
const maxComponents = 200;
const maxPathLength = 8;
const maxNameLength = 128;
const maxErrorLength = 1_024;
const maxFiles = 16;
const maxFileNameLength = 256;
const maxConfigurationBytes = 128 * 1024;

/** Capabilities of agents that determine what a complete status has. */
export const agentCapabilities = { reportsEffectiveConfig: 0x4n, reportsHealth: 0x800n } as const;
const requestInstanceUidFlag = 1n;

/** A part of a status. Protobuf merges occurrences of a message by reading them one after the other. */
export interface EncodedPart {
  readonly bytes: Uint8Array;
  /** Equal parts have equal hashes. */
  readonly hash: string;
}

/** A message of an agent. */
export interface AgentMessage {
  /** As sent, of any length */
  readonly instanceUid: Buffer;
  readonly sequence: bigint;
  readonly capabilities: bigint;
  readonly requestsInstanceUid: boolean;
  readonly isDisconnect: boolean;
  readonly description: EncodedPart | undefined;
  readonly health: EncodedPart | undefined;
  readonly configuration: EncodedPart | undefined;
}

const tags = {
  instanceUid: 0x0a,
  sequence: 0x10,
  description: 0x1a,
  capabilities: 0x20,
  health: 0x2a,
  configuration: 0x32,
  disconnect: 0x4a,
  flags: 0x50,
} as const;
const rangeTags = new Set<number>([
  tags.instanceUid,
  tags.description,
  tags.health,
  tags.configuration,
  tags.disconnect,
]);
const numberTags = new Set<number>([tags.sequence, tags.capabilities, tags.flags]);

/** Calls `onField` for each field until `end`, after its tag. It returns false to skip the field. */
const readFields = (cursor: WireCursor, end: number, onField: (tag: number) => boolean): void => {
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (!onField(tag)) cursor.skip(tag, end);
  }
  cursor.expectPosition(end);
};

const readUnsigned = (cursor: WireCursor): bigint => {
  cursor.readVarint64();
  return toUnsignedBigint(cursor.low, cursor.high);
};

const readRange = (cursor: WireCursor, end: number): Uint8Array => {
  const rangeEnd = cursor.readEnd(end);
  const range = cursor.bytes.subarray(cursor.position, rangeEnd);
  cursor.position = rangeEnd;
  return range;
};

/** Control characters, which JSON writes with six characters each */
const controlPattern = /\p{Cc}/gu;
const toStoredText = (text: string, maxLength: number): string =>
  truncateText(text, maxLength).replace(controlPattern, (character) =>
    '\n\r\t'.includes(character) ? character : '\ufffd',
  );

const readText = (cursor: WireCursor, end: number): string => {
  const textEnd = cursor.readEnd(end);
  const text = decodeText(cursor.bytes, cursor.position, textEnd);
  cursor.position = textEnd;
  return text;
};

const toPart = (ranges: readonly Uint8Array[] = []): EncodedPart | undefined => {
  const [onlyRange] = ranges;
  if (onlyRange === undefined) return undefined;
  const bytes = ranges.length === 1 ? onlyRange : Buffer.concat(ranges);
  return { bytes, hash: createHash('sha256').update(bytes).digest('base64') };
};

/** Reads the message from `start`. Throws `PermanentError` with what is wrong, and the byte position. */
export const readAgentMessage = (bytes: Uint8Array, start: number): AgentMessage => {
  checkAgentMessage(bytes, start);
  const cursor = new WireCursor(bytes, start);
  const end = bytes.length;
  const ranges = new Map<number, Uint8Array[]>();
  const numbers = new Map<number, bigint>();
  readFields(cursor, end, (tag) => {
    if (numberTags.has(tag)) numbers.set(tag, readUnsigned(cursor));
    else if (rangeTags.has(tag)) {
      const range = readRange(cursor, end);
      const earlierRanges = ranges.get(tag);
      // A message may repeat a field millions of times.
      if (earlierRanges === undefined) ranges.set(tag, [range]);
      else earlierRanges.push(range);
    } else return false;
    return true;
  });
  return {
    instanceUid: Buffer.from(ranges.get(tags.instanceUid)?.at(-1) ?? []),
    sequence: numbers.get(tags.sequence) ?? 0n,
    capabilities: numbers.get(tags.capabilities) ?? 0n,
    requestsInstanceUid: ((numbers.get(tags.flags) ?? 0n) & requestInstanceUidFlag) !== 0n,
    isDisconnect: ranges.has(tags.disconnect),
    description: toPart(ranges.get(tags.description)),
    health: toPart(ranges.get(tags.health)),
    configuration: toPart(ranges.get(tags.configuration)),
  };
};

const readAttribute = (cursor: WireCursor, end: number): readonly [key: string, value: string] => {
  let key = '';
  let value = '';
  readFields(cursor, end, (tag) => {
    if (tag === 0x0a) key = readText(cursor, end);
    else if (tag === 0x12) {
      const valueEnd = cursor.readEnd(end);
      value = readValueText(cursor, valueEnd);
      cursor.position = valueEnd;
    } else return false;
    return true;
  });
  return [toStoredText(key, maxKeyLength), toStoredText(value, maxValueLength)];
};

export const readDescription = ({ bytes }: EncodedPart): AgentDescription => {
  const cursor = new WireCursor(bytes);
  const identifying: (readonly [string, string])[] = [];
  const others: (readonly [string, string])[] = [];
  readFields(cursor, bytes.length, (tag) => {
    if (tag !== 0x0a && tag !== 0x12) return false;
    (tag === 0x0a ? identifying : others).push(readAttribute(cursor, cursor.readEnd(bytes.length)));
    return true;
  });
  const attributes = new Map<string, string>();
  for (const [key, value] of [...identifying, ...others])
    if (key !== '' && !attributes.has(key) && attributes.size < maxAttributes)
      attributes.set(key, maskText(value, key));
  return { kind: 'description', attributes: Object.fromEntries(attributes) };
};

interface ComponentTree extends Omit<AgentComponent, 'path'> {
  readonly startedMs: number;
  readonly children: readonly (readonly [name: string, tree: ComponentTree])[];
}

const nanosecondsPerMs = 1_000_000n;

const readComponent = (cursor: WireCursor, end: number): ComponentTree => {
  let isHealthy = false;
  let startedMs = 0;
  let error = '';
  let status = '';
  // Of entries with the same name, the last counts.
  const children = new Map<string, ComponentTree>();
  readFields(cursor, end, (tag) => {
    if (tag === 0x08) isHealthy = readUnsigned(cursor) !== 0n;
    else if (tag === 0x11) {
      cursor.readFixed64();
      startedMs = Number(toUnsignedBigint(cursor.low, cursor.high) / nanosecondsPerMs);
    } else if (tag === 0x1a) error = readText(cursor, end);
    else if (tag === 0x22) status = readText(cursor, end);
    else if (tag === 0x32) {
      const [name, child] = readComponentEntry(cursor, cursor.readEnd(end));
      children.set(name, child);
    } else return false;
    return true;
  });
  return {
    isHealthy,
    startedMs,
    error: maskText(toStoredText(error, maxErrorLength)),
    status: toStoredText(status, maxNameLength),
    children: [...children],
  };
};

const unknownComponent: ComponentTree = { isHealthy: false, startedMs: 0, error: '', status: '', children: [] };

const readComponentEntry = (cursor: WireCursor, end: number): readonly [name: string, tree: ComponentTree] => {
  let name = '';
  let component = unknownComponent;
  readFields(cursor, end, (tag) => {
    if (tag === 0x0a) name = readText(cursor, end);
    else if (tag === 0x12) component = readComponent(cursor, cursor.readEnd(end));
    else return false;
    return true;
  });
  return [toStoredText(name, maxNameLength), component];
};

const listComponents = (
  { children }: ComponentTree,
  path: readonly string[],
  components: AgentComponent[],
): AgentComponent[] => {
  for (const [name, child] of children) {
    const childPath = [...path, name].slice(0, maxPathLength);
    const { isHealthy, status, error } = child;
    components.push({ path: childPath, isHealthy, status, error });
    listComponents(child, childPath, components);
  }
  return components;
};

export const readHealth = ({ bytes }: EncodedPart): AgentHealth => {
  const tree = readComponent(new WireCursor(bytes), bytes.length);
  const components = listComponents(tree, [], []);
  // Components that fail are listed before healthy ones are omitted.
  const isWithinLimit = components.length <= maxComponents;
  const listedComponents = isWithinLimit
    ? components
    : components.toSorted((left, right) => Number(left.isHealthy) - Number(right.isHealthy)).slice(0, maxComponents);
  return {
    kind: 'health',
    isHealthy: tree.isHealthy,
    status: tree.status,
    error: tree.error,
    startedMs: tree.startedMs,
    components: listedComponents,
    omittedComponents: components.length - listedComponents.length,
  };
};

interface EncodedFile {
  readonly body: Uint8Array;
  readonly contentType: string;
}

const readFile = (cursor: WireCursor, end: number): EncodedFile => {
  let body: Uint8Array = new Uint8Array();
  let contentType = '';
  readFields(cursor, end, (tag) => {
    if (tag === 0x0a) body = readRange(cursor, end);
    else if (tag === 0x12) contentType = readText(cursor, end);
    else return false;
    return true;
  });
  return { body, contentType };
};

const readFileEntry = (cursor: WireCursor, end: number): readonly [name: string, file: EncodedFile] => {
  let name = '';
  let file: EncodedFile = { body: new Uint8Array(), contentType: '' };
  readFields(cursor, end, (tag) => {
    if (tag === 0x0a) name = readText(cursor, end);
    else if (tag === 0x12) file = readFile(cursor, cursor.readEnd(end));
    else return false;
    return true;
  });
  return [name, file];
};

export const readConfiguration = ({ bytes }: EncodedPart): AgentConfiguration => {
  const cursor = new WireCursor(bytes);
  const files = new Map<string, EncodedFile>();
  const readMap = (end: number): void =>
    readFields(cursor, end, (tag) => {
      if (tag !== 0x0a) return false;
      const [name, file] = readFileEntry(cursor, cursor.readEnd(end));
      files.set(name, file);
      return true;
    });
  readFields(cursor, bytes.length, (tag) => {
    if (tag !== 0x0a) return false;
    readMap(cursor.readEnd(bytes.length));
    return true;
  });
  let remainingBytes = maxConfigurationBytes;
  const listedFiles = [...files].slice(0, maxFiles).map(([name, { body, contentType }]) => {
    const isShown = body.length <= remainingBytes && findInvalidUtf8(body, 0, body.length) < 0;
    if (isShown) remainingBytes -= body.length;
    const text = isShown ? decodeText(body, 0, body.length) : '';
    return {
      name: toStoredText(name, maxFileNameLength),
      contentType: toStoredText(contentType, maxNameLength),
      bytes: body.length,
      text: toStoredText(maskConfiguration(text), 2 * maxConfigurationBytes),
    };
  });
  return { kind: 'configuration', files: listedFiles, omittedFiles: files.size - listedFiles.length };
};

/** Reads the header of a WebSocket message, and returns where its data begins. Throws unless the header is 0. */
export const readHeader = (bytes: Uint8Array): number => {
  let position = 0;
  while (position < bytes.length && position < 9 && bytes[position] === 0x80) position++;
  if (bytes[position] !== 0)
    throw new PermanentError('malformed', 'the message must begin with a header, a varint of value 0', {
      position: 0,
    });
  return position + 1;
};
