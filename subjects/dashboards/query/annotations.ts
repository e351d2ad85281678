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
import type { PanelContext } from './panel.ts';
import type { AnnotationItem, Mark } from './question.ts';

/** Maximum number of marks of one annotation. */
const maxMarks = 500;

/** Selection of the events of the feed that are marked. */
export interface EventsRequest {
  readonly range: Range;
  readonly kinds: readonly string[];
  readonly isChosen: boolean;
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

const textOrUndefined = (text: string): string | undefined => (text === '' ? undefined : text);

const queryEvents = async (
  source: SourceOf<'events'>,
  { range, scope, events }: AnnotationContext,
): Promise<AnnotationResult> => {
  const { kinds, service, projectId } = source;
  const isChosen = kinds.length > 0;
  const found = await events({
    range,
    isChosen,
    kinds: isChosen ? kinds : feedKinds,
    limit: maxMarks + 1,
    service: textOrUndefined(replaceInText(service, scope)),
    projectId: textOrUndefined(projectId),
  });
  const marks = found.events.map(
    ({ time, title, text, kind, link, tags }): Mark => ({
      time,
      until: null,
      title,
      text,
      link,
      tags: [kind, ...Object.entries(tags).map(([name, value]) => `${name}=${value}`)],
    }),
  );
  return toAnnotationResult(marks, found.partial);
};

const placeholder = /\{\{([^{}]{1,512})\}\}/g;
const namesIn = (template: string): string[] => [...template.matchAll(placeholder)].map(([, name = '']) => name.trim());

const renderTemplate = (template: string, fieldOf: (name: string) => unknown): string =>
  template.replace(placeholder, (_, name: string) => String(fieldOf(name.trim()) ?? ''));

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
  const main = signal === 'logs' ? 'body' : 'name';
  const template = title === '' ? `{{${main}}}` : title;
  const fields = [
    ...new Set(['timestamp', ...(signal === 'traces' ? ['duration'] : []), ...namesIn(template), ...tags]),
  ];
  const query: Query = {
    kind: 'rows',
    signal,
    order: 'newest',
    fields,
    limit: maxMarks,
    search: textOrUndefined(search),
    projectId: textOrUndefined(projectId),
  };
  const { columns, rows, partial } = await context.results.getResult(insertVariables(query, context), {
    range: context.range,
  });
  const marks = rows.map((row): Mark => {
    const fieldOf = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const time = String(fieldOf('timestamp'));
    return {
      time,
      until: computeEnd(time, fieldOf('duration')),
      title: renderTemplate(template, fieldOf),
      text: '',
      link: '',
      tags: tags.flatMap((tag) => textOrUndefined(String(fieldOf(tag) ?? '')) ?? []),
    };
  });
  return toAnnotationResult(marks, partial);
};

const computeEnd = (time: string, duration: unknown): string | null => {
  const ms = Number(duration) / 1e6;
  return ms >= 1 ? formatTime(BigInt(Math.round(Date.parse(time) + ms)) * 1_000_000n) : null;
};

const iso = (ms: number): string => formatTime(BigInt(Math.round(ms)) * 1_000_000n);

/** Returns the time ranges of consecutive steps with a value other than 0. */
const findNonZeroRanges = ({ points }: Result['series'][number], stepMs: number): [from: number, to: number][] => {
  const found: [number, number][] = [];
  for (const [time, value] of points) {
    if (value === null || Number(value) === 0 || Number.isNaN(Number(value))) continue;
    const last = found.at(-1);
    if (last !== undefined && time - last[1] <= stepMs) last[1] = time;
    else found.push([time, time]);
  }
  return found;
};

/** Returns the distinct times that the values of a series denote. */
const findValueTimes = ({ points }: Result['series'][number], { from, to }: Range): [from: number, to: number][] => {
  const all = new Set(points.map(([, value]) => Number(value ?? Number.NaN)));
  return [...all].flatMap((ms): [number, number][] =>
    ms >= Number(from / 1_000_000n) && ms <= Number(to / 1_000_000n) ? [[ms, ms]] : [],
  );
};

const queryPromql = async (source: SourceOf<'promql'>, context: AnnotationContext): Promise<AnnotationResult> => {
  const { range, results } = context;
  const stepMs = resolveStepMs(source.step, range);
  const query = insertVariables({ kind: 'promql', expression: source.expression }, context, stepMs);
  const { series, partial } = await results.getResult(query, { range, stepMs });
  const marks = series.flatMap((each) => {
    const fieldOf = (name: string): unknown => each.labels[name];
    const found = source.valueIsTime ? findValueTimes(each, range) : findNonZeroRanges(each, stepMs);
    return found.map(
      ([from, to]): Mark => ({
        time: iso(from),
        until: to > from ? iso(to) : null,
        link: '',
        title: source.title === '' ? each.name : renderTemplate(source.title, fieldOf),
        text: renderTemplate(source.text, fieldOf),
        tags: source.tags.split(',').flatMap((name) => textOrUndefined(each.labels[name.trim()] ?? '') ?? []),
      }),
    );
  });
  return toAnnotationResult(
    marks.sort((one, other) => (one.time < other.time ? 1 : -1)),
    partial,
  );
};

const found = (source: Annotation['source'], context: AnnotationContext): Promise<AnnotationResult> => {
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
    return { name, ...(await found(source, context)), error: null };
  } catch (error) {
    return { name, marks: [], partial: [], error: { ...context.faultOf(error), path: '' } };
  }
};
