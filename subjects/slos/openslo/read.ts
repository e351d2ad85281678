/** Parses SLOs in OpenSLO: v1alpha, v1 and v2alpha, in several documents that reference each other */

import { runInWorker } from '../../../queries/worker.ts';
import { type SloFields, sloOperators } from '../document.ts';
import { createFraction, decimalToFraction, fractionToNumber, multiply } from '../slices/fraction.ts';
import { validateSlo } from './checked.ts';
import {
  type Indicator,
  type ObjectsByName,
  parseAlphaIndicator,
  parseIndicator,
  toNameKey,
  type Version,
  versions,
} from './indicators.ts';
import { type Fields, type OpenSloObject, type OpenSloProblem, parseObjects, readLabels } from './objects.ts';
import { parsePyrraSlo, parseSlothSlos } from './others.ts';
import { parseDurationWindow, parseSlice, parseUnitWindow, type WindowFields } from './times.ts';

/** A parsed SLO with its location */
export interface ParsedSlo {
  readonly document: number;
  readonly line: number;
  readonly slo: SloFields;
}

/** Parsed SLOs, and problems. An SLO with a problem is not among the parsed ones. */
export interface OpenSloResult {
  readonly slos: readonly ParsedSlo[];
  readonly problems: readonly OpenSloProblem[];
}

/** Annotation in which an export stores fields that OpenSLO lacks */
export const remainingFieldsAnnotation = 'oiq/objective';

const budgetings = {
  Occurrences: 'occurrences',
  Timeslices: 'timeslices',
  RatioTimeslices: 'ratio-timeslices',
} as const;

/** Fields that all objectives of an SLO share */
interface SharedSloFields {
  readonly version: Version;
  readonly name: string;
  readonly description: string;
  readonly service: string;
  readonly budgeting: SloFields['query']['budgeting'];
  readonly window: WindowFields;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly remainingFields: { readonly query?: object };
}

const parseRemainingFields = (annotations: Fields | undefined): SharedSloFields['remainingFields'] => {
  const text = annotations?.text(remainingFieldsAnnotation, false);
  if (text === undefined) return {};
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch (error) {
    annotations?.fail(remainingFieldsAnnotation, `must be JSON: ${(error as Error).message}`);
    return {};
  }
};

const parseMetadata = (object: Fields) => {
  const metadata = object.map('metadata');
  const name = metadata?.text('name');
  const displayName = metadata?.text('displayName', false) ?? name ?? '';
  metadata?.value('namespace');
  const labels = metadata ? readLabels(metadata, 'labels') : {};
  const { [remainingFieldsAnnotation]: _, ...annotations } = metadata ? readLabels(metadata, 'annotations') : {};
  const remainingFields = parseRemainingFields(metadata?.map('annotations', false));
  metadata?.reportUnread();
  return { name: displayName, labels, annotations, remainingFields };
};

const parseSharedFields = (object: Fields, spec: Fields, version: Version): SharedSloFields | undefined => {
  const description = spec.text('description', false) ?? '';
  const isRef = version === 'v2alpha' && spec.has('serviceRef');
  const service = spec.text(isRef ? 'serviceRef' : 'service') ?? '';
  // Sloth omits it in v1alpha.
  const budgetingMethod = spec.text('budgetingMethod', version !== 'v1alpha') ?? 'Occurrences';
  const budgeting = budgetings[budgetingMethod as keyof typeof budgetings];
  if (budgeting === undefined) spec.fail('budgetingMethod', `must be one of ${Object.keys(budgetings).join(', ')}`);
  const windows = spec.maps(version === 'v1alpha' ? 'timeWindows' : 'timeWindow');
  const [firstWindow] = windows;
  if (firstWindow === undefined || windows.length > 1)
    return spec.fail(version === 'v1alpha' ? 'timeWindows' : 'timeWindow', 'must have one window');
  const window = version === 'v1alpha' ? parseUnitWindow(firstWindow) : parseDurationWindow(firstWindow);
  if (spec.maps('alertPolicies', false).length > 0)
    spec.fail(
      'alertPolicies',
      'cannot be imported: an SLO has alerts on its burn rates, and routing determines the receivers',
    );
  return window && { version, ...parseMetadata(object), description, service, budgeting, window };
};

const hundred = createFraction(100n);

