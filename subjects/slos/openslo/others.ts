/** Parses SLOs of Sloth and Pyrra */
import { parseDurationMs } from '../../alerts/durations.ts';
import type { SloFields } from '../document.ts';
import { validateSlo } from './checked.ts';
import {
  insertWindow,
  type RewriteResult,
  rewriteAsIncrease,
  rewriteRates,
  minScrapedWindow as slice,
} from './counters.ts';
import { type Fields, type OpenSloObject, peekObjectName, readLabels, type SloPart } from './objects.ts';

const sliceMs = parseDurationMs(slice);

const toPromqlQuery = (rewritten: RewriteResult, fields: Fields, key: string) =>
  'problem' in rewritten
    ? fields.fail(key, rewritten.problem)
    : ({ kind: 'promql', expression: rewritten.expression } as const);

/** `errorQuery` of the Kubernetes form is `error_query` in the other form. */
type KeySpelling = (name: string) => string;
const toCamelCase: KeySpelling = (name) => name.replaceAll(/_(.)/g, (_, char: string) => char.toUpperCase());
const keepSnakeCase: KeySpelling = (name) => name;

const parseSlothQuery = (events: Fields, key: string) => {
  const text = events.text(key);
  if (text === undefined) return undefined;
  return toPromqlQuery(rewriteRates(insertWindow(text, slice), sliceMs), events, key);
};

/** Returns the alert settings of one severity. */
const parseSlothAlert = (alerting: Fields | undefined, key: string) => {
  const alert = alerting?.map(key, false);
  const isDisabled = alert?.flag('disable') ?? false;
  const labels = alert ? readLabels(alert, 'labels') : {};
  alert?.reportUnread('cannot be imported: all alerts of an SLO have the same annotations');
  return { isDisabled, labels };
};

const parseSlothAlerting = (slo: Fields, toKey: KeySpelling) => {
  const alerting = slo.map('alerting', false);
  alerting?.text('name', false);
  const labels = alerting ? readLabels(alerting, 'labels') : {};
  const annotations = alerting ? readLabels(alerting, 'annotations') : {};
  const [page, ticket] = [
    parseSlothAlert(alerting, toKey('page_alert')),
    parseSlothAlert(alerting, toKey('ticket_alert')),
  ];
  if (page.isDisabled !== ticket.isDisabled)
    alerting?.fail('', 'cannot be imported: pages and tickets can only be enabled or disabled together');
  alerting?.reportUnread();
  const bySeverity = Object.entries({ page, ticket }).flatMap(([severity, { labels: severityLabels }]) =>
    Object.keys(severityLabels).length === 0 ? [] : [[severity, severityLabels] as const],
  );
  return {
    enabled: !page.isDisabled,
    labels,
    annotations,
    ...(bySeverity.length > 0 && { severityLabels: Object.fromEntries(bySeverity) }),
  };
};

const parseSlothSlo = (slo: Fields, service: string, labels: object, toKey: KeySpelling): SloFields | undefined => {
  const [name, targetPct] = [slo.text('name'), slo.number('objective')];
  const description = slo.text('description', false) ?? '';
  const sli = slo.map('sli');
  const events = sli?.map('events', sli.keys.length === 0);
  const bad = events && parseSlothQuery(events, toKey('error_query'));
  const total = events && parseSlothQuery(events, toKey('total_query'));
  const alerting = parseSlothAlerting(slo, toKey);
  const allLabels = { ...labels, ...readLabels(slo, 'labels'), ...alerting.labels };
  events?.reportUnread();
  sli?.reportUnread('cannot be imported: only events are supported, because the other forms have no event counts');
  slo.reportUnread();
  if (bad === undefined || total === undefined) return undefined;
  const query = { sli: { bad, total }, slice, alerting: { ...alerting, labels: allLabels } };
  return validateSlo({ type: 'ratio', name: `${service}: ${name}`, description, targetPct, service, query }, slo);
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

const parsePyrraSli = (indicator: Fields) => {
  const [ratio, latency] = [indicator.map('ratio', false), indicator.map('latency', false)];
  const indicatorKind = ratio ?? latency;
  const hasOther = indicator.keys.some((key) => key !== 'ratio' && key !== 'latency');
  indicator.reportUnread('cannot be imported: only ratio and latency are supported');
  if (indicatorKind === undefined) return hasOther ? undefined : indicator.fail('', 'must have ratio or latency');
  const successOrErrors = parsePyrraCount(indicatorKind, ratio === undefined ? 'success' : 'errors');
  const total = parsePyrraCount(indicatorKind, 'total');
  indicatorKind.reportUnread('cannot be imported: an SLO has one value, so create one SLO for each group');
  return successOrErrors && total && { [ratio === undefined ? 'good' : 'bad']: successOrErrors, total };
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
