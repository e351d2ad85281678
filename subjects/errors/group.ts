/** One error group: its last occurrence, what its occurrences have in common, and why they form one group */
import { z } from 'zod';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { errorTags } from '../../schemas/error-occurrences.ts';
import { ErrorGroup, type GroupsQuery, readErrorGroup } from './groups.ts';
import { type ErrorDecisions, FingerprintMerges } from './merges.ts';
import { OccurrenceWithStack, parseOccurrenceStack, readOccurrences } from './occurrences.ts';
import { createErrorScope, createIncludedScope } from './scope.ts';

const maxValues = 10;

const Component = z.strictObject({
  name: z.string().describe('`type`, `cause`, `frame`, `message`, `operation` or `service`'),
  text: z.string().describe('Text as it is compared: without numbers, values and differences between builds'),
});

const Member = z.strictObject({
  fingerprint: z.string(),
  components: z.array(Component).describe('Components that all occurrences of the fingerprint share exactly'),
  mergedBy: z
    .string()
    .nullable()
    .describe('User who merged the fingerprint; `null` for the fingerprint that is the id of the group'),
  mergedAt: z.string().nullable(),
});

const Explanation = z.strictObject({
  version: z.int().describe('Version of the rules that produced the fingerprint'),
  summary: z.string(),
  shared: z.array(Component).describe('Components that all fingerprints of the group share'),
  members: z.array(Member),
});

const Tag = z.strictObject({
  name: z.string(),
  count: z.int().describe('Occurrences in the range that have this value'),
  values: z.array(z.strictObject({ value: z.string(), count: z.int() })).describe('Most frequent values, at most 10'),
});

export const OneErrorGroup = z.strictObject({
  ...ErrorGroup.shape,
  newest: OccurrenceWithStack.describe('Last occurrence within the retention'),
  tags: z.array(Tag).describe('Release, environment, and attributes of occurrences and their resources'),
  explanation: Explanation,
});
export type OneErrorGroup = z.output<typeof OneErrorGroup>;
type Component = z.output<typeof Component>;

/** Returns the top values of each tag among the occurrences of a range. */
const readTags = async (
  reader: TenantReader,
  { range, filter, insertedBeforeMs }: Pick<GroupsQuery, 'range' | 'filter' | 'insertedBeforeMs'>,
  fingerprints: readonly string[],
): Promise<z.output<typeof Tag>[]> => {
  const { condition, parameters } = createErrorScope(reader, range, filter, insertedBeforeMs);
  const rows = await reader.columns.query<{ name: string; value: string; total: string; of_all: string }>(
    `SELECT name, value, toString(total) AS total, toString(of_all) AS of_all FROM (
      SELECT tag.1 AS name, tag.2 AS value, count() AS total, sum(count()) OVER (PARTITION BY name) AS of_all,
        row_number() OVER (PARTITION BY name ORDER BY count() DESC, value) AS rank
      FROM error_occurrences
      ARRAY JOIN arrayConcat([('release', toString(release)), ('environment', toString(environment)), ('service', toString(service))],
        arrayMap((name, value) -> (toString(name), value), mapKeys(tags), mapValues(tags))) AS tag
      WHERE ${condition} AND fingerprint IN {fingerprints:Array(String)} AND tag.2 != '' GROUP BY name, value
    ) WHERE rank <= ${maxValues} ORDER BY name, total DESC, value LIMIT 1000`,
    { ...parameters, fingerprints: [...fingerprints] },
  );
  const order = ['service', 'release', 'environment', ...errorTags];
  const byName = Map.groupBy(rows, ({ name }) => name);
  return order.flatMap((name) => {
    const values = byName.get(name)?.map(({ value, total }) => ({ value, count: Number(total) }));
    return values === undefined ? [] : [{ name, count: Number(byName.get(name)?.[0]?.of_all), values }];
  });
};

const parseComponents = (json: string): Component[] =>
  (JSON.parse(json) as [string, string][]).map(([name, text]) => ({ name, text }));