const parseTarget = (objective: Fields): number | undefined => {
  if (objective.has('targetPercent')) {
    if (objective.has('target')) objective.fail('targetPercent', 'must not be set together with target');
    return objective.number('targetPercent');
  }
  const target = objective.number('target');
  return target === undefined ? undefined : fractionToNumber(multiply(decimalToFraction(target), hundred));
};

type ThresholdIndicator = Extract<Indicator, { value: unknown }>;
type RatioIndicator = Exclude<Indicator, ThresholdIndicator>;

const toThresholdFields = (indicator: ThresholdIndicator, objective: Fields, slice: string) => {
  const [op, threshold] = [objective.text('op'), objective.number('value')];
  const operator = sloOperators.find((each) => each === op);
  if (op !== undefined && operator === undefined)
    return objective.fail('op', `must be one of ${sloOperators.join(', ')}`);
  const value = indicator.value({ counter: false, slice });
  if (value !== undefined && 'requests' in value) return objective.fail('', 'cannot compare requests with a value');
  return value && { type: 'threshold' as const, query: { sli: { value, operator, threshold } } };
};

const toRatioFields = (indicator: RatioIndicator, objective: Fields, slice: string) => {
  // Both have no meaning for a ratio, but v1alpha requires a value.
  objective.text('op', false);
  objective.number('value', false);
  const partRequest = { counter: indicator.counter, slice };
  const [good, bad, total] = [
    indicator.good?.(partRequest),
    indicator.bad?.(partRequest),
    indicator.total?.(partRequest),
  ];
  const partQuery = good ?? bad;
  if (total === undefined || partQuery === undefined) return undefined;
  if (!('requests' in total || 'requests' in partQuery))
    return { type: 'ratio' as const, query: { sli: { [good === undefined ? 'bad' : 'good']: partQuery, total } } };
  const isShortForm =
    'requests' in total && total.requests === 'all' && 'requests' in partQuery && partQuery.requests === 'good';
  if (!isShortForm || good === undefined) return objective.fail('', 'must count good requests of all requests');
  const { latencyThresholdMs } = partQuery;
  const type = latencyThresholdMs === null ? ('availability' as const) : ('latency' as const);
  return { type, latencyThresholdMs, query: {} };
};

/** Converts an indicator to fields; `undefined` if a part is unsupported. */
const toSliFields = (indicator: Indicator, objective: Fields, slice: string) =>
  'value' in indicator ? toThresholdFields(indicator, objective, slice) : toRatioFields(indicator, objective, slice);

const findDefaultSlice = (indicator: Indicator): string => {
  const parts = 'value' in indicator ? [indicator.value] : [indicator.good, indicator.bad, indicator.total];
  return parts.find((partQuery) => partQuery?.defaultSlice !== undefined)?.defaultSlice ?? '1m';
};

const toSloFields = (
  shared: SharedSloFields,
  objective: Fields,
  indicator: Indicator,
  name: string,
): SloFields | undefined => {
  const { window, labels, annotations, remainingFields, budgeting, description, service } = shared;
  const targetPct = parseTarget(objective);
  const slice = parseSlice(objective) ?? findDefaultSlice(indicator);
  const sliceTarget = objective.number('timeSliceTarget', budgeting === 'timeslices');
  const sli = toSliFields(indicator, objective, slice);
  for (const key of ['sli', 'sliRef', 'indicator', 'indicatorRef', 'compositeWeight'])
    if (objective.has(key)) objective.fail(key, 'cannot be imported: it combines several SLOs');
  for (const key of ['displayName', 'ratioMetrics', 'sli', 'sliRef', 'indicator', 'indicatorRef', 'compositeWeight'])
    objective.value(key);
  objective.reportUnread();
  if (sli === undefined || targetPct === undefined) return undefined;
  const { windowDays, calendar } = { windowDays: undefined, calendar: undefined, ...window };
  const query = {
    budgeting,
    slice,
    alerting: { labels, annotations },
    ...(calendar !== undefined && { calendar }),
    ...(budgeting === 'timeslices' && sliceTarget !== undefined && { sliceTarget }),
    ...sli.query,
    ...remainingFields.query,
  };
  const sloFields = {
    name,
    description,
    targetPct,
    service,
    ...(windowDays !== undefined && { windowDays }),
    ...sli,
    ...remainingFields,
    query,
  };
  return validateSlo(sloFields, objective);
};

