/** Reads Prometheus rule files: groups of alerting and recording rules in YAML. */
import { inWorker } from '../../queries/worker.ts';
import { readYaml, YamlError } from '../../queries/yaml.ts';
import type { alertSeverities } from '../../schemas/alerts.ts';
import { durationText, minInterval, msOf } from './durations.ts';
import { RecordingGroupFields } from './recording/group.ts';
import { groupProblemsOf } from './recording/problems.ts';
import { AlertRuleFields, type RuleOrigin } from './rule.ts';
import { type Problem, storedRuleProblemsOf, textProblemsOf } from './rule-problems.ts';

/** Result of one rule of a file. */
export interface FileRule {
  /** `group.3`: the group, and the index in it. */
  readonly place: string;
  readonly group: string;
  /** Undefined if the rule is invalid, and for a recording rule. */
  readonly rule: AlertRuleFields | undefined;
  /**
   * Name of the series of a recording rule, which is in `recordings`; undefined if it is invalid, and for an alert
   * rule.
   */
  readonly record?: string;
  /** Reasons why the rule is invalid, or differences from the file: texts that are shown unchanged, the interval. */
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

/** `1h30m` as `90m`. An invalid duration is returned unchanged, to be refused. */
const durationIn = (value: unknown, fallback: string): string => {
  if (value === undefined || value === null) return fallback;
  const text = String(value);
  if (!/^(\d+(y|w|d|h|ms|m|s))+$/.test(text)) return text === '0' ? '0s' : text;
  let ms = 0;
  for (const [, count, unit = 's'] of text.matchAll(/(\d+)(y|w|d|h|ms|m|s)/gy))
    ms += Number(count) * (unitMs[unit] ?? 0);
  return durationText(ms);
};

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(object(value)).map(([name, text]) => [name, String(text)]));

const known = new Set(['alert', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations']);
const knownOfRecording = new Set(['record', 'expr', 'labels']);

const unknownIn = (given: Record<string, unknown>, names: ReadonlySet<string>): Problem[] =>
  Object.keys(given)
    .filter((name) => !names.has(name))
    .map((path) => ({ path, message: 'is unknown' }));

const defaultInterval = '1m';

/** Settings of a group that apply to all its rules. As in Prometheus, an interval of 0 is the default. */
const groupTimings = (group: Record<string, unknown>) => {
  const given = durationIn(group['interval'], defaultInterval);
  const interval = given === '0s' ? defaultInterval : given;
  return {
    interval: isTooOften(interval) ? minInterval : interval,
    delay: durationIn(group['query_offset'], '0s'),
  };
};

/** Returns whether the text is a duration below the minimum interval. */
const isTooOften = (interval: string): boolean => msOf(interval) > 0 && msOf(interval) < msOf(minInterval);

const timeWarningsOf = (group: Record<string, unknown>): Problem[] => {
  const interval = group['interval'];
  if (!isTooOften(durationIn(interval, defaultInterval))) return [];
  const message = `is ${interval}: rules are evaluated at most every ${minInterval}, including these`;
  return [{ path: 'interval', message }];
};

const labelsOf = (given: Record<string, unknown>, group: Record<string, unknown>): Record<string, string> => ({
  ...texts(group['labels']),
  ...texts(given['labels']),
});

/** Converts a rule of a file. */
const ruleOf = (given: Record<string, unknown>, group: Record<string, unknown>, origin: RuleOrigin): unknown => {
  const labels = labelsOf(given, group);
  return {
    name: origin.alert,
    origin,
    condition: {
      kind: 'threshold',
      query: { kind: 'promql', expression: String(given['expr'] ?? '') },
      window: '5m',
      thresholds: [{ severity: severities[(labels['severity'] ?? '').toLowerCase()] ?? 'warning', operator: 'any' }],
    },
    ...groupTimings(group),
    ...(Number(group['limit']) > 0 && { limit: group['limit'] }),
    for: durationIn(given['for'], '0s'),
    keepFiringFor: durationIn(given['keep_firing_for'], '0s'),
    onError: 'keep',
    labels,
    annotations: texts(given['annotations']),
  };
};

const placed = (
  { place, group }: Pick<FileRule, 'place' | 'group'>,
  rule: unknown,
  more: readonly Problem[],
): FileRule => {
  const parsed = AlertRuleFields.safeParse(rule);
  if (parsed.success) {
    const problems = [...more, ...storedRuleProblemsOf(parsed.data)];
    const warnings = textProblemsOf(parsed.data).map(({ path, message }) => ({
      path,
      message: `is shown unchanged: ${message}`,
    }));
    return {
      place,
      group,
      rule: problems.length === 0 ? parsed.data : undefined,
      problems: [...problems, ...warnings],
    };
  }
  const wrong = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return { place, group, rule: undefined, problems: [...more, ...wrong] };
};

/** Returns the groups of a file, or its problem. */
const groupsOf = (text: string): readonly unknown[] | string => {
  try {
    const { groups } = object(readYaml(text).value()) as { groups?: unknown };
    return Array.isArray(groups) ? groups : 'has no list of groups';
  } catch (error) {
    if (error instanceof YamlError) return error.text;
    throw error;
  }
};

/** Returns a recording rule of a group, or its problem. */
const recordingOf = (
  given: Record<string, unknown>,
  group: Record<string, unknown>,
  {
    place,
    index,
    ...of
  }: { readonly place: string; readonly group: string; readonly file: string; readonly index: number },
): FileRule & { readonly recording?: RecordingGroupFields } => {
  const more = unknownIn(given, knownOfRecording);
  const parsed = RecordingGroupFields.safeParse({
    name: of.group,
    file: of.file,
    ...groupTimings(group),
    ...(group['limit'] != null && { limit: group['limit'] }),
    rules: [
      {
        record: given['record'],
        expression: String(given['expr'] ?? ''),
        labels: labelsOf(given, group),
        place: index,
      },
    ],
  });
  const refused = { place, group: of.group, rule: undefined };
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path, message }) => ({ path: path.slice(-1).join('.'), message }));
    return { ...refused, problems: [...more, ...wrong] };
  }
  const problems = [...more, ...groupProblemsOf(parsed.data).map(({ message }) => ({ path: 'expr', message }))];
  if (problems.length > 0) return { ...refused, problems };
  return { ...refused, record: String(given['record']), problems, recording: parsed.data };
};

