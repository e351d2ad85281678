/** Parses SLOs of Sloth and Pyrra */
import { parseDuration } from '../../../queries/time.ts';
import { formatDuration, parseDurationMs } from '../../alerts/durations.ts';
import { type BurnRule, createDefaultBurnRules } from '../burn-rules.ts';
import type { SloFields } from '../document.ts';
import { fractionToNumber } from '../slices/fraction.ts';
import {
  insertWindow,
  mapExpression,
  type RewriteResult,
  rewriteAsCall,
  rewriteAsIncrease,
  rewriteRates,
  minScrapedWindow as slice,
  splitErrorRatio,
} from './counters.ts';
import { type Fields, type OpenSloObject, peekObjectName, readLabels, type SloPart } from './objects.ts';
import { validateSlo } from './validate.ts';

const sliceMs = parseDurationMs(slice);

const tryParseDurationMs = (text: string): number | undefined => {
  const ns = parseDuration(text);
  return ns === undefined ? undefined : Number(ns) / 1_000_000;
};

interface PromqlPart {
  readonly kind: 'promql';
  readonly expression: string;
}

const toPromqlQuery = (rewritten: RewriteResult, fields: Fields, key: string): PromqlPart | undefined =>
  'problem' in rewritten ? fields.fail(key, rewritten.problem) : { kind: 'promql', expression: rewritten.expression };

/** `errorQuery` of the Kubernetes form is `error_query` in the other form. */
type KeySpelling = (name: string) => string;
const toCamelCase: KeySpelling = (name) => name.replaceAll(/_(.)/g, (_, char: string) => char.toUpperCase());
const keepSnakeCase: KeySpelling = (name) => name;

const parseSlothQuery = (events: Fields, key: string) => {
  const text = events.text(key);
  if (text === undefined) return undefined;
  return toPromqlQuery(rewriteRates(insertWindow(text, slice), sliceMs), events, key);
};

/** Returns the counts of a precomputed ratio of errors, if it is a ratio of two counts. */
const parseSlothRatio = (raw: Fields): Partial<Record<'good' | 'bad' | 'total', PromqlPart>> | undefined => {
  const text = raw.text('error_ratio_query', false) ?? raw.text('errorRatioQuery');
  raw.reportUnread();
  if (text === undefined) return undefined;
  const split = splitErrorRatio(insertWindow(text, slice), sliceMs);
  if ('problem' in split) return raw.fail('', split.problem);
  const count = toPromqlQuery(rewriteRates(split.count, sliceMs), raw, '');
  const total = toPromqlQuery(rewriteRates(split.total, sliceMs), raw, '');
  return count && total && { [split.part]: count, total };
};

/** Returns the counts of the indicator of Sloth. */
const parseSlothSli = (sli: Fields, toKey: KeySpelling) => {
  const raw = sli.map('raw', false);
  if (raw !== undefined) return parseSlothRatio(raw);
  const events = sli.map('events', sli.keys.length === 0);
  const bad = events && parseSlothQuery(events, toKey('error_query'));
  const total = events && parseSlothQuery(events, toKey('total_query'));
  events?.reportUnread();
  return bad && total && { bad, total };
};

/** Returns the alert settings of one severity. */
const parseSlothAlert = (alerting: Fields | undefined, key: string) => {
  const alert = alerting?.map(key, false);
  const isDisabled = alert?.flag('disable') ?? false;
  const labels = alert ? readLabels(alert, 'labels') : {};
  alert?.reportUnread('cannot be imported: all alerts of an SLO have the same annotations');
  return { isDisabled, labels };
};

const dayMs = 86_400_000;
/** Default period of SLOs in Sloth */
const slothDays = 30;

/** Returns the default burn rate rules of one severity. */
const createRulesOfSeverity = (severity: BurnRule['severity']) =>
  createDefaultBurnRules(slothDays * dayMs)
    .filter((rule) => rule.severity === severity)
    .map(({ rate, longMs, shortMs }) => ({
      severity,
      rate: fractionToNumber(rate),
      long: formatDuration(longMs),
      short: formatDuration(shortMs),
    }));

