/** Renders a panel by its kind. The type of the table below requires a renderer for every kind. */
import type { ComponentType } from 'preact';
import { renderText } from '../../../frame/display-text.tsx';
import { lazyLoad } from '../../../frame/lazy-load.tsx';
import { Markdown } from '../../../frame/markdown.tsx';
import type { Visual } from '../calls.ts';
import { BarGaugePanel, GaugePanel, PiePanel, StatPanel } from './figures.tsx';
import type { PanelProps } from './panel-props.ts';
import { LogsPanel, TablePanel } from './table.tsx';

const TextPanel = ({ panel }: PanelProps) => {
  const { form, content = '' } = panel.visual as { readonly form?: string; readonly content?: string };
  return form === 'code' ? <pre class="body">{renderText(content, { lines: true })}</pre> : <Markdown text={content} />;
};

const PlaceholderPanel = ({ panel }: PanelProps) => {
  const { sourceType = '', reason = '' } = panel.visual as { readonly sourceType?: string; readonly reason?: string };
  return (
    <p class="soft">
      Unsupported panel type “{renderText(sourceType)}”. {renderText(reason)}
    </p>
  );
};

const viewsByKind: Readonly<Record<Visual['kind'], ComponentType<PanelProps>>> = {
  'time-series': lazyLoad(async () => (await import('./series.tsx')).SeriesPanel),
  heatmap: lazyLoad(async () => (await import('./cells.tsx')).HeatmapPanel),
  histogram: lazyLoad(async () => (await import('./cells.tsx')).HistogramPanel),
  'state-timeline': lazyLoad(async () => (await import('./states.tsx')).StateTimelinePanel),
  'status-history': lazyLoad(async () => (await import('./states.tsx')).StatusHistoryPanel),
  stat: StatPanel,
  gauge: GaugePanel,
  'bar-gauge': BarGaugePanel,
  bars: lazyLoad(async () => (await import('./bars.tsx')).BarsPanel),
  pie: PiePanel,
  logs: LogsPanel,
  table: TablePanel,
  traces: lazyLoad(async () => (await import('./lists.tsx')).TracesPanel),
  alerts: lazyLoad(async () => (await import('./lists.tsx')).AlertsPanel),
  dashboards: lazyLoad(async () => (await import('./lists.tsx')).DashboardsPanel),
  'node-graph': lazyLoad(async () => (await import('./node-graph.tsx')).NodeGraphPanel),
  text: TextPanel,
  placeholder: PlaceholderPanel,
};

/** Returns whether a kind has no query. */
export const hasNoQuery = (kind: string): boolean => ['text', 'placeholder'].includes(kind);

export const PanelView = (props: PanelProps) => {
  const { kind } = props.panel.visual;
  // A snapshot may be from a version with another kind.
  const View = Object.hasOwn(viewsByKind, kind) ? viewsByKind[kind as Visual['kind']] : TablePanel;
  return <View {...props} />;
};
