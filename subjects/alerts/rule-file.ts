/** Reads Prometheus rule files, also as Kubernetes resources: groups of alerting and recording rules in YAML. */
import { runInWorker } from '../../queries/worker.ts';
import { parseYaml, YamlError } from '../../queries/yaml.ts';
import { splitDocuments } from '../../queries/yaml-documents.ts';
import { type Fields, toFields } from '../../runtime/fields.ts';
import type { alertSeverities } from '../../schemas/alerts.ts';
import { formatDuration, minInterval, parseDurationMs } from './durations.ts';
import { RecordingGroupFields } from './recording/group.ts';
import { findGroupProblems } from './recording/problems.ts';
import { AlertRuleFields, type RuleOrigin } from './rule.ts';
import { findStoredRuleProblems, findTemplateProblems, type Problem } from './rule-problems.ts';

/** Result of one rule of a file. */
export interface FileRule {
  /** Name of the file or the Kubernetes resource. */
  readonly file: string;
  /** `group.3`: the group, and the index in it. */
  readonly location: string;
  readonly group: string;
  /** Undefined if the rule is invalid, and for a recording rule. */
  readonly rule: AlertRuleFields | undefined;
  /**
   * Name of the series of a recording rule, which is in `recordings`; undefined if it is invalid, and for an alert
   * rule.
   */
  readonly record?: string;
  /**
   * Reasons why the rule is invalid, or differences from the file: templates that are not rendered, a longer interval.
   */
  readonly problems: readonly Problem[];
}

/** Severity names in Prometheus rules. */
const severities: Readonly<Record<string, (typeof alertSeverities)[number]>> = {
  page: 'critical',
  critical: 'critical',
  emergency: 'critical',
  disaster: 'critical',
  error: 'error',
  high: 'error',
  major: 'error',
  warning: 'warning',
  warn: 'warning',
  ticket: 'warning',
  minor: 'warning',
  info: 'info',
  none: 'info',
  low: 'info',
};

const unitMs: Readonly<Record<string, number>> = {
  y: 31_536_000_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/**
 * Converts a duration with several units, such as `1h30m`, to one with a single unit: `90m`. An invalid duration is
 * returned unchanged, so that validation rejects it.
 */
const readDuration = (value: unknown, fallback: string): string => {
  if (value === undefined || value === null) return fallback;
  const text = String(value);
  if (!/^(\d+(y|w|d|h|ms|m|s))+$/.test(text)) return text === '0' ? '0s' : text;
  let ms = 0;
  for (const [, count, unit = 's'] of text.matchAll(/(\d+)(y|w|d|h|ms|m|s)/gy))
    ms += Number(count) * (unitMs[unit] ?? 0);
  return formatDuration(ms);
};

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const toTexts = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(toFields(value)).map(([name, text]) => [name, String(text)]));

