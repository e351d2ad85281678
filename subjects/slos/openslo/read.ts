/** Parses SLOs in OpenSLO: v1alpha, v1 and v2alpha, in several documents that reference each other */

import { runInWorker } from '../../../queries/worker.ts';
import { type SloFields, sloOperators } from '../document.ts';
import { createFraction, decimalToFraction, fractionToNumber, multiply } from '../slices/fraction.ts';
import {
  type Indicator,
  type ObjectsByName,
  parseAlphaIndicator,
  parseIndicator,
  toNameKey,
  type Version,
  versions,
} from './indicators.ts';
import { type Fields, type OpenSloObject, parseObjects, peekObjectName, readLabels, type SloPart } from './objects.ts';
import { parsePyrraSlo, parseSlothSlos } from './sloth-pyrra.ts';
import { parseDurationWindow, parseSlice, parseUnitWindow, type WindowFields } from './times.ts';
import { validateSlo } from './validate.ts';

/** A parsed SLO with its location */
export interface ParsedSlo extends Pick<SloPart, 'line' | 'importedFrom'> {
  readonly document: number;
  readonly slo: SloFields;
}

/** An SLO or another object that cannot be imported, and why */
export interface RejectedSlo extends Pick<SloPart, 'line' | 'name' | 'problems'> {
  readonly document: number;
}

/** Parsed SLOs, and those that cannot be imported. They do not affect each other. */
export interface OpenSloResult {
  readonly slos: readonly ParsedSlo[];
  readonly rejected: readonly RejectedSlo[];
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
  const operator = sloOperators.find((sloOperator) => sloOperator === op);
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
  const [counter, parts] =
    'value' in indicator
      ? [false, [indicator.value]]
      : [indicator.counter, [indicator.good, indicator.bad, indicator.total]];
  return parts.flatMap((part) => part?.getDefaultSlice?.(counter) ?? [])[0] ?? '1m';
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

const peekTitle = ({ fields }: OpenSloObject): string | null =>
  fields.peekMap('metadata')?.peekText('displayName') ?? peekObjectName(fields) ?? null;

const parseSlo = (object: OpenSloObject, version: Version, objectsByName: ObjectsByName): SloPart[] => {
  const spec = object.fields.map('spec');
  const shared = spec && parseSharedFields(object.fields, spec, version);
  if (spec === undefined || shared === undefined) return [];
  const sharedIndicator = version === 'v1alpha' ? undefined : parseIndicator(spec, version, objectsByName);
  const objectives = spec.maps('objectives');
  if (objectives.length === 0) spec.fail('objectives', 'must have one or more objectives');
  const objectName = peekObjectName(object.fields) ?? '';
  const parts = objectives.map((objective, index): SloPart => {
    const displayName = objective.peekText('displayName') ?? String(index + 1);
    const [name, ownName] =
      objectives.length === 1
        ? [shared.name, objectName]
        : [`${shared.name}: ${displayName}`, `${objectName}/${displayName}`];
    const { result, problems } = object.parsePart(() => {
      objective.text('displayName', false);
      const indicator = version === 'v1alpha' ? parseAlphaIndicator(spec, objective) : sharedIndicator;
      return indicator && toSloFields(shared, objective, indicator, name);
    });
    const line = objectives.length === 1 ? object.line : objective.line;
    return { line, name, importedFrom: { format: 'openslo', name: ownName }, slo: result, problems };
  });
  spec.reportUnread();
  object.fields.reportUnread();
  return parts;
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
const parseOtherFormats = (object: OpenSloObject): readonly SloPart[] | undefined => {
  const [version, apiVersion] = [object.fields.value('version'), object.fields.value('apiVersion')];
  if (version === 'prometheus/v1' || apiVersion === 'sloth.slok.dev/v1') return parseSlothSlos(object);
  return apiVersion === 'pyrra.dev/v1alpha1' ? [parsePyrraSlo(object)] : undefined;
};

/** Returns the objectives of an object with the problems that concern all of them. */
const toResult = (object: OpenSloObject, parts: readonly SloPart[]): OpenSloResult => {
  const { document, problems: sharedProblems } = object;
  const slos: ParsedSlo[] = [];
  const rejectedSlos: RejectedSlo[] = [];
  for (const { line, name, importedFrom, slo, problems } of parts) {
    const allProblems = [...sharedProblems, ...problems];
    if (allProblems.length > 0) rejectedSlos.push({ document, line, name, problems: allProblems });
    else if (slo !== undefined) slos.push({ document, line, importedFrom, slo });
  }
  if (parts.length === 0 && sharedProblems.length > 0)
    rejectedSlos.push({ document, line: object.line, name: peekTitle(object), problems: sharedProblems });
  return { slos, rejected: rejectedSlos };
};

/** Parses a text in the format of OpenSLO, Sloth or Pyrra. */
export const readOpenSlo = (text: string): OpenSloResult => {
  const { objects, problems } = parseObjects(text);
  const objectsByName = new Map<string, OpenSloObject>();
  const parsers: { readonly object: OpenSloObject; readonly parse: () => readonly SloPart[] }[] = [];
  for (const object of objects) {
    const otherFormatParts = parseOtherFormats(object);
    const head = otherFormatParts === undefined ? parseHead(object) : undefined;
    if (otherFormatParts !== undefined) parsers.push({ object, parse: () => otherFormatParts });
    else if (head?.kind === 'SLO') parsers.push({ object, parse: () => parseSlo(object, head.version, objectsByName) });
    else {
      const name = head === undefined ? undefined : object.fields.map('metadata')?.text('name');
      if (head !== undefined && name !== undefined) objectsByName.set(toNameKey(head.kind, name), object);
      parsers.push({ object, parse: () => [] });
    }
  }
  // Objects that several SLOs reference have problems only after these were parsed.
  const parsedObjects = parsers.map(({ object, parse }) => ({ object, parts: parse() }));
  const results = parsedObjects.map(({ object, parts }) => toResult(object, parts));
  const invalidYaml = problems.map(({ document, line, ...problem }): RejectedSlo => {
    return { document, line, name: null, problems: [{ document, line, ...problem }] };
  });
  return {
    slos: results.flatMap(({ slos }) => slos),
    rejected: [
      ...invalidYaml,
      ...results.flatMap(({ rejected: rejectedSlos }) => rejectedSlos.map(withoutRepeatedProblems)),
    ],
  };
};

/** An object that several SLOs reference is parsed for each of them. */
const withoutRepeatedProblems = (rejectedSlo: RejectedSlo): RejectedSlo => ({
  ...rejectedSlo,
  problems: [...new Map(rejectedSlo.problems.map((problem) => [JSON.stringify(problem), problem])).values()],
});

/** Like `readOpenSlo`, but parses long texts in a worker. */
export const readOpenSloInWorker = runInWorker(import.meta.url, readOpenSlo);
