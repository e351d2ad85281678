import type { Matcher, Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { compileTest } from '../syntax/matchers.ts';
import { type Call, type Expression, getSubexpressions, getValueType, type VectorSelector } from '../syntax/tree.ts';
import type { Evaluation, SampleCounts } from './context.ts';
import type { LabelSet } from './labels.ts';
import { LabelSet as Labels } from './labels.ts';
import { absent, mergeRows, Row } from './rows.ts';
import { newestSampleTimes } from './selectors.ts';

const identifyingLabels = ['instance', 'job'];

const infoConditions = ({ args }: Call): readonly Matcher[] =>
  args[1]?.kind === 'selector' ? args[1].matchers : [{ name: '__name__', op: '=', value: 'target_info' }];

/** Returns the metrics to read: `target_info` by default, every `…_info` if there are only negative matchers. */
const infoNameMatchers = (conditions: readonly Matcher[]): readonly Matcher[] => {
  const names = conditions.filter(({ name }) => name === '__name__');
  if (names.some(({ op }) => op === '=' || op === '=~')) return names;
  return names.length > 0
    ? [{ name: '__name__', op: '=~', value: '.+_info' }, ...names]
    : [{ name: '__name__', op: '=', value: 'target_info' }];
};

/** Returns the matchers of the series from which `info()` adds labels. */
export const infoMatchers = (node: Call): readonly Matcher[] => {
  const conditions = infoConditions(node);
  return [...conditions.filter(({ name }) => name !== '__name__'), ...infoNameMatchers(conditions)];
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
  let at = typeof node.at === 'number' ? node.at : undefined;
  let { offsetMs } = node;
  for (const outer of path.toReversed()) {
    if (outer.kind !== 'subquery' || at !== undefined) continue;
    offsetMs += outer.offsetMs;
    at = typeof outer.at === 'number' ? outer.at : undefined;
  }
  return { at, offsetMs };
};

/** Returns the reference times of all selectors of a vector; undefined for a part without a selector. */
const collectReferences = (node: Expression, path: readonly Expression[]): (ReferenceTime | undefined)[] => {
  if (getValueType(node) !== 'vector' && getValueType(node) !== 'matrix') return [];
  if (node.kind === 'selector') return [resolveReference(node, path)];
  const isInfo = node.kind === 'call' && node.signature.name === 'info';
  const parts = isInfo ? node.args.slice(0, 1) : getSubexpressions(node);
  const found = parts.flatMap((part) => collectReferences(part, [...path, node]));
  return found.some((reference) => reference !== undefined) ? found : [undefined];
};

/** Returns the reference time that all selectors of a vector share; undefined if they differ or there is none. */
export const sharedReference = (node: Expression): ReferenceTime | undefined => {
  const [first, ...others] = collectReferences(node, []);
  if (first === undefined) return undefined;
  return others.every((other) => other !== undefined && isSameReference(first, other)) ? first : undefined;
};

const infoSignature = (labels: LabelSet): string => labels.pick(identifyingLabels).key;

/** Yields series with the `instance` and `job` of a series of the vector; only these add labels. */
function* filterRelevantSeries(allSeries: Iterable<Series>, signatures: ReadonlySet<string>): Iterable<Series> {
  for (const series of allSeries) if (signatures.has(infoSignature(Labels.from(series.labels)))) yield series;
}

/** One call of `info()`. */
class InfoCall {
  readonly #conditions: ReadonlyMap<string, readonly ((value: string) => boolean)[]>;
  readonly #isInfoName: (name: string) => boolean;

  constructor(node: Call) {
    const names = infoNameMatchers(infoConditions(node)).map(compileTest);
    this.#isInfoName = (name) => names.every((test) => test(name));
    const conditions = new Map<string, ((value: string) => boolean)[]>();
    for (const matcher of infoConditions(node))
      if (matcher.name !== '__name__')
        conditions.set(matcher.name, [...(conditions.get(matcher.name) ?? []), compileTest(matcher)]);
    this.#conditions = conditions;
  }

  isInfoMetric(row: Row): boolean {
    return this.#isInfoName(row.labels.get('__name__'));
  }

  /** Returns the labels of a series with those of its info series at a step; undefined if the series is dropped. */
  enrichLabels(base: LabelSet, infos: ReadonlyMap<string, Row> | undefined): LabelSet | undefined {
    const added = new Map<string, string>();
    for (const info of infos?.values() ?? []) this.#add(added, base, info.labels);
    if ((infos?.size ?? 0) === 0 && ![...this.#conditions.values()].flat().every((test) => test(''))) return undefined;
    return added.size === 0 ? base : Labels.from({ ...base.toRecord(), ...Object.fromEntries(added) });
  }

  #add(added: Map<string, string>, base: LabelSet, info: LabelSet): void {
    for (const [at, name] of info.names.entries()) {
      if (name === '__name__' || (this.#conditions.size > 0 && !this.#conditions.has(name))) continue;
      const value = info.values[at] as string;
      if ((added.get(name) ?? value) !== value) throw new PromqlExecutionError(`conflicting label: ${name}`);
      if (base.get(name) === '') added.set(name, value);
    }
  }
}

/** Returns the newest series of each info metric at a step, by instance and job. */
const findNewest = (rows: readonly Row[], step: number): Map<string, Map<string, Row>> => {
  const found = new Map<string, Map<string, Row>>();
  for (const row of rows) {
    if (row.kinds[step] === absent) continue;
    const key = infoSignature(row.labels);
    const name = row.labels.get('__name__');
    const metrics = found.get(key) ?? new Map<string, Row>();
    found.set(key, metrics);
    const other = metrics.get(name);
    const time = row.values[step] as number;
    const otherTime = (other?.values[step] as number) ?? Number.NEGATIVE_INFINITY;
    if (other !== undefined && time === otherTime)
      throw new PromqlExecutionError(
        `found duplicate series for info metric: existing ${other.labels} @ ${otherTime}, new ${row.labels} @ ${time}`,
      );
    if (time > otherTime) metrics.set(name, row);
  }
  return found;
};

/** Returns the info series of the instances and jobs of a vector. */
const readInfoRows = (evaluation: Evaluation, node: Call, call: InfoCall, rows: readonly Row[]): readonly Row[] => {
  const infoSignatures = new Set(rows.filter((row) => !call.isInfoMetric(row)).map((row) => infoSignature(row.labels)));
  infoSignatures.delete('');
  if (infoSignatures.size === 0) return [];
  const reference = sharedReference(node.args[0] as Expression);
  return [
    ...newestSampleTimes(
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
    const own = this.#bySource.get(source) ?? new Map<string, Row>();
    this.#bySource.set(source, own);
    let row = own.get(labels.key);
    if (row === undefined) {
      row = Row.createCounted(this.#counts, labels, source.kinds.length, source.dropName);
      own.set(labels.key, row);
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
  const enriched = new EnrichedRows(evaluation.counts);
  for (let step = 0; step < evaluation.steps.count; step++) {
    const newest = findNewest(infos, step);
    for (const row of rows) {
      if (row.kinds[step] === absent) continue;
      const labels = call.isInfoMetric(row)
        ? row.labels
        : call.enrichLabels(row.labels, newest.get(infoSignature(row.labels)));
      if (labels !== undefined) enriched.add(row, labels, step);
    }
  }
  evaluation.counts.release((rows.length + infos.length) * evaluation.steps.count);
  return mergeRows(enriched.rows);
};
