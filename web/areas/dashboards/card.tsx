/** Card of a panel: title, visualization and error */
import { ExternalLink, Info, Pencil } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { parseDuration } from '../../../queries/time.ts';
import type { PanelItem } from '../../../subjects/dashboards/query/dashboard-query.ts';
import { listQueryItems } from '../../charts/query-items.ts';
import { Icon } from '../../components/icon.tsx';
import { Menu, type MenuItem } from '../../components/menu.tsx';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import type { DashboardContext, DashboardResults } from './board.ts';
import { type Panel, replaceDashboardCall, type Visual } from './calls.ts';
import type { PanelData } from './fields.ts';
import type { Cell, RepeatValues } from './layout.ts';
import { hasNoQuery, PanelView } from './panels/panel-view.tsx';
import { isSafeUrl } from './safe-url.ts';
import { interpolateUrl, interpolateVariables } from './variable-values.ts';

/** Height of a grid row, and gap between rows, in pixels */
export const rowHeightPixels = 32;
export const gapPixels = 8;
const frameHeightPixels = 56;

const matchesRepeat = (item: PanelItem, repeat: RepeatValues): boolean =>
  Object.entries(item.repeat ?? {}).every(([name, value]) => repeat[name] === undefined || repeat[name] === value);

/** Replaces variables in texts that may contain them. Omitted fields remain omitted. */
const resolveVisual = (visual: Visual, resolveText: (text: string) => string): PanelData['visual'] => {
  if (visual.kind === 'text') return { ...visual, content: resolveText(visual.content ?? '') };
  if (visual.kind !== 'alerts') return visual;
  return { ...visual, search: resolveText(visual.search ?? ''), labels: resolveText(visual.labels ?? '') };
};

/** Returns the results of an earlier range at the times of the range with which they are compared. */
const shiftToRange = (results: PanelItem['results'], compareWith: string | undefined): PanelItem['results'] => {
  const offsetMs = Number((parseDuration(compareWith ?? '') ?? 0n) / 1_000_000n);
  const shift = (time: number): number => time + offsetMs;
  return Object.fromEntries(
    Object.entries(results).map(([name, result]) => [
      name,
      {
        ...result,
        series: result.series.map((series) => ({
          ...series,
          points: series.points.map(([time, value]) => [shift(time), value] as (typeof series.points)[number]),
        })),
        partialSteps: result.partialSteps.map(shift),
      },
    ]),
  );
};

type FieldSettings = Panel['fields'];

interface Resolvers {
  readonly resolveText: (text: string) => string;
  readonly resolveUrl: (url: string) => string;
}

/** Replaces variables in the name and the links of fields. Omitted settings remain omitted. */
const resolveFieldSettings = (settings: FieldSettings, { resolveText, resolveUrl }: Resolvers): FieldSettings => ({
  ...settings,
  ...(settings.name === undefined ? {} : { name: resolveText(settings.name) }),
  ...(settings.links === undefined
    ? {}
    : {
        links: settings.links.map((link) => ({ ...link, title: resolveText(link.title), url: resolveUrl(link.url) })),
      }),
});

const toPanelData = (panel: Panel, item: PanelItem | undefined, resolvers: Resolvers): PanelData => {
  const { resolveText } = resolvers;
  const { visual, fields, overrides, queries, formulas } = panel;
  const tables =
    item === undefined ? [] : item.tables.length > 0 ? item.tables : item.table === null ? [] : [item.table];
  return {
    title: item?.title ?? resolveText(panel.title),
    visual: resolveVisual(visual, resolveText),
    fields: resolveFieldSettings(fields, resolvers),
    overrides: overrides.map((override) => ({
      ...override,
      settings: resolveFieldSettings(override.settings, resolvers),
    })),
    legends: Object.fromEntries([...queries, ...formulas].map(({ name, legend }) => [name, resolveText(legend)])),
    results: item?.results ?? {},
    earlier: shiftToRange(item?.earlier ?? {}, panel.time.compareWith),
    tables,
  };
};

const PanelMessages = ({ item }: { readonly item: PanelItem | undefined }) => {
  if (item === undefined) return null;
  const results = Object.values(item.results);
  const warnings = new Set(
    [...item.partial, ...results.flatMap((result) => result.partial)].map(({ message }) => message),
  );
  return (
    <>
      {item.error === null ? null : (
        <p class="problem-text" role="alert">
          {renderText(item.error.path === '' ? item.error.message : `${item.error.path}: ${item.error.message}`)}
        </p>
      )}
      {[...warnings].map((message) => (
        <p key={message} class="soft">
          Incomplete: {renderText(message)}.
        </p>
      ))}
    </>
  );
};

