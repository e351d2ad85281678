/**
 * Reads the marks on the time axis: events of the feed, records that match a search, and times at which an expression
 * is not 0.
 */
import type { Query } from '../../../queries/query.ts';
import type { Range } from '../../../queries/range.ts';
import type { Incompleteness, Result } from '../../../queries/result.ts';
import { parseQuery } from '../../../queries/run.ts';
import { resolveStepMs } from '../../../queries/steps.ts';
import { formatTime } from '../../../queries/time.ts';
import { addQueryFilters } from '../../../queries/variables/filters.ts';
import { replaceInQuery } from '../../../queries/variables/in-query.ts';
import { replaceInText } from '../../../queries/variables/in-text.ts';
import { buildPlatformVariables } from '../../../queries/variables/platform.ts';
import type { Scope } from '../../../queries/variables/scope.ts';
import { type FeedEvent, feedKinds } from '../../events/events.ts';
import type { DashboardFields } from '../document.ts';
import type { AnnotationItem, Mark } from './dashboard-query.ts';
import type { PanelContext } from './panel.ts';

/** Maximum number of marks of one annotation. */
const maxMarks = 500;

/** Selection of the events of the feed that are marked. */
export interface EventsRequest {
  readonly range: Range;
  readonly kinds: readonly string[];
  readonly hasExplicitKinds: boolean;
  readonly service?: string | undefined;
  readonly projectId?: string | undefined;
  readonly limit: number;
}

export interface AnnotationContext extends PanelContext {
  readonly scope: Scope;
  /** Reads the event feed, latest first. */
  events(
    request: EventsRequest,
  ): Promise<{ readonly events: readonly FeedEvent[]; readonly partial: Incompleteness[] }>;
}

type Annotation = DashboardFields['annotations'][number];
type SourceOf<Kind extends Annotation['source']['kind']> = Extract<Annotation['source'], { kind: Kind }>;
type AnnotationResult = Pick<AnnotationItem, 'marks' | 'partial'>;

const toAnnotationResult = (marks: readonly Mark[], partial: readonly Incompleteness[]): AnnotationResult => ({
  marks: marks.slice(0, maxMarks),
  partial:
    marks.length <= maxMarks
      ? [...partial]
      : [...partial, { code: 'rows', message: `only the newest ${maxMarks} of ${marks.length} marks are returned` }],
});

const toOptionalText = (text: string): string | undefined => (text === '' ? undefined : text);

const queryEvents = async (
  source: SourceOf<'events'>,
  { range, scope, events }: AnnotationContext,
): Promise<AnnotationResult> => {
  const { kinds, service, projectId } = source;
  const hasExplicitKinds = kinds.length > 0;
  const feedResult = await events({
    range,
    hasExplicitKinds,
    kinds: hasExplicitKinds ? kinds : feedKinds,
    limit: maxMarks + 1,
    service: toOptionalText(replaceInText(service, scope)),
    projectId: toOptionalText(projectId),
  });
  const marks = feedResult.events.map(
    ({ time, title, text, kind, link, tags }): Mark => ({
      time,
      until: null,
      title,
      text,
      link,
      tags: [kind, ...Object.entries(tags).map(([name, value]) => `${name}=${value}`)],
    }),
  );
  return toAnnotationResult(marks, feedResult.partial);
};

const placeholderPattern = /\{\{([^{}]{1,512})\}\}/g;
const listFieldNames = (template: string): string[] =>
  [...template.matchAll(placeholderPattern)].map(([, name = '']) => name.trim());

const renderTemplate = (template: string, getField: (name: string) => unknown): string =>
  template.replace(placeholderPattern, (_, name: string) => String(getField(name.trim()) ?? ''));

const insertVariables = (query: Query, { scope, filters, range }: AnnotationContext, stepMs?: number): Query => {
  const platform = buildPlatformVariables({
    fromMs: Number(range.from / 1_000_000n),
    toMs: Number(range.to / 1_000_000n),
    stepMs,
  });
  return parseQuery(addQueryFilters(replaceInQuery(query, new Map([...scope, ...platform])), filters));
};

