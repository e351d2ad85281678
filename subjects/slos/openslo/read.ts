/** Parses SLOs in OpenSLO: v1alpha, v1 and v2alpha, in several documents that reference each other */

import { inWorker } from '../../../queries/worker.ts';
import { type SloFields, sloOperators } from '../document.ts';
import { asNumber, decimal, fraction, times } from '../slices/fraction.ts';
import { validateSlo } from './checked.ts';
import {
  alphaIndicatorOf,
  type Indicator,
  indicatorOf,
  type Named,
  nameKey,
  type Version,
  versions,
} from './indicators.ts';
import { type Fields, labelsOf, type OpenSloObject, type OpenSloProblem, openSloObjects } from './objects.ts';
import { pyrraSlo, slothSlos } from './others.ts';
import { durationWindowOf, sliceOf, unitWindowOf, type WindowFields } from './times.ts';

/** A parsed SLO with its location */
export interface ReadSlo {
  readonly document: number;
  readonly line: number;
  readonly slo: SloFields;
}

/** Parsed SLOs, and problems. An SLO with a problem is not among the parsed ones. */
export interface ReadOpenSlo {
  readonly slos: readonly ReadSlo[];
  readonly problems: readonly OpenSloProblem[];
}

/** Annotation in which an export stores fields that OpenSLO lacks */
export const restAnnotation = 'oiq/objective';

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
  readonly rest: { readonly query?: object };
}

const restOf = (annotations: Fields | undefined): SharedSloFields['rest'] => {
  const text = annotations?.text(restAnnotation, false);
  if (text === undefined) return {};
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch (error) {
    annotations?.fail(restAnnotation, `must be JSON: ${(error as Error).message}`);
    return {};
  }
};

const metadataOf = (object: Fields) => {
  const metadata = object.map('metadata');
  const name = metadata?.text('name');
  const title = metadata?.text('displayName', false) ?? name ?? '';
  metadata?.value('namespace');
  const labels = metadata ? labelsOf(metadata, 'labels') : {};
  const { [restAnnotation]: _, ...annotations } = metadata ? labelsOf(metadata, 'annotations') : {};
  const rest = restOf(metadata?.map('annotations', false));
  metadata?.done();
  return { name: title, labels, annotations, rest };
};

const wholeOf = (object: Fields, spec: Fields, version: Version): SharedSloFields | undefined => {
  const description = spec.text('description', false) ?? '';
  const isRef = version === 'v2alpha' && spec.has('serviceRef');
  const service = spec.text(isRef ? 'serviceRef' : 'service') ?? '';
  // Sloth omits it in v1alpha.
  const method = spec.text('budgetingMethod', version !== 'v1alpha') ?? 'Occurrences';
  const budgeting = budgetings[method as keyof typeof budgetings];
  if (budgeting === undefined) spec.fail('budgetingMethod', `must be one of ${Object.keys(budgetings).join(', ')}`);
  const windows = spec.maps(version === 'v1alpha' ? 'timeWindows' : 'timeWindow');
  const [first] = windows;
  if (first === undefined || windows.length > 1)
    return spec.fail(version === 'v1alpha' ? 'timeWindows' : 'timeWindow', 'must have one window');
  const window = version === 'v1alpha' ? unitWindowOf(first) : durationWindowOf(first);
  if (spec.maps('alertPolicies', false).length > 0)
    spec.fail(
      'alertPolicies',
      'cannot be imported: an SLO has alerts on its burn rates, and routing determines the receivers',
    );
  return window && { version, ...metadataOf(object), description, service, budgeting, window };
};

const hundred = fraction(100n);

const targetOf = (objective: Fields): number | undefined => {
  if (objective.has('targetPercent')) {
    if (objective.has('target')) objective.fail('targetPercent', 'must not be set together with target');
    return objective.number('targetPercent');
  }
  const target = objective.number('target');
  return target === undefined ? undefined : asNumber(times(decimal(target), hundred));
};