const describeGroup = (shared: readonly Component[], members: number): string => {
  const countComponents = (name: string): number => shared.filter((component) => component.name === name).length;
  const parts = [
    ...(countComponents('type') > 0 ? ['exception type'] : []),
    ...(countComponents('cause') > 0 ? ['types of the causes'] : []),
    ...(countComponents('frame') > 0 ? [`${countComponents('frame')} frames nearest to the origin of the error`] : []),
    ...(countComponents('message') > 0 ? ['message without its variable values'] : []),
    ...(countComponents('operation') > 0 ? ['operation that failed'] : []),
    ...(countComponents('service') > 0 ? ['service, because no frame identifies the program'] : []),
    ...(countComponents('project') > 0 ? ['project'] : []),
  ];
  const sharedText = parts.length === 0 ? 'nothing' : parts.join(', ');
  return members === 1
    ? `Every occurrence has the same ${sharedText}.`
    : `${members} fingerprints were merged manually. Occurrences of one fingerprint are equal in all components; all fingerprints share: ${sharedText}.`;
};

const readExplanation = async (
  reader: TenantReader,
  groupId: string,
  merges: FingerprintMerges,
  decisions: ErrorDecisions,
) => {
  const { condition, parameters } = createIncludedScope(reader, {});
  const fingerprints = merges.getMembers(groupId);
  const rows = await reader.columns.query<{ fingerprint: string; components: string }>(
    `SELECT fingerprint, any(components) AS components FROM error_groups
    WHERE ${condition} AND fingerprint IN {fingerprints:Array(String)} GROUP BY fingerprint LIMIT 10000`,
    { ...parameters, fingerprints },
  );
  const componentsByFingerprint = new Map(
    rows.map(({ fingerprint, components }) => [fingerprint, parseComponents(components)]),
  );
  const mergeById = new Map(decisions.merges.map((merge) => [merge.id, merge]));
  const members = fingerprints
    .filter((fingerprint) => componentsByFingerprint.has(fingerprint))
    .map((fingerprint) => ({
      fingerprint,
      components: componentsByFingerprint.get(fingerprint) ?? [],
      mergedBy: fingerprint === groupId ? null : (mergeById.get(fingerprint)?.mergedBy ?? null),
      mergedAt: fingerprint === groupId ? null : (mergeById.get(fingerprint)?.mergedAt ?? null),
    }));
  const isShared = ({ name, text }: Component, components: readonly Component[]): boolean =>
    components.some((other) => other.name === name && other.text === text);
  const shared = (members[0]?.components ?? []).filter((component) =>
    members.every(({ components }) => isShared(component, components)),
  );
  return {
    version: Number(/^f(\d+)-/.exec(groupId)?.[1] ?? 0),
    summary: describeGroup(shared, members.length),
    shared,
    members,
  };
};

/** Returns a group with its details; `undefined` if it has no occurrence in the range. */
export const describeErrorGroup = async (
  reader: TenantReader,
  id: string,
  query: Pick<GroupsQuery, 'range' | 'filter' | 'insertedBeforeMs'>,
  decisions: ErrorDecisions,
): Promise<OneErrorGroup | undefined> => {
  const groupResult = await readErrorGroup(reader, id, query, decisions);
  if (groupResult === undefined) return undefined;
  const { group } = groupResult;
  const merges = new FingerprintMerges(decisions.merges);
  const fingerprints = group.fingerprints;
  const includedScope = createIncludedScope(reader, query.filter);
  const lastCondition = `${includedScope.condition} AND timestamp = parseDateTime64BestEffort({last:String}, 9, 'UTC')`;
  const [[newest], tags, explanation] = await Promise.all([
    readOccurrences(
      reader,
      { condition: lastCondition, parameters: { ...includedScope.parameters, last: group.lastSeen } },
      { fingerprints, limit: 1 },
    ),
    readTags(reader, query, fingerprints),
    readExplanation(reader, group.id, merges, decisions),
  ]);
  if (newest === undefined) return undefined;
  return { ...group, newest: parseOccurrenceStack(newest.occurrence), tags, explanation };
};