const alertingFields = new Set(['alert', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations']);
const recordingFields = new Set(['record', 'expr', 'labels']);

const findUnknownFields = (fields: Fields, names: ReadonlySet<string>): Problem[] =>
  Object.keys(fields)
    .filter((name) => !names.has(name))
    .map((path) => ({ path, message: 'is unknown' }));

const defaultInterval = '1m';

/** Settings of a group that apply to all its rules. As in Prometheus, an interval of 0 is the default. */
const readGroupTimings = (group: Fields) => {
  const intervalText = readDuration(group['interval'], defaultInterval);
  const interval = intervalText === '0s' ? defaultInterval : intervalText;
  return {
    interval: isTooFrequent(interval) ? minInterval : interval,
    delay: readDuration(group['query_offset'], '0s'),
  };
};

/** Returns whether the text is a duration below the minimum interval. */
const isTooFrequent = (interval: string): boolean =>
  parseDurationMs(interval) > 0 && parseDurationMs(interval) < parseDurationMs(minInterval);

const findIntervalWarnings = (group: Fields): Problem[] => {
  const interval = group['interval'];
  if (!isTooFrequent(readDuration(interval, defaultInterval))) return [];
  const message = `is ${interval}: rules are evaluated at most every ${minInterval}, including these`;
  return [{ path: 'interval', message }];
};

const mergeLabels = (fields: Fields, group: Fields): Record<string, string> => ({
  ...toTexts(group['labels']),
  ...toTexts(fields['labels']),
});

/** Converts a rule of a file. */
const toAlertRule = (fields: Fields, group: Fields, origin: RuleOrigin): unknown => {
  const labels = mergeLabels(fields, group);
  return {
    name: origin.alert,
    origin,
    condition: {
      kind: 'threshold',
      query: { kind: 'promql', expression: String(fields['expr'] ?? '') },
      window: '5m',
      thresholds: [{ severity: severities[(labels['severity'] ?? '').toLowerCase()] ?? 'warning', operator: 'any' }],
    },
    ...readGroupTimings(group),
    ...(Number(group['limit']) > 0 && { limit: group['limit'] }),
    for: readDuration(fields['for'], '0s'),
    keepFiringFor: readDuration(fields['keep_firing_for'], '0s'),
    onError: 'keep',
    labels,
    annotations: toTexts(fields['annotations']),
  };
};

type RulePosition = Pick<FileRule, 'file' | 'location' | 'group'>;

const toFileRule = (position: RulePosition, rule: unknown, otherProblems: readonly Problem[]): FileRule => {
  const parsed = AlertRuleFields.safeParse(rule);
  if (parsed.success) {
    const problems = [...otherProblems, ...findStoredRuleProblems(parsed.data)];
    const warnings = findTemplateProblems(parsed.data).map(({ path, message }) => ({
      path,
      message: `is shown unchanged: ${message}`,
    }));
    return {
      ...position,
      rule: problems.length === 0 ? parsed.data : undefined,
      problems: [...problems, ...warnings],
    };
  }
  const schemaProblems = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return { ...position, rule: undefined, problems: [...otherProblems, ...schemaProblems] };
};

/** Groups of rules, and the file or the Kubernetes resource that contains them. */
interface RuleSource {
  /** File name, or `namespace/name` of a resource; identifies its rules at the next import. */
  readonly file: string;
  readonly groups: readonly Fields[];
}

const toResourceName = (metadata: Fields): string =>
  [metadata['namespace'], metadata['name']].filter((part) => typeof part === 'string').join('/');

/**
 * Returns the groups of a document: of a rule file of Prometheus, of a resource such as `PrometheusRule` of Prometheus
 * Operator or `VMRule` of VictoriaMetrics Operator, and of each resource in a list.
 */
const listRuleSources = (document: Fields, fileName: string): readonly RuleSource[] => {
  const { groups, spec, items, metadata } = document;
  if (Array.isArray(groups)) return [{ file: fileName, groups: groups.map(toFields) }];
  if (Array.isArray(items)) return items.flatMap((item) => listRuleSources(toFields(item), fileName));
  const resourceGroups = toFields(spec)['groups'];
  if (!Array.isArray(resourceGroups)) return [];
  return [{ file: toResourceName(toFields(metadata)).slice(0, 256) || fileName, groups: resourceGroups.map(toFields) }];
};

/** Sources of rules in a text, and the results of the documents that are not valid YAML */
interface RuleSources {
  readonly sources: readonly RuleSource[];
  readonly rejected: readonly FileRule[];
}

const noGroupsProblem = 'has no list of groups: a rule file has `groups`, a PrometheusRule `spec.groups`';

/**
 * Returns the sources of rules in a text, or the problem of the text. Documents without rules, such as other resources,
 * are ignored. A document that is not valid YAML does not affect the others.
 */
const parseRuleSources = (text: string, fileName: string): RuleSources | string => {
  const documents = splitDocuments(text);
  const sources: RuleSource[] = [];
  const rejected: FileRule[] = [];
  for (const [index, document] of documents.entries())
    try {
      sources.push(...listRuleSources(toFields(parseYaml(document.text).value()), fileName));
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      if (documents.length === 1) return error.text;
      rejected.push({
        file: fileName,
        location: `document ${index + 1}, line ${document.line}`,
        group: '',
        rule: undefined,
        problems: [{ path: 'file', message: error.text }],
      });
    }
  return sources.length + rejected.length > 0 ? { sources, rejected } : noGroupsProblem;
};

/** Returns a recording rule of a group, or its problem. */
const toRecordingRule = (
  fields: Fields,
  group: Fields,
  position: RulePosition,
  index: number,
): FileRule & { readonly recording?: RecordingGroupFields } => {
  const fieldProblems = findUnknownFields(fields, recordingFields);
  const parsed = RecordingGroupFields.safeParse({
    name: position.group,
    file: position.file,
    ...readGroupTimings(group),
    ...(group['limit'] != null && { limit: group['limit'] }),
    rules: [
      {
        record: fields['record'],
        expression: String(fields['expr'] ?? ''),
        labels: mergeLabels(fields, group),
        place: index,
      },
    ],
  });
  const invalidRule = { ...position, rule: undefined };
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path, message }) => ({ path: path.slice(-1).join('.'), message }));
    return { ...invalidRule, problems: [...fieldProblems, ...wrong] };
  }
  const problems = [
    ...fieldProblems,
    ...findGroupProblems(parsed.data).map(({ message }) => ({ path: 'expr', message })),
  ];
  if (problems.length > 0) return { ...invalidRule, problems };
  return { ...invalidRule, record: String(fields['record']), problems, recording: parsed.data };
};

