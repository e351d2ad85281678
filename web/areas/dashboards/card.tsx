/** Card of a panel: title, visualization and error */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PanelItem } from '../../../subjects/dashboards/query/question.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import type { DashboardContext, DashboardResults } from './board.ts';
import type { Panel, Visual } from './calls.ts';
import type { PanelData } from './fields.ts';
import type { Cell, RepeatValues } from './layout.ts';
import { hasNoQuery, PanelView } from './panels/panel-view.tsx';
import { interpolateVariables } from './variable-values.ts';

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

const toPanelData = (panel: Panel, item: PanelItem | undefined, resolveText: (text: string) => string): PanelData => {
  const { visual, fields, overrides, queries, formulas } = panel;
  const tables =
    item === undefined ? [] : item.tables.length > 0 ? item.tables : item.table === null ? [] : [item.table];
  return {
    title: item?.title ?? resolveText(panel.title),
    visual: resolveVisual(visual, resolveText),
    fields: fields.name === undefined ? fields : { ...fields, name: resolveText(fields.name) },
    overrides,
    legends: Object.fromEntries([...queries, ...formulas].map(({ name, legend }) => [name, resolveText(legend)])),
    results: item?.results ?? {},
    earlier: item?.earlier ?? {},
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
  /** Tools next to the title while editing */
  readonly tools?: ComponentChildren;
}

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
  const resolveText = (text: string): string => interpolateVariables(text, head, repeat);
  const variables = head?.variables.length === 0 ? undefined : head?.variables;
  const panelData = useMemo(() => toPanelData(panel, item, resolveText), [panel, item, variables]);
  const height = cell.height * rowHeightPixels + (cell.height - 1) * gapPixels - frameHeightPixels;
  const hasResult = item !== undefined || hasNoQuery(panel.visual.kind);
  const label = panelData.title === '' ? `Panel ${panel.id}` : panelData.title;
  return (
    <section ref={panelElement} class="panel" aria-busy={isLoading} tabIndex={-1}>
      <div class="panel-head">
        <h2 class={panelData.title === '' ? 'sr-only' : ''} title={panel.description}>
          {renderText(label)}
        </h2>
        {isLoading ? <span class="soft">…</span> : null}
        {tools}
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