const parseSlothAlerting = (slo: Fields, toKey: KeySpelling) => {
  const alerting = slo.map('alerting', false);
  alerting?.text('name', false);
  const labels = alerting ? readLabels(alerting, 'labels') : {};
  const annotations = alerting ? readLabels(alerting, 'annotations') : {};
  const [page, ticket] = [
    parseSlothAlert(alerting, toKey('page_alert')),
    parseSlothAlert(alerting, toKey('ticket_alert')),
  ];
  alerting?.reportUnread();
  const onlySeverity = page.isDisabled === ticket.isDisabled ? undefined : page.isDisabled ? 'ticket' : 'page';
  const bySeverity = Object.entries({ page, ticket }).flatMap(([severity, { labels: severityLabels }]) =>
    Object.keys(severityLabels).length === 0 ? [] : [[severity, severityLabels] as const],
  );
  return {
    enabled: !(page.isDisabled && ticket.isDisabled),
    ...(onlySeverity !== undefined && { rules: createRulesOfSeverity(onlySeverity) }),
    labels,
    annotations,
    ...(bySeverity.length > 0 && { severityLabels: Object.fromEntries(bySeverity) }),
  };
};

const parseSlothSlo = (slo: Fields, service: string, labels: object, toKey: KeySpelling): SloFields | undefined => {
  const [name, targetPct] = [slo.text('name'), slo.number('objective')];
  const description = slo.text('description', false) ?? '';
  const sliFields = slo.map('sli');
  const sli = sliFields && parseSlothSli(sliFields, toKey);
  const alerting = parseSlothAlerting(slo, toKey);
  const allLabels = { ...labels, ...readLabels(slo, 'labels'), ...alerting.labels };
  sliFields?.reportUnread(
    'cannot be imported: only events and raw are supported; the queries of a plugin are in the output of sloth generate',
  );
  slo.reportUnread();
  if (sli === undefined) return undefined;
  const query = { sli, slice, alerting: { ...alerting, labels: allLabels } };
  return validateSlo(
    { type: 'ratio', name: `${service}: ${name}`, description, targetPct, service, windowDays: slothDays, query },
    slo,
  );
};

/** Returns the SLOs of a Sloth file: `version: prometheus/v1`, or a `PrometheusServiceLevel`. */
export const parseSlothSlos = ({ fields, parsePart }: OpenSloObject): SloPart[] => {
  const isKubernetes = fields.has('apiVersion');
  for (const key of ['apiVersion', 'kind', 'version', 'metadata']) fields.value(key);
  const spec = isKubernetes ? fields.map('spec') : fields;
  const service = spec?.text('service') ?? '';
  const labels = spec ? readLabels(spec, 'labels') : {};
  const slos = (spec?.maps('slos') ?? []).map((slo): SloPart => {
    const { result, problems } = parsePart(() =>
      parseSlothSlo(slo, service, labels, isKubernetes ? toCamelCase : keepSnakeCase),
    );
    const name = slo.peekText('name');
    return {
      line: slo.line,
      name: name === undefined ? null : `${service}: ${name}`,
      importedFrom: { format: 'sloth', name: `${service}/${name}` },
      slo: result,
      problems,
    };
  });
  spec?.reportUnread();
  fields.reportUnread();
  return slos;
};

/** Returns the count in a slice for a Pyrra metric, which is a selector. */
const parsePyrraCount = (indicator: Fields, key: string) => {
  const metric = indicator.map(key);
  const text = metric?.text('metric');
  metric?.reportUnread();
  if (metric === undefined || text === undefined) return undefined;
  return toPromqlQuery(rewriteAsIncrease(`sum(${text})`, sliceMs), metric, 'metric');
};

/** Returns the counts of a gauge that is 1 for success: its points. */
const parsePyrraGauge = (gauge: Fields) => {
  const selector = gauge.text('metric');
  if (selector === undefined) return undefined;
  const [good, total] = ['sum_over_time', 'count_over_time'].map((name) =>
    toPromqlQuery(rewriteAsCall(`sum(${selector})`, name, sliceMs), gauge, 'metric'),
  );
  return good && total && { good, total };
};