export interface ParsedRuleFile {
  /** Every rule of the file with its result, in file order. */
  readonly rules: readonly FileRule[];
  /** Groups with their valid recording rules. */
  readonly recordings: readonly RecordingGroupFields[];
  /** Problem of an invalid file. */
  readonly problem?: string;
}

const isAccepted = ({ rule, record }: FileRule): boolean => rule !== undefined || record !== undefined;

const getGroupName = (group: Fields): string => String(group['name'] ?? '');

/** Reads the rules of a group, with its recording rules as one group. */
const readGroup = (
  group: Fields,
  file: string,
): { readonly rules: readonly FileRule[]; readonly recordings: readonly RecordingGroupFields[] } => {
  const name = getGroupName(group);
  const alertCounts = new Map<string, number>();
  const recordings: RecordingGroupFields[] = [];
  const fileRules = toList(group['rules']).map((ruleValue, index): FileRule => {
    const fields = toFields(ruleValue);
    const position = { file, location: `${name}.${index}`, group: name };
    if (fields['record'] !== undefined) {
      const { recording, ...rule } = toRecordingRule(fields, group, position, index);
      if (recording !== undefined) recordings.push(recording);
      return rule;
    }
    if (fields['alert'] === undefined)
      return {
        ...position,
        rule: undefined,
        problems: [{ path: 'alert', message: 'is required, unless record is set' }],
      };
    const alert = String(fields['alert']);
    const nth = (alertCounts.get(alert) ?? 0) + 1;
    alertCounts.set(alert, nth);
    const origin = { file, group: name, alert, nth, place: index };
    return toFileRule(position, toAlertRule(fields, group, origin), findUnknownFields(fields, alertingFields));
  });
  const [first] = recordings;
  const warnings = findIntervalWarnings(group);
  return {
    rules: fileRules.map((rule) => (isAccepted(rule) ? { ...rule, problems: [...rule.problems, ...warnings] } : rule)),
    recordings:
      first === undefined ? [] : [{ ...first, rules: recordings.flatMap(({ rules: groupRules }) => groupRules) }],
  };
};

/** Returns the rules of a second group of the same name as rejected: it cannot be distinguished from the first one. */
const rejectGroup = ({ rules }: ReturnType<typeof readGroup>, name: string): ReturnType<typeof readGroup> => ({
  rules: rules.map(({ file, location, group }) => ({
    file,
    location,
    group,
    rule: undefined,
    problems: [{ path: 'name', message: `another group is named ${name}: group names must be unique in a file` }],
  })),
  recordings: [],
});

/** Reads a rule file, or Kubernetes manifests with rules, in one or several YAML documents. */
export const readRuleFile = (text: string, fileName = ''): ParsedRuleFile => {
  const parsed = parseRuleSources(text, fileName);
  if (typeof parsed === 'string') return { rules: [], recordings: [], problem: parsed };
  const knownGroups = new Set<string>();
  const read = parsed.sources.flatMap(({ file, groups }) =>
    groups.map((group) => {
      const name = getGroupName(group);
      const key = JSON.stringify([file, name]);
      const result = readGroup(group, file);
      if (knownGroups.has(key)) return rejectGroup(result, name);
      knownGroups.add(key);
      return result;
    }),
  );
  return {
    rules: [...read.flatMap(({ rules }) => rules), ...parsed.rejected],
    recordings: read.flatMap(({ recordings }) => recordings),
  };
};

/** Reads a rule file like `readRuleFile`, in a worker if it is long. */
export const readRuleFileInWorker = runInWorker(import.meta.url, readRuleFile);