export interface CardProps {
  readonly cell: Cell;
  readonly board: DashboardResults;
  readonly head: DashboardContext | undefined;
  readonly from: number;
  readonly to: number;
  readonly annotationTimes: readonly number[];
  /** Tools next to the title while editing, instead of the menu */
  readonly tools?: ComponentChildren;
}

/** Menu of a panel: its links, its editor, and other areas with its query */
const PanelMenu = ({
  panel,
  title,
  resolvers: { resolveText, resolveUrl },
}: {
  readonly panel: Panel;
  readonly title: string;
  readonly resolvers: Resolvers;
}) => {
  // Values of variables would have to be quoted for the language of the query.
  const queries = panel.queries.flatMap(({ query, hidden }) =>
    query === undefined || hidden || JSON.stringify(query).includes('$') ? [] : [query],
  );
  const [query] = queries;
  const links = panel.links
    .filter(({ url }) => isSafeUrl(url))
    .map((link) => ({
      title: renderText(resolveText(link.title === '' ? link.url : link.title)),
      icon: ExternalLink,
      url: resolveUrl(link.url),
    }));
  const edit = { title: 'Edit panel', icon: Pencil, onSelect: () => setParams({ edit: 'true', panel: panel.id }) };
  const items: readonly MenuItem[] = [
    ...links,
    ...(isPermitted(replaceDashboardCall) ? [edit] : []),
    ...(query === undefined ? [] : listQueryItems(title, query)),
  ];
  return items.length === 0 ? null : <Menu label={`Actions of ${title}`} kind="quiet" items={items} />;
};

export const PanelCard = ({ cell, board, head, from, to, annotationTimes, tools }: CardProps) => {
  const panelElement = useRef<HTMLElement>(null);
  const { panel, repeat } = cell;
  useEffect(() => {
    const element = panelElement.current;
    if (element === null || hasNoQuery(panel.visual.kind)) return;
    const observer = new IntersectionObserver(
      ([entry]) => board.setPanelVisible(panel.id, entry?.isIntersecting ?? false),
      {
        root: element.closest('.scrolled'),
        rootMargin: '100px',
      },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      board.setPanelVisible(panel.id, false);
    };
  }, [board, panel.id, panel.visual.kind]);
  const { items, isLoading } = board.getPanel(panel.id).value;
  const item = items.find((panelItem) => matchesRepeat(panelItem, repeat));
  const resolvers: Resolvers = {
    resolveText: (text) => interpolateVariables(text, head, repeat),
    resolveUrl: (url) => interpolateUrl(url, head, repeat),
  };
  const variables = head?.variables.length === 0 ? undefined : head?.variables;
  const panelData = useMemo(() => toPanelData(panel, item, resolvers), [panel, item, variables]);
  const height = cell.height * rowHeightPixels + (cell.height - 1) * gapPixels - frameHeightPixels;
  const hasResult = item !== undefined || hasNoQuery(panel.visual.kind);
  const label = panelData.title === '' ? `Panel ${panel.id}` : panelData.title;
  return (
    <section
      ref={panelElement}
      class={panel.transparent ? 'panel transparent' : 'panel'}
      aria-busy={isLoading}
      tabIndex={-1}
    >
      <div class="panel-head">
        <h2 class={panelData.title === '' ? 'sr-only' : ''}>{renderText(label)}</h2>
        {panel.description === '' ? null : (
          <span class="panel-note" data-tooltip={panel.description}>
            <Icon shape={Info} size={14} />
            <span class="sr-only">{renderText(panel.description)}</span>
          </span>
        )}
        {isLoading ? <span class="soft">…</span> : null}
        {tools === undefined ? <PanelMenu panel={panel} title={label} resolvers={resolvers} /> : tools}
      </div>
      <ScrollRegion class="panel-body" label={`Content of ${label}`}>
        <PanelMessages item={item} />
        {hasResult && !(item?.error !== null && item !== undefined && Object.keys(item.results).length === 0) ? (
          <PanelView
            panel={panelData}
            height={height}
            from={from}
            to={to}
            annotationTimes={annotationTimes}
            cursorGroup="dashboard"
          />
        ) : null}
      </ScrollRegion>
    </section>
  );
};
