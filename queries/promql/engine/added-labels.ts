import { addToList } from '../../../schemas/add-to-list.ts';
import type { Matcher, Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { compileTest } from '../syntax/matchers.ts';
import { type Call, type Expression, getSubexpressions, getValueType, type VectorSelector } from '../syntax/tree.ts';
import type { Evaluation, SampleCounts } from './context.ts';
import type { LabelSet } from './labels.ts';
import { LabelSet as Labels } from './labels.ts';
import { absent, mergeRows, Row } from './rows.ts';
import { evaluateNewestSampleTimes } from './selectors.ts';

const identifyingLabels = ['instance', 'job'];

const getInfoConditions = ({ args }: Call): readonly Matcher[] =>
  args[1]?.kind === 'selector' ? args[1].matchers : [{ name: '__name__', op: '=', value: 'target_info' }];

/** Returns the metrics to read: `target_info` by default, every `…_info` if there are only negative matchers. */
const getInfoNameMatchers = (conditions: readonly Matcher[]): readonly Matcher[] => {
  const names = conditions.filter(({ name }) => name === '__name__');
  if (names.some(({ op }) => op === '=' || op === '=~')) return names;
  return names.length > 0
    ? [{ name: '__name__', op: '=~', value: '.+_info' }, ...names]
    : [{ name: '__name__', op: '=', value: 'target_info' }];
};

/** Returns the matchers of the series from which `info()` adds labels. */
export const getInfoMatchers = (node: Call): readonly Matcher[] => {
  const conditions = getInfoConditions(node);
  return [...conditions.filter(({ name }) => name !== '__name__'), ...getInfoNameMatchers(conditions)];
};

/** Evaluation time of a vector's selectors: `@` and `offset`, including those of enclosing subqueries. */
export interface ReferenceTime {
  readonly at: number | undefined;
  readonly offsetMs: number;
}

const isSameReference = (left: ReferenceTime, right: ReferenceTime): boolean =>
  left.at === undefined || right.at === undefined
    ? left.at === right.at && left.offsetMs === right.offsetMs
    : left.at - left.offsetMs === right.at - right.offsetMs;

const resolveReference = (node: VectorSelector, path: readonly Expression[]): ReferenceTime => {
  let atMs = typeof node.at === 'number' ? node.at : undefined;
  let { offsetMs } = node;
  for (const outer of path.toReversed()) {
    if (outer.kind !== 'subquery' || atMs !== undefined) continue;
    offsetMs += outer.offsetMs;
    atMs = typeof outer.at === 'number' ? outer.at : undefined;
  }
  return { at: atMs, offsetMs };
};

/** Returns the reference times of all selectors of a vector; undefined for a part without a selector. */
const collectReferences = (node: Expression, path: readonly Expression[]): (ReferenceTime | undefined)[] => {
  if (getValueType(node) !== 'vector' && getValueType(node) !== 'matrix') return [];
  if (node.kind === 'selector') return [resolveReference(node, path)];
  const isInfo = node.kind === 'call' && node.signature.name === 'info';
  const parts = isInfo ? node.args.slice(0, 1) : getSubexpressions(node);
  const references = parts.flatMap((part) => collectReferences(part, [...path, node]));
  return references.some((reference) => reference !== undefined) ? references : [undefined];
};

/** Returns the reference time that all selectors of a vector share; undefined if they differ or there is none. */
export const findSharedReference = (node: Expression): ReferenceTime | undefined => {
  const [first, ...others] = collectReferences(node, []);
  if (first === undefined) return undefined;
  return others.every((existingRow) => existingRow !== undefined && isSameReference(first, existingRow))
    ? first
    : undefined;
};

const toInfoSignature = (labels: LabelSet): string => labels.pick(identifyingLabels).key;

/** Yields the series that have the `instance` and `job` of a series of the vector; only these add labels. */
function* filterRelevantSeries(allSeries: Iterable<Series>, signatures: ReadonlySet<string>): Iterable<Series> {
  for (const series of allSeries) if (signatures.has(toInfoSignature(Labels.from(series.labels)))) yield series;
}

/** One call of `info()`. */
class InfoCall {
  readonly #conditions: ReadonlyMap<string, readonly ((value: string) => boolean)[]>;
  readonly #isInfoName: (name: string) => boolean;

  constructor(node: Call) {
    const names = getInfoNameMatchers(getInfoConditions(node)).map(compileTest);
    this.#isInfoName = (name) => names.every((test) => test(name));
    const conditions = new Map<string, ((value: string) => boolean)[]>();
    for (const matcher of getInfoConditions(node))
      if (matcher.name !== '__name__') addToList(conditions, matcher.name, compileTest(matcher));
    this.#conditions = conditions;
  }

  isInfoMetric(row: Row): boolean {
    return this.#isInfoName(row.labels.get('__name__'));
  }

  /** Returns the labels of a series with those of its info series at a step; undefined if the series is dropped. */
  enrichLabels(baseLabels: LabelSet, infos: ReadonlyMap<string, Row> | undefined): LabelSet | undefined {
    const addedLabels = new Map<string, string>();
    for (const info of infos?.values() ?? []) this.#add(addedLabels, baseLabels, info.labels);
    if ((infos?.size ?? 0) === 0 && ![...this.#conditions.values()].flat().every((test) => test(''))) return undefined;
    return addedLabels.size === 0
      ? baseLabels
      : Labels.from({ ...baseLabels.toRecord(), ...Object.fromEntries(addedLabels) });
  }

  #add(addedLabels: Map<string, string>, baseLabels: LabelSet, info: LabelSet): void {
    for (const [index, name] of info.names.entries()) {
      if (name === '__name__' || (this.#conditions.size > 0 && !this.#conditions.has(name))) continue;
      const value = info.values[index] as string;
      if ((addedLabels.get(name) ?? value) !== value) throw new PromqlExecutionError(`conflicting label: ${name}`);
      if (baseLabels.get(name) === '') addedLabels.set(name, value);
    }
  }
}

/** Returns the newest series of each info metric at a step, by instance and job. */
const findNewest = (rows: readonly Row[], step: number): Map<string, Map<string, Row>> => {
  const newestBySignature = new Map<string, Map<string, Row>>();
  for (const row of rows) {
    if (row.kinds[step] === absent) continue;
    const key = toInfoSignature(row.labels);
    const name = row.labels.get('__name__');
    const metrics = newestBySignature.get(key) ?? new Map<string, Row>();
    newestBySignature.set(key, metrics);
    const existingRow = metrics.get(name);
    const time = row.values[step] as number;
    const otherTime = (existingRow?.values[step] as number) ?? Number.NEGATIVE_INFINITY;
    if (existingRow !== undefined && time === otherTime)
      throw new PromqlExecutionError(
        `found duplicate series for info metric: existing ${existingRow.labels} @ ${otherTime}, new ${row.labels} @ ${time}`,
      );
    if (time > otherTime) metrics.set(name, row);
  }
  return newestBySignature;
};

/** Returns the info series of the instances and jobs of a vector. */
const readInfoRows = (evaluation: Evaluation, node: Call, call: InfoCall, rows: readonly Row[]): readonly Row[] => {
  const infoSignatures = new Set(
    rows.filter((row) => !call.isInfoMetric(row)).map((row) => toInfoSignature(row.labels)),
  );
  infoSignatures.delete('');
  if (infoSignatures.size === 0) return [];
  const reference = findSharedReference(node.args[0] as Expression);
  return [
    ...evaluateNewestSampleTimes(
      evaluation,
      filterRelevantSeries(evaluation.read(node), infoSignatures),
      reference?.at,
      reference?.offsetMs ?? 0,
    ),
  ];
};

/** Results of one series: a row for each set of labels it has over time. */
class EnrichedRows {
  readonly rows: Row[] = [];
  readonly #counts: SampleCounts;
  readonly #bySource = new Map<Row, Map<string, Row>>();

  constructor(counts: SampleCounts) {
    this.#counts = counts;
  }

  add(source: Row, labels: LabelSet, step: number): void {
    const resultRows = this.#bySource.get(source) ?? new Map<string, Row>();
    this.#bySource.set(source, resultRows);
    let row = resultRows.get(labels.key);
    if (row === undefined) {
      row = Row.createCounted(this.#counts, labels, source.kinds.length, source.shouldDropName);
      resultRows.set(labels.key, row);
      this.rows.push(row);
    }
    row.copyFrom(source, step);
  }
}

/** `info(v, {…})`: adds the labels of info metrics, such as `target_info`, to the series of the same instance and job. */
export const evaluateInfo = (evaluation: Evaluation, node: Call): Row[] => {
  const call = new InfoCall(node);
  const rows = [...evaluation.vector(node.args[0] as Expression)];
  const infos = readInfoRows(evaluation, node, call, rows);
  const enrichedRows = new EnrichedRows(evaluation.counts);
  for (let step = 0; step < evaluation.steps.count; step++) {
    const newest = findNewest(infos, step);
    for (const row of rows) {
      if (row.kinds[step] === absent) continue;
      const labels = call.isInfoMetric(row)
        ? row.labels
        : call.enrichLabels(row.labels, newest.get(toInfoSignature(row.labels)));
      if (labels !== undefined) enrichedRows.add(row, labels, step);
    }
  }
  evaluation.counts.release((rows.length + infos.length) * evaluation.steps.count);
  return mergeRows(enrichedRows.rows);
};