const parseSlo = (object: OpenSloObject, version: Version, objectsByName: ObjectsByName): ParsedSlo[] => {
  const spec = object.fields.map('spec');
  const shared = spec && parseSharedFields(object.fields, spec, version);
  if (spec === undefined || shared === undefined) return [];
  const sharedIndicator = version === 'v1alpha' ? undefined : parseIndicator(spec, version, objectsByName);
  const objectives = spec.maps('objectives');
  if (objectives.length === 0) spec.fail('objectives', 'must have one or more objectives');
  const slos = objectives.map((objective, index) => {
    const indicator = version === 'v1alpha' ? parseAlphaIndicator(spec, objective) : sharedIndicator;
    const displayName = objective.text('displayName', false) ?? String(index + 1);
    const name = objectives.length === 1 ? shared.name : `${shared.name}: ${displayName}`;
    return indicator && toSloFields(shared, objective, indicator, name);
  });
  spec.reportUnread();
  object.fields.reportUnread();
  const { document, line } = object;
  return slos.flatMap((slo) => (slo === undefined ? [] : [{ document, line, slo }]));
};

/** Kinds that SLOs reference, or that do not affect the measurement */
const otherKinds = ['SLI', 'DataSource', 'Service', 'AlertPolicy', 'AlertCondition', 'AlertNotificationTarget'];

/** Returns the version and kind of an object; `undefined` if it is not OpenSLO, which is reported. */
const parseHead = ({ fields }: OpenSloObject): { readonly version: Version; readonly kind: string } | undefined => {
  const [apiVersion, kind] = [fields.text('apiVersion'), fields.text('kind')];
  if (apiVersion === undefined || kind === undefined) return undefined;
  const version = versions[apiVersion as keyof typeof versions];
  if (version === undefined)
    return fields.fail('apiVersion', `is ${apiVersion}: must be one of ${Object.keys(versions).join(', ')}`);
  if (kind !== 'SLO' && !otherKinds.includes(kind)) return fields.fail('kind', `is ${kind}, which cannot be imported`);
  return { version, kind };
};

/** Returns the SLOs of a Sloth or Pyrra object; `undefined` for OpenSLO. */
const parseOtherFormats = ({ fields }: OpenSloObject): readonly (SloFields | undefined)[] | undefined => {
  const [version, apiVersion] = [fields.value('version'), fields.value('apiVersion')];
  if (version === 'prometheus/v1' || apiVersion === 'sloth.slok.dev/v1') return parseSlothSlos(fields);
  return apiVersion === 'pyrra.dev/v1alpha1' ? [parsePyrraSlo(fields)] : undefined;
};

/** Parses a text in the format of OpenSLO, Sloth or Pyrra. */
export const readOpenSlo = (text: string): OpenSloResult => {
  const { objects, problems } = parseObjects(text);
  const objectsByName = new Map<string, OpenSloObject>();
  const parsers: { readonly object: OpenSloObject; readonly slos: () => readonly ParsedSlo[] }[] = [];
  for (const object of objects) {
    const { document, line } = object;
    const otherFormatSlos = parseOtherFormats(object);
    const head = otherFormatSlos === undefined ? parseHead(object) : undefined;
    if (otherFormatSlos !== undefined)
      parsers.push({
        object,
        slos: () => otherFormatSlos.flatMap((slo) => (slo === undefined ? [] : [{ document, line, slo }])),
      });
    else if (head?.kind === 'SLO') parsers.push({ object, slos: () => parseSlo(object, head.version, objectsByName) });
    else if (head !== undefined) {
      const name = object.fields.map('metadata')?.text('name');
      if (name !== undefined) objectsByName.set(toNameKey(head.kind, name), object);
    }
  }
  const slosWithoutProblems = parsers.flatMap(({ object, slos }) => {
    const parsedSlos = slos();
    return object.problems.length === 0 ? parsedSlos : [];
  });
  const allProblems = [...problems, ...objects.flatMap((object) => object.problems)];
  // Objects that several SLOs reference are parsed for each of them.
  return {
    slos: slosWithoutProblems,
    problems: [...new Map(allProblems.map((problem) => [JSON.stringify(problem), problem])).values()],
  };
};

/** Like `readOpenSlo`, but parses long texts in a worker. */
export const readOpenSloInWorker = runInWorker(import.meta.url, readOpenSlo);