const queryRecords = async (source: SourceOf<'records'>, context: AnnotationContext): Promise<AnnotationResult> => {
  const { signal, search, projectId, title, tags } = source;
  const mainField = signal === 'logs' ? 'body' : 'name';
  const template = title === '' ? `{{${mainField}}}` : title;
  const fields = [
    ...new Set(['timestamp', ...(signal === 'traces' ? ['duration'] : []), ...listFieldNames(template), ...tags]),
  ];
  const query: Query = {
    kind: 'rows',
    signal,
    order: 'newest',
    fields,
    limit: maxMarks,
    search: toOptionalText(search),
    projectId: toOptionalText(projectId),
  };
  const { columns, rows, partial } = await context.results.getResult(insertVariables(query, context), {
    range: context.range,
  });
  const marks = rows.map((row): Mark => {
    const getField = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const time = String(getField('timestamp'));
    return {
      time,
      until: computeEnd(time, getField('duration')),
      title: renderTemplate(template, getField),
      text: '',
      link: '',
      tags: tags.flatMap((tag) => toOptionalText(String(getField(tag) ?? '')) ?? []),
    };
  });
  return toAnnotationResult(marks, partial);
};

const computeEnd = (time: string, duration: unknown): string | null => {
  const ms = Number(duration) / 1e6;
  return ms >= 1 ? formatTime(BigInt(Math.round(Date.parse(time) + ms)) * 1_000_000n) : null;
};

const toIsoTime = (ms: number): string => formatTime(BigInt(Math.round(ms)) * 1_000_000n);

/** Returns the time ranges of consecutive steps with a value other than 0. */
const findNonZeroRanges = ({ points }: Result['series'][number], stepMs: number): [from: number, to: number][] => {
  const ranges: [number, number][] = [];
  for (const [time, value] of points) {
    if (value === null || Number(value) === 0 || Number.isNaN(Number(value))) continue;
    const lastRange = ranges.at(-1);
    if (lastRange !== undefined && time - lastRange[1] <= stepMs) lastRange[1] = time;
    else ranges.push([time, time]);
  }
  return ranges;
};

/** Returns the distinct times that the values of a series denote. */
const findValueTimes = ({ points }: Result['series'][number], { from, to }: Range): [from: number, to: number][] => {
  const times = new Set(points.map(([, value]) => Number(value ?? Number.NaN)));
  return [...times].flatMap((ms): [number, number][] =>
    ms >= Number(from / 1_000_000n) && ms <= Number(to / 1_000_000n) ? [[ms, ms]] : [],
  );
};

const queryPromql = async (source: SourceOf<'promql'>, context: AnnotationContext): Promise<AnnotationResult> => {
  const { range, results } = context;
  const stepMs = resolveStepMs(source.step, range);
  const query = insertVariables({ kind: 'promql', expression: source.expression }, context, stepMs);
  const { series, partial } = await results.getResult(query, { range, stepMs });
  const marks = series.flatMap((each) => {
    const getField = (name: string): unknown => each.labels[name];
    const ranges = source.valueIsTime ? findValueTimes(each, range) : findNonZeroRanges(each, stepMs);
    return ranges.map(
      ([from, to]): Mark => ({
        time: toIsoTime(from),
        until: to > from ? toIsoTime(to) : null,
        link: '',
        title: source.title === '' ? each.name : renderTemplate(source.title, getField),
        text: renderTemplate(source.text, getField),
        tags: source.tags.split(',').flatMap((name) => toOptionalText(each.labels[name.trim()] ?? '') ?? []),
      }),
    );
  });
  return toAnnotationResult(
    marks.sort((left, right) => (left.time < right.time ? 1 : -1)),
    partial,
  );
};

const queryMarks = (source: Annotation['source'], context: AnnotationContext): Promise<AnnotationResult> => {
  switch (source.kind) {
    case 'events':
      return queryEvents(source, context);
    case 'records':
      return queryRecords(source, context);
    case 'promql':
      return queryPromql(source, context);
  }
};

/** Returns the marks of an annotation. Never rejects: the result contains the error. */
export const queryAnnotation = async (
  { name, source }: Annotation,
  context: AnnotationContext,
): Promise<AnnotationItem> => {
  try {
    return { name, ...(await queryMarks(source, context)), error: null };
  } catch (error) {
    return { name, marks: [], partial: [], error: { ...context.getFault(error), path: '' } };
  }
};
