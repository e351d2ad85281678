/** Locations of the records in a request: one group per scope or metric. */
import { WireCursor } from '../protobuf/cursor.ts';
import { type ByteRange, emptyRange } from './origin.ts';
import type { Group } from './record.ts';

/**
 * The last occurrences of a message's fields 1 (its subject) and 3 (a schema URL), and all of its field 2 (its
 * contents).
 */
interface MessageParts {
  readonly subject: ByteRange;
  readonly schemaUrl: ByteRange;
  readonly contents: readonly ByteRange[];
}

/** Returns the parts of a message. With `includesContents = false`, the contents are omitted. */
const readParts = (cursor: WireCursor, [start, end]: ByteRange, includesContents = true): MessageParts => {
  let subject = emptyRange;
  let schemaUrl = emptyRange;
  const contents: ByteRange[] = [];
  cursor.position = start;
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag !== 0x0a && tag !== 0x12 && tag !== 0x1a) {
      cursor.skip(tag, end);
      continue;
    }
    const fieldEnd = cursor.readEnd(end);
    if (tag === 0x0a) subject = [cursor.position, fieldEnd];
    else if (tag === 0x1a) schemaUrl = [cursor.position, fieldEnd];
    else if (includesContents) contents.push([cursor.position, fieldEnd]);
    cursor.position = fieldEnd;
  }
  return { subject, schemaUrl, contents };
};

/** Resources of a request, in order. */
const findResources = (cursor: WireCursor, end: number): ByteRange[] => {
  const resources: ByteRange[] = [];
  cursor.position = 0;
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag !== 0x0a) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.readEnd(end);
    resources.push([cursor.position, stop]);
    cursor.position = stop;
  }
  return resources;
};

/** Returns the groups of log records or spans. */
export const findRecordGroups = (body: Uint8Array): Group[] => {
  const cursor = new WireCursor(body);
  return findResources(cursor, body.length).flatMap((resourceRange) => {
    const { subject, schemaUrl, contents } = readParts(cursor, resourceRange);
    return contents.map((records) => {
      const scope = readParts(cursor, records, false);
      return {
        resource: subject,
        resourceSchema: schemaUrl,
        scope: scope.subject,
        scopeSchema: scope.schemaUrl,
        metric: emptyRange,
        records,
        tag: 0x12,
      };
    });
  });
};

/** Tags of Metric's alternatives that contain data points. */
export const pointTags: ReadonlySet<number> = new Set([0x2a, 0x3a, 0x4a, 0x52, 0x5a]);

/** The points of a metric. The last of several alternatives applies. */
const findPoints = (cursor: WireCursor, [start, end]: ByteRange): ByteRange => {
  let points = emptyRange;
  cursor.position = start;
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (!pointTags.has(tag)) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.readEnd(end);
    points = [cursor.position, stop];
    cursor.position = stop;
  }
  return points;
};

/** Returns the groups of data points. */
export const findPointGroups = (body: Uint8Array): Group[] => {
  const cursor = new WireCursor(body);
  return findResources(cursor, body.length).flatMap((resourceRange) => {
    const { subject, schemaUrl, contents } = readParts(cursor, resourceRange);
    return contents.flatMap((scope) => {
      const parts = readParts(cursor, scope);
      return parts.contents.map((metric) => ({
        resource: subject,
        resourceSchema: schemaUrl,
        scope: parts.subject,
        scopeSchema: parts.schemaUrl,
        metric,
        records: findPoints(cursor, metric),
        tag: 0x0a,
      }));
    });
  });
};