/** Returns the counts of a native histogram: requests within the latency, interpolated as in Pyrra, and all. */
const parsePyrraNativeLatency = (indicator: Fields) => {
  const [latency, metric] = [indicator.text('latency'), indicator.map('total')];
  const selector = metric?.text('metric');
  metric?.reportUnread();
  const latencyMs = latency === undefined ? undefined : tryParseDurationMs(latency);
  if (latency !== undefined && latencyMs === undefined)
    return indicator.fail('latency', `is ${latency}: write a duration such as 200ms`);
  if (metric === undefined || selector === undefined || latencyMs === undefined) return undefined;
  const increase = rewriteAsIncrease(`sum(${selector})`, sliceMs);
  const total = toPromqlQuery(
    mapExpression(increase, (text) => `histogram_count(${text})`),
    metric,
    'metric',
  );
  const toGood = (text: string): string =>
    `histogram_fraction(0, ${latencyMs / 1000}, ${text}) * histogram_count(${text})`;
  const good = toPromqlQuery(mapExpression(increase, toGood), metric, 'metric');
  return good && total && { good, total };
};

const pyrraIndicators = ['ratio', 'latency', 'bool_gauge', 'latencyNative'] as const;

const parsePyrraCounts = (kind: (typeof pyrraIndicators)[number], fields: Fields) => {
  if (kind === 'bool_gauge') return parsePyrraGauge(fields);
  if (kind === 'latencyNative') return parsePyrraNativeLatency(fields);
  const successOrErrors = parsePyrraCount(fields, kind === 'latency' ? 'success' : 'errors');
  const total = parsePyrraCount(fields, 'total');
  return successOrErrors && total && { [kind === 'latency' ? 'good' : 'bad']: successOrErrors, total };
};

const parsePyrraSli = (indicator: Fields) => {
  const kind = pyrraIndicators.find((name) => indicator.has(name));
  const kindFields = kind && indicator.map(kind);
  indicator.reportUnread(`cannot be imported: an indicator is one of ${pyrraIndicators.join(', ')}`);
  if (kind === undefined || kindFields === undefined)
    return indicator.keys.length > 0 ? undefined : indicator.fail('', `must have one of ${pyrraIndicators.join(', ')}`);
  const sli = parsePyrraCounts(kind, kindFields);
  kindFields.reportUnread('cannot be imported: an SLO has one value, so create one SLO for each group');
  return sli;
};

/** Pyrra adds the labels with this prefix to its alerts, without the prefix. */
const propagatedLabelPrefix = 'pyrra.dev/';

const readPyrraLabels = (metadata: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(readLabels(metadata, 'labels')).map(([name, value]) => [
      name.startsWith(propagatedLabelPrefix) ? name.slice(propagatedLabelPrefix.length) : name,
      value,
    ]),
  );

/** Returns the SLO of a Pyrra `ServiceLevelObjective`. */
export const parsePyrraSlo = ({ fields, line }: OpenSloObject): SloPart => {
  const slo = parsePyrraFields(fields);
  return {
    line,
    name: fields.peekMap('metadata')?.peekText('name') ?? null,
    importedFrom: { format: 'pyrra', name: peekObjectName(fields) ?? '' },
    slo,
    problems: [],
  };
};

const parsePyrraFields = (fields: Fields): SloFields | undefined => {
  for (const key of ['apiVersion', 'kind', 'status']) fields.value(key);
  const metadata = fields.map('metadata');
  const name = metadata?.text('name');
  const labels = metadata ? readPyrraLabels(metadata) : {};
  const annotations = metadata ? readLabels(metadata, 'annotations') : {};
  const spec = fields.map('spec');
  fields.reportUnread();
  if (spec === undefined) return undefined;
  const [target, window] = [Number(spec.value('target')), spec.text('window')];
  const description = spec.text('description', false) ?? '';
  const [, digits, unit] = /^(\d{1,3})([dw])$/.exec(window ?? '') ?? [];
  if (window !== undefined && unit === undefined) spec.fail('window', `is ${window}: write days or weeks, such as 2w`);
  const indicator = spec.map('indicator');
  const sli = indicator && parsePyrraSli(indicator);
  const alerting = spec.map('alerting', false);
  const enabled = alerting?.flag('disabled') !== true && alerting?.flag('burnrates') !== false;
  for (const key of ['name', 'absent']) alerting?.value(key);
  alerting?.reportUnread();
  spec.reportUnread();
  if (sli === undefined) return undefined;
  const windowDays = Number(digits) * (unit === 'w' ? 7 : 1);
  const query = { sli, slice, alerting: { enabled, labels, annotations } };
  return validateSlo({ type: 'ratio', name, description, targetPct: target, windowDays, query }, spec);
};