type Threshold = Extract<Indicator, { value: unknown }>;
type Ratio = Exclude<Indicator, Threshold>;

const thresholdOf = (indicator: Threshold, objective: Fields, slice: string) => {
  const [op, threshold] = [objective.text('op'), objective.number('value')];
  const operator = sloOperators.find((each) => each === op);
  if (op !== undefined && operator === undefined)
    return objective.fail('op', `must be one of ${sloOperators.join(', ')}`);
  const value = indicator.value({ counter: false, slice });
  if (value !== undefined && 'requests' in value) return objective.fail('', 'cannot compare requests with a value');
  return value && { type: 'threshold' as const, query: { sli: { value, operator, threshold } } };
};

const ratioOf = (indicator: Ratio, objective: Fields, slice: string) => {
  // Both are meaningless here, but v1alpha requires a value.
  objective.text('op', false);
  objective.number('value', false);
  const partRequest = { counter: indicator.counter, slice };
  const [good, bad, total] = [
    indicator.good?.(partRequest),
    indicator.bad?.(partRequest),
    indicator.total?.(partRequest),
  ];
  const part = good ?? bad;
  if (total === undefined || part === undefined) return undefined;
  if (!('requests' in total || 'requests' in part))
    return { type: 'ratio' as const, query: { sli: { [good === undefined ? 'bad' : 'good']: part, total } } };
  const isShort = 'requests' in total && total.requests === 'all' && 'requests' in part && part.requests === 'good';
  if (!isShort || good === undefined) return objective.fail('', 'must count good requests of all requests');
  const { latencyThresholdMs } = part;
  const type = latencyThresholdMs === null ? ('availability' as const) : ('latency' as const);
  return { type, latencyThresholdMs, query: {} };
};

/** Converts an indicator to fields; `undefined` if a part is unsupported. */
const sliOf = (indicator: Indicator, objective: Fields, slice: string) =>
  'value' in indicator ? thresholdOf(indicator, objective, slice) : ratioOf(indicator, objective, slice);

const defaultSliceOf = (indicator: Indicator): string => {
  const parts = 'value' in indicator ? [indicator.value] : [indicator.good, indicator.bad, indicator.total];
  return parts.find((part) => part?.defaultSlice !== undefined)?.defaultSlice ?? '1m';
};

const objectiveOf = (
  whole: SharedSloFields,
  objective: Fields,
  indicator: Indicator,
  name: string,
): SloFields | undefined => {
  const { window, labels, annotations, rest, budgeting, description, service } = whole;
  const targetPct = targetOf(objective);
  const slice = sliceOf(objective) ?? defaultSliceOf(indicator);
  const sliceTarget = objective.number('timeSliceTarget', budgeting === 'timeslices');
  const sli = sliOf(indicator, objective, slice);
  for (const key of ['sli', 'sliRef', 'indicator', 'indicatorRef', 'compositeWeight'])
    if (objective.has(key)) objective.fail(key, 'cannot be imported: it combines several SLOs');
  for (const key of ['displayName', 'ratioMetrics', 'sli', 'sliRef', 'indicator', 'indicatorRef', 'compositeWeight'])
    objective.value(key);
  objective.done();
  if (sli === undefined || targetPct === undefined) return undefined;
  const { windowDays, calendar } = { windowDays: undefined, calendar: undefined, ...window };
  const query = {
    budgeting,
    slice,
    alerting: { labels, annotations },
    ...(calendar !== undefined && { calendar }),
    ...(budgeting === 'timeslices' && sliceTarget !== undefined && { sliceTarget }),
    ...sli.query,
    ...rest.query,
  };
  const given = {
    name,
    description,
    targetPct,
    service,
    ...(windowDays !== undefined && { windowDays }),
    ...sli,
    ...rest,
    query,
  };
  return validateSlo(given, objective);
};

