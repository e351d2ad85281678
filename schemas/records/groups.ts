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
  readonly schema: ByteRange;
  readonly contents: readonly ByteRange[];
}

/** Returns the parts of a message. With `lists = false`, the contents are omitted. */
const readParts = (cursor: WireCursor, [start, end]: ByteRange, includesContents = true): MessageParts => {
  let subject = emptyRange;
  let schema = emptyRange;
  const contents: ByteRange[] = [];
  cursor.at = start;
  while (cursor.at < end) {
    const tag = cursor.readVarint();
    if (tag !== 0x0a && tag !== 0x12 && tag !== 0x1a) {
      cursor.skip(tag, end);
      continue;
    }
    const fieldEnd = cursor.readEnd(end);
    if (tag === 0x0a) subject = [cursor.at, fieldEnd];
    else if (tag === 0x1a) schema = [cursor.at, fieldEnd];
    else if (includesContents) contents.push([cursor.at, fieldEnd]);
    cursor.at = fieldEnd;
  }
  return { subject, schema, contents };
};

/** Resources of a request, in order. */
const findResources = (cursor: WireCursor, end: number): ByteRange[] => {
  const resources: ByteRange[] = [];
  cursor.at = 0;
  while (cursor.at < end) {
    const tag = cursor.readVarint();
    if (tag !== 0x0a) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.readEnd(end);
    resources.push([cursor.at, stop]);
    cursor.at = stop;
  }
  return resources;
};

/** Returns the groups of log records or spans. */
export const findRecordGroups = (body: Uint8Array): Group[] => {
  const cursor = new WireCursor(body);
  return findResources(cursor, body.length).flatMap((resourceRange) => {
    const { subject, schema, contents } = readParts(cursor, resourceRange);
    return contents.map((records) => {
      const scope = readParts(cursor, records, false);
      return {
        resource: subject,
        resourceSchema: schema,
        scope: scope.subject,
        scopeSchema: scope.schema,
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
  cursor.at = start;
  while (cursor.at < end) {
    const tag = cursor.readVarint();
    if (!pointTags.has(tag)) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.readEnd(end);
    points = [cursor.at, stop];
    cursor.at = stop;
  }
  return points;
};

/** Returns the groups of data points. */
export const findPointGroups = (body: Uint8Array): Group[] => {
  const cursor = new WireCursor(body);
  return findResources(cursor, body.length).flatMap((run) => {
    const { subject, schema, contents } = readParts(cursor, run);
    return contents.flatMap((scope) => {
      const parts = readParts(cursor, scope);
      return parts.contents.map((metric) => ({
        resource: subject,
        resourceSchema: schema,
        scope: parts.subject,
        scopeSchema: parts.schema,
        metric,
        records: findPoints(cursor, metric),
        tag: 0x0a,
      }));
    });
  });
};
