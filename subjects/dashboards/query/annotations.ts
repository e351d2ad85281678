/**
 * Reads the marks on the time axis: events of the feed, records that match a search, and times at which an expression
 * is not 0.
 */
import type { Query } from '../../../queries/query.ts';
import type { Range } from '../../../queries/range.ts';
import type { Incompleteness, Result } from '../../../queries/result.ts';
import { queryOf } from '../../../queries/run.ts';
import { stepOf } from '../../../queries/steps.ts';
import { formatTime } from '../../../queries/time.ts';
import { withFilters } from '../../../queries/variables/filters.ts';
import { inQuery } from '../../../queries/variables/in-query.ts';
import { inText } from '../../../queries/variables/in-text.ts';
import { platformVariables } from '../../../queries/variables/platform.ts';
import type { Scope } from '../../../queries/variables/scope.ts';
import { type FeedEvent, feedKinds } from '../../events/events.ts';
import type { DashboardFields } from '../document.ts';
import type { PanelContext } from './panel.ts';
import type { AnnotationItem, Mark } from './question.ts';

/** Maximum number of marks of one annotation. */
const maxMarks = 500;

/** Which events of the feed are marked. */
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
type Found = Pick<AnnotationItem, 'marks' | 'partial'>;

const marked = (marks: readonly Mark[], partial: readonly Incompleteness[]): Found => ({
  marks: marks.slice(0, maxMarks),
  partial:
    marks.length <= maxMarks
      ? [...partial]
      : [...partial, { code: 'rows', message: `the newest ${maxMarks} of ${marks.length}` }],
});

const given = (text: string): string | undefined => (text === '' ? undefined : text);

const ofEvents = async (source: SourceOf<'events'>, { range, scope, events }: AnnotationContext): Promise<Found> => {
  const { kinds, service, projectId } = source;
  const isChosen = kinds.length > 0;
  const found = await events({
    range,
    isChosen,
    kinds: isChosen ? kinds : feedKinds,
    limit: maxMarks + 1,
    service: given(inText(service, scope)),
    projectId: given(projectId),
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
  return marked(marks, found.partial);
};

const placeholder = /\{\{([^{}]{1,512})\}\}/g;
const namesIn = (template: string): string[] => [...template.matchAll(placeholder)].map(([, name = '']) => name.trim());

const written = (template: string, fieldOf: (name: string) => unknown): string =>
  template.replace(placeholder, (_, name: string) => String(fieldOf(name.trim()) ?? ''));

const filled = (query: Query, { scope, filters, range }: AnnotationContext, stepMs?: number): Query => {
  const platform = platformVariables({
    fromMs: Number(range.from / 1_000_000n),
    toMs: Number(range.to / 1_000_000n),
    stepMs,
  });
  return queryOf(withFilters(inQuery(query, new Map([...scope, ...platform])), filters));
};

const ofRecords = async (source: SourceOf<'records'>, context: AnnotationContext): Promise<Found> => {
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
    search: given(search),
    projectId: given(projectId),
  };
  const { columns, rows, partial } = await context.results.of(filled(query, context), { range: context.range });
  const marks = rows.map((row): Mark => {
    const fieldOf = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const time = String(fieldOf('timestamp'));
    return {
      time,
      until: endOf(time, fieldOf('duration')),
      title: written(template, fieldOf),
      text: '',
      link: '',
      tags: tags.flatMap((tag) => given(String(fieldOf(tag) ?? '')) ?? []),
    };
  });
  return marked(marks, partial);
};

const endOf = (time: string, duration: unknown): string | null => {
  const ms = Number(duration) / 1e6;
  return ms >= 1 ? formatTime(BigInt(Math.round(Date.parse(time) + ms)) * 1_000_000n) : null;
};

const iso = (ms: number): string => formatTime(BigInt(Math.round(ms)) * 1_000_000n);

/** Time ranges of consecutive steps with a value other than 0. */
const stretches = ({ points }: Result['series'][number], stepMs: number): [from: number, to: number][] => {
  const found: [number, number][] = [];
  for (const [time, value] of points) {
    if (value === null || Number(value) === 0 || Number.isNaN(Number(value))) continue;
    const last = found.at(-1);
    if (last !== undefined && time - last[1] <= stepMs) last[1] = time;
    else found.push([time, time]);
  }
  return found;
};

/** Times given by values, each once. */
const timesIn = ({ points }: Result['series'][number], { from, to }: Range): [from: number, to: number][] => {
  const all = new Set(points.map(([, value]) => Number(value ?? Number.NaN)));
  return [...all].flatMap((ms): [number, number][] =>
    ms >= Number(from / 1_000_000n) && ms <= Number(to / 1_000_000n) ? [[ms, ms]] : [],
  );
};

const ofPromql = async (source: SourceOf<'promql'>, context: AnnotationContext): Promise<Found> => {
  const { range, results } = context;
  const stepMs = stepOf(source.step, range);
  const query = filled({ kind: 'promql', expression: source.expression }, context, stepMs);
  const { series, partial } = await results.of(query, { range, stepMs });
  const marks = series.flatMap((each) => {
    const fieldOf = (name: string): unknown => each.labels[name];
    const found = source.valueIsTime ? timesIn(each, range) : stretches(each, stepMs);
    return found.map(
      ([from, to]): Mark => ({
        time: iso(from),
        until: to > from ? iso(to) : null,
        link: '',
        title: source.title === '' ? each.name : written(source.title, fieldOf),
        text: written(source.text, fieldOf),
        tags: source.tags.split(',').flatMap((name) => given(each.labels[name.trim()] ?? '') ?? []),
      }),
    );
  });
  return marked(
    marks.sort((one, other) => (one.time < other.time ? 1 : -1)),
    partial,
  );
};

const found = (source: Annotation['source'], context: AnnotationContext): Promise<Found> => {
  switch (source.kind) {
    case 'events':
      return ofEvents(source, context);
    case 'records':
      return ofRecords(source, context);
    case 'promql':
      return ofPromql(source, context);
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