const sloOf = (object: OpenSloObject, version: Version, named: Named): ReadSlo[] => {
  const spec = object.fields.map('spec');
  const whole = spec && wholeOf(object.fields, spec, version);
  if (spec === undefined || whole === undefined) return [];
  const common = version === 'v1alpha' ? undefined : indicatorOf(spec, version, named);
  const objectives = spec.maps('objectives');
  if (objectives.length === 0) spec.fail('objectives', 'must have one or more objectives');
  const slos = objectives.map((objective, index) => {
    const indicator = version === 'v1alpha' ? alphaIndicatorOf(spec, objective) : common;
    const title = objective.text('displayName', false) ?? String(index + 1);
    const name = objectives.length === 1 ? whole.name : `${whole.name}: ${title}`;
    return indicator && objectiveOf(whole, objective, indicator, name);
  });
  spec.done();
  object.fields.done();
  const { document, line } = object;
  return slos.flatMap((slo) => (slo === undefined ? [] : [{ document, line, slo }]));
};

/** Kinds that SLOs reference, or that do not affect the measurement */
const otherKinds = ['SLI', 'DataSource', 'Service', 'AlertPolicy', 'AlertCondition', 'AlertNotificationTarget'];

/** Returns the version and kind of an object; `undefined` if it is not OpenSLO, which is reported. */
const headOf = ({ fields }: OpenSloObject): { readonly version: Version; readonly kind: string } | undefined => {
  const [apiVersion, kind] = [fields.text('apiVersion'), fields.text('kind')];
  if (apiVersion === undefined || kind === undefined) return undefined;
  const version = versions[apiVersion as keyof typeof versions];
  if (version === undefined)
    return fields.fail('apiVersion', `is ${apiVersion}: must be one of ${Object.keys(versions).join(', ')}`);
  if (kind !== 'SLO' && !otherKinds.includes(kind)) return fields.fail('kind', `is ${kind}, which cannot be imported`);
  return { version, kind };
};

/** Returns the SLOs of a Sloth or Pyrra object; `undefined` for OpenSLO. */
const othersOf = ({ fields }: OpenSloObject): readonly (SloFields | undefined)[] | undefined => {
  const [version, apiVersion] = [fields.value('version'), fields.value('apiVersion')];
  if (version === 'prometheus/v1' || apiVersion === 'sloth.slok.dev/v1') return slothSlos(fields);
  return apiVersion === 'pyrra.dev/v1alpha1' ? [pyrraSlo(fields)] : undefined;
};

/** Parses a text in the format of OpenSLO, Sloth or Pyrra. */
export const readOpenSlo = (text: string): ReadOpenSlo => {
  const { objects, problems } = openSloObjects(text);
  const named = new Map<string, OpenSloObject>();
  const found: { readonly object: OpenSloObject; readonly slos: () => readonly ReadSlo[] }[] = [];
  for (const object of objects) {
    const { document, line } = object;
    const others = othersOf(object);
    const head = others === undefined ? headOf(object) : undefined;
    if (others !== undefined)
      found.push({ object, slos: () => others.flatMap((slo) => (slo === undefined ? [] : [{ document, line, slo }])) });
    else if (head?.kind === 'SLO') found.push({ object, slos: () => sloOf(object, head.version, named) });
    else if (head !== undefined) {
      const name = object.fields.map('metadata')?.text('name');
      if (name !== undefined) named.set(nameKey(head.kind, name), object);
    }
  }
  const read = found.flatMap(({ object, slos }) => {
    const made = slos();
    return object.problems.length === 0 ? made : [];
  });
  const allProblems = [...problems, ...objects.flatMap((object) => object.problems)];
  // Objects that several SLOs reference are parsed for each of them.
  return {
    slos: read,
    problems: [...new Map(allProblems.map((problem) => [JSON.stringify(problem), problem])).values()],
  };
};

/** Like `readOpenSlo`, but parses long texts in a worker. */
export const readOpenSloInWorker = inWorker(import.meta.url, readOpenSlo);