export interface ReadRuleFile {
  /** Every rule of the file with its result, in file order. */
  readonly rules: readonly FileRule[];
  /** Groups with the valid recording rules. */
  readonly recordings: readonly RecordingGroupFields[];
  /** Problem of an invalid file. */
  readonly problem?: string;
}

const isAccepted = ({ rule, record }: FileRule): boolean => rule !== undefined || record !== undefined;

const groupNameOf = (group: Record<string, unknown>): string => String(group['name'] ?? '');

/** Reads the rules of a group, with its recording rules as one group. */
const readGroup = (
  group: Record<string, unknown>,
  file: string,
): { readonly rules: readonly FileRule[]; readonly recordings: readonly RecordingGroupFields[] } => {
  const name = groupNameOf(group);
  const alerts = new Map<string, number>();
  const recordings: RecordingGroupFields[] = [];
  const read = list(group['rules']).map((one, index): FileRule => {
    const given = object(one);
    const of = { place: `${name}.${index}`, group: name };
    if (given['record'] !== undefined) {
      const { recording, ...rule } = recordingOf(given, group, { ...of, file, index });
      if (recording !== undefined) recordings.push(recording);
      return rule;
    }
    if (given['alert'] === undefined)
      return { ...of, rule: undefined, problems: [{ path: 'alert', message: 'is required, unless record is set' }] };
    const alert = String(given['alert']);
    const nth = (alerts.get(alert) ?? 0) + 1;
    alerts.set(alert, nth);
    const origin = { file, group: name, alert, nth, place: index };
    return placed(of, ruleOf(given, group, origin), unknownIn(given, known));
  });
  const [first] = recordings;
  const warnings = timeWarningsOf(group);
  return {
    rules: read.map((rule) => (isAccepted(rule) ? { ...rule, problems: [...rule.problems, ...warnings] } : rule)),
    recordings: first === undefined ? [] : [{ ...first, rules: recordings.flatMap(({ rules: own }) => own) }],
  };
};

/** Reads a rule file. */
export const readRuleFile = (text: string, fileName = ''): ReadRuleFile => {
  const none = { rules: [], recordings: [] };
  const found = groupsOf(text);
  if (typeof found === 'string') return { ...none, problem: found };
  const groups = found.map(object);
  const repeated = groups.map(groupNameOf).find((name, index, all) => all.indexOf(name) < index);
  if (repeated !== undefined)
    return { ...none, problem: `has two groups named ${repeated}: group names must be unique in a file` };
  const read = groups.map((group) => readGroup(group, fileName));
  return {
    rules: read.flatMap(({ rules }) => rules),
    recordings: read.flatMap(({ recordings }) => recordings),
  };
};

/** Reads a rule file like `readRuleFile`, in a worker if it is long. */
export const readRuleFileInWorker = inWorker(import.meta.url, readRuleFile);
