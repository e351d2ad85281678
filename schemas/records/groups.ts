/** Locations of the records in a request: one group per scope or metric. */
import { WireCursor } from '../protobuf/cursor.ts';
import { noRun, type Run } from './origin.ts';
import type { Group } from './record.ts';

/**
 * The last occurrences of a message's fields 1 (its subject) and 3 (a schema URL), and all of its field 2 (its
 * contents).
 */
interface Parts {
  readonly about: Run;
  readonly schema: Run;
  readonly inner: readonly Run[];
}

/** `lists`: whether to list the contents. */
const partsOf = (cursor: WireCursor, [start, end]: Run, lists = true): Parts => {
  let about = noRun;
  let schema = noRun;
  const inner: Run[] = [];
  cursor.at = start;
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag !== 0x0a && tag !== 0x12 && tag !== 0x1a) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.end(end);
    if (tag === 0x0a) about = [cursor.at, stop];
    else if (tag === 0x1a) schema = [cursor.at, stop];
    else if (lists) inner.push([cursor.at, stop]);
    cursor.at = stop;
  }
  return { about, schema, inner };
};

/** Resources of a request, in order. */
const resourcesOf = (cursor: WireCursor, end: number): Run[] => {
  const resources: Run[] = [];
  cursor.at = 0;
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag !== 0x0a) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.end(end);
    resources.push([cursor.at, stop]);
    cursor.at = stop;
  }
  return resources;
};

/** Returns the groups of log records or spans. */
export const recordGroups = (body: Uint8Array): Group[] => {
  const cursor = new WireCursor(body);
  return resourcesOf(cursor, body.length).flatMap((run) => {
    const { about, schema, inner } = partsOf(cursor, run);
    return inner.map((records) => {
      const scope = partsOf(cursor, records, false);
      return {
        resource: about,
        resourceSchema: schema,
        scope: scope.about,
        scopeSchema: scope.schema,
        metric: noRun,
        records,
        tag: 0x12,
      };
    });
  });
};

/** Tags of Metric's alternatives that contain data points. */
export const pointTags: ReadonlySet<number> = new Set([0x2a, 0x3a, 0x4a, 0x52, 0x5a]);

/** The points of a metric. The last of several alternatives applies. */
const pointsOf = (cursor: WireCursor, [start, end]: Run): Run => {
  let points = noRun;
  cursor.at = start;
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (!pointTags.has(tag)) {
      cursor.skip(tag, end);
      continue;
    }
    const stop = cursor.end(end);
    points = [cursor.at, stop];
    cursor.at = stop;
  }
  return points;
};

/** Returns the groups of data points. */
export const pointGroups = (body: Uint8Array): Group[] => {
  const cursor = new WireCursor(body);
  return resourcesOf(cursor, body.length).flatMap((run) => {
    const { about, schema, inner } = partsOf(cursor, run);
    return inner.flatMap((scope) => {
      const parts = partsOf(cursor, scope);
      return parts.inner.map((metric) => ({
        resource: about,
        resourceSchema: schema,
        scope: parts.about,
        scopeSchema: parts.schema,
        metric,
        records: pointsOf(cursor, metric),
        tag: 0x0a,
      }));
    });
  });
};
